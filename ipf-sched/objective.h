/* What a stage has to meet to count as good: a percentile of a latency, as `ttft=500ms@p99` says it.
 *
 *     struct objectives o = {0};
 *     objectives_parse("ttft=500ms@p99,tpot=50ms@p90", &o, &err);
 *
 * At least 99 of 100 requests then have to have their first token within 500 ms. A request that failed meets nothing;
 * one that has no such figure (the TPOT of a single token) meets it. Latencies that begin with a request count from
 * when it was due, where it was due at any time: that is what a user waits.
 */
#ifndef IPF_OBJECTIVE_H
#define IPF_OBJECTIVE_H

#include "error.h"
#include "stream/result.h"

enum latency { LATENCY_TTFT, LATENCY_TTFA, LATENCY_E2E, LATENCY_TPOT, LATENCY_NTPOT, LATENCY_ITL, LATENCY_COUNT };

struct objective {
	enum latency latency;
	int64_t limit_ns;
	double share; /* of the requests that have to meet it */
	char text[48];
};

struct objectives {
	struct objective list[LATENCY_COUNT * 2];
	int count;
};

/* Does a list of objectives go on behind this comma? (`low=1` is none.) */
bool objective_begins(const char *text);
int objectives_parse(const char *text, struct objectives *objectives, struct ipf_error *err);

/* The request's figure; IPF_ABSENT. */
int64_t latency_of(const struct result *result, enum latency latency);

#endif
