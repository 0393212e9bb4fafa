#include "tokenizer/vocabulary.h"

#include "tokenizer/hash_mix.h"

#include <stdio.h>
#include <string.h>

static uint32_t word_hash(const char *word, size_t len)
{
	uint64_t h = len * UINT64_C(0x9e3779b97f4a7c15), w;
	for (; len >= 8; len -= 8, word += 8) {
		memcpy(&w, word, 8);
		h = hash_mix(h ^ w, UINT64_C(0xd6e8feb86659fd93));
	}
	w = 0;
	memcpy(&w, word, len);
	h = hash_mix(h ^ w, UINT64_C(0xbf58476d1ce4e5b9));
	return (uint32_t)(h ^ h >> 32);
}

uint32_t vocabulary_find(const struct vocabulary *v, const char *word, size_t len)
{
	if (len > v->longest)
		return VOCABULARY_NONE;
	uint32_t hash = word_hash(word, len);
	for (uint32_t i = hash & v->slot_mask;; i = (i + 1) & v->slot_mask) {
		uint64_t slot = v->slots[i];
		if (!slot)
			return VOCABULARY_NONE;
		if ((uint32_t)(slot >> 32) != hash)
			continue;
		uint32_t id = (uint32_t)slot - 1;
		uint32_t begin = v->word_offsets[id];
		if (v->word_offsets[id + 1] - begin == len && memcmp(v->word + begin, word, len) == 0)
			return id;
	}
}

/* The table is at most 5/8 full. */
bool vocabulary_make_slots(struct buffer *out, const uint32_t *offsets, const char *word, uint32_t size, uint32_t count)
{
	size_t cap = 16;
	while (cap * 5 < (size_t)count * 8)
		cap *= 2;
	uint64_t *slots = (uint64_t *)(void *)buffer_reserve(out, cap * sizeof *slots);
	if (!slots)
		return false;
	memset(slots, 0, cap * sizeof *slots);
	out->len = cap * sizeof *slots;
	for (uint32_t id = 0; id < size; id++) {
		if (offsets[id] == offsets[id + 1])
			continue;
		uint32_t hash = word_hash(word + offsets[id], offsets[id + 1] - offsets[id]);
		size_t i = hash & (cap - 1);
		while (slots[i])
			i = (i + 1) & (cap - 1);
		slots[i] = (uint64_t)hash << 32 | (id + 1);
	}
	return true;
}

void vocabulary_byte_fallback(const struct vocabulary *v, uint32_t ids[256])
{
	for (unsigned i = 0; i < 256; i++) {
		char name[8];
		int len = snprintf(name, sizeof name, "<0x%02X>", i);
		ids[i] = vocabulary_find(v, name, (size_t)len);
	}
}
