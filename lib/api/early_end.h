/* A response whose connection ended after its end mark, but before the end of the HTTP response: without the last
 * chunk, short of its Content-Length, by a reset, or by a time limit. The answer is complete, as a user sees it, so it
 * counts as answered. That its connection ended early is counted, and said in the same words by ipf-fire and in the
 * report.
 */
#ifndef IPF_EARLY_END_H
#define IPF_EARLY_END_H

#include "api/response.h"

/* Did the transfer fail although the answer is complete? `r` was parsed from the record. Not if ipf-fire ended it on
 * purpose. */
bool early_end(const struct record *record, const struct response *r);
/* Appends "the connection of 3 of 8 responses ended after …". */
void early_end_describe(int64_t count, int64_t responses, struct buffer *out);

#endif
