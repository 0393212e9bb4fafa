/* Simulated client disconnects (--cancel): which requests to abort, and how long after their start. Requests whose
 * recorded client disconnected (ipf-trace(5), hang_up_ns) are aborted as it did, unless "none" is given.
 *
 * "5%@2s" is a share of the requests and a time. Several of them are disjoint shares of all requests: each request is
 * in at most one of them. The schedule's seed and the request's number decide which one, so a repeated run aborts the
 * same requests.
 */
#ifndef IPF_CANCEL_H
#define IPF_CANCEL_H

#include "error.h"

#include <jansson.h>
#include <stdbool.h>

#define CANCELS_MOST 16

struct cancels {
	struct cancel {
		const char *text; /* as the user gave it */
		double below;     /* for requests whose random number in [0, 1) is below this, and not below an earlier one */
		int64_t after_ns;
	} list[CANCELS_MOST];
	size_t count;
	bool no_recorded; /* "none" was given */
	uint64_t seed;
	int64_t exempt_from_n; /* requests with this number or above are never aborted */
};

/* Adds a share and a time, "5%@2s", which is borrowed; or "none". -1: IPF_USAGE. */
int cancels_add(struct cancels *c, const char *text, struct ipf_error *err);
/* `schedule` is the schedule's header (borrowed), for its seed; NULL: no schedule. Once all have been added. */
void cancels_seed(struct cancels *c, json_t *schedule, int64_t exempt_from_n);
/* The index in the list applying to request n; -1: the request is not aborted. */
int cancels_find(const struct cancels *c, int64_t n);

#endif
