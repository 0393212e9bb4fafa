/* Fills the server's prefix cache: sends each prompt of a schedule once to every target, with one output token, some at
 * a time, in the order of the schedule.
 *
 *     struct cache_warm_counts counts;
 *     if (cache_warm(&options, &counts, &err) < 0) …
 */
#ifndef IPF_CACHE_WARM_H
#define IPF_CACHE_WARM_H

#include "aside/aside_client.h"

struct cache_warm_options {
	struct aside_client_options client;
	const char *schedule; /* a file, which is read again */
	const char *trace;
	size_t targets;
};

struct cache_warm_counts {
	int64_t requests; /* to all targets, failed ones included */
	int64_t failed;
	int64_t left_out; /* prompts with media, and those the API cannot carry */
	int64_t took_ns;
	char why[ASIDE_WHY]; /* the first failure */
};

/* -1: interrupted, or the schedule or the trace cannot be read. */
int cache_warm(const struct cache_warm_options *options, struct cache_warm_counts *counts, struct ipf_error *err);

#endif
