/* Compares later turns of sessions with the turns before them, if they continue the server's own answers (--history
 * live): does the prompt begin with the server's tokens, and were the generated ones in its cache?
 *
 *     struct history_tokens *history = history_tokens_new();
 *     if (history_tokens_row(history, input, &record, &response, &row) < 0) …   // each row, a turn after the one that
 *                                                                               // it continues (early_turns.h)
 *     history_tokens_free(history);
 *
 * The response must have been parsed with keep_ids. Several turns may continue the same one. Turns are kept while they
 * take up to HISTORY_BYTES_MOST; then continued ones are forgotten, and among the others the oldest. A turn continuing
 * a forgotten one has none of the members.
 */
#ifndef COLLECT_HISTORY_TOKENS_H
#define COLLECT_HISTORY_TOKENS_H

#include "api/response.h"
#include "stream/result.h"

#define HISTORY_BYTES_MOST ((size_t)64 << 20)

struct history_tokens;

struct history_tokens *history_tokens_new(void);    /* NULL: out of memory */
void history_tokens_free(struct history_tokens *h); /* NULL is fine */
/* Sets the row's members history_…, as ipf-results(5) defines them. `input` tells apart records whose numbers mean
 * other requests. -1: out of memory. */
int history_tokens_row(struct history_tokens *h, const void *input, const struct record *record,
                       const struct response *response, struct result *row);

/* How many ids two lists ("12,7") begin with alike. */
int64_t history_tokens_alike(struct slice a, struct slice b);

#endif
