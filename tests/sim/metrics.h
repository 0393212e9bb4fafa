/* What /metrics shows, in the names and with the buckets of vLLM. */
#ifndef SIM_METRICS_H
#define SIM_METRICS_H

#include "buffer.h"
#include "engine.h"

#define METRICS_MOST_BOUNDS 24

struct metric {
	int64_t counts[METRICS_MOST_BOUNDS + 1]; /* the last is beyond every bound */
	int64_t count;
	double sum;
};

enum metrics_finish { FINISH_LENGTH, FINISH_STOP, FINISH_ABORT, FINISH_COUNT };

struct metrics {
	struct metric ttft, itl, tpot, e2e, queue, prefill, decode, inference; /* seconds */
	struct metric prompt, generation;                                      /* tokens */
	int64_t finished[FINISH_COUNT];
};

/* Adds a value (seconds or tokens) to one of the metrics' histograms. */
void metrics_add(struct metrics *metrics, struct metric *metric, double value);

/* The Prometheus text. */
void metrics_write(const struct metrics *metrics, const struct engine_counts *counts, const char *model,
                   struct buffer *out);

#endif
