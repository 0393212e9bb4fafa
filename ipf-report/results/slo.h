/* Objectives (SLO): limits for the latencies of a request, or for a percentile over all requests.
 *
 *     ttft=500ms,tpot=50ms        a request that meets both is good; the goodput counts good requests
 *     p99:e2e=10s                 the 99th percentile must be within the limit
 *
 * A latency that counts from the start is compared from the due time if there is one: that is what a user waits. An
 * objective on a figure that an answer cannot have (the TPOT of one token) is met; one on a figure that exists only in
 * a streamed answer (TTFT, ITL) cannot be measured if the answer was not streamed.
 */
#ifndef REPORT_SLO_H
#define REPORT_SLO_H

#include "error.h"
#include "json/jdoc.h"
#include "stream/metric.h"

enum { OBJECTIVES_MOST = 16 };

struct objective {
	enum metric metric;
	int64_t limit_ns;
	double percentile; /* NAN: the limit applies to each request */
	char text[48];     /* as it was given */
};

struct slo {
	struct objective list[OBJECTIVES_MOST];
	int count;
	bool per_request; /* at least one applies to each request */
};

/* Adds the objectives of `text`, separated by commas. IPF_USAGE. */
int slo_parse(struct slo *slo, const char *text, struct ipf_error *err);

enum slo_answer {
	SLO_NONE,
	SLO_GOOD,
	SLO_MISSED,
	SLO_LEFT_OUT,   /* ipf-fire disconnected on purpose: the rest of the answer is unknown */
	SLO_UNMEASURED, /* it misses no objective, but was not streamed, so that one cannot be measured */
};

/* Bit i stands for objective i of `slo`. */
struct slo_marks {
	uint32_t met;        /* the request meets it, or it does not apply */
	uint32_t unmeasured; /* it cannot be measured */
};

/* Compares a request with `slo` and with its own objectives (result->slo: {"ttft_ms": 500} or {"ttft": "500ms"}), which
 * replace those of `slo` on the same metric. Returns an enum slo_answer. -1: its own objectives are invalid. */
int slo_judge(const struct slo *slo, const struct result *result, struct jdoc *doc, struct slo_marks *marks,
              struct ipf_error *err);

#endif
