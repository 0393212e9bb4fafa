/* Numbers of tokens coming from outside: the range believed, and sums that cannot overflow.
 *
 * No prompt or answer has more than TOKENS_MAX tokens. Readers refuse larger numbers, with their line; sums of many are
 * made by token_sum(), which stays IPF_ABSENT once a sum is out of range.
 *
 *     if (!token_count_is_possible(tokens)) …
 *     total = token_sum(total, tokens);
 */
#ifndef IPF_TOKEN_COUNT_H
#define IPF_TOKEN_COUNT_H

#include "absent.h"

#include <stdbool.h>
#include <stdint.h>

#define TOKENS_MAX      (INT64_C(1) << 40)
#define TOKENS_EXPECTED "a number of tokens from 0 to 2^40"

static inline bool token_count_is_possible(int64_t tokens)
{
	return tokens >= 0 && tokens <= TOKENS_MAX;
}

/* `sum` and `more` may be IPF_ABSENT; the sum then is. */
static inline int64_t token_sum(int64_t sum, int64_t more)
{
	return sum == IPF_ABSENT || more == IPF_ABSENT || __builtin_add_overflow(sum, more, &sum) ? IPF_ABSENT : sum;
}

#endif
