/* One server's state in the names, labels, buckets and units of several: their /metrics after the same work.
 *
 * The names of vLLM are those of its vllm/v1/metrics/loggers.py (2026), of SGLang
 * python/sglang/srt/metrics/collector.py, of JetStream jetstream/core/metrics/prometheus.py. Those of TGI, llama.cpp
 * and Triton follow their documentation, TGI's bucket bounds and most help texts are guesses.
 */
#ifndef SIM_METRICS_STYLES_H
#define SIM_METRICS_STYLES_H

#include "batching/batching.h"
#include "metrics.h"

struct metrics_view {
	const struct metrics *metrics;
	struct batching_counts counts;
	struct batching_step step; /* in progress, or the last */
	bool stepping;
	const char *model;
	int64_t replicas;             /* that are ready: data parallel engines */
	int64_t max_batch, kv_blocks; /* all engines together */
	double begin_unix_s, now_unix_s;
	/* LoRA adapters: how many there may be, and the names in use, joined by commas. */
	int64_t adapters;
	bool tiers;          /* there are some below the device */
	int64_t spec_tokens; /* drafted in each step; 0: no speculative decoding */
	const char *running_adapters, *waiting_adapters;
};

struct metrics_style {
	const char *path; /* its metrics': "/sglang/metrics" */
	void (*write)(const struct metrics_view *view, struct buffer *out);
};

extern const struct metrics_style metrics_styles[]; /* the last one has no path */

void metrics_write_vllm(const struct metrics_view *view, struct buffer *out);

#endif
