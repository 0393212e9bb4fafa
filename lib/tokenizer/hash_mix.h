/* Mixes two 64-bit words: the two halves of their product, folded. */
#ifndef IPF_TOKENIZER_HASH_MIX_H
#define IPF_TOKENIZER_HASH_MIX_H

#include <stdint.h>

static inline uint64_t hash_mix(uint64_t a, uint64_t b)
{
	__uint128_t product = (__uint128_t)a * b;
	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

#endif
