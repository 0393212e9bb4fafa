/* Clients that hang up on purpose: which requests, and how long after their start.
 *
 * "5%@2s" is a share of the requests and a time. Several are shares of the same whole: a request is of one of them at
 * most. Which one follows from the schedule's seed and the request's number, so that a run that is repeated loses the
 * same clients.
 */
#ifndef IPF_CANCEL_H
#define IPF_CANCEL_H

#include "error.h"
#include "cli/options.h"

#include <jansson.h>

#define CANCELS_MOST 16

struct cancels {
	struct cancel {
		double below; /* the request's number in [0, 1) is */
		int64_t after_ns;
	} list[CANCELS_MOST];
	size_t count;
	uint64_t seed;
};

/* `schedule` is the schedule's header (borrowed), whose seed counts; NULL: none. -1: IPF_USAGE. */
int cancels_open(struct cancels *c, const struct string_list *texts, json_t *schedule, struct ipf_error *err);
/* Which of the list request n is of; -1: of none. */
int cancels_find(const struct cancels *c, int64_t n);

#endif
