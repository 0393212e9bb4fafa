/* --cache: the declared state of the server's prefix cache when the run begins, and before stages with cache=cold.
 *
 *     struct cache_state *s;
 *     if (cache_state_prepare(&s, &options, &err) < 0) …     // resets or fills the cache, and finds out
 *     cache_state_header(s, header);                         // before the run
 *     cache_state_reset(s, stage, now_ns, &err);             // between stages, while nothing is in flight
 *     cache_state_trailer(s, end);
 *     cache_state_free(s);
 */
#ifndef IPF_CACHE_STATE_H
#define IPF_CACHE_STATE_H

#include "cache/cache_client.h"
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
	struct cache_client_options client;
	enum cache_choice choice;
	const char *file; /* the schedule; NULL: standard input */
	const char *trace;
	const char *as_is; /* CACHE_TRY_COLD: why it cannot be cold in this run; NULL */
	bool quiet;
};

struct cache_state;

/* Prints warnings. -1: the server has no request for a reset, which CACHE_COLD needs; cache_warm and cache_reset. */
int cache_state_prepare(struct cache_state **state, const struct cache_state_options *options, struct ipf_error *err);
/* Records a reset before `stage`, at `t_ns` in run time, whatever its outcome. -1: interrupted, or out of memory. */
int cache_state_reset(struct cache_state *s, int64_t stage, int64_t t_ns, struct ipf_error *err);
/* Add members to the records (ipf-records(5)). -1: out of memory. */
int cache_state_header(const struct cache_state *s, json_t *header);
int cache_state_trailer(const struct cache_state *s, json_t *end);
void cache_state_free(struct cache_state *s); /* NULL is fine */

#endif
