/* Writes anonymous requests as a trace in the format of Mooncake (ipf-prep-formats(5)), a line each:
 *
 *     {"timestamp": 27482, "input_length": 6955, "output_length": 52, "hash_ids": [4611686018427387904, …]}
 *
 * with "session_id" and "delay" for turns of sessions, "model" for a model, and "block_size" if blocks do not have 512
 * tokens. Arrivals are in order if those of the input were.
 *
 *     struct anonymous_trace t = {.salt = &salt, .block_tokens = 512, .k = 10, .remains = &remains};
 *     anonymous_trace_open(&t, path, &err);
 *     anonymous_trace_put(&t, &request, &err);         // each request
 *     anonymous_trace_close(&t, &err);                 // writes what is held, and closes
 *     anonymous_trace_release(&t);                     // also after an error
 *
 * With --jitter, requests are held until no earlier one can follow. With --k, all are held in a temporary file that has
 * no name, until it is known which lengths are rare.
 */
#ifndef PREP_ANONYMOUS_TRACE_H
#define PREP_ANONYMOUS_TRACE_H

#include "anonymize/anonymous_request.h"
#include "anonymize/block_chain.h"
#include "anonymize/length_groups.h"
#include "anonymize/remains.h"
#include "anonymize/salt.h"
#include "stream/stream.h"

#include <stdio.h>

#define MOONCAKE_BLOCK 512

struct anonymous_trace {
	const struct salt *salt;
	int64_t block_tokens;
	int64_t jitter_ns; /* that was added to arrivals, at most; 0: none */
	int64_t k;         /* 0: lengths stay as they are */
	struct remains *remains;
	int64_t too_few; /* requests that were left out since their model has fewer than k in their hour */

	/* its own */
	struct stream_writer *writer;
	struct buffer line;
	struct held_request **heap; /* the earliest arrival first */
	size_t held, cap;
	uint64_t sequence;
	struct length_groups groups;
	FILE *spool;
};

/* `path` NULL or "-": standard output; a name that ends in .zst is compressed. */
int anonymous_trace_open(struct anonymous_trace *t, const char *path, struct ipf_error *err);
int anonymous_trace_put(struct anonymous_trace *t, const struct anonymous_request *request, struct ipf_error *err);
int anonymous_trace_close(struct anonymous_trace *t, struct ipf_error *err);
void anonymous_trace_release(struct anonymous_trace *t);

#endif
