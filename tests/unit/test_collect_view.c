/* The view's state: the last seconds, and the latest samples. */
#include "absent.h"
#include "clock.h"
#include "view/live_samples.h"
#include "view/recent.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void add_row(struct recent *r, int64_t end_ns, int64_t ttft_ns, int64_t tokens)
{
	struct record record;
	struct result row;
	const struct observation o = {&record, NULL, NULL, &row, 0};
	record_init(&record);
	result_init(&row);
	record.end_ns = end_ns;
	row.ok = ttft_ns != IPF_ABSENT;
	row.error_kind = row.ok ? (struct slice){0} : slice_of("\"cut\"");
	row.ttft_ns = ttft_ns;
	row.output_tokens = tokens;
	recent_row(r, &o);
}

static void seconds_have_what_ended_in_them(void **state)
{
	struct recent r = {0};
	double values[RECENT_SECONDS];
	(void)state;
	assert_int_equal(recent_values(&r, RECENT_REQUESTS, values), 0);
	add_row(&r, -NS_PER_S / 2, 10, 4); /* second -1: a warm-up */
	add_row(&r, 2 * NS_PER_S, 30, 5);
	add_row(&r, 2 * NS_PER_S + 1, 50, 6);
	add_row(&r, 3 * NS_PER_S - 1, IPF_ABSENT, 1);
	assert_int_equal(recent_values(&r, RECENT_REQUESTS, values), 4);
	assert_true(values[0] == 1 && values[1] == 0 && values[2] == 0 && values[3] == 3);
	recent_values(&r, RECENT_FAILED, values);
	assert_true(values[0] == 0 && values[3] == 1);
	recent_values(&r, RECENT_OUTPUT_TOKENS, values);
	assert_true(values[0] == 4 && values[1] == 0 && values[3] == 12);
	recent_values(&r, RECENT_TTFT, values);
	assert_true(values[0] == 10 && isnan(values[1]) && values[3] == 40);
	/* the last second is not over */
	assert_true(recent_mean(&r, RECENT_REQUESTS, 2) == 0);
	assert_true(fabs(recent_mean(&r, RECENT_REQUESTS, 5) - 1.0 / 3) < 1e-12);
	assert_true(recent_mean(&r, RECENT_TTFT, 5) == 10);
}

static void old_seconds_are_forgotten(void **state)
{
	struct recent r = {0};
	double values[RECENT_SECONDS];
	(void)state;
	for (int64_t s = 0; s < 3 * RECENT_SECONDS; s++)
		add_row(&r, s * NS_PER_S, 1, s);
	assert_int_equal(recent_values(&r, RECENT_OUTPUT_TOKENS, values), RECENT_SECONDS);
	assert_true(values[0] == 2 * RECENT_SECONDS && values[RECENT_SECONDS - 1] == 3 * RECENT_SECONDS - 1);
	add_row(&r, 0, 1, 1000); /* came too late */
	recent_values(&r, RECENT_OUTPUT_TOKENS, values);
	assert_true(values[0] == 2 * RECENT_SECONDS);
	/* a gap longer than the ring */
	add_row(&r, 10 * RECENT_SECONDS * NS_PER_S, 1, 7);
	assert_int_equal(recent_values(&r, RECENT_OUTPUT_TOKENS, values), RECENT_SECONDS);
	assert_true(values[0] == 0 && values[RECENT_SECONDS - 1] == 7);
}

static int64_t add_line(struct live_samples *s, const char *line)
{
	return live_samples_add(s, slice_of(line));
}

static void servers_add_up(void **state)
{
	static struct live_samples s;
	(void)state;
	assert_int_equal(
		add_line(&s, "{\"sample\":\"server\",\"t_ns\":5,\"target\":\"a\",\"gauges\":{\"running\":3,\"waiting\":2,"
	                 "\"kv_cache_usage\":0.5}}"),
		5);
	add_line(&s,
	         "{\"sample\":\"server\",\"t_ns\":6,\"target\":\"b\",\"gauges\":{\"running\":4,\"kv_cache_usage\":0.7}}");
	add_line(&s, "{\"sample\":\"server\",\"t_ns\":6,\"target\":\"c\",\"error\":\"timeout\"}");
	assert_int_equal(add_line(&s, "{\"sample\":\"client\",\"t_ns\":6}"), IPF_ABSENT);
	assert_int_equal(add_line(&s, "{\"sample\":\"server\",\"t_ns\":"), IPF_ABSENT);
	struct server_now now = live_samples_servers(&s);
	assert_int_equal(now.servers, 3);
	assert_int_equal(now.failed, 1);
	assert_true(now.running == 7 && now.waiting == 2 && fabs(now.kv_cache - 0.6) < 1e-12 && isnan(now.replicas));
	/* the latest sample of a target counts */
	add_line(&s, "{\"sample\":\"server\",\"t_ns\":7,\"target\":\"a\",\"gauges\":{\"running\":1}}");
	now = live_samples_servers(&s);
	assert_true(now.running == 5 && isnan(now.waiting));
	live_samples_release(&s);
}

static void devices_add_up(void **state)
{
	static struct live_samples s;
	(void)state;
	assert_int_equal(live_samples_gpus(&s).devices, 0);
	add_line(&s, "{\"sample\":\"gpu\",\"t_ns\":5,\"device\":\"GPU-1\",\"utilization\":0.9,\"power_w\":500,"
	             "\"memory_used_bytes\":50,\"memory_total_bytes\":100,\"temperature_c\":61}");
	add_line(&s, "{\"sample\":\"gpu\",\"t_ns\":5,\"device\":\"GPU-2\",\"utilization\":0.7,\"power_w\":300}");
	struct gpu_now now = live_samples_gpus(&s);
	assert_int_equal(now.devices, 2);
	assert_true(fabs(now.utilization - 0.8) < 1e-12 && now.power_w == 800 && now.memory_share == 0.5 &&
	            now.temperature == 61);
	live_samples_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(seconds_have_what_ended_in_them),
		cmocka_unit_test(old_seconds_are_forgotten),
		cmocka_unit_test(servers_add_up),
		cmocka_unit_test(devices_add_up),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
