/* The model servers' names of their metrics, as data: the common names of ipf-results(5), and the table leading to
 * them.
 *
 * The values of all series of a metric are added, whatever their labels (engines, models, adapters), or averaged if the
 * common name is a share. prometheus_client of several processes exports a gauge once per process, with the label
 * "pid", and 0 for each process without it. Numbers of requests add up over the processes; of shares and settings,
 * which every process reports for its whole engine, the greatest value counts. If a server has several metrics for one
 * common name, those of the lowest rank present count: vLLM 0.9 has the old and the new name of the same counter.
 */
#ifndef IPF_SERVER_METRICS_H
#define IPF_SERVER_METRICS_H

#include "buffer.h"

#include <stdbool.h>
#include <stddef.h>

/* in the order in which a sample has them */
enum common_name {
	COMMON_RUNNING,
	COMMON_WAITING,
	COMMON_SWAPPED,
	COMMON_KV_CACHE_USAGE,
	COMMON_CACHE_BLOCK_TOKENS,
	COMMON_BATCH_SIZE,
	COMMON_BATCH_SLOTS,
	COMMON_LORA_RUNNING,
	COMMON_LORA_WAITING,
	COMMON_REPLICAS_READY,
	COMMON_REPLICAS_DESIRED,
	COMMON_REQUESTS_OK,
	COMMON_REQUESTS_FAILED,
	COMMON_PREEMPTIONS,
	COMMON_INPUT_TOKENS,
	COMMON_OUTPUT_TOKENS,
	COMMON_CACHE_QUERY_TOKENS,
	COMMON_CACHE_HIT_TOKENS,
	COMMON_CACHE_HIT_TOKENS_DEVICE,
	COMMON_CACHE_HIT_TOKENS_HOST,
	COMMON_CACHE_HIT_TOKENS_DISK,
	COMMON_CACHE_HIT_TOKENS_REMOTE,
	COMMON_SPEC_DRAFTS,
	COMMON_SPEC_DRAFT_TOKENS,
	COMMON_SPEC_ACCEPTED_TOKENS,
	COMMON_SPEC_ACCEPTED_1, /* drafts whose first token was accepted, … */
	COMMON_SPEC_ACCEPTED_2,
	COMMON_SPEC_ACCEPTED_3,
	COMMON_SPEC_ACCEPTED_4,
	COMMON_SPEC_ACCEPTED_5,
	COMMON_SPEC_ACCEPTED_6,
	COMMON_SPEC_ACCEPTED_7,
	COMMON_SPEC_ACCEPTED_8, /* … whose eighth was: of longer drafts, the others are not kept */
	COMMON_TTFT_NS,
	COMMON_ITL_NS,
	COMMON_TPOT_NS,
	COMMON_E2E_NS,
	COMMON_QUEUE_NS,
	COMMON_PREFILL_NS,
	COMMON_DECODE_NS,
	COMMON_INFERENCE_NS,
	COMMON_REQUEST_INPUT_TOKENS,
	COMMON_REQUEST_OUTPUT_TOKENS,
	COMMON_METRICS
};

enum metric_kind { METRIC_GAUGE, METRIC_COUNTER, METRIC_HISTOGRAM };

struct common_metric {
	const char *name;
	enum metric_kind kind;
	bool averaged; /* a share, or a setting: several series are averaged */
	bool greatest; /* if series differ in the label "pid" only, the greatest counts */
};

extern const struct common_metric common_metrics[COMMON_METRICS];

/* The part of a metric to read. */
enum metric_part {
	PART_ALL,   /* its value; of a histogram, its buckets, sum and count */
	PART_SUM,   /* a counter with the sum of a common histogram */
	PART_COUNT, /* a counter with its count */
	PART_LABEL, /* the number in the label; the value means nothing */
	PART_NAMES, /* a gauge whose value is a time: of the latest series, the number of names in the label */
};

struct server_metric {
	const char *server; /* "vllm" */
	struct slice name;  /* without _bucket, _sum, _count; a counter with or without _total */
	enum common_name common;
	double scale; /* the value's: 1e9 for seconds; a share of percent is 0.01 */
	const char *label,
		*value; /* only series with this label; NULL: all. PART_LABEL, PART_NAMES: label is the counted one */
	int rank;
	enum metric_part part;
};

extern const struct server_metric server_metrics[];
extern const size_t server_metrics_count;

#endif
