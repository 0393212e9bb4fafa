#include "stream/metric.h"

#include <string.h>

#define METRIC(name_, due_)                                                                                            \
	{                                                                                                                  \
		.name = #name_, .offset = offsetof(struct result, name_##_ns), .from_due = due_                                \
	}
#define SERVER(name_)                                                                                                  \
	{                                                                                                                  \
		.name = "server_" #name_, .offset = offsetof(struct result, server_##name_##_ns), .server = true               \
	}
const struct metric_spec metrics[METRIC_COUNT] = {
	[METRIC_TTFB] = METRIC(ttfb, true),
	[METRIC_TTFT] = METRIC(ttft, true),
	[METRIC_TTFA] = METRIC(ttfa, true),
	[METRIC_TTST] = METRIC(ttst, false),
	[METRIC_E2E] = METRIC(e2e, true),
	[METRIC_STREAM] = METRIC(stream, true),
	[METRIC_TPOT] = METRIC(tpot, false),
	[METRIC_TPOT_CORRECTED] = METRIC(tpot_corrected, false),
	[METRIC_NTPOT] = METRIC(ntpot, false),
	[METRIC_PER_INPUT] = METRIC(per_input, false),
	[METRIC_RTF] = METRIC(rtf, false),
	[METRIC_ITL_MEAN] = METRIC(itl_mean, false),
	[METRIC_ITL_MAX] = METRIC(itl_max, false),
	[METRIC_ATTEMPT_TTFT] = METRIC(attempt_ttft, false),
	[METRIC_ATTEMPT_E2E] = METRIC(attempt_e2e, false),
	[METRIC_SERVER_LOAD] = SERVER(load),
	[METRIC_SERVER_QUEUE] = SERVER(queue),
	[METRIC_SERVER_PREFILL] = SERVER(prefill),
	[METRIC_SERVER_TTFT] = SERVER(ttft),
	[METRIC_SERVER_DECODE] = SERVER(decode),
	[METRIC_SERVER_TPOT] = SERVER(tpot),
	[METRIC_SERVER_INFERENCE] = SERVER(inference),
	[METRIC_SERVER_TOTAL] = SERVER(total),
	[METRIC_SERVER_PREFILL_QUEUE] = SERVER(prefill_queue),
	[METRIC_SERVER_KV_TRANSFER] = SERVER(kv_transfer),
	[METRIC_SERVER_DECODE_QUEUE] = SERVER(decode_queue),
	[METRIC_LAG] = METRIC(lag, false),
	[METRIC_CLIENT_LAG] = METRIC(client_lag, false),
	[METRIC_SLOT_WAIT] = METRIC(slot_wait, false),
};

enum metric metric_find(const char *name, size_t len)
{
	enum metric m = 0;
	while (m < METRIC_COUNT &&
	       (metrics[m].server || strlen(metrics[m].name) != len || memcmp(metrics[m].name, name, len) != 0))
		m++;
	return m;
}
