#include "kinds/schedule_plan.h"

#include "api/object_store.h"
#include "cli/units.h"
#include "clock.h"
#include "kinds/benchmark_config.h"
#include "kinds/benchmark_job.h"
#include "kinds/benchmark_status.h"
#include "kinds/due_times.h"

#include <stdlib.h>
#include <string.h>

enum { HISTORY_DEFAULT = 10 };

static const json_t *spec_of(const json_t *object, const char *member)
{
	return json_object_get(json_object_get(object, "spec"), member);
}

static const json_t *status_of(const json_t *object, const char *member)
{
	return json_object_get(json_object_get(object, "status"), member);
}

static bool has_phase(const json_t *benchmark, enum phase phase)
{
	const char *is = json_string_value(status_of(benchmark, "phase"));
	return is && strcmp(is, phase_names[phase]) == 0;
}

static bool has_ended(const json_t *benchmark)
{
	return has_phase(benchmark, PHASE_COMPLETE) || has_phase(benchmark, PHASE_FAILED);
}

/* A DOUBTFUL run has figures to compare with, and a short load has no other. */
static bool is_good(const json_t *benchmark)
{
	const char *verdict = json_string_value(status_of(benchmark, "verdict"));
	const json_t *regressed = condition_of(json_object_get(benchmark, "status"), "Regressed");
	const char *is = json_string_value(json_object_get(regressed, "status"));
	return has_phase(benchmark, PHASE_COMPLETE) && verdict &&
	       (strcmp(verdict, "OK") == 0 || strcmp(verdict, "DOUBTFUL") == 0) && !(is && strcmp(is, "True") == 0);
}

/* When something is due after `after_s`, by the cron expression or the interval of the schedule. */
static int next_after(const json_t *schedule, int64_t after_s, int64_t *next_s, struct ipf_error *err)
{
	const char *cron_text = json_string_value(spec_of(schedule, "schedule"));
	const char *every = json_string_value(spec_of(schedule, "every"));
	struct cron cron;
	int64_t every_ns;

	if (cron_text) {
		if (cron_parse(cron_text, &cron, err) < 0)
			return -1;
		*next_s = cron_next(&cron, after_s);
		return 0;
	}
	if (!every)
		return ipf_error_set(err, IPF_INPUT, "neither schedule nor every");
	if (parse_duration(every, &every_ns, err) < 0)
		return -1;
	if (every_ns < 60 * NS_PER_S)
		return ipf_error_set(err, IPF_INPUT, "every: less than a minute: \"%s\"", every);
	*next_s = interval_next(rfc3339_seconds(object_meta(schedule, "creationTimestamp")), every_ns / NS_PER_S, after_s);
	return 0;
}

static int find_due(const json_t *schedule, int64_t now_s, struct schedule_plan *plan, struct ipf_error *err)
{
	int64_t last = rfc3339_seconds(status_of(schedule, "lastScheduleTime"));
	int64_t created = rfc3339_seconds(object_meta(schedule, "creationTimestamp"));
	int64_t after = last > created ? last : created, next;

	if (next_after(schedule, after, &next, err) < 0)
		return -1;
	if (next < 0 || next > now_s) {
		plan->next_s = next;
		return 0;
	}
	/* The last past one: from later and later places, so a long absence takes few steps. */
	plan->due_s = next;
	for (int64_t back = 60; now_s - back > next; back *= 2) {
		int64_t late;
		if (next_after(schedule, now_s - back, &late, err) < 0)
			return -1;
		if (late > 0 && late <= now_s) {
			plan->due_s = late;
			break;
		}
	}
	for (;;) {
		int64_t later;
		if (next_after(schedule, plan->due_s, &later, err) < 0)
			return -1;
		plan->next_s = later;
		if (later < 0 || later > now_s)
			return 0;
		plan->due_s = later;
	}
}

static int newest_first(const void *a, const void *b)
{
	return object_by_age(b, a);
}

static void look_at(const json_t *benchmark, int limit, int *ended, struct schedule_plan *plan)
{
	if (object_is_deleted(benchmark))
		return;
	if (!has_ended(benchmark)) {
		plan->active = benchmark;
		return;
	}
	if (!plan->last)
		plan->last = benchmark;
	bool first_good = !plan->last_good && is_good(benchmark);
	if (first_good)
		plan->last_good = benchmark;
	if (++*ended > limit && !first_good)
		json_array_append_new(plan->surplus, json_string(object_name(benchmark)));
}

int schedule_plan_make(const json_t *schedule, const json_t *benchmarks, int64_t now_s, struct schedule_plan *plan,
                       struct ipf_error *err)
{
	const json_t *history = spec_of(schedule, "history");
	size_t count = 0;
	int ended = 0, limit = history ? (int)json_integer_value(history) : HISTORY_DEFAULT;
	const char *name;
	json_t *benchmark, **runs = calloc(json_object_size(benchmarks) + 1, sizeof(*runs));

	*plan = (struct schedule_plan){.due_s = -1, .next_s = -1, .surplus = json_array()};
	if (!runs || !plan->surplus) {
		free(runs);
		return ipf_error_memory(err);
	}
	json_object_foreach((json_t *)benchmarks, name,
	                    benchmark) if (strcmp(object_label(benchmark, LABEL_SCHEDULE), object_name(schedule)) == 0)
		runs[count++] = benchmark;
	qsort(runs, count, sizeof(*runs), newest_first);
	for (size_t i = 0; i < count; i++)
		look_at(runs[i], limit, &ended, plan);
	free(runs);
	return find_due(schedule, now_s, plan, err);
}

void schedule_plan_release(struct schedule_plan *plan)
{
	json_decref(plan->surplus);
	plan->surplus = NULL;
}

json_t *schedule_run(const json_t *schedule, const json_t *benchmark, const struct schedule_plan *plan)
{
	json_t *spec = benchmark_merged(json_object_get(benchmark, "spec"), NULL);
	const json_t *conditions = spec_of(schedule, "failIf"), *folder = status_of(plan->last_good, "folder");

	if (json_array_size(conditions) && json_is_string(folder))
		json_object_set_new(spec, "gate", json_pack("{s:O, s:O}", "baseline", folder, "failIf", conditions));
	return json_pack("{s:s, s:s, s:{s:o, s:{s:s}, s:o}, s:o}", "apiVersion", "operator.ipf/v1alpha1", "kind",
	                 "Benchmark", "metadata", "name",
	                 json_sprintf("%s-%lld", object_name(schedule), (long long)(plan->due_s / 60)), "labels",
	                 LABEL_SCHEDULE, object_name(schedule), "ownerReferences", owned_by("BenchmarkSchedule", schedule),
	                 "spec", spec);
}

static void put_time(json_t *status, const char *name, int64_t seconds)
{
	char text[24];
	rfc3339(seconds, text);
	json_object_set_new(status, name, json_string(text));
}

static void put_name(json_t *status, const char *name, const json_t *benchmark)
{
	if (benchmark)
		json_object_set_new(status, name, json_string(object_name(benchmark)));
}

json_t *schedule_status(const json_t *schedule, const struct schedule_view *view)
{
	const struct schedule_plan *plan = view->plan;
	const json_t *old = json_object_get(schedule, "status"), *generation = object_meta(schedule, "generation");
	const json_t *regressed = condition_of(json_object_get(plan->last, "status"), "Regressed");
	json_t *conditions = json_array(),
		   *status = json_pack("{s:O, s:o}", "observedGeneration", generation, "conditions", conditions);
	json_t *last_time = json_object_get(old, "lastScheduleTime");

	if (view->created)
		put_time(status, "lastScheduleTime", plan->due_s);
	else if (last_time)
		json_object_set(status, "lastScheduleTime", last_time);
	if (plan->next_s > 0)
		put_time(status, "nextScheduleTime", plan->next_s);
	if (view->created)
		json_object_set_new(status, "active", json_string(view->created));
	else
		put_name(status, "active", plan->active);
	put_name(status, "lastRun", plan->last);
	put_name(status, "lastGoodRun", plan->last_good);
	if (plan->last)
		json_object_set(status, "lastVerdict", (json_t *)status_of(plan->last, "verdict"));
	condition_set(conditions, old,
	              &(struct condition){"Ready", view->problem ? "False" : "True",
	                                  view->problem ? "InvalidSchedule" : "Scheduled", view->problem},
	              generation, view->now);
	if (regressed)
		condition_set(conditions, old,
		              &(struct condition){"Regressed", json_string_value(json_object_get(regressed, "status")),
		                                  json_string_value(json_object_get(regressed, "reason")),
		                                  json_string_value(json_object_get(regressed, "message"))},
		              generation, view->now);
	return status;
}
