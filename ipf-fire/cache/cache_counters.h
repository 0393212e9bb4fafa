/* The counters of a server's prefix cache, by its /metrics: all those of server_metrics.h, added up.
 *
 *     struct cache_counters now;
 *     cache_counters_read(body, &now);              // of a response of GET /metrics
 *     if (now.hits >= 0) … now.hits - before.hits …
 */
#ifndef IPF_CACHE_COUNTERS_H
#define IPF_CACHE_COUNTERS_H

#include "buffer.h"

/* Tokens since the server started; -1: the text has no such counter. */
struct cache_counters {
	double queries, hits;
};

void cache_counters_read(struct slice text, struct cache_counters *counters);

#endif
