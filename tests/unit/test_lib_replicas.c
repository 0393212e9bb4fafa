/* The autoscaler on a clock of the test's own: when replicas come and go follows from the load and the rule. */
#include "batching/replicas.h"

#include "cli/key_values.h"

#include "clock.h"

#include "unit.h"

#include <string.h>

#define MS NS_PER_MS

static struct replicas start(const char *rule)
{
	struct replicas_options options;
	struct ipf_error err = {0};
	struct replicas r;
	if (replicas_parse_any(rule, &options, &err) < 0)
		fail_msg("%s: %s", rule, err.text);
	replicas_init(&r, &options);
	return r;
}

static void assert_state(const struct replicas *r, int64_t desired, int64_t ready)
{
	assert_int_equal(r->desired, desired);
	assert_int_equal(r->ready, ready);
}

static void added_after_the_delay(void **state)
{
	(void)state;
	struct replicas r = start("1:4,delay=500ms,scale-at=10,idle=2s");
	assert_false(replicas_update(&r, 10, 0, 1000 * MS));
	assert_state(&r, 1, 1);
	assert_true(replicas_deadline(&r) == INT64_MAX);
	assert_false(replicas_update(&r, 10, 1, 1100 * MS));
	assert_state(&r, 2, 1);
	assert_int_equal(replicas_deadline(&r), 1600 * MS);
	assert_false(replicas_update(&r, 10, 21, 1200 * MS)); /* 31: two more */
	assert_state(&r, 4, 1);
	assert_false(replicas_update(&r, 10, 21, 1600 * MS - 1));
	assert_true(replicas_update(&r, 10, 21, 1600 * MS));
	assert_state(&r, 4, 2);
	assert_int_equal(replicas_deadline(&r), 1700 * MS);
	assert_true(replicas_update(&r, 100, 100, 1700 * MS));
	assert_state(&r, 4, 4); /* the most */
	assert_true(replicas_deadline(&r) == INT64_MAX);
}

static void removed_when_idle(void **state)
{
	(void)state;
	struct replicas r = start("1:4,delay=0,scale-at=10,idle=2s");
	assert_true(replicas_update(&r, 40, 0, 0));
	assert_state(&r, 4, 4);
	replicas_update(&r, 5, 0, 1000 * MS);
	assert_int_equal(replicas_deadline(&r), 3000 * MS);
	replicas_update(&r, 15, 0, 2000 * MS); /* two are wanted in between */
	replicas_update(&r, 5, 0, 2500 * MS);
	assert_false(replicas_update(&r, 5, 0, 3000 * MS - 1));
	assert_true(replicas_update(&r, 5, 0, 3000 * MS));
	assert_state(&r, 2, 2);
	assert_int_equal(replicas_deadline(&r), 5000 * MS); /* two are still one too many */
	replicas_update(&r, 20, 0, 4000 * MS);              /* as many as there are: a break */
	assert_true(replicas_deadline(&r) == INT64_MAX);
	replicas_update(&r, 0, 0, 5000 * MS);
	assert_true(replicas_update(&r, 0, 0, 7000 * MS));
	assert_state(&r, 1, 1);
}

static void those_that_are_not_ready_go_first(void **state)
{
	(void)state;
	struct replicas r = start("1:4,delay=10s,scale-at=1,idle=1s");
	replicas_update(&r, 4, 0, 0);
	assert_state(&r, 4, 1);
	replicas_update(&r, 2, 0, 1000 * MS);
	assert_false(replicas_update(&r, 2, 0, 2000 * MS));
	assert_state(&r, 2, 1);
	assert_true(replicas_update(&r, 2, 0, 10000 * MS));
	assert_state(&r, 2, 2);
}

static void down_to_none(void **state)
{
	(void)state;
	struct replicas r = start("0:2,delay=1s,scale-at=4,idle=1s,on=waiting");
	assert_state(&r, 0, 0);
	replicas_update(&r, 0, 1, 0);
	assert_state(&r, 1, 0);
	assert_true(replicas_update(&r, 0, 1, 1000 * MS));
	replicas_update(&r, 1, 0, 2000 * MS);
	replicas_update(&r, 1, 0, 9000 * MS);
	assert_state(&r, 1, 1); /* one runs */
	replicas_update(&r, 0, 0, 10000 * MS);
	assert_true(replicas_update(&r, 0, 0, 11000 * MS));
	assert_state(&r, 0, 0);
}

static void property_never_beyond_the_bounds(void **state)
{
	uint64_t seed = test_seed("property_never_beyond_the_bounds");
	(void)state;
	for (int round = 0; round < 2000; round++) {
		struct replicas r = start(round % 2 ? "2:64,delay=3s,idle=2s,scale-at=1" : "0:5,delay=1s,idle=5s,on=running");
		int64_t now_ns = 0;
		for (int i = 0; i < 40; i++) {
			now_ns += (int64_t)(test_random(&seed) % 3000) * MS;
			int64_t before = r.ready;
			bool changed = replicas_update(&r, (int64_t)(test_random(&seed) % 100), (int64_t)(test_random(&seed) % 10),
			                               now_ns);
			assert_int_equal(changed, r.ready != before);
			assert_true(r.ready <= r.desired && r.desired >= r.options.least && r.desired <= r.options.most);
			assert_true(replicas_deadline(&r) > now_ns);
		}
	}
}

static void a_series_is_followed(void **state)
{
	(void)state;
	struct replicas r = start("2,0@1s,3@2s");
	assert_true(replicas_vary(&r.options) && r.options.least == 0 && r.options.most == 3);
	assert_state(&r, 2, 2);
	assert_false(replicas_update(&r, 100, 100, 1000 * MS - 1));
	assert_int_equal(replicas_deadline(&r), 1000 * MS);
	assert_true(replicas_update(&r, 100, 100, 1000 * MS));
	assert_state(&r, 0, 0);
	assert_true(replicas_update(&r, 0, 0, 5000 * MS));
	assert_state(&r, 3, 3);
	assert_true(replicas_deadline(&r) == INT64_MAX);
	assert_false(replicas_update(&r, 0, 0, 90000 * MS));
}

static void a_fixed_number_stays(void **state)
{
	(void)state;
	struct replicas r = start("3");
	assert_false(replicas_vary(&r.options));
	assert_false(replicas_update(&r, 100, 100, 0));
	assert_state(&r, 3, 3);
	assert_true(replicas_deadline(&r) == INT64_MAX);
}

static void wrong_settings_are_refused(void **state)
{
	static const char *const wrong[][2] = {
		{"0", "minimum is 1, got 0"},
		{"1025", "maximum is 1024, got 1025"},
		{"x", "whole number"},
		{"2:1", "expected MIN:MAX of at most 1024 replicas such as 1:4, got \"2:1\""},
		{"1:2,x=1", "unknown key \"x\""},
		{"2,5", "expected N@TIME such as 5@1h of at most 1024 replicas, got \"5\""},
		{"2,delay=5s", "got \"delay=5s\""},
		{"2@1h,3@2h", "expected N of at most 1024 replicas, got \"2@1h\""},
		{"2,1025@1h", "got \"1025@1h\""},
		{"2,5@", "got \"5@\""},
		{"2,", "got \"\""},
		{"2,5@2h,3@1h", "the times of a series ascend, got \"3@1h\" after one that is as late"},
		{"2,5@0s", "the times of a series ascend"},
		{"0,0@1h", "at least one replica at some time"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct replicas_options o;
		struct ipf_error err = {0};
		if (replicas_parse_any(wrong[i][0], &o, &err) == 0 || !strstr(err.text, wrong[i][1]))
			fail_msg("%s: %s", wrong[i][0], err.text);
	}
}

static void rules_are_read(void **state)
{
	static const char *const wrong[] = {"",     "1",       "2:1",       "0:0",         "1:1025",   "x:2",
	                                    "1:2,", "1:2,x=1", "1:2,delay", "1:2,delay=5", "1:2,on=x", "1:2,scale-at=0",
	                                    "-1:2", "1:2:3"};
	struct replicas_options o = {.scale_at = 8};
	struct ipf_error err = {0};
	(void)state;
	assert_int_equal(replicas_parse("1:4,on=running,idle=1m,delay=250ms,scale-at=3", &o, &err), 0);
	assert_int_equal(o.signal, REPLICAS_ON_RUNNING);
	assert_int_equal(o.idle_ns, 60000 * MS);
	assert_int_equal(o.delay_ns, 250 * MS);
	assert_int_equal(o.scale_at, 3);
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct ipf_error why = {0};
		struct replicas_options options = {.scale_at = 8};
		if (replicas_parse(wrong[i], &options, &why) == 0 && strcmp(wrong[i], "1:2,") != 0)
			fail_msg("%s: expected an error", wrong[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(added_after_the_delay),
		cmocka_unit_test(removed_when_idle),
		cmocka_unit_test(those_that_are_not_ready_go_first),
		cmocka_unit_test(down_to_none),
		cmocka_unit_test(property_never_beyond_the_bounds),
		cmocka_unit_test(a_series_is_followed),
		cmocka_unit_test(a_fixed_number_stays),
		cmocka_unit_test(wrong_settings_are_refused),
		cmocka_unit_test(rules_are_read),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
