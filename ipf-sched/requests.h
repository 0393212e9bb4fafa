/* What a schedule needs to know of a trace: how many requests, which of them wait for others, when they were
 * recorded. Never what is asked.
 *
 * A head is a request that waits for nobody: a request without a session, or a session's first. The requests between
 * a head and the next are its session's, in the order of the trace, and each waits for earlier ones of them.
 */
#ifndef IPF_REQUESTS_H
#define IPF_REQUESTS_H

#include "error.h"
#include "json/jdoc.h"
#include "cli/progress.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A number per request; those that were never set are absent and take no memory behind the last that was. */
struct column {
	int64_t *values;
	int64_t count, cap;
};

struct requests {
	int64_t count, heads;
	struct column head; /* the heads' requests; empty while every request is one */
	struct column at_ns, wait_ns;
	struct column
		links;      /* of a follower: where in `pool` its parents stand; absent: it waits for the request before it */
	uint32_t *pool; /* a count, then that many distances back */
	size_t pool_count, pool_cap;
	uint32_t most_parents;
	int64_t timed; /* heads with an at_ns */
	int64_t untimed_line,
		unsorted_line; /* lines of the file: the first head without an at_ns, the first that goes back; 0: none */
	char name[256];    /* of the file, for messages */
	char sha256[65];
	json_t *header, *digest; /* the trace's header; its entry for our trailer's "from" */
};

/* Reads the trace `path` once from beginning to end. A trace that was cut is good as far as it goes: the answer is 0
 * and `cut` is filled. An empty one is IPF_INPUT. Free with requests_release, also after an error. */
int requests_read(struct requests *requests, const char *path, struct progress *progress, struct ipf_error *cut,
                  struct ipf_error *err);
void requests_release(struct requests *requests);

int64_t requests_at(const struct requests *requests, int64_t req);   /* IPF_ABSENT where not recorded */
int64_t requests_wait(const struct requests *requests, int64_t req); /* likewise */
/* The request that the head is; head == heads gives count, so that the requests of head h end
 * before requests_head(h + 1). */
int64_t requests_head(const struct requests *requests, int64_t head);
/* How far back the requests stand that a follower waits for, each at least 1; *distance is good as long as `requests`.
 */
size_t requests_parents(const struct requests *requests, int64_t req, const uint32_t **distance);
/* How many requests `heads` heads from `first` on have, going round the trace. */
int64_t requests_lines(const struct requests *requests, int64_t first, int64_t heads);

#endif
