/* A cache of words: their bytes to their ids, one processor cache line for each word. It belongs to one thread. */
#ifndef IPF_TOKENIZER_WORD_CACHE_H
#define IPF_TOKENIZER_WORD_CACHE_H

#include <stdint.h>
#include <string.h>

#define WORD_KEY 24 /* longest word that is cached, in bytes */
#define WORD_IDS 9

struct cached_word {
	uint64_t key[3];
	uint8_t len, count; /* len 0: free */
	uint32_t ids[WORD_IDS];
};

/* Sets of two; the word added last is the first. */
#define WORD_SETS (1 << 13)
struct word_cache {
	struct cached_word sets[WORD_SETS][2];
};

/* Sets the key of a word and returns the index of its set. `readable`: how many bytes may be read from `at` on. */
static inline size_t word_key(const char *at, size_t len, size_t readable, uint64_t key[3])
{
	if (readable >= WORD_KEY) {
		memcpy(key, at, WORD_KEY);
		key[0] &= len >= 8 ? UINT64_MAX : (UINT64_C(1) << 8 * len) - 1;
		key[1] &= len >= 16 ? UINT64_MAX : len <= 8 ? 0 : (UINT64_C(1) << 8 * (len - 8)) - 1;
		key[2] &= len >= 24 ? UINT64_MAX : len <= 16 ? 0 : (UINT64_C(1) << 8 * (len - 16)) - 1;
	} else {
		key[0] = key[1] = key[2] = 0;
		memcpy(key, at, len);
	}
	__uint128_t a = (__uint128_t)(key[0] ^ len) * UINT64_C(0x9e3779b97f4a7c15);
	__uint128_t b = (__uint128_t)(key[1] ^ (key[2] << 29 | key[2] >> 35)) * UINT64_C(0xd6e8feb86659fd93);
	uint64_t h = (uint64_t)a ^ (uint64_t)(a >> 64) ^ (uint64_t)b ^ (uint64_t)(b >> 64);
	return (size_t)(h ^ h >> 29) & (WORD_SETS - 1);
}

static inline int word_is(const struct cached_word *w, const uint64_t key[3], size_t len)
{
	return w->len == len && w->key[0] == key[0] && w->key[1] == key[1] && w->key[2] == key[2];
}

#endif
