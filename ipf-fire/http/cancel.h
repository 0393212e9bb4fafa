/* Simulated client disconnects (--cancel): which requests to abort, and how long after their start.
 *
 * "5%@2s" is a share of the requests and a time. Several of them are disjoint shares of all requests: each request is
 * in at most one of them. The schedule's seed and the request's number decide which one, so that a repeated run aborts
 * the same requests.
 */
#ifndef IPF_CANCEL_H
#define IPF_CANCEL_H

#include "cli/options.h"
#include "error.h"

#include <jansson.h>

#define CANCELS_MOST 16

struct cancels {
	struct cancel {
		double
			below; /* applies to requests whose random number in [0, 1) is below this, and not below an earlier one */
		int64_t after_ns;
	} list[CANCELS_MOST];
	size_t count;
	uint64_t seed;
	int64_t exempt_from_n; /* requests with this number or above are never aborted */
};

/* `schedule` is the schedule's header (borrowed), for its seed; NULL: no schedule. -1: IPF_USAGE. */
int cancels_open(struct cancels *c, const struct string_list *texts, json_t *schedule, int64_t exempt_from_n,
                 struct ipf_error *err);
/* The index in the list that applies to request n; -1: the request is not aborted. */
int cancels_find(const struct cancels *c, int64_t n);

#endif
