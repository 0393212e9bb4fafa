/* The members ipf-fire adds to the header and the trailer of its records (run/records_header.h). */
#ifndef IPF_FIRE_HEADER_H
#define IPF_FIRE_HEADER_H

#include "body/history.h"
#include "cache/cache_state.h"
#include "endpoint/endpoint.h"
#include "endpoint/session_tokens.h"
#include "run/continuation.h"
#include "run/records_header.h"
#include "run/settings.h"

/* All borrowed. */
struct fire_header {
	const struct fire_options *options;
	const struct endpoint *endpoint;
	const struct network_path *path;
	json_t *params;
	const char *run_id; /* for ids for distributed tracing; "": none are sent */
	const struct continuation *continuation;
	const struct cache_state *cache;
	int64_t wall_ns; /* the run's start on the wall clock */
};
/* Adds the targets, the way to them, the requests, and the continued run. -1: out of memory. */
int fire_header_add(json_t *header, const struct fire_header *about);
/* `client`: the figures about the program over the whole run, taken over; NULL: unknown. `history`, `tokens`: NULL:
 * none. */
void fire_trailer_add(json_t *end, json_t *client, const struct cache_state *cache, const struct history *history,
                      struct session_tokens *tokens);

#endif
