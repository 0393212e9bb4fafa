/* A schedule's view of a trace: how many requests it has, which of them wait for others, and when they were recorded.
 * Prompts are not read.
 *
 * A head is a request waiting for no other: a request without a session, or the first of a session. The requests
 * between a head and the next one are its followers: later requests of its session, in the order of the trace, each of
 * which waits for earlier ones of the session.
 */
#ifndef IPF_TRACE_INDEX_H
#define IPF_TRACE_INDEX_H

#include "cli/progress.h"
#include "error.h"
#include "json/jdoc.h"
#include "stream/schedule.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A number for each request. Those never set are absent; behind the last set one they take no memory. */
struct column {
	int64_t *values;
	int64_t count, cap;
};

struct trace_index {
	int64_t count, heads;
	struct column head; /* the request each head is; empty as long as every request is a head */
	struct column at_ns, wait_ns;
	struct column
		links;      /* a follower's: the index of its parents in `pool`; absent: it waits for the request before it */
	uint32_t *pool; /* for each list of parents: their number, then the distance back to each */
	size_t pool_count, pool_cap;
	uint32_t most_parents;
	struct column checked;               /* the heads whose answers are checked (stream/request_check.h), in order */
	int64_t timed;                       /* heads with an at_ns */
	int64_t untimed_line, unsorted_line; /* the first line whose head has no at_ns, or an earlier one; 0: none */
	char name[256];                      /* the file's, for messages */
	char sha256[65];
	json_t *header;              /* the trace's */
	int64_t repeats;             /* requests with the prompt of an earlier one, by the trailer */
	struct schedule_reuse reuse; /* by the trailer */
	json_t *digest;              /* its entry for the "from" of the schedule's trailer */
};

/* Reads the trace `path` once, from beginning to end. A trace cut is indexed as far as it goes: the return value is 0
 * and `cut` is set. A trace without requests is IPF_INPUT. Release it with trace_index_release, also after an error. */
int trace_index_read(struct trace_index *trace, const char *path, struct progress *progress, struct ipf_error *cut,
                     struct ipf_error *err);
void trace_index_release(struct trace_index *trace);

int64_t trace_index_at(const struct trace_index *trace, int64_t req);   /* IPF_ABSENT if not recorded */
int64_t trace_index_wait(const struct trace_index *trace, int64_t req); /* IPF_ABSENT if not recorded */
/* The request the head is. head == heads gives count, so the requests of head h end before trace_index_head(h + 1). */
int64_t trace_index_head(const struct trace_index *trace, int64_t head);
/* The parents of a follower, as distances back, each at least 1; their number is returned. *distance is valid as long
 * as `trace`. */
size_t trace_index_parents(const struct trace_index *trace, int64_t req, const uint32_t **distance);
/* How many requests `heads` heads have, from head `first` on, starting again at the end of the trace. */
int64_t trace_index_lines(const struct trace_index *trace, int64_t first, int64_t heads);

#endif
