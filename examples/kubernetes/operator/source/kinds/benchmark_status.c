#include "kinds/benchmark_status.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

const char *const phase_names[] = {"Pending", "Running", "Complete", "Failed", NULL};

void rfc3339(int64_t seconds, char text[24])
{
	struct tm tm;
	time_t time = (time_t)seconds;
	if (!gmtime_r(&time, &tm) || strftime(text, 24, "%Y-%m-%dT%H:%M:%SZ", &tm) == 0)
		text[0] = '\0';
}

int64_t rfc3339_seconds(const json_t *text)
{
	struct tm tm = {0};
	const char *s = json_string_value(text), *end = s ? strptime(s, "%Y-%m-%dT%H:%M:%SZ", &tm) : NULL;
	return end && !*end ? (int64_t)timegm(&tm) : -1;
}

const json_t *condition_of(const json_t *status, const char *type)
{
	size_t i;
	json_t *c;
	json_array_foreach(json_object_get(status, "conditions"), i, c)
	{
		const char *name = json_string_value(json_object_get(c, "type"));
		if (name && strcmp(name, type) == 0)
			return c;
	}
	return NULL;
}

void condition_set(json_t *conditions, const json_t *old_status, const struct condition *c, const json_t *generation,
                   const char *now)
{
	const json_t *before = condition_of(old_status, c->type);
	const char *was = json_string_value(json_object_get(before, "status"));
	const char *since = json_string_value(json_object_get(before, "lastTransitionTime"));
	bool same = was && since && strcmp(was, c->status) == 0;

	json_array_append_new(conditions,
	                      json_pack("{s:s, s:s, s:s, s:s, s:s, s:O}", "type", c->type, "status", c->status, "reason",
	                                c->reason, "message", c->message ? c->message : "", "lastTransitionTime",
	                                same ? since : now, "observedGeneration", generation));
}

static const char *truth(bool is)
{
	return is ? "True" : "False";
}

/* Members of the result: the verdict of the report, the objectives, the comparison with the last good run. */
static void conditions_of_result(json_t *conditions, const struct observation *o, const json_t *old,
                                 const json_t *generation)
{
	const char *verdict = json_string_value(json_object_get(o->result, "verdict"));
	const char *reason = json_string_value(json_object_get(o->result, "reason"));
	const char *regression = json_string_value(json_object_get(o->result, "regression"));
	const json_t *objectives = json_object_get(o->result, "objectives");

	if (!verdict)
		return;
	condition_set(conditions, old,
	              &(struct condition){"Verdict",
	                                  strcmp(verdict, "OK") == 0        ? "True"
	                                  : strcmp(verdict, "INVALID") == 0 ? "False"
	                                                                    : "Unknown",
	                                  verdict, reason},
	              generation, o->now);
	if (objectives)
		condition_set(conditions, old,
		              &(struct condition){"ObjectivesMet", truth(json_is_true(objectives)),
		                                  json_is_true(objectives) ? "Met" : "Missed", NULL},
		              generation, o->now);
	if (regression)
		condition_set(
			conditions, old,
			&(struct condition){"Regressed", truth(*regression), *regression ? "FailIf" : "WithinLimits", regression},
			generation, o->now);
}

json_t *benchmark_status(const struct observation *o, const json_t *old)
{
	json_t *conditions = json_array(), *generation = json_integer(o->generation);
	json_t *status = json_pack("{s:I, s:s, s:o}", "observedGeneration", o->generation, "phase", phase_names[o->phase],
	                           "conditions", conditions);
	const json_t *started = json_object_get(old, "startTime"), *ended = json_object_get(old, "completionTime");
	bool same_job = o->job && json_is_string(json_object_get(old, "job")) &&
	                strcmp(json_string_value(json_object_get(old, "job")), o->job) == 0;
	const struct {
		const char *type;
		bool is;
	} of_phase[] = {{"Ready", o->phase != PHASE_PENDING},
	                {"Running", o->phase == PHASE_RUNNING},
	                {"Complete", o->phase == PHASE_COMPLETE},
	                {"Failed", o->phase == PHASE_FAILED}};

	for (size_t i = 0; i < sizeof of_phase / sizeof *of_phase; i++)
		condition_set(conditions, old,
		              &(struct condition){of_phase[i].type, truth(of_phase[i].is), o->reason, o->message}, generation,
		              o->now);
	conditions_of_result(conditions, o, old, generation);
	if (o->job) {
		json_object_set_new(status, "job", json_string(o->job));
		json_object_set_new(status, "startTime",
		                    same_job && started ? json_copy((json_t *)started) : json_string(o->now));
	}
	if (o->phase >= PHASE_COMPLETE)
		json_object_set_new(status, "completionTime",
		                    same_job && ended ? json_copy((json_t *)ended) : json_string(o->now));
	for (const char *const *name = (const char *const[]){"verdict", "folder", "figures", NULL}; *name; name++)
		json_object_set(status, *name, json_object_get(o->result, *name));
	json_decref(generation);
	return status;
}

bool status_has_ended(const json_t *status, const char *job)
{
	const char *phase = json_string_value(json_object_get(status, "phase"));
	const char *of = json_string_value(json_object_get(status, "job"));
	return phase && of && strcmp(of, job) == 0 &&
	       (strcmp(phase, phase_names[PHASE_COMPLETE]) == 0 || strcmp(phase, phase_names[PHASE_FAILED]) == 0);
}

/* ---- the message of a pod ---- */

static const char *const figure_names[] = {"requests",
                                           "failed",
                                           "requestsPerSecond",
                                           "outputTokensPerSecond",
                                           "ttftP50Ms",
                                           "ttftP99Ms",
                                           "tpotP50Ms",
                                           "tpotP99Ms",
                                           "e2eP50Ms",
                                           "e2eP99Ms",
                                           NULL};

static void copy_text(json_t *to, const json_t *from, const char *name)
{
	json_t *value = json_object_get(from, name);
	if (json_is_string(value))
		json_object_set(to, name, value);
}

json_t *result_read(const char *message)
{
	static const char *const verdicts[] = {"OK", "DOUBTFUL", "INVALID", "UNKNOWN", NULL};
	json_t *given = json_loads(message ? message : "", 0, NULL), *result = json_object(), *figures = json_object();
	const char *verdict = json_string_value(json_object_get(given, "verdict"));
	bool known = false;

	for (const char *const *v = verdicts; verdict && *v; v++)
		known |= strcmp(*v, verdict) == 0;
	copy_text(result, given, "verdict");
	copy_text(result, given, "reason");
	copy_text(result, given, "folder");
	copy_text(result, given, "regression");
	copy_text(result, given, "problem");
	if (json_is_boolean(json_object_get(given, "objectives")))
		json_object_set(result, "objectives", json_object_get(given, "objectives"));
	for (const char *const *name = figure_names; *name; name++) {
		json_t *value = json_object_get(json_object_get(given, "figures"), *name);
		if (json_is_number(value))
			json_object_set(figures, *name, value);
	}
	if (known)
		json_object_set(result, "figures", figures);
	else
		json_decref(result);
	json_decref(figures);
	json_decref(given);
	return known ? result : NULL;
}

json_t *merge_patch(const json_t *from, const json_t *to)
{
	json_t *patch = json_object();
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)from, key, value) if (!json_object_get(to, key))
		json_object_set_new(patch, key, json_null());
	json_object_foreach((json_t *)to, key, value)
	{
		const json_t *before = json_object_get(from, key);
		if (json_is_object(value) && json_is_object(before))
			json_object_set_new(patch, key, merge_patch(before, value));
		else
			json_object_set(patch, key, value);
	}
	return patch;
}
