/* The KV cache: a fixed number of blocks of KV_BLOCK tokens, some of them known by the hash of the prompt up to their
 * end.
 *
 * A block that nobody uses any more stays findable until it is needed for something else; the one that was dropped
 * longest ago goes first. That is a prefix cache in vLLM's manner.
 *
 *     int32_t b = kv_cache_find(kv, hash);        // -1: nobody computed this prefix lately
 *     if (b >= 0) kv_cache_hold(kv, b);
 *     else if ((b = kv_cache_take(kv)) >= 0) …    // computed: kv_cache_publish(kv, b, hash)
 *     kv_cache_drop(kv, b);
 */
#ifndef IPF_KV_CACHE_H
#define IPF_KV_CACHE_H

#include <stddef.h>
#include <stdint.h>

#define KV_BLOCK 16

/* The hash of the values of `hash`, followed by a value. */
static inline uint64_t kv_hash(uint64_t hash, uint64_t value)
{
	uint64_t x = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
	x = (x ^ (x >> 32)) * UINT64_C(0xd6e8feb86659fd93);
	return x ^ (x >> 29);
}

struct kv_cache;

struct kv_cache *kv_cache_new(int32_t blocks); /* NULL: no memory */
void kv_cache_free(struct kv_cache *kv);

/* `evicted` is called with the hash of each published block needed for something else. */
void kv_cache_watch(struct kv_cache *kv, void (*evicted)(uint64_t hash, void *data), void *data);

int32_t kv_cache_take(struct kv_cache *kv);                      /* a block of one's own, -1 when all are in use */
int32_t kv_cache_find(const struct kv_cache *kv, uint64_t hash); /* the block published under this hash, -1 */
int32_t kv_cache_users(const struct kv_cache *kv, int32_t block);
void kv_cache_hold(struct kv_cache *kv, int32_t block); /* one more user */
void kv_cache_drop(struct kv_cache *kv, int32_t block); /* one less */
void kv_cache_publish(struct kv_cache *kv, int32_t block,
                      uint64_t hash); /* nothing where another block has the hash already */

/* From now on no more than so many blocks are in use at once; those beyond stay until they are dropped. */
void kv_cache_limit(struct kv_cache *kv, int32_t blocks);

/* The hash becomes the one that was used last, of a cache holding no block: a tier below another one. */
void kv_cache_remember(struct kv_cache *kv, uint64_t hash);

/* Forgets every hash, so nothing is found until it is published again. Blocks in use stay in use. */
void kv_cache_forget(struct kv_cache *kv);

int32_t kv_cache_used(const struct kv_cache *kv);  /* blocks that somebody uses */
int32_t kv_cache_total(const struct kv_cache *kv); /* the limit, at first all */

#endif
