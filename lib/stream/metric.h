/* The metrics of a request (metric_rows.h) as a table that reading, objectives (--slo), tables and every output format
 * use. */
#ifndef IPF_METRIC_H
#define IPF_METRIC_H

#include "stream/result.h"

#define METRIC_CONSTANT(id_, name_, label_, remark_, flags_) METRIC_##id_,
enum metric {
	METRICS_OF_LATENCIES(METRIC_CONSTANT) METRICS_OF_WAITS(METRIC_CONSTANT) METRIC_COUNT,
};
/* The number of latencies, which only answers have. */
#define METRIC_LATENCIES METRIC_LAG

struct metric_spec {
	const char *name;                            /* "ttft": in --slo and, followed by _ms, in JSON and CSV */
	const char *label;                           /* "TTFT" */
	const char *remark;                          /* "last attempt"; NULL: none */
	size_t offset;                               /* the int64_t nanoseconds' in struct result */
	bool from_due, of_stream, of_tokens, server; /* METRIC_… of metric_rows.h */
};

extern const struct metric_spec metrics[METRIC_COUNT];

static inline int64_t metric_of_result(const struct result *result, enum metric m)
{
	return *(const int64_t *)((const char *)result + metrics[m].offset);
}

/* The metric of this name an objective may limit; METRIC_COUNT: there is none. */
enum metric metric_find(const char *name, size_t len);

#endif
