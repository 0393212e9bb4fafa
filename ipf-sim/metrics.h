/* The server's counts and measurements, for its own metrics and in the manner of others (metrics_styles.h).
 *
 * Every server has its own buckets. A value is kept by the union of all of them, so each histogram is exact in each
 * style.
 *
 *     metrics_init(&metrics, 131072);
 *     metrics_add(&metrics, &metrics.ttft, 0.012);
 */
#ifndef SIM_METRICS_H
#define SIM_METRICS_H

#include "buffer.h"

#include <stdint.h>

#define METRICS_MOST_BOUNDS 320

struct metric {
	int64_t counts[METRICS_MOST_BOUNDS + 1]; /* the last is beyond every bound */
	int64_t count;
	double sum;
};

enum metrics_finish { FINISH_LENGTH, FINISH_STOP, FINISH_ABORT, FINISH_COUNT };

/* The bounds of a style's histograms; those before BOUNDS_TOKENS are in seconds, the others in tokens (or counts). */
enum metrics_bounds {
	BOUNDS_VLLM_TTFT,
	BOUNDS_VLLM_TOKEN,
	BOUNDS_VLLM_REQUEST,
	BOUNDS_SGLANG_TTFT,
	BOUNDS_SGLANG_TOKEN,
	BOUNDS_SGLANG_REQUEST,
	BOUNDS_SGLANG_QUEUE,
	BOUNDS_TGI_DURATION,
	BOUNDS_TRITON_FIRST,
	BOUNDS_JETSTREAM_TTFT,
	BOUNDS_JETSTREAM_TOKEN,
	BOUNDS_JETSTREAM_REQUEST,
	BOUNDS_JETSTREAM_QUEUE,
	BOUNDS_TOKENS,
	BOUNDS_VLLM_LENGTH = BOUNDS_TOKENS,
	BOUNDS_VLLM_ITERATION,
	BOUNDS_VLLM_N,
	BOUNDS_TGI_LENGTH,
	BOUNDS_JETSTREAM_INPUT,
	BOUNDS_JETSTREAM_OUTPUT,
	BOUNDS_COUNT
};

struct bounds {
	double at[METRICS_MOST_BOUNDS]; /* ascending */
	int count;
};

struct metrics {
	/* Over ended requests, in seconds; ttft and itl over all. itl: between steps that made tokens; itl_each: of each
	 * token, an equal part of that. tpot: of those of two tokens and more. */
	struct metric ttft, itl, itl_each, tpot, e2e, queue, prefill, decode, inference;
	/* Over ended requests, in tokens; iteration: over each step that made any. */
	struct metric prompt, generation, max_tokens, iteration, n;
	int64_t finished[FINISH_COUNT];
	int64_t arrived;                       /* requests that entered the engine */
	int64_t cached_tokens, cached_from[3]; /* ended requests'; by the engine's tiers */
	struct bounds sets[BOUNDS_COUNT], seconds, tokens;
};

void metrics_init(struct metrics *metrics, int64_t max_model_len);

/* Adds a value (seconds or tokens) to one of the metrics' histograms. */
void metrics_add(struct metrics *metrics, struct metric *metric, double value);

/* A histogram's lines in these buckets. `labels` without braces, "" for none. */
void metrics_write_histogram(struct buffer *out, const struct metrics *metrics, const struct metric *metric,
                             enum metrics_bounds bounds, const char *name, const char *labels);

#endif
