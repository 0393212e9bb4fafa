/* How many tokens came at a time: the reads with content, by their tokens, and how long each came after the one before.
 * A drafting server sends several at a time at its usual pace; a delayed read comes the later the more it has. */
#ifndef COLLECT_TOKEN_READS_H
#define COLLECT_TOKEN_READS_H

#include "api/response.h"
#include "stream/result.h"

/* Sets reads, reads_2 … reads_8, gap_one_ns and gap_several_ns of the row, if reads brought several tokens. `tokens`:
 * of each content event; NULL: only their sum is known, the row's output_tokens. */
void token_reads_measure(const struct response *r, const int64_t *tokens, struct result *row);

#endif
