/* Figures that another tool states of a run whose requests it does not show: its percentiles, means, rates and counts,
 * as they are in its file. Nothing is computed from them; the report shows them where it has no rows to compute from,
 * and says whose they are.
 *
 *     struct stated *stated = stated_new();
 *     struct stated_stage *stage = stated_stage_of(stated, 0);
 *     stage->ok = 100;
 *     stated_percentile(&stage->start[METRIC_TTFT], 99, 41.5);    // ms
 *     run->stated = stated;                                       // freed with the run
 *
 * A value the file does not have is NAN or IPF_ABSENT. Times are in milliseconds, rates per second, as in figures.h.
 */
#ifndef IPF_STATED_H
#define IPF_STATED_H

#include "stream/metric.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { STATED_PERCENTILES = 24, STATED_STAGES_MOST = 1000 };

/* A distribution; `has` is false if nothing of it is known. */
struct stated_summary {
	bool has;
	int64_t n; /* IPF_ABSENT: the tool does not say how many values it is of */
	double mean, std, min, max;
	double p[STATED_PERCENTILES], value[STATED_PERCENTILES];
	int count; /* percentiles, increasing */
};

struct stated_stage {
	int64_t ok, failed;
	double window_s, offered, completed, input_per_s, output_per_s, total_per_s, in_flight_mean, in_flight_max;
	double input_total, output_total;
	struct stated_summary start[METRIC_COUNT], due_e2e, itl, input, output;
};

struct stated {
	struct stated_stage *stages; /* the first `count` stages of the schedule */
	size_t count;
	bool requests; /* the run has rows too: only figures that these do not show are taken from here */
};

struct stated *stated_new(void);         /* NULL: out of memory */
void stated_free(struct stated *stated); /* NULL is fine */
/* Nothing is known yet. */
void stated_stage_init(struct stated_stage *stage);
/* The figures of a stage by its number; those before it exist from then on too. NULL: out of memory. Valid until the
 * next call. */
struct stated_stage *stated_stage_of(struct stated *stated, size_t number);
/* Is any figure known? */
bool stated_any(const struct stated *stated);
/* Ignores a percentile outside 0 … 100, one that is there already, and those beyond STATED_PERCENTILES. */
void stated_percentile(struct stated_summary *s, double p, double value);

#endif
