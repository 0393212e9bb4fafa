/* Common to the rows of all Mooncake traces: times, lengths, blocks, and how a request was scheduled.
 *
 *     struct mooncake_blocks blocks = {0};           // for each file
 *     if (mooncake_lengths(d, j, r, &blocks, err) < 0) …
 *     r->tags = mooncake_tags(d, j, agent);
 *
 * Names of members vary: input_length or input_tokens, output_length or output_tokens, timestamp, created_time or
 * timestamp_ms, delay or delay_ms.
 */
#ifndef PREP_MOONCAKE_ROW_H
#define PREP_MOONCAKE_ROW_H

#include "name_set.h"
#include "sources/record_fields.h"

/* How long the blocks of a file are. Rows may say it (block_size). In a file that does not, they have 512 tokens, or,
 * if this does not fit its first row of several blocks, the power of two that does. */
struct mooncake_blocks {
	int64_t tokens; /* 0: not known yet */
};

/* The first of the names, separated by spaces, in the record; the first of all if it has none. */
const char *mooncake_name(const struct jdoc *j, const char *names, char name[32]);

/* The session, the id (which no other row has) and the model of the draft's first request. Refuses a row waiting for
 * others by name. */
int mooncake_names(const struct source_record *record, struct draft *d, struct name_set *ids, struct ipf_error *err);
/* The arrival and the wait of r, both optional. */
int mooncake_times(const struct jdoc *j, struct draft_request *r, struct ipf_error *err);
/* The lengths of r; the blocks too, if the row has hash_ids. */
int mooncake_lengths(struct draft *d, const struct jdoc *j, struct draft_request *r, struct mooncake_blocks *blocks,
                     struct ipf_error *err);
/* The length of the answer: optional if `needed` is not set. It may be output_token_ids'. */
int mooncake_output(const struct jdoc *j, bool needed, struct draft_request *r, struct ipf_error *err);
/* The tags "agent" (if it is not absent), "model" (if `recorded`), "priority", "strict_priority", "policy_class",
 * "tool_wait_ms", "api_time_ms" and "tool_calls" (how many tool_events there are). */
struct slice mooncake_tags(struct draft *d, const struct jdoc *j, struct slice agent, struct slice model);

#endif
