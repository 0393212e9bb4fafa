#include "batching/kv_cache.h"

#include <stdbool.h>
#include <stdlib.h>

#define NONE (-1)

struct block {
	uint64_t hash;
	int32_t users;
	int32_t older, newer; /* neighbours in the list of unused blocks */
	bool published;
};

struct kv_cache {
	struct block *blocks;
	int32_t total, used;
	int32_t limit;          /* the most in use */
	int32_t fresh;          /* blocks from here on were never taken */
	int32_t oldest, newest; /* used once, and unused now */
	int32_t *slots;         /* open addressing: block + 1, 0 where free */
	uint32_t mask;
	void (*evicted)(uint64_t hash, void *data);
	void *watcher;
};

struct kv_cache *kv_cache_new(int32_t blocks)
{
	struct kv_cache *kv = calloc(1, sizeof *kv);
	if (!kv)
		return NULL;
	uint32_t size = 16;
	while (size < (uint32_t)blocks * 2)
		size *= 2;
	kv->mask = size - 1;
	kv->total = kv->limit = blocks;
	kv->oldest = kv->newest = NONE;
	kv->blocks = calloc((size_t)blocks, sizeof *kv->blocks);
	kv->slots = calloc(size, sizeof *kv->slots);
	if (!kv->blocks || !kv->slots) {
		kv_cache_free(kv);
		return NULL;
	}
	return kv;
}

void kv_cache_free(struct kv_cache *kv)
{
	if (!kv)
		return;
	free(kv->blocks);
	free(kv->slots);
	free(kv);
}

static uint32_t home_of(const struct kv_cache *kv, uint64_t hash)
{
	return (uint32_t)(hash ^ (hash >> 32)) & kv->mask;
}

int32_t kv_cache_find(const struct kv_cache *kv, uint64_t hash)
{
	for (uint32_t i = home_of(kv, hash); kv->slots[i]; i = (i + 1) & kv->mask)
		if (kv->blocks[kv->slots[i] - 1].hash == hash)
			return kv->slots[i] - 1;
	return NONE;
}

static void forget(struct kv_cache *kv, int32_t block)
{
	struct block *b = &kv->blocks[block];
	if (!b->published)
		return;
	b->published = false;
	uint32_t hole = home_of(kv, b->hash);
	while (kv->slots[hole] != block + 1)
		hole = (hole + 1) & kv->mask;
	/* Move up entries pushed past the hole by a collision: look-ups need no tombstones. */
	for (uint32_t i = (hole + 1) & kv->mask; kv->slots[i]; i = (i + 1) & kv->mask) {
		uint32_t home = home_of(kv, kv->blocks[kv->slots[i] - 1].hash);
		if (((i - home) & kv->mask) < ((i - hole) & kv->mask))
			continue;
		kv->slots[hole] = kv->slots[i];
		hole = i;
	}
	kv->slots[hole] = 0;
}

void kv_cache_publish(struct kv_cache *kv, int32_t block, uint64_t hash)
{
	struct block *b = &kv->blocks[block];
	if (b->published || kv_cache_find(kv, hash) != NONE)
		return;
	b->hash = hash;
	b->published = true;
	uint32_t i = home_of(kv, hash);
	while (kv->slots[i])
		i = (i + 1) & kv->mask;
	kv->slots[i] = block + 1;
}

static void unlink_unused(struct kv_cache *kv, int32_t block)
{
	struct block *b = &kv->blocks[block];
	if (b->older == NONE)
		kv->oldest = b->newer;
	else
		kv->blocks[b->older].newer = b->newer;
	if (b->newer == NONE)
		kv->newest = b->older;
	else
		kv->blocks[b->newer].older = b->older;
}

int32_t kv_cache_take(struct kv_cache *kv)
{
	int32_t block;
	if (kv->used >= kv->limit)
		return NONE;
	if (kv->fresh < kv->total) {
		block = kv->fresh++;
	} else {
		block = kv->oldest;
		if (block == NONE)
			return NONE;
		unlink_unused(kv, block);
		if (kv->evicted && kv->blocks[block].published)
			kv->evicted(kv->blocks[block].hash, kv->watcher);
		forget(kv, block);
	}
	kv->blocks[block].users = 1;
	kv->used++;
	return block;
}

int32_t kv_cache_users(const struct kv_cache *kv, int32_t block)
{
	return kv->blocks[block].users;
}

void kv_cache_hold(struct kv_cache *kv, int32_t block)
{
	struct block *b = &kv->blocks[block];
	if (b->users++ == 0) {
		unlink_unused(kv, block);
		kv->used++;
	}
}

void kv_cache_drop(struct kv_cache *kv, int32_t block)
{
	struct block *b = &kv->blocks[block];
	if (--b->users > 0)
		return;
	b->older = kv->newest;
	b->newer = NONE;
	if (kv->newest == NONE)
		kv->oldest = block;
	else
		kv->blocks[kv->newest].newer = block;
	kv->newest = block;
	kv->used--;
}

void kv_cache_watch(struct kv_cache *kv, void (*evicted)(uint64_t hash, void *data), void *data)
{
	kv->evicted = evicted;
	kv->watcher = data;
}

void kv_cache_remember(struct kv_cache *kv, uint64_t hash)
{
	int32_t block = kv_cache_find(kv, hash);
	if (block != NONE) {
		kv_cache_hold(kv, block);
	} else if ((block = kv_cache_take(kv)) != NONE) {
		kv_cache_publish(kv, block, hash);
	}
	if (block != NONE)
		kv_cache_drop(kv, block);
}

void kv_cache_forget(struct kv_cache *kv)
{
	for (int32_t i = 0; i < kv->fresh; i++)
		kv->blocks[i].published = false;
	for (uint32_t i = 0; i <= kv->mask; i++)
		kv->slots[i] = 0;
}

int32_t kv_cache_used(const struct kv_cache *kv)
{
	return kv->used;
}

int32_t kv_cache_total(const struct kv_cache *kv)
{
	return kv->limit;
}

void kv_cache_limit(struct kv_cache *kv, int32_t blocks)
{
	kv->limit = blocks < kv->total ? blocks : kv->total;
}
