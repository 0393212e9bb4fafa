/* --cache: the declared state of the server's prefix cache when the run begins, and before stages with cache=cold.
 *
 *     struct cache_state *s;
 *     if (cache_state_prepare(&s, &options, &err) < 0) …     // resets or fills the cache, and finds out
 *     cache_state_header(s, header);                         // before the run
 *     cache_state_reset(s, &moment, &err);                   // between stages, while nothing is in flight
 *     cache_state_trailer(s, end);
 *     cache_state_free(s);
 */
#ifndef IPF_CACHE_STATE_H
#define IPF_CACHE_STATE_H

#include "aside/aside_client.h"
#include "stream/schedule.h"

enum cache_choice {
	CACHE_COLD,
	CACHE_TRY_COLD, /* cold if the server can, and it can be verified; else as it is */
	CACHE_WARM,
	CACHE_AS_IS,
	CACHE_CHOICES /* not given: as it is, undeclared */
};
/* For messages and the records; the choices end with NULL. */
extern const char *const cache_choice_names[CACHE_CHOICES + 1];

struct cache_state_options {
	struct aside_client_options client;
	enum cache_choice choice;
	const char *file; /* the schedule; NULL: standard input */
	const char *trace;
	const struct schedule *schedule;
	const char *as_is; /* CACHE_TRY_COLD: why it cannot be cold in this run; NULL */
	bool quiet;
};

/* Is there anything to do before or in the run? */
bool cache_state_needed(enum cache_choice choice, const struct schedule *schedule);

struct cache_state;

/* Prints warnings. -1: the server has no request for a reset, which CACHE_COLD needs; cache_warm and cache_reset. */
int cache_state_prepare(struct cache_state **state, const struct cache_state_options *options, struct ipf_error *err);
/* A reset before a stage of the run. */
struct cache_state_moment {
	int64_t stage, t_ns; /* in run time */
	int stop_fd;         /* readable: the run has ended */
};
/* Resets the cache, prints a warning and remembers the outcome for the trailer, whatever it is. -1: interrupted, or out
 * of memory. */
int cache_state_reset(struct cache_state *s, const struct cache_state_moment *moment, struct ipf_error *err);
/* Add members to the records (ipf-records(5)). -1: out of memory. */
int cache_state_header(const struct cache_state *s, json_t *header);
int cache_state_trailer(const struct cache_state *s, json_t *end);
void cache_state_free(struct cache_state *s); /* NULL is fine */

#endif
