#include "stream/metric.h"

#include <string.h>

#define METRIC_ROW(id_, name_, label_, remark_, flags_)                                                                \
	[METRIC_##id_] = {.name = #name_,                                                                                  \
	                  .label = label_,                                                                                 \
	                  .remark = sizeof remark_ > 1 ? (remark_) + strlen(", ") : NULL,                                  \
	                  .offset = offsetof(struct result, name_##_ns),                                                   \
	                  .from_due = (flags_)&METRIC_FROM_DUE,                                                            \
	                  .of_stream = (flags_) & (METRIC_OF_STREAM | METRIC_OF_TOKENS),                                   \
	                  .of_tokens = (flags_)&METRIC_OF_TOKENS,                                                          \
	                  .server = (flags_)&METRIC_OF_SERVER},
const struct metric_spec metrics[METRIC_COUNT] = {METRICS_OF_LATENCIES(METRIC_ROW) METRICS_OF_WAITS(METRIC_ROW)};

enum metric metric_find(const char *name, size_t len)
{
	enum metric m = 0;
	while (m < METRIC_COUNT &&
	       (metrics[m].server || strlen(metrics[m].name) != len || memcmp(metrics[m].name, name, len) != 0))
		m++;
	return m;
}
