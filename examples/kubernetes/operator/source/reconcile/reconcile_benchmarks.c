/* From a Benchmark to its Job, and from the Job back to the Benchmark's status.
 *
 * The Job has the name of the spec (benchmark_job_name), so a changed spec is another Job, and the same spec is the
 * same one, whatever the operator remembers. The steps for a Benchmark, one or more in a pass: the finalizer; no Job of
 * an earlier spec; its turn at the endpoint; the ConfigMap; the Job; the status.
 */
#include "reconcile/operator.h"

#include "kinds/benchmark_config.h"
#include "kinds/benchmark_job.h"
#include "kinds/benchmark_status.h"
#include "kinds/pod_state.h"

#include <stdlib.h>
#include <string.h>

enum { START_CHECK_S = 5 };
static const char finalizer[] = "operator.ipf/jobs";

struct subject {
	struct operator_state *op;
	json_t *object;          /* the Benchmark, held */
	char job[JOB_NAME_SIZE]; /* the name of the Job of its spec */
	const char *name;
};

static const char *uid_of(const json_t *object)
{
	const char *uid = json_string_value(object_meta(object, "uid"));
	return uid ? uid : "";
}

static bool owns(const json_t *owner, const json_t *object)
{
	size_t i;
	json_t *reference;
	json_array_foreach(object_meta(object, "ownerReferences"), i, reference)
	{
		const char *uid = json_string_value(json_object_get(reference, "uid"));
		if (uid && strcmp(uid, uid_of(owner)) == 0)
			return true;
	}
	return false;
}

/* "Complete", "Failed" or NULL: it has not ended. */
static const char *end_of(const json_t *job)
{
	for (const char *const *type = (const char *const[]){"Complete", "Failed", NULL}; *type; type++) {
		const char *is = json_string_value(
			json_object_get(condition_of(json_object_get(job, "status"), *type), "status"));
		if (is && strcmp(is, "True") == 0)
			return *type;
	}
	return NULL;
}

/* A number of pods in the status of a Job. */
static json_int_t status_count(const json_t *job, const char *of)
{
	return json_integer_value(json_object_get(json_object_get(job, "status"), of));
}

static bool patch_finalizers(struct subject *s, json_t *list)
{
	char path[2 * PATH_SIZE];
	json_t *body = json_pack("{s:{s:O, s:o}}", "metadata", "resourceVersion", object_meta(s->object, "resourceVersion"),
	                         "finalizers", list);
	snprintf(path, sizeof path, "%s/%s", s->op->benchmarks_path, s->name);
	struct api_step patch = {.method = "PATCH", .path = path, .body = body, .keep_in = &s->op->benchmarks};
	long status = operator_call(s->op, &patch);
	json_decref(body);
	if (status == 409) {
		struct api_step refresh = {.method = "GET", .path = path, .keep_in = &s->op->benchmarks};
		operator_call(s->op, &refresh);
		s->op->again = true;
	}
	return status == 200;
}

static int finalizer_index(const json_t *object)
{
	size_t i;
	json_t *one;
	json_array_foreach(object_meta(object, "finalizers"), i,
	                   one) if (json_is_string(one) && strcmp(json_string_value(one), finalizer) == 0) return (int)i;
	return -1;
}

/* Entries of other controllers stay. */
static bool set_finalizer(struct subject *s, bool present)
{
	json_t *list = json_copy(object_meta(s->object, "finalizers"));
	int index = finalizer_index(s->object);
	if (!list)
		list = json_array();
	if (present)
		json_array_append_new(list, json_string(finalizer));
	else if (index >= 0)
		json_array_remove(list, (size_t)index);
	return patch_finalizers(s, list);
}

/* Removes Jobs of the Benchmark other than `keep`, with their configuration. How many are still there: their pods get
 * the time to end in good order, and the server is theirs until then. */
static int remove_jobs(struct subject *s, const char *keep)
{
	const char *name;
	json_t *job;
	void *next;
	int left = 0;
	json_object_foreach_safe(s->op->jobs.objects, next, name, job)
	{
		if (!owns(s->object, job) || (keep && strcmp(name, keep) == 0))
			continue;
		left++;
		if (object_is_deleted(job))
			continue;
		char path[2 * PATH_SIZE];
		json_t *options = json_pack("{s:s, s:s, s:s}", "apiVersion", "v1", "kind", "DeleteOptions", "propagationPolicy",
		                            "Foreground");
		snprintf(path, sizeof path, "%s/configmaps/%s", s->op->core_path, name);
		struct api_step config = {.method = "DELETE", .path = path};
		operator_call(s->op, &config);
		snprintf(path, sizeof path, "%s/%s", s->op->jobs_path, name);
		struct api_step step = {.method = "DELETE", .path = path, .body = options};
		operator_call(s->op, &step);
		json_decref(options);
	}
	return left;
}

/* How many Jobs measure the endpoint, or still have pods that do. */
static int64_t busy(const struct operator_state *op, const char *endpoint)
{
	const char *name;
	json_t *job;
	int64_t count = 0;
	json_object_foreach(op->jobs.objects, name, job)
		count += strcmp(object_label(job, LABEL_ENDPOINT), endpoint) == 0 && (!end_of(job) || object_is_deleted(job));
	return count;
}

static bool is_usual(const char *reason)
{
	static const char *const usual[] = {"Suspended", "EndpointBusy", "Replacing", "Starting", "Measuring", "Measured"};
	for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
		if (strcmp(reason, usual[i]) == 0)
			return true;
	return false;
}

static void tell(struct subject *s, const struct observation *o)
{
	const char *was = json_string_value(json_object_get(json_object_get(s->object, "status"), "phase"));
	const char *verdict = json_string_value(json_object_get(o->result, "verdict"));
	const char *regression = json_string_value(json_object_get(o->result, "regression"));
	const json_t *ready = condition_of(json_object_get(s->object, "status"), "Ready");
	const char *reason = json_string_value(json_object_get(ready, "reason"));
	char text[1000];

	if (was && strcmp(was, phase_names[o->phase]) == 0 && reason && strcmp(reason, o->reason) == 0)
		return;
	snprintf(text, sizeof text, "%s: %s%s%s", o->job ? o->job : s->name, o->message, verdict ? "; verdict " : "",
	         verdict ? verdict : "");
	operator_event(s->op, s->object, &(struct happening){"Benchmark", o->reason, text, !is_usual(o->reason)});
	if (regression && *regression)
		operator_event(s->op, s->object, &(struct happening){"Benchmark", "Regressed", regression, true});
	operator_say("benchmark", s->name, "%s, %s: %s", phase_names[o->phase], o->reason, text);
}

/* The event comes first: if the operator ends between the two, it is told again under the same name, which is once. */
static void settle(struct subject *s, struct observation *o)
{
	o->generation = json_integer_value(object_meta(s->object, "generation"));
	o->now = s->op->now;
	tell(s, o);
	operator_put_status(s->op, &s->op->benchmarks, s->object,
	                    benchmark_status(o, json_object_get(s->object, "status")));
}

static void wait_for(struct subject *s, const char *reason, const char *message)
{
	settle(s, &(struct observation){.phase = PHASE_PENDING, .reason = reason, .message = message});
}

/* The Job's pods; -1: they are not known now. The caller releases the answer. */
static int list_pods(struct subject *s, struct api_answer *answer)
{
	struct ipf_error err = {0};
	char path[2 * PATH_SIZE];

	snprintf(path, sizeof path, "%s/pods?labelSelector=batch.kubernetes.io%%2Fjob-name%%3D%s&limit=500",
	         s->op->core_path, s->job);
	if (api_call(&s->op->api, "GET", path, NULL, answer, &err) == 0 && answer->status == 200)
		return 0;
	operator_say("benchmark", s->name, "pods: %s", err.kind ? err.text : api_answer_message(answer));
	api_answer_release(answer);
	s->op->again = true;
	return -1;
}

static void observe_end(struct subject *s, const char *end)
{
	struct observation o = {.job = s->job, .phase = strcmp(end, "Complete") == 0 ? PHASE_COMPLETE : PHASE_FAILED};
	struct api_answer pods;
	char message[600];

	if (list_pods(s, &pods) < 0)
		return;
	json_t *result = pods_result(json_object_get(pods.body, "items"), message, sizeof message);
	o.result = result;
	o.reason = o.phase == PHASE_FAILED ? "JobFailed" : result ? "Measured" : "NoResult";
	o.message = o.phase == PHASE_FAILED ? (*message ? message : "its pods have left no message")
	            : result                ? "the run has ended"
	                                    : "the run has ended, but its pod has left no result";
	settle(s, &o);
	json_decref(result);
	api_answer_release(&pods);
}

/* A Job whose pods cannot start says nothing of it: they are looked at every few seconds until all are ready. */
static void observe_start(struct subject *s, const json_t *job)
{
	bool some = status_count(job, "ready") > 0;
	struct observation o = {.phase = PHASE_RUNNING,
	                        .job = s->job,
	                        .reason = some ? "Measuring" : "Starting",
	                        .message = some ? "the run is under way" : "the Job's pods are not ready yet"};
	struct api_answer pods;
	struct pod_wait wait;

	if (list_pods(s, &pods) < 0)
		return;
	if (pods_wait(json_object_get(pods.body, "items"), job, s->op->now_s, &wait)) {
		o.reason = wait.reason;
		o.message = wait.message;
	}
	settle(s, &o);
	operator_wake(s->op, s->op->now_s + START_CHECK_S);
	api_answer_release(&pods);
}

/* Shards begin together: one whose pod cannot start holds up ready ones. */
static void observe_job(struct subject *s, const json_t *job)
{
	const char *end = end_of(job);
	json_int_t ready = status_count(job, "ready");

	if (object_is_deleted(job) || !owns(s->object, job))
		wait_for(s, "Replacing", "a Job of this name is being deleted");
	else if (end)
		observe_end(s, end);
	else if (ready > 0 && ready >= status_count(job, "active"))
		settle(s, &(struct observation){
					  .phase = PHASE_RUNNING, .job = s->job, .reason = "Measuring", .message = "the run is under way"});
	else
		observe_start(s, job);
}

/* Makes the Job, and the ConfigMap before it. They may be there already, made by an operator ended here. */
static void start(struct subject *s, const json_t *spec, const json_t *config)
{
	const struct job_plan plan = {.benchmark = s->object, .spec = spec, .name = s->job, .image = s->op->image};
	char path[2 * PATH_SIZE], job_path[2 * PATH_SIZE];
	json_t *map = benchmark_config_map(&plan, config), *job = benchmark_job(&plan);

	snprintf(path, sizeof path, "%s/configmaps", s->op->core_path);
	struct api_step make_map = {.method = "POST", .path = path, .body = map};
	struct api_step make_job = {.method = "POST", .path = s->op->jobs_path, .body = job, .keep_in = &s->op->jobs};
	long status = operator_call(s->op, &make_map);
	if (status / 100 == 2 || status == 409)
		status = operator_call(s->op, &make_job);
	json_decref(map);
	json_decref(job);
	if (status == 409) {
		snprintf(job_path, sizeof job_path, "%s/%s", s->op->jobs_path, s->job);
		struct api_step known = {.method = "GET", .path = job_path, .keep_in = &s->op->jobs};
		operator_call(s->op, &known);
		s->op->again = true;
	} else if (status / 100 == 2) {
		observe_job(s, json_object_get(s->op->jobs.objects, s->job));
	} else if (status) {
		wait_for(s, "JobRefused", *make_job.message ? make_job.message : make_map.message);
	}
}

/* On a Pushgateway, the figures of a Benchmark replace those of its earlier run, and all runs of a schedule are one. */
static void name_push(const struct subject *s, json_t *config)
{
	const char *schedule = object_label(s->object, LABEL_SCHEDULE);
	if (json_object_get(config, "PUSH_REPORT"))
		json_object_set_new(config, "PUSH_AS", json_string(*schedule ? schedule : s->name));
}

static void start_in_turn(struct subject *s)
{
	const char *preset_name = json_string_value(json_object_get(json_object_get(s->object, "spec"), "preset"));
	const json_t *preset = preset_name ? json_object_get(s->op->benchmarks.objects, preset_name) : NULL;
	json_t *spec = benchmark_merged(json_object_get(preset, "spec"), json_object_get(s->object, "spec"));
	struct ipf_error err = {0};
	json_t *config = benchmark_config(spec, &err);
	char endpoint[17], message[400];

	name_push(s, config);
	benchmark_endpoint_key(spec, endpoint);
	if (preset_name && !preset) {
		snprintf(message, sizeof message, "there is no Benchmark %.300s", preset_name);
		wait_for(s, "PresetNotFound", message);
	} else if (!config || !*endpoint) {
		wait_for(s, "InvalidSpec", config ? "endpoint.url: is no URL" : err.text);
	} else if (busy(s->op, endpoint) >= s->op->settings->per_endpoint) {
		wait_for(s, "EndpointBusy", "another Benchmark measures this server");
	} else {
		start(s, spec, config);
	}
	json_decref(config);
	json_decref(spec);
}

static void reconcile(struct subject *s)
{
	const json_t *spec = json_object_get(s->object, "spec");
	const json_t *job = json_object_get(s->op->jobs.objects, s->job);

	if (object_is_deleted(s->object)) {
		if (finalizer_index(s->object) >= 0 && remove_jobs(s, NULL) == 0)
			set_finalizer(s, false);
		return;
	}
	if (finalizer_index(s->object) < 0) { /* which gives it another version, for the next pass */
		set_finalizer(s, true);
		return;
	}
	bool replacing = remove_jobs(s, s->job) > 0;
	if (status_has_ended(json_object_get(s->object, "status"), s->job))
		return;
	if (json_is_true(json_object_get(spec, "suspend")))
		wait_for(s, "Suspended", "spec.suspend is true");
	else if (job)
		observe_job(s, job);
	else if (replacing)
		wait_for(s, "Replacing", "the Job of an earlier spec is being deleted");
	else
		start_in_turn(s);
}

/* Who came first is first at an endpoint. Each object is held and read at its turn: a step for an earlier one may have
 * changed the stores. */
void reconcile_benchmarks(struct operator_state *op)
{
	size_t count = 0, size = json_object_size(op->benchmarks.objects);
	json_t **list = calloc(size + 1, sizeof(*list)), *object;
	const char *name;

	if (!list) {
		op->again = true;
		return;
	}
	json_object_foreach(op->benchmarks.objects, name, object) list[count++] = json_incref(object);
	qsort(list, count, sizeof(*list), object_by_age);
	for (size_t i = 0; i < count; i++) {
		struct subject s = {.op = op, .object = list[i], .name = object_name(list[i])};
		benchmark_job_name(s.object, s.job);
		reconcile(&s);
		json_decref(list[i]);
	}
	free(list);
}
