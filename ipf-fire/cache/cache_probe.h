/* Is a prompt in the server's prefix cache? A random prompt of its own, which no trace has, is sent again and again.
 *
 *     struct cache_probe *p;
 *     if (cache_probe_new(&p, client, target, &err) < 0) …
 *     cache_probe_send(p, &seen, &err);          // the first time: not in the cache
 *     cache_probe_send(p, &seen, &err);          // now it should be: seen.usage or seen.counters tokens of it
 *     cache_probe_free(p);
 */
#ifndef IPF_CACHE_PROBE_H
#define IPF_CACHE_PROBE_H

#include "aside/aside_client.h"

/* Cached tokens of one sending; IPF_ABSENT: unknown. */
struct cache_sight {
	int64_t prompt_tokens; /* by usage */
	int64_t usage;         /* by the usage of the response */
	int64_t counters;      /* by the growth of the server's counters */
	char why[ASIDE_WHY];   /* why there is nothing at all; "" */
};

struct cache_probe;

/* -1: out of memory. */
int cache_probe_new(struct cache_probe **probe, struct aside_client *client, size_t target, struct ipf_error *err);
void cache_probe_free(struct cache_probe *p); /* NULL is fine */
/* -1: as for aside_client_call. */
int cache_probe_send(struct cache_probe *p, struct cache_sight *sight, struct ipf_error *err);

#endif
