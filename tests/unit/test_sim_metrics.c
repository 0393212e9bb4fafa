/* Histograms in the buckets of several servers, from one count of each value. */
#include "hostile_metrics.h"
#include "metrics_styles.h"

#include "unit.h"

static struct metrics m;

/* The value of a line, NAN if there is none. */
static double line(const struct buffer *text, const char *start)
{
	size_t len = strlen(start);
	for (const char *at = text->data; at && *at; at = strchr(at, '\n'), at += at != NULL)
		if (strncmp(at, start, len) == 0)
			return strtod(at + len, NULL);
	fail_msg("no line %s", start);
	return 0;
}

static void buckets_are_exact_in_each_style(void **state)
{
	enum { VALUES = 2000 };
	static double values[VALUES];
	uint64_t seed = test_seed("buckets_are_exact_in_each_style");
	(void)state;
	metrics_init(&m, 131072);
	for (int i = 0; i < VALUES; i++) {
		/* some of them on a bound */
		const struct bounds *set = &m.sets[test_random(&seed) % BOUNDS_TOKENS];
		values[i] = test_random(&seed) % 4
		                ? (double)(test_random(&seed) % 1000000) / (double)(1 + test_random(&seed) % 100000)
		                : set->at[test_random(&seed) % (unsigned)set->count];
		metrics_add(&m, &m.e2e, values[i]);
	}
	for (int set = 0; set < BOUNDS_TOKENS; set++) {
		struct buffer out = {0};
		double unit = set == BOUNDS_TRITON_FIRST ? 1000 : 1;
		metrics_write_histogram(&out, &m, &m.e2e, (enum metrics_bounds)set, "x", "a=\"b\"");
		for (int b = 0; b < m.sets[set].count; b++) {
			char start[80];
			int expected = 0;
			for (int i = 0; i < VALUES; i++)
				expected += values[i] <= m.sets[set].at[b];
			snprintf(start, sizeof start, "x_bucket{a=\"b\",le=\"%.10g\"} ", m.sets[set].at[b] * unit);
			assert_int_equal((int)line(&out, start), expected);
		}
		assert_int_equal((int)line(&out, "x_bucket{a=\"b\",le=\"+Inf\"} "), VALUES);
		assert_int_equal((int)line(&out, "x_count{a=\"b\"} "), VALUES);
		buffer_release(&out);
	}
}

static void bounds_follow_the_context(void **state)
{
	(void)state;
	metrics_init(&m, 3000);
	assert_int_equal(m.sets[BOUNDS_VLLM_LENGTH].count, 11); /* 1, 2, 5, … 2000 */
	assert_true(m.sets[BOUNDS_VLLM_LENGTH].at[10] < 2001);
	assert_int_equal(m.sets[BOUNDS_TGI_LENGTH].count, 100);
	assert_true(m.sets[BOUNDS_TGI_LENGTH].at[0] > 29.9 && m.sets[BOUNDS_TGI_LENGTH].at[99] > 2999.9);
	assert_int_equal(m.sets[BOUNDS_TGI_DURATION].count, 35);
	assert_int_equal(m.sets[BOUNDS_SGLANG_QUEUE].count, 36);
	assert_int_equal(m.sets[BOUNDS_VLLM_TTFT].count, 22);
	assert_true(m.seconds.count < METRICS_MOST_BOUNDS && m.tokens.count < METRICS_MOST_BOUNDS);
}

static void names_are_escaped(void **state)
{
	struct buffer out = {0};
	struct metrics_view view = {.metrics = &m,
	                            .model = "a\"b\\c\nd",
	                            .kv_blocks = 10,
	                            .max_batch = 1,
	                            .adapters = 2,
	                            .running_adapters = "x\"",
	                            .waiting_adapters = ""};
	(void)state;
	metrics_init(&m, 1000);
	for (const struct metrics_style *style = metrics_styles; style->path; style++)
		style->write(&view, &out);
	assert_non_null(strstr(out.data, "vllm:num_requests_running{engine=\"0\",model_name=\"a\\\"b\\\\c\\nd\"} 0\n"));
	assert_non_null(strstr(out.data, "vllm:lora_requests_info{max_lora=\"2\",running_lora_adapters=\"x\\\"\","));
	assert_non_null(strstr(out.data, "sglang:prompt_tokens_total{model_name=\"a\\\"b\\\\c\\nd\"} 0\n"));
	assert_null(strstr(out.data, "nan"));
	buffer_release(&out);
}

static void hostile_ones_are_as_described(void **state)
{
	struct buffer body = {0};
	(void)state;
	buffer_text(&body, "good 1\n");
	hostile_metrics(SCRAPE_WELL, &body);
	assert_string_equal(body.data, "good 1\n");
	hostile_metrics(SCRAPE_CONTROL, &body);
	assert_memory_equal(body.data, "good 1\n", 7);
	assert_non_null(memchr(body.data, '\x1b', body.len));
	assert_non_null(memchr(body.data, '\0', body.len));
	assert_true(body.len > 100000);
	hostile_metrics(SCRAPE_GARBAGE, &body);
	assert_memory_equal(body.data, "<!doctype", 9);
	buffer_clear(&body);
	hostile_metrics(SCRAPE_HUGE, &body);
	assert_true(body.len >= HOSTILE_METRICS_BYTES && body.data[body.len - 1] == '\n');
	buffer_release(&body);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buckets_are_exact_in_each_style),
		cmocka_unit_test(bounds_follow_the_context),
		cmocka_unit_test(names_are_escaped),
		cmocka_unit_test(hostile_ones_are_as_described),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
