/* What a BenchmarkSchedule asks for now: a pure function of the schedule, its Benchmarks and the time.
 *
 *     struct schedule_plan plan;
 *     if (schedule_plan_make(schedule, benchmarks, now_s, &plan, &err) < 0)     // its schedule or interval is wrong
 *     if (plan.due_s > 0) …                                                     // make the run that was due then
 *     … plan.last_good, plan.surplus …
 *     schedule_plan_release(&plan);
 *
 * Of several times that have passed, only the last one is due: runs are not made up for. Its Benchmark has the name of
 * the schedule and the minute, so that it is made once, whoever tries to. A run that is good has the verdict OK or
 * DOUBTFUL and no regression; the last good one is kept whatever the limits of the history are.
 */
#ifndef IPF_OPERATOR_SCHEDULE_PLAN_H
#define IPF_OPERATOR_SCHEDULE_PLAN_H

#include "error.h"

#include <jansson.h>
#include <stdint.h>

struct schedule_plan {
	int64_t due_s;           /* when the run that is due was so; -1: none is */
	int64_t next_s;          /* of the next one; -1: never */
	const json_t *last;      /* the latest Benchmark that has ended; borrowed, as the others; NULL: none */
	const json_t *last_good; /* the latest one that is good */
	const json_t *active;    /* one that has not ended */
	json_t *surplus;         /* names of ended ones beyond the history */
};

/* `benchmarks`: those of the namespace, by name. -1: err says what of the schedule is wrong. */
int schedule_plan_make(const json_t *schedule, const json_t *benchmarks, int64_t now_s, struct schedule_plan *plan,
                       struct ipf_error *err);
void schedule_plan_release(struct schedule_plan *plan);

/* The Benchmark that is due: that of spec.benchmark with the gate. The caller frees it. NULL: out of memory. */
json_t *schedule_run(const json_t *schedule, const json_t *benchmark, const struct schedule_plan *plan);

/* Its status, from the one before; `created`: the name of the Benchmark that was made for plan->due_s, or NULL;
 * `problem`: what is wrong with the schedule, or NULL. */
struct schedule_view {
	const struct schedule_plan *plan;
	const char *created, *problem, *now;
};
json_t *schedule_status(const json_t *schedule, const struct schedule_view *view);

#endif
