/* Blocks of a server's prompts, of which another count of tokens is known: ours (prompt_chain.h) differ from the
 * server's by one factor for all prompts, so text that prompts share stays shared.
 *
 *     double factor = twin_blocks_factor(server_tokens, our_tokens);
 *     for (k = 0; (k + 1) * KV_BLOCK <= prompt_tokens; k++)
 *         … twin_blocks_hash(hash of our blocks up to number twin_blocks_place(factor, k), k) …
 */
#ifndef IPF_TWIN_BLOCKS_H
#define IPF_TWIN_BLOCKS_H

#include <stdint.h>

/* The server's tokens for each of ours; 1 where one of the sums is 0, or they are within one in a hundred. */
double twin_blocks_factor(double server_tokens, double our_tokens);
/* The block of ours, from 1, at whose end the server's block k ends, or the last one before that. */
int64_t twin_blocks_place(double factor, int64_t k);
/* Several blocks of the server may end in one of ours. */
uint64_t twin_blocks_hash(uint64_t ours, int64_t k);

#endif
