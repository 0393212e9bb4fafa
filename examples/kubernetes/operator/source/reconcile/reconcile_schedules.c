/* From a BenchmarkSchedule to Benchmarks, when they are due, and from these back to its status. */
#include "reconcile/operator.h"

#include "kinds/benchmark_status.h"
#include "kinds/schedule_plan.h"

#include <stdlib.h>
#include <string.h>

static void remove_surplus(struct operator_state *op, const struct schedule_plan *plan)
{
	char path[2 * PATH_SIZE];
	size_t i;
	json_t *name;
	json_array_foreach(plan->surplus, i, name)
	{
		snprintf(path, sizeof path, "%s/%s", op->benchmarks_path, json_string_value(name));
		struct api_step step = {.method = "DELETE", .path = path};
		operator_call(op, &step);
	}
}

/* The due Benchmark. True: it is there, made now or before. */
static bool make_run(struct operator_state *op, const json_t *schedule, const json_t *benchmark,
                     const struct schedule_plan *plan)
{
	json_t *run = schedule_run(schedule, benchmark, plan);
	struct api_step step = {.method = "POST", .path = op->benchmarks_path, .body = run, .keep_in = &op->benchmarks};
	long status = operator_call(op, &step);
	if (status && status / 100 != 2 && status != 409)
		operator_event(op, schedule, &(struct happening){"BenchmarkSchedule", "RunRefused", step.message, true});
	else if (status / 100 == 2)
		operator_event(op, schedule, &(struct happening){"BenchmarkSchedule", "RunCreated", object_name(run), false});
	json_decref(run);
	op->again = true; /* the new Benchmark has its turn in the next pass */
	return status / 100 == 2 || status == 409;
}

static void reconcile(struct operator_state *op, const json_t *schedule)
{
	const json_t *spec = json_object_get(schedule, "spec");
	const char *of = json_string_value(json_object_get(spec, "benchmark"));
	const json_t *benchmark = of ? json_object_get(op->benchmarks.objects, of) : NULL;
	struct schedule_plan plan;
	struct schedule_view view = {.plan = &plan, .now = op->now};
	struct ipf_error err = {0};
	char name[300];

	if (schedule_plan_make(schedule, op->benchmarks.objects, op->now_s, &plan, &err) < 0) {
		view.problem = err.text;
	} else if (!benchmark) {
		view.problem = "spec.benchmark: there is no such Benchmark";
	} else if (plan.due_s > 0 && !json_is_true(json_object_get(spec, "suspend"))) {
		/* A run due while another one lasts is left out: two of them would measure each other. */
		if (plan.active)
			operator_event(op, schedule,
			               &(struct happening){"BenchmarkSchedule", "RunSkipped", object_name(plan.active), true});
		snprintf(name, sizeof name, "%s", plan.active ? object_name(plan.active) : "");
		if (!plan.active)
			snprintf(name, sizeof name, "%.200s-%lld", object_name(schedule), (long long)(plan.due_s / 60));
		if (plan.active || make_run(op, schedule, benchmark, &plan))
			view.created = name;
	}
	remove_surplus(op, &plan);
	operator_put_status(op, &op->schedules, schedule, schedule_status(schedule, &view));
	if (plan.next_s > 0)
		operator_wake(op, plan.next_s);
	schedule_plan_release(&plan);
}

void reconcile_schedules(struct operator_state *op)
{
	json_t *held = json_array(), *schedule;
	const char *name;
	size_t i;

	json_object_foreach(op->schedules.objects, name, schedule) if (!object_is_deleted(schedule))
		json_array_append(held, schedule);
	json_array_foreach(held, i, schedule) reconcile(op, schedule);
	json_decref(held);
}
