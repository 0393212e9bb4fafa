#include "twin/twin_blocks.h"

#include "batching/kv_cache.h"
#include "stream/prompt_chain.h"

#include <math.h>

#define FACTOR_NEAR 0.01 /* from 1: the tokens are the same */

_Static_assert(PROMPT_BLOCK == KV_BLOCK, "a block of the prompt is one of the cache");

double twin_blocks_factor(double server_tokens, double our_tokens)
{
	double factor = server_tokens > 0 && our_tokens > 0 ? server_tokens / our_tokens : 1;
	return fabs(factor - 1) <= FACTOR_NEAR ? 1 : factor;
}

int64_t twin_blocks_place(double factor, int64_t k)
{
	double end = floor((double)(k + 1) / factor);
	return end < 1 ? 1 : (int64_t)end;
}

uint64_t twin_blocks_hash(uint64_t ours, int64_t k)
{
	return kv_hash(ours, (uint64_t)k);
}
