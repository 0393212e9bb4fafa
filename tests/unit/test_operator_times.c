/* The operator's times: cron expressions, intervals, schedules, backoff, and the lines of a watch. */
#include "unit.h"

#include "api/backoff.h"
#include "api/object_store.h"
#include "clock.h"
#include "kinds/benchmark_status.h"
#include "kinds/due_times.h"
#include "kinds/schedule_plan.h"

static void check_cron(const char *expression, const char *after, const char *expected)
{
	struct ipf_error err = {0};
	struct cron cron;
	char text[24] = "never";
	json_t *from = json_string(after);
	assert_int_equal(cron_parse(expression, &cron, &err), 0);
	int64_t next = cron_next(&cron, rfc3339_seconds(from));
	if (next >= 0)
		rfc3339(next, text);
	assert_string_equal(text, expected);
	json_decref(from);
}

static void test_cron(void **state)
{
	(void)state;
	check_cron("30 3 * * *", "2026-11-23T03:29:59Z", "2026-11-23T03:30:00Z");
	check_cron("30 3 * * *", "2026-11-23T03:30:00Z", "2026-11-24T03:30:00Z");
	check_cron("*/15 * * * *", "2026-11-23T23:46:10Z", "2026-11-24T00:00:00Z");
	check_cron("0 8-18/5 * * 1-5", "2026-11-20T18:00:00Z", "2026-11-23T08:00:00Z"); /* from Friday to Monday */
	check_cron("0 0 29 2 *", "2096-03-01T00:00:00Z", "2104-02-29T00:00:00Z");
	check_cron("0 0 13 * 5", "2026-11-23T00:00:00Z", "2026-11-27T00:00:00Z"); /* a 13th or a Friday */
	check_cron("0 0 * * 7", "2026-11-23T00:00:00Z", "2026-11-29T00:00:00Z");
	check_cron("0 0 1,15 12 *", "2026-12-01T00:00:00Z", "2026-12-15T00:00:00Z");
	check_cron("0 0 31 2 *", "2026-12-01T00:00:00Z", "never");
}

static void test_bad_cron(void **state)
{
	static const char *const bad[] = {
		"",           "* * * *",     "60 * * * *",  "* 24 * * *", "* * 0 * *",   "* * * 13 *",
		"* * * * 8",  "5-3 * * * *", "*/0 * * * *", "a * * * *",  "* * * * * *", "99999999999 * * * *",
		"1, * * * *", NULL};
	(void)state;
	for (const char *const *text = bad; *text; text++) {
		struct ipf_error err = {0};
		struct cron cron;
		assert_int_equal(cron_parse(*text, &cron, &err), -1);
		assert_non_null(strstr(err.text, "expected five fields"));
	}
}

static void test_interval(void **state)
{
	(void)state;
	assert_int_equal(interval_next(100, 60, 100), 160);
	assert_int_equal(interval_next(100, 60, 159), 160);
	assert_int_equal(interval_next(100, 60, 160), 220);
	assert_int_equal(interval_next(100, 60, 50), 160);
}

static json_t *parse(const char *text)
{
	json_t *json = json_loads(text, 0, NULL);
	assert_non_null(json);
	return json;
}

static json_t *run_of(const char *name, const char *created, const char *phase, const char *verdict)
{
	return json_pack("{s:{s:s, s:s, s:{s:s}}, s:{s:s, s:s, s:s}}", "metadata", "name", name, "creationTimestamp",
	                 created, "labels", "operator.ipf/schedule", "s", "status", "phase", phase, "verdict", verdict,
	                 "folder", name);
}

static int64_t seconds(const char *text)
{
	json_t *json = json_string(text);
	int64_t result = rfc3339_seconds(json);
	json_decref(json);
	return result;
}

static void test_schedule(void **state)
{
	struct ipf_error err = {0};
	struct schedule_plan plan;
	json_t *schedule = parse(
		"{\"metadata\": {\"name\": \"s\", \"uid\": \"u\", \"creationTimestamp\": \"2026-11-20T00:30:00Z\", "
		"\"generation\": 1}, \"spec\": {\"benchmark\": \"b\", \"schedule\": \"0 * * * *\", \"history\": 1, "
		"\"failIf\": [\"ttft.p99 > +5%\"]}}");
	json_t *runs = json_object();
	json_object_set_new(runs, "s-1", run_of("s-1", "2026-11-20T01:00:00Z", "Complete", "OK"));
	json_object_set_new(runs, "s-2", run_of("s-2", "2026-11-20T02:00:00Z", "Complete", "DOUBTFUL"));
	json_object_set_new(runs, "s-3", run_of("s-3", "2026-11-20T03:00:00Z", "Complete", "INVALID"));
	(void)state;

	assert_int_equal(schedule_plan_make(schedule, runs, seconds("2026-11-20T00:59:59Z"), &plan, &err), 0);
	assert_int_equal(plan.due_s, -1);
	schedule_plan_release(&plan);
	/* Three days later, the last of many times that have passed is due. */
	assert_int_equal(schedule_plan_make(schedule, runs, seconds("2026-11-23T06:59:00Z"), &plan, &err), 0);
	assert_int_equal(plan.due_s, seconds("2026-11-23T06:00:00Z"));
	assert_int_equal(plan.next_s, seconds("2026-11-23T07:00:00Z"));
	assert_string_equal(object_name(plan.last), "s-3");
	assert_string_equal(object_name(plan.last_good), "s-2");
	assert_null(plan.active);
	assert_int_equal(json_array_size(plan.surplus), 1);
	assert_string_equal(json_string_value(json_array_get(plan.surplus, 0)), "s-1");

	json_t *benchmark = parse("{\"spec\": {\"suspend\": true, \"model\": \"m\"}}"),
		   *run = schedule_run(schedule, benchmark, &plan);
	json_t *expected = parse("{\"model\": \"m\", \"gate\": {\"baseline\": \"s-2\", \"failIf\": [\"ttft.p99 > +5%\"]}}");
	assert_true(json_equal(json_object_get(run, "spec"), expected));
	json_t *status = schedule_status(schedule, &(struct schedule_view){.plan = &plan, .created = "s-29", .now = "t"});
	assert_string_equal(json_string_value(json_object_get(status, "lastScheduleTime")), "2026-11-23T06:00:00Z");
	json_object_set(schedule, "status", status);
	schedule_plan_release(&plan);
	assert_int_equal(schedule_plan_make(schedule, runs, seconds("2026-11-23T06:59:30Z"), &plan, &err), 0);
	assert_int_equal(plan.due_s, -1); /* it has been made */
	schedule_plan_release(&plan);
	json_decref(status);
	json_decref(expected);
	json_decref(run);
	json_decref(benchmark);
	json_decref(runs);
	json_decref(schedule);
}

static void test_bad_schedule(void **state)
{
	static const char *const bad[] = {"{}", "{\"every\": \"5s\"}", "{\"every\": \"x\"}", "{\"schedule\": \"x\"}", NULL};
	(void)state;
	for (const char *const *spec = bad; *spec; spec++) {
		struct ipf_error err = {0};
		struct schedule_plan plan;
		json_t *schedule = json_pack("{s:{s:s}, s:o}", "metadata", "name", "s", "spec", parse(*spec)),
			   *none = json_object();
		assert_int_equal(schedule_plan_make(schedule, none, 1000, &plan, &err), -1);
		schedule_plan_release(&plan);
		json_decref(schedule);
		json_decref(none);
	}
}

static void test_backoff(void **state)
{
	struct backoff b;
	int64_t longest = 500 * NS_PER_MS;
	(void)state;
	backoff_init(&b, test_seed("backoff"));
	for (int i = 0; i < 20; i++) {
		int64_t wait = backoff_next(&b);
		assert_true(wait >= longest / 2 && wait <= longest);
		longest = 2 * longest > 30 * NS_PER_S ? 30 * NS_PER_S : 2 * longest;
	}
	backoff_reset(&b);
	assert_true(backoff_next(&b) <= 500 * NS_PER_MS);
}

static void take(struct object_store *s, const char *line)
{
	store_take_line(s, line, strlen(line));
}

static void test_watch(void **state)
{
	const struct api_settings settings = {.server = "http://127.0.0.1:1"};
	struct api_client api = {.settings = &settings};
	struct object_store s;
	struct ipf_error err = {0};
	(void)state;
	assert_int_equal(store_open(&s, &(struct store_kind){.path = "/x", .without_spec = true}, &api, &err), 0);
	take(
		&s,
		"{\"type\": \"ADDED\", \"object\": {\"metadata\": {\"name\": \"a\", \"resourceVersion\": \"5\", \"managedFields\": []}, "
		"\"spec\": {}, \"status\": {}}}");
	const json_t *a = json_object_get(s.objects, "a");
	assert_non_null(a);
	assert_true(s.changed && !json_object_get(a, "spec") && json_object_get(a, "status") &&
	            !object_meta(a, "managedFields"));
	assert_string_equal(s.version, "5");
	s.changed = false;
	take(&s, "{\"type\": \"BOOKMARK\", \"object\": {\"metadata\": {\"resourceVersion\": \"9\"}}}");
	assert_string_equal(s.version, "9");
	assert_false(s.changed);
	take(&s, "{\"type\": \"DELETED\", \"object\": {\"metadata\": {\"name\": \"a\", \"resourceVersion\": \"10\"}}}");
	assert_int_equal(json_object_size(s.objects), 0);
	for (const char *const *line =
	         (const char *const[]){"{\"type\": \"ERROR\", \"object\": {\"code\": 410}}", "garbage", "{}",
	                               "{\"type\": \"ADDED\", \"object\": {\"metadata\": {\"resourceVersion\": \"a&b\"}}}",
	                               NULL};
	     *line; line++) {
		take(&s, "{\"type\": \"BOOKMARK\", \"object\": {\"metadata\": {\"resourceVersion\": \"9\"}}}");
		take(&s, *line);
		assert_string_equal(s.version, ""); /* all is listed again */
	}
	store_close(&s, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cron),     cmocka_unit_test(test_bad_cron),     cmocka_unit_test(test_interval),
		cmocka_unit_test(test_schedule), cmocka_unit_test(test_bad_schedule), cmocka_unit_test(test_backoff),
		cmocka_unit_test(test_watch),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
