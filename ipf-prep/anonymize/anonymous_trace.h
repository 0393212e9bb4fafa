/* Writes anonymous requests, a line each (anonymous_line.h). Arrivals are in order if those of the input were; in the
 * format of ipf-trace(5) those of the first requests of sessions, whose requests stay together.
 *
 *     struct anonymous_trace t = {.salt = &salt, .block_tokens = 512, .k = 10, .remains = &remains};
 *     anonymous_trace_open(&t, path, header, &err);
 *     anonymous_trace_put(&t, &request, &err);         // each request
 *     anonymous_trace_close(&t, &err);                 // writes what is held, and closes
 *     anonymous_trace_release(&t);                     // also after an error
 *
 * With --jitter, requests are held until no earlier one can follow. With --k, all are held in a temporary file without
 * a name, until it is known which lengths are rare. A request waiting for an omitted one then waits for the others;
 * without others, for the turn before.
 */
#ifndef PREP_ANONYMOUS_TRACE_H
#define PREP_ANONYMOUS_TRACE_H

#include "anonymize/anonymous_line.h"
#include "anonymize/block_chain.h"
#include "anonymize/length_groups.h"
#include "anonymize/remains.h"
#include "anonymize/salt.h"
#include "stream/stream.h"

#include <stdio.h>

enum anonymous_format { ANONYMOUS_MOONCAKE, ANONYMOUS_TRACE };

struct anonymous_trace {
	const struct salt *salt;
	enum anonymous_format format;
	int64_t block_tokens;
	int64_t jitter_ns; /* the time added to arrivals, at most; 0: none */
	int64_t k;         /* 0: lengths stay as they are */
	struct remains *remains;
	int64_t too_few; /* requests left out since their model has fewer than k in their hour */

	/* its own */
	struct stream_writer *writer;
	struct buffer line;
	struct held_request **heap; /* the first to be written first */
	size_t held, cap;
	uint64_t sequence;
	uint64_t session; /* the last request's, if `within` one */
	bool within;
	int64_t order_ns, order_recorded_ns; /* its sort keys, with and without jitter; or IPF_ABSENT */
	uint64_t written_session;            /* the same of the last written request, with --k */
	bool within_written;
	struct block_hashes written; /* ids of the its requests */
	struct block_hashes parents; /* the last one's, as written */
	struct length_groups groups;
	FILE *spool;
};

/* `path` NULL or "-": standard output; a name ending in .zst is compressed. `header`, borrowed, is a trace's; NULL for
 * the format of Mooncake. */
int anonymous_trace_open(struct anonymous_trace *t, const char *path, json_t *header, struct ipf_error *err);
int anonymous_trace_put(struct anonymous_trace *t, const struct anonymous_request *request, struct ipf_error *err);
int anonymous_trace_close(struct anonymous_trace *t, struct ipf_error *err);
void anonymous_trace_release(struct anonymous_trace *t);

#endif
