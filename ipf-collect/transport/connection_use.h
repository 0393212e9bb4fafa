/* How the requests used their connections: opened although one could have been kept, closed by the server while they
 * were idle, or before the end of a response, streams refused.
 *
 *     connection_use_begin(&u, "reuse");                  // each stream of records
 *     connection_use_add(&u, &observation, measured);     // every request, in the order in which they ended
 *     connection_use_in_flight(&u, in_flight);            // what ipf-fire's samples say
 *     connection_use_judge(&u, list);
 *
 * Memory is constant. Findings: reconnects, stale-connections, early-ends, stream-resets (ipf-results(5)).
 */
#ifndef COLLECT_CONNECTION_USE_H
#define COLLECT_CONNECTION_USE_H

#include "measure/observation.h"

#include <jansson.h>

enum { USE_SLICES = 4096, USE_CONNECTIONS = 4096 };

/* Zero-initialise. */
struct connection_use {
	bool kept; /* connections of the current stream of records are to be kept */
	int64_t requests, opened, resumed;
	int64_t timed;                       /* opened, with their times */
	double connect_ns, tls_ns, ttft_ns;  /* sums over these */
	int64_t stale, stale_timed;          /* met a closed idle connection; with the time it was idle */
	int64_t resent;                      /* the stale ones': sent again, and no failures for this */
	int64_t stale_idle_ns, kept_idle_ns; /* shortest of those; longest of a connection that still worked */
	int64_t with_streams, reset, resets;
	int64_t responses, early; /* with a status; whose connection ended early (api/early_end.h) */
	int64_t early_cut, early_reset;

	/* The most requests in flight, of the ended streams. */
	int64_t needed;
	/* For the current stream: requests beginning and ending in slices of time, and the most sampled. */
	int64_t first_ns, slice_ns, sampled;
	int32_t began[USE_SLICES], ended[USE_SLICES];
	/* When connections were last used, as far as there is room. */
	struct {
		int64_t id, end_ns;
	} last[USE_CONNECTIONS];
};

/* Begins a stream of records, whose header says which `connections` requests use (NULL: not known). */
void connection_use_begin(struct connection_use *u, const char *connections);
void connection_use_add(struct connection_use *u, const struct observation *o, bool measured);
void connection_use_in_flight(struct connection_use *u, int64_t in_flight);
/* Appends the finding; to be called once, after the last stream. False: out of memory. */
bool connection_use_judge(struct connection_use *u, json_t *list);

#endif
