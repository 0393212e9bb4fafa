/* Renders anonymous requests as lines of JSON into `line`, which is cleared first. */
#ifndef PREP_ANONYMOUS_LINE_H
#define PREP_ANONYMOUS_LINE_H

#include "anonymize/anonymous_request.h"

#define MOONCAKE_BLOCK 512

/* In the format of Mooncake (ipf-prep-formats(5)):
 *
 *     {"timestamp": 27482, "input_length": 6955, "output_length": 52, "hash_ids": [4611686018427387904, …]}
 *
 * with "session_id" and "delay" for turns of sessions, "model" for a model, and "block_size" if blocks do not have 512
 * tokens. */
void anonymous_line_mooncake(struct buffer *line, const struct anonymous_request *r, int64_t block_tokens);

/* In the form of ipf-trace(5), without prompts:
 *
 *     {"id":"1d4f…","input_tokens":6955,"output_tokens":52,"at_ns":27482000000,"session":"09ab…","turn":1,
 *      "parents":["77c0…"],"blocks":{"tokens":512,"ids":[4611686018427387904,…]},"tags":{"agent":2}} */
void anonymous_line_trace(struct buffer *line, const struct anonymous_request *r, int64_t block_tokens);

#endif
