/* The per-request metrics that have a distribution, in one table that reading, objectives (--slo), tables and every
 * output format use. */
#ifndef IPF_METRIC_H
#define IPF_METRIC_H

#include "stream/result.h"

enum metric {
	METRIC_TTFB,
	METRIC_TTFT,
	METRIC_TTFA,
	METRIC_TTST,
	METRIC_E2E,
	METRIC_STREAM,
	METRIC_TPOT,
	METRIC_TPOT_CORRECTED,
	METRIC_NTPOT,
	METRIC_PER_INPUT,
	METRIC_RTF,
	METRIC_ITL_MEAN,
	METRIC_ITL_MAX,
	METRIC_ATTEMPT_TTFT, /* with ipf-fire --retry */
	METRIC_ATTEMPT_E2E,
	METRIC_SERVER_LOAD, /* the first of those that the server reports */
	METRIC_SERVER_QUEUE,
	METRIC_SERVER_PREFILL,
	METRIC_SERVER_TTFT,
	METRIC_SERVER_DECODE,
	METRIC_SERVER_TPOT,
	METRIC_SERVER_INFERENCE,
	METRIC_SERVER_TOTAL,
	METRIC_SERVER_PREFILL_QUEUE,
	METRIC_SERVER_KV_TRANSFER,
	METRIC_SERVER_DECODE_QUEUE,
	METRIC_LATENCIES, /* the number of latencies, which only answers have; the metrics below exist for failures too */
	METRIC_LAG = METRIC_LATENCIES,
	METRIC_CLIENT_LAG,
	METRIC_SLOT_WAIT,
	METRIC_COUNT,
};

struct metric_spec {
	const char *name; /* "ttft": in --slo and, followed by _ms, in JSON and CSV */
	size_t offset;    /* of the int64_t nanoseconds in struct result */
	bool from_due;    /* counts from the start of the request: a second version counts from its due time */
	bool server;      /* what the server says of itself: never an objective */
};

extern const struct metric_spec metrics[METRIC_COUNT];

static inline int64_t metric_of_result(const struct result *result, enum metric m)
{
	return *(const int64_t *)((const char *)result + metrics[m].offset);
}

/* The metric of this name that an objective may limit; METRIC_COUNT: there is none. */
enum metric metric_find(const char *name, size_t len);

#endif
