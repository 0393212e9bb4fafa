/* The Benchmark that a BenchmarkSchedule is due to start: a pure function of the schedule, its Benchmarks and the time.
 *
 *     struct schedule_plan plan;
 *     if (schedule_plan_make(schedule, benchmarks, now_s, &plan, &err) < 0)     // its schedule or interval is wrong
 *     if (plan.due_s > 0) …                                                     // make the run that was due then
 *     … plan.last_good, plan.surplus …
 *     schedule_plan_release(&plan);
 *
 * After several missed times, only the last one is due: runs are not made up for. Its Benchmark has the name of the
 * schedule and the minute, so it is made once, whoever tries to. A good run has the verdict OK or DOUBTFUL and no
 * regression; the last good one is kept whatever the limits of the history are.
 */
#ifndef IPF_OPERATOR_SCHEDULE_PLAN_H
#define IPF_OPERATOR_SCHEDULE_PLAN_H

#include "error.h"

#include <jansson.h>
#include <stdint.h>

struct schedule_plan {
	int64_t due_s;           /* when the run due was so; -1: none is */
	int64_t next_s;          /* the next one's; -1: never */
	const json_t *last;      /* the latest Benchmark ended; borrowed, as the others; NULL: none */
	const json_t *last_good; /* the latest one among the good ones */
	const json_t *active;    /* an unfinished one */
	json_t *surplus;         /* names of ended ones beyond the history */
};

/* `benchmarks`: those of the namespace, by name. -1: err says why the schedule is wrong. */
int schedule_plan_make(const json_t *schedule, const json_t *benchmarks, int64_t now_s, struct schedule_plan *plan,
                       struct ipf_error *err);
void schedule_plan_release(struct schedule_plan *plan);

/* The due Benchmark: spec.benchmark's with the gate. The caller frees it. NULL: out of memory. */
json_t *schedule_run(const json_t *schedule, const json_t *benchmark, const struct schedule_plan *plan);

/* Its status, from the one before; `created`: the name of the Benchmark made for plan->due_s, or NULL; `problem`: the
 * fault of the schedule, or NULL. */
struct schedule_view {
	const struct schedule_plan *plan;
	const char *created, *problem, *now;
};
json_t *schedule_status(const json_t *schedule, const struct schedule_view *view);

#endif
