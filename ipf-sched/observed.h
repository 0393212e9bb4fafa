/* What earlier runs saw: the stages of results files (ipf-results(5)) with their requests, for a sweep or a search that
 * goes on from there.
 *
 *     struct observed seen = {0};
 *     if (observed_read(&seen, "run1.results.zst", &err) < 0) …
 *     seen.stages[0].rows[0].ok …
 *     observed_release(&seen);
 */
#ifndef IPF_OBSERVED_H
#define IPF_OBSERVED_H

#include "objective.h"

#include <jansson.h>

struct observed_row {
	int64_t start_ns, end_ns;
	int64_t latency_ns[LATENCY_COUNT]; /* from due where there is one; IPF_ABSENT */
	bool ok;
};

struct observed_stage {
	char *file, *kind, *name;
	double rate;       /* planned arrivals a second; NAN */
	int64_t users;     /* of a closed stage; IPF_ABSENT */
	int64_t length_ns; /* as planned; IPF_ABSENT */
	bool measured;
	char *incomplete;          /* why some of its run is missing; NULL */
	struct observed_row *rows; /* in the order in which the requests ended */
	size_t count, cap;
	size_t late, too_late; /* so many of them were started late, and only the client was at fault; so late that it
	                          spoils a measurement */
};

struct observed {
	struct observed_stage *stages;
	size_t count;
	int64_t next_req; /* behind the request that was last in the last file's schedule; 0 before */
	json_t *headers;  /* of the files: for our header's "from" … */
	json_t *digests;  /* … and our trailer's */
};

/* Adds the stages of one more file. One that was cut, or is a single shard's, is IPF_INPUT: half a stage says nothing.
 * Release it also after an error. */
int observed_read(struct observed *seen, const char *path, struct ipf_error *err);
/* Was the client late itself, so that a report's verdict is DOUBTFUL? What the stage tells is not the server's alone
 * then. */
bool observed_client_late(const struct observed_stage *stage);
/* So late that the verdict is INVALID? */
bool observed_client_failed(const struct observed_stage *stage);
void observed_release(struct observed *seen);

#endif
