/* From a Benchmark's spec to its configuration and Job, and from a pod's message to the status. */
#include "unit.h"

#include "kinds/benchmark_config.h"
#include "kinds/benchmark_job.h"
#include "kinds/benchmark_status.h"
#include "kinds/pod_state.h"

static json_t *parse(const char *text)
{
	json_t *json = json_loads(text, 0, NULL);
	assert_non_null(json);
	return json;
}

static const char *text_of(const json_t *json, const char *member)
{
	const char *text = json_string_value(json_object_get(json, member));
	return text ? text : "";
}

static void check_config(const char *spec_text, const char *variable, const char *expected)
{
	struct ipf_error err = {0};
	json_t *spec = parse(spec_text), *config = benchmark_config(spec, &err);
	assert_string_equal(config ? text_of(config, variable) : err.text, expected);
	json_decref(config);
	json_decref(spec);
}

static void test_traffic(void **state)
{
	(void)state;
#define TRAFFIC(text_) "{\"endpoint\": {\"url\": \"http://m\"}, \"performance\": " text_ "}"
	check_config(TRAFFIC("{\"traffic\": [{\"rate\": 4.5, \"duration\": \"60s\"}]}"), "STAGES",
	             "poisson:rate=4.5,for=60s");
	check_config(
		TRAFFIC("{\"warmup\": \"5s\", \"traffic\": [{\"rate\": 4, \"arrivals\": \"constant\", \"duration\": \"60s\", "
	            "\"name\": \"a\"}, {\"concurrency\": 16, \"duration\": \"1m\"}]}"),
		"STAGES", "constant:rate=4,for=5s,warmup constant:rate=4,for=60s,name=a closed:users=16,for=1m");
	check_config(
		TRAFFIC("{\"warmup\": \"5s\", \"traffic\": [{\"spike\": {\"base\": 2, \"peak\": 20, \"every\": \"30s\", "
	            "\"width\": \"5s\"}, \"duration\": \"2m\"}]}"),
		"STAGES", "poisson:rate=2,for=5s,warmup spike:base=2,peak=20,every=30s,width=5s,for=2m");
	check_config(
		TRAFFIC("{\"warmup\": \"5s\", \"traffic\": [{\"ramp\": {\"from\": 1, \"to\": 8}, \"duration\": \"2m\"}]}"),
		"STAGES", "poisson:rate=1,for=5s,warmup ramp:from=1,to=8,for=2m");
	check_config(TRAFFIC("{\"traffic\": [{\"rate\": 4, \"concurrency\": 2, \"duration\": \"60s\"}]}"), "STAGES",
	             "performance.traffic[0]: expected one of rate, concurrency, ramp and spike");
	check_config(TRAFFIC("{\"traffic\": []}"), "STAGES", "performance.traffic: is missing, here and in the preset");
#undef TRAFFIC
}

#define WITH(text_)                                                                                                         \
	"{\"endpoint\": {\"url\": \"http://m\"}, \"performance\": {\"traffic\": [{\"rate\": 1, \"duration\": \"1s\"}]}, " text_ \
	"}"

static void test_variables(void **state)
{
	(void)state;
	check_config(
		WITH("\"objectives\": [{\"metric\": \"ttft\", \"max\": \"1s\"}, {\"metric\": \"e2e\", \"percentile\": 99.9, "
	         "\"max\": \"2s\"}]"),
		"IPF_REPORT_SLO", "ttft=1s,p99.9:e2e=2s");
	check_config(WITH("\"results\": {\"pushgateways\": [\"http://a\", \"http://b\"]}"), "PUSH_REPORT",
	             "http://a http://b");
	check_config(WITH("\"dataset\": {\"inputTokens\": 100}"), "INPUT", "100");
	check_config(WITH("\"gate\": {\"baseline\": \"f\", \"failIf\": [\"ttft.p99 > +5%\", \"failures > 1%\"]}"),
	             "FAIL_IF", "ttft.p99 > +5%\nfailures > 1%");
	check_config("{\"performance\": {\"traffic\": [{\"rate\": 1, \"duration\": \"1s\"}]}}", "",
	             "endpoint.url: is missing, here and in the preset");
}

/* make expands "$", and the shell runs text between backquotes. */
static void test_nothing_is_run(void **state)
{
	static const char *const evil[] = {"$(shell id)", "`id`",      "a;id",   "a'b", "a|b",
	                                   "a\\nIPF_X=1", "a\\u0000b", "a\\\"b", NULL};
	(void)state;
	for (const char *const *text = evil; *text; text++) {
		struct ipf_error err = {0};
		char spec_text[400];
		snprintf(spec_text, sizeof spec_text, WITH("\"model\": \"%s\""), *text);
		json_t *spec = json_loads(spec_text, JSON_ALLOW_NUL, NULL),
			   *config = spec ? benchmark_config(spec, &err) : NULL;
		/* jansson shows a text up to a NUL */
		if (config)
			assert_string_equal(text_of(config, "MODEL"), "a");
		json_decref(config);
		json_decref(spec);
		snprintf(spec_text, sizeof spec_text, WITH("\"gate\": {\"failIf\": [\"%s\"]}"), *text);
		spec = json_loads(spec_text, 0, NULL);
		assert_null(spec ? benchmark_config(spec, &err) : NULL);
		json_decref(spec);
	}
}

static void test_presets(void **state)
{
	json_t *preset = parse(
		"{\"suspend\": true, \"preset\": \"p\", \"dataset\": {\"inputTokens\": 1, \"seed\": 2}, \"model\": \"m\"}");
	json_t *own = parse("{\"dataset\": {\"inputTokens\": 5}, \"shards\": 2}");
	json_t *expected = parse("{\"dataset\": {\"inputTokens\": 5, \"seed\": 2}, \"model\": \"m\", \"shards\": 2}");
	json_t *merged = benchmark_merged(preset, own), *none = benchmark_merged(NULL, own);
	(void)state;
	assert_true(json_equal(merged, expected));
	assert_true(json_equal(none, own));
	assert_true(json_is_true(json_object_get(preset, "suspend")));
	json_decref(preset);
	json_decref(own);
	json_decref(expected);
	json_decref(merged);
	json_decref(none);
}

static void endpoint(const char *url, char key[17])
{
	json_t *spec = json_pack("{s:{s:s}}", "endpoint", "url", url);
	benchmark_endpoint_key(spec, key);
	json_decref(spec);
}

static void test_endpoints(void **state)
{
	char one[17], other[17];
	(void)state;
	endpoint("http://model:80/v1", one);
	endpoint("http://MODEL/", other);
	assert_string_equal(one, other);
	endpoint("http://model:8001", other);
	assert_string_not_equal(one, other);
	endpoint("not a url", other);
	assert_string_equal(other, "");
}

static void test_job(void **state)
{
	json_t *benchmark = parse("{\"metadata\": {\"name\": \"chat\", \"uid\": \"u1\"}, \"spec\": {\"b\": 1, \"a\": 2}}");
	json_t *same = parse("{\"metadata\": {\"name\": \"chat\", \"uid\": \"u2\"}, \"spec\": {\"a\": 2, \"b\": 1}}");
	json_t *spec = parse(
		"{\"endpoint\": {\"url\": \"http://m\", \"keysSecret\": \"k\"}, \"shards\": 4, \"pod\": {\"cpu\": \"1\", "
		"\"nodeSelector\": {\"a\": \"b\"}}, \"results\": {\"claimName\": \"c\"}}");
	char name[JOB_NAME_SIZE], other[JOB_NAME_SIZE];
	(void)state;
	benchmark_job_name(benchmark, name);
	benchmark_job_name(same, other);
	assert_string_equal(name, other);
	assert_int_equal(strlen(name), strlen("chat-01234567"));
	json_object_set_new(json_object_get(same, "spec"), "c", json_null());
	benchmark_job_name(same, other);
	assert_string_not_equal(name, other);

	json_t *job = benchmark_job(&(struct job_plan){benchmark, spec, name, "image:1"});
	assert_non_null(job);
	const json_t *of = json_object_get(job, "spec"), *pod = json_object_get(json_object_get(of, "template"), "spec");
	assert_string_equal(text_of(of, "completionMode"), "Indexed");
	assert_int_equal(json_integer_value(json_object_get(of, "completions")), 5);
	assert_true(json_is_false(json_object_get(pod, "automountServiceAccountToken")));
	assert_true(json_is_object(json_object_get(pod, "nodeSelector")));
	const json_t *container = json_array_get(json_object_get(pod, "containers"), 0);
	assert_string_equal(text_of(container, "image"), "image:1");
	assert_int_equal(json_array_size(json_object_get(container, "envFrom")), 2);
	json_decref(job);
	json_decref(spec);
	json_decref(same);
	json_decref(benchmark);
}

static void test_results(void **state)
{
	static const char *const bad[] = {"", "no JSON", "[]", "{}", "{\"verdict\": \"GREAT\"}", "{\"verdict\": 1}", NULL};
	(void)state;
	for (const char *const *text = bad; *text; text++)
		assert_null(result_read(*text));
	assert_null(result_read(NULL));
	json_t *result = result_read(
		"{\"verdict\": \"OK\", \"reason\": 5, \"more\": {}, \"figures\": {\"requests\": 3, \"failed\": \"x\", "
		"\"odd\": 1}}");
	json_t *expected = parse("{\"verdict\": \"OK\", \"figures\": {\"requests\": 3}}");
	assert_true(json_equal(result, expected));
	json_decref(result);
	json_decref(expected);
}

static const char *condition_status(const json_t *status, const char *type)
{
	return text_of(condition_of(status, type), "status");
}

static void check_wait(const char *status, const char *reason, const char *message)
{
	struct pod_wait wait = {.reason = ""};
	json_t *pods = json_pack("[{s:{}}, {s:o}]", "status", "status", parse(status));
	assert_int_equal(pods_wait(pods, NULL, 0, &wait), reason != NULL);
	if (reason) {
		assert_string_equal(wait.reason, reason);
		assert_string_equal(wait.message, message);
	}
	json_decref(pods);
}

static void test_waiting_pods(void **state)
{
	(void)state;
#define WAITING(reason_)                                                                                               \
	"{\"containerStatuses\": [{\"state\": {\"waiting\": {\"reason\": \"" reason_ "\", \"message\": \"a\\n\u00e9b\"}}}]}"
	check_wait(WAITING("CreateContainerConfigError"), "CreateContainerConfigError", "a   b");
	check_wait(WAITING("ContainerCreating"), NULL, NULL);
	check_wait("{\"conditions\": [{\"type\": \"PodScheduled\", \"status\": \"False\", \"reason\": \"Unschedulable\", "
	           "\"message\": \"0/1 nodes\"}]}",
	           "Unschedulable", "0/1 nodes");
	check_wait("{\"conditions\": [{\"type\": \"PodScheduled\", \"status\": \"True\"}]}", NULL, NULL);
	check_wait("{\"containerStatuses\": [{\"state\": {\"running\": {}}}]}", NULL, NULL);
	check_wait("{\"containerStatuses\": [{\"state\": {\"waiting\": 7}}, 8], \"conditions\": {}}", NULL, NULL);
	check_wait("{\"initContainerStatuses\": [{\"state\": {\"waiting\": {\"reason\": \"ErrImagePull\"}}}], "
	           "\"containerStatuses\": [{\"state\": {\"waiting\": {\"reason\": \"PodInitializing\"}}}]}",
	           "ErrImagePull", "");
#undef WAITING
}

/* A pod, or a Job, that was made at 12:00:00, after so many seconds; NULL: nothing is to be told. */
static void check_slow(const char *pods_text, const char *job_status, int seconds, const char *reason,
                       const char *message)
{
	struct pod_wait wait = {.reason = ""};
	json_t *pods = parse(pods_text),
		   *job = json_pack("{s:{s:s, s:s}, s:o}", "metadata", "name", "j", "creationTimestamp", "2026-11-23T12:00:00Z",
	                        "status", parse(job_status));
	int64_t made_s = rfc3339_seconds(json_object_get(json_object_get(job, "metadata"), "creationTimestamp"));
	assert_int_equal(pods_wait(pods, job, made_s + seconds, &wait), reason != NULL);
	if (reason) {
		assert_string_equal(wait.reason, reason);
		assert_string_equal(wait.message, message);
	}
	json_decref(pods);
	json_decref(job);
}

static void test_slow_pods(void **state)
{
	(void)state;
#define PENDING(more_) "[{\"metadata\": {\"name\": \"p\", \"creationTimestamp\": \"2026-11-23T12:00:00Z\"" more_
#define CREATING(ready_)                                                                                               \
	PENDING(                                                                                                           \
		"}, \"status\": {\"phase\": \"Pending\", \"containerStatuses\": [{\"state\": {\"waiting\": {\"reason\": "      \
		"\"ContainerCreating\"}}}], \"conditions\": [{\"type\": \"PodScheduled\", \"status\": \"True\"}, {\"type\": "  \
		"\"PodReadyToStartContainers\", \"status\": \"" ready_ "\"}]}}]")
	check_slow(CREATING("False"), "{}", 29, NULL, NULL);
	check_slow(CREATING("False"), "{}", 30, "StartIsSlow",
	           "after 30 s, pod p has no volumes or no network (sandbox); see: kubectl describe pod p");
	check_slow(CREATING("True"), "{}", 30, "StartIsSlow",
	           "after 30 s, pod p waits for its image or container; see: kubectl describe pod p");
	check_slow(CREATING("Unknown"), "{}", 30, "StartIsSlow",
	           "after 30 s, pod p has no container; see: kubectl describe pod p");
	check_slow(PENDING("}, \"status\": {\"phase\": \"Pending\"}}]"), "{}", 31, "StartIsSlow",
	           "after 30 s, pod p has not been looked at by a scheduler; see: kubectl describe pod p");
	check_slow(PENDING(", \"deletionTimestamp\": \"2026-11-23T12:00:00Z\"}, \"status\": {\"phase\": \"Pending\"}}]"),
	           "{}", 99, NULL, NULL);
	check_slow(PENDING("}, \"status\": {\"phase\": \"Running\"}}]"), "{}", 99, NULL, NULL);
	check_slow("[]", "{}", 29, NULL, NULL);
	check_slow("[]", "{}", 30, "NoPods", "after 30 s, the Job has no pod; see: kubectl describe job j");
	check_slow("[]", "{\"conditions\": [{\"type\": \"Suspended\", \"status\": \"True\"}]}", 0, "JobSuspended",
	           "the Job is suspended, for instance by a queue");
#undef CREATING
#undef PENDING
}

static json_t *ended_pods(const char *first, const char *second)
{
	return json_pack("[{s:{s:[{s:{s:{s:s}}}]}}, {s:{s:[{s:{s:{s:s}}}]}}]", "status", "containerStatuses", "state",
	                 "terminated", "message", first, "status", "containerStatuses", "state", "terminated", "message",
	                 second);
}

static void test_ended_pods(void **state)
{
	(void)state;
	char message[8];
	json_t *pods = ended_pods("the end of a log", "{\"verdict\": \"INVALID\"}");
	json_t *result = pods_result(pods, message, sizeof message);
	assert_string_equal(text_of(result, "verdict"), "INVALID");
	assert_string_equal(message, "f a log");
	json_decref(result);
	json_decref(pods);
	pods = ended_pods("log", "{\"verdict\": \"OK\", \"problem\": \"refused\"}");
	json_decref(pods_result(pods, message, sizeof message));
	assert_string_equal(message, "refused");
	json_decref(pods);
	assert_null(pods_result(NULL, message, sizeof message));
	assert_string_equal(message, "");
}

static void check_unusual_end(const char *status, const char *expected)
{
	char message[40];
	json_t *pods = json_pack("[{s:o}]", "status", parse(status));
	assert_null(pods_result(pods, message, sizeof message));
	assert_string_equal(message, expected);
	json_decref(pods);
}

static void test_unusual_ends(void **state)
{
	(void)state;
#define ENDED(more_) "{\"phase\": \"Failed\", \"containerStatuses\": [{\"state\": {\"terminated\": {" more_ "}}}]}"
	check_unusual_end(ENDED("\"reason\": \"OOMKilled\", \"message\": \"the end of a log that is longer than this\""),
	                  "OOMKilled: log that is longer than this");
	check_unusual_end(ENDED("\"reason\": \"OOMKilled\""), "OOMKilled");
	check_unusual_end(ENDED("\"reason\": \"Error\", \"message\": \"log\""), "log");
	check_unusual_end(ENDED("\"reason\": \"Error\""), "");
	check_unusual_end("{\"phase\": \"Failed\", \"reason\": \"Evicted\", \"message\": \"low on memory\"}",
	                  "Evicted: low on memory");
	check_unusual_end("{\"phase\": \"Failed\", \"reason\": \"Evicted\"}", "Evicted");
#undef ENDED
}

static void test_status(void **state)
{
	json_t *result = parse(
		"{\"verdict\": \"DOUBTFUL\", \"reason\": \"few\", \"regression\": \"ttft\", \"objectives\": false, "
		"\"folder\": \"f\", \"figures\": {\"requests\": 3}}");
	struct observation o = {
		.phase = PHASE_RUNNING, .reason = "Measuring", .message = "m", .job = "j", .generation = 2, .now = "t1"};
	json_t *running = benchmark_status(&o, NULL);
	(void)state;
	assert_string_equal(text_of(running, "phase"), "Running");
	assert_string_equal(condition_status(running, "Running"), "True");
	assert_false(status_has_ended(running, "j"));
	o.now = "t2";
	json_t *again = benchmark_status(&o, running);
	assert_true(json_equal(running, again)); /* nothing has changed, not even a time */
	o.phase = PHASE_COMPLETE;
	o.result = result;
	json_t *complete = benchmark_status(&o, running);
	assert_string_equal(text_of(condition_of(complete, "Running"), "lastTransitionTime"), "t2");
	assert_string_equal(text_of(condition_of(complete, "Ready"), "lastTransitionTime"), "t1");
	assert_string_equal(condition_status(complete, "Verdict"), "Unknown");
	assert_string_equal(text_of(condition_of(complete, "Verdict"), "reason"), "DOUBTFUL");
	assert_string_equal(condition_status(complete, "Regressed"), "True");
	assert_string_equal(condition_status(complete, "ObjectivesMet"), "False");
	assert_string_equal(text_of(complete, "startTime"), "t1");
	assert_true(status_has_ended(complete, "j"));
	assert_false(status_has_ended(complete, "k"));
	json_decref(running);
	json_decref(again);
	json_decref(complete);
	json_decref(result);
}

static void test_patches(void **state)
{
	json_t *from = parse("{\"a\": 1, \"b\": {\"c\": 1, \"d\": 2}, \"e\": 3}"),
		   *to = parse("{\"a\": 1, \"b\": {\"c\": 4}}");
	json_t *expected = parse("{\"a\": 1, \"b\": {\"c\": 4, \"d\": null}, \"e\": null}"), *patch = merge_patch(from, to);
	(void)state;
	assert_true(json_equal(patch, expected));
	json_decref(patch);
	patch = merge_patch(NULL, to);
	assert_true(json_equal(patch, to));
	json_decref(patch);
	json_decref(expected);
	json_decref(from);
	json_decref(to);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_traffic),      cmocka_unit_test(test_variables),  cmocka_unit_test(test_nothing_is_run),
		cmocka_unit_test(test_presets),      cmocka_unit_test(test_endpoints),  cmocka_unit_test(test_job),
		cmocka_unit_test(test_results),      cmocka_unit_test(test_status),     cmocka_unit_test(test_patches),
		cmocka_unit_test(test_waiting_pods), cmocka_unit_test(test_ended_pods), cmocka_unit_test(test_slow_pods),
		cmocka_unit_test(test_unusual_ends),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
