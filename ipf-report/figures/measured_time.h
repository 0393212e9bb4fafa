/* The time of windows of stages. Windows overlap with --window drain, after a stage without a planned end, and if the
 * shards of a run ended a stage apart; the total counts each moment once.
 *
 *     struct measured_time t;
 *     measured_time_find(&t, &run, part, -1, drain, &err);       // -1: of all measured stages
 *     for (size_t i = 0; i < t.count; i++) … t.spans[i].begin_ns …
 *     seconds = measured_time_ns(&t, INT64_MIN, INT64_MAX) / 1e9;
 *     measured_time_release(&t);
 */
#ifndef REPORT_MEASURED_TIME_H
#define REPORT_MEASURED_TIME_H

#include "results/run_data.h"

/* From begin_ns to before end_ns. */
struct time_span {
	int64_t begin_ns, end_ns;
};

/* Brings them into order, and joins those overlapping or touch. Returns how many are left. */
size_t time_spans_join(struct time_span *spans, size_t count);

struct measured_time {
	struct time_span *spans; /* in order; neither overlapping nor adjacent */
	size_t count;
};

/* The window of a stage, or those of all measured stages (-1), as the requests of a part count in them; with `drain`
 * until the last request of each stage has ended. Fails only when memory runs out. */
int measured_time_find(struct measured_time *t, const struct run_data *run, int part, int32_t stage, bool drain,
                       struct ipf_error *err);
/* Its length within a range of time. */
int64_t measured_time_ns(const struct measured_time *t, int64_t from_ns, int64_t to_ns);
void measured_time_release(struct measured_time *t);

#endif
