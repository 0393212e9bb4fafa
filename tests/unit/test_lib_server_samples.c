/* Histograms of other programs, and figures over time of the targets of a scrape. */
#include "unit.h"

#include "series/server_samples.h"

#include <math.h>

#define S INT64_C(1000000000)

static void near(double got, double want)
{
	if (!(fabs(got - want) <= 1e-9 * fmax(1, fabs(want))))
		fail_msg("got %.17g, expected %.17g", got, want);
}

static void test_quantiles(void **state)
{
	(void)state;
	struct bucket_histogram h = {0};
	assert_true(isnan(bucket_histogram_quantile(&h, 50).value));
	bucket_histogram_add(&h, 10, 20, 30);
	bucket_histogram_add(&h, 0, 10, 10);
	bucket_histogram_add(&h, 20, INFINITY, 10);
	bucket_histogram_add(&h, 3, 2, 10); /* not in order */
	bucket_histogram_add(&h, 0, 10, 0);
	h.sum = 800;
	near(h.n, 50);
	near(bucket_histogram_mean(&h), 16);
	struct bucket_quantile q = bucket_histogram_quantile(&h, 50);
	near(q.low, 10);
	near(q.high, 20);
	near(q.value, 15);
	q = bucket_histogram_quantile(&h, 10);
	near(q.value, 5);
	near(q.high, 10);
	q = bucket_histogram_quantile(&h, 99);
	near(q.low, 20);
	assert_true(isinf(q.high));
	near(q.value, 20);
	bucket_histogram_release(&h);
}

/* Whatever values are counted in whatever buckets: the quantile of the values is within the bounds. */
static void test_quantiles_are_within_their_bounds(void **state)
{
	(void)state;
	uint64_t seed = test_seed("quantiles_are_within_their_bounds");
	for (int run = 0; run < 2000; run++) {
		double values[64], width[2] = {1 + (double)(test_random(&seed) % 9), 1 + (double)(test_random(&seed) % 9)};
		int n = 1 + (int)(test_random(&seed) % 64);
		struct bucket_histogram parts[2] = {{0}, {0}}, all = {0};
		for (int i = 0; i < n; i++) {
			int which = (int)(test_random(&seed) % 2);
			values[i] = (double)(test_random(&seed) % 100 + 1) / 2;
			double k = ceil(values[i] / width[which]);
			bucket_histogram_add(&parts[which], (k - 1) * width[which], k * width[which], 1);
		}
		bucket_histogram_merge(&all, &parts[0]);
		bucket_histogram_merge(&all, &parts[1]);
		for (int i = 1; i < n; i++) /* by insertion */
			for (int k = i; k > 0 && values[k - 1] > values[k]; k--) {
				double other = values[k];
				values[k] = values[k - 1];
				values[k - 1] = other;
			}
		for (int p = 1; p <= 100; p += 3) {
			int rank = (int)ceil(n * p / 100.0 - 1e-9);
			struct bucket_quantile q = bucket_histogram_quantile(&all, p);
			assert_true(q.low <= values[rank - 1] && values[rank - 1] <= q.high);
			assert_true(q.low <= q.value && q.value <= q.high);
		}
		for (int i = 0; i < 2; i++)
			bucket_histogram_release(&parts[i]);
		bucket_histogram_release(&all);
	}
}

static void add(struct server_samples *s, int part, const char *text)
{
	struct ipf_error err = {0};
	struct jdoc doc = {0};
	assert_int_equal(jdoc_parse(&doc, text, strlen(text), &err), 0);
	if (server_samples_add(s, part, 0, &doc, &err) < 0)
		fail_msg("%s", err.text);
	jdoc_release(&doc);
}

/* At second 10 + t. */
#define SAMPLE(target_, t_, rest_)                                                                                     \
	"{\"sample\":\"server\",\"t_ns\":1" #t_ "000000000,\"target\":\"" target_ "\",\"server\":\"vllm\"," rest_ "}"

static void test_gauges_over_time(void **state)
{
	(void)state;
	struct server_samples s = {.store = sample_store_new(SAMPLE_STORE_BYTES)};
	add(&s, 0, SAMPLE("a", 0, "\"gauges\":{\"running\":2}"));
	add(&s, 0, SAMPLE("a", 1, "\"gauges\":{\"running\":6}"));
	add(&s, 0, SAMPLE("a", 4, "\"error\":\"timed out\""));
	add(&s, 0, SAMPLE("a", 5, "\"gauges\":{\"running\":1}"));
	add(&s, 0, SAMPLE("a", 3, "\"gauges\":{\"running\":100}")); /* out of order */
	assert_int_equal(s.count, 1);
	assert_int_equal(s.targets[0].readings, 4);
	assert_int_equal(s.targets[0].failed, 1);
	assert_string_equal(s.targets[0].last_error, "timed out");
	assert_string_equal(s.targets[0].server, "vllm");
	assert_int_equal(sample_store_dropped(s.store), 1);
	struct gauge_figures f = sample_store_gauge_figures(s.store, 0, "running", &sample_range_all);
	/* 1 s of 2, 3 s of 6 up to the failure, nothing for 1 s, then 1 for the 4 s between its reading and the last */
	near(f.seconds, 8);
	near(f.mean, (2 + 18 + 4) / 8.0);
	near(f.max, 6);
	near(f.p50, 1);
	near(f.p90, 6);
	f = sample_store_gauge_figures(s.store, 0, "running", &(struct sample_range){10 * S + S / 2, 12 * S});
	near(f.mean, (0.5 * 2 + 6) / 1.5);
	assert_true(isnan(sample_store_gauge_figures(s.store, 0, "running", &(struct sample_range){14 * S, 15 * S}).mean));
	assert_true(isnan(sample_store_gauge_figures(s.store, 0, "waiting", &sample_range_all).mean));
	sample_store_free(s.store);
	server_samples_release(&s);
}

static void test_several_targets(void **state)
{
	(void)state;
	struct server_samples s = {.store = sample_store_new(SAMPLE_STORE_BYTES)};
	add(&s, 0, SAMPLE("a", 0, "\"gauges\":{\"running\":2,\"kv_cache_usage\":0.2}"));
	add(&s, 0, SAMPLE("b", 1, "\"gauges\":{\"running\":5,\"kv_cache_usage\":0.6}"));
	add(&s, 0, SAMPLE("a", 2, "\"gauges\":{\"running\":4,\"kv_cache_usage\":0.4}"));
	add(&s, 0, SAMPLE("b", 3, "\"error\":\"gone\""));
	add(&s, 0, SAMPLE("a", 4, "\"error\":\"gone\""));
	const int both[] = {0, 1};
	struct gauge_figures f = sample_store_gauge_total(s.store, both, 2, "running", &sample_range_all, false);
	near(f.mean, (2 + 7 + 9 + 4) / 4.0);
	near(f.max, 9);
	f = sample_store_gauge_total(s.store, both, 2, "kv_cache_usage", &sample_range_all, true);
	near(f.mean, (0.2 + 0.4 + 0.5 + 0.4) / 4);
	near(f.max, 0.5);
	sample_store_free(s.store);
	server_samples_release(&s);
}

static void test_increases(void **state)
{
	(void)state;
	struct server_samples s = {.store = sample_store_new(SAMPLE_STORE_BYTES)};
	add(&s, 0, SAMPLE("a", 1, "\"gauges\":{}"));
	add(&s, 0,
	    SAMPLE(
			"a", 3,
			"\"interval_ns\":2000000000,\"counters\":{\"output_tokens\":10},\"histograms\":{\"ttft_ns\":{\"count\":4,"
			"\"sum\":6,\"buckets\":[[1,3],[4,1]]}}"));
	add(&s, 0,
	    SAMPLE(
			"a", 5,
			"\"interval_ns\":2000000000,\"counters\":{\"output_tokens\":30},\"histograms\":{\"ttft_ns\":{\"count\":2,"
			"\"sum\":9,\"buckets\":[[2,1],[null,1]]}}"));
	struct counter_figures f = sample_store_counter_figures(s.store, 0, "output_tokens", &sample_range_all);
	near(f.sum, 40);
	near(f.seconds, 4);
	f = sample_store_counter_figures(s.store, 0, "output_tokens", &(struct sample_range){12 * S, 14 * S});
	near(f.sum, 20);
	assert_true(
		isnan(sample_store_counter_figures(s.store, 0, "output_tokens", &(struct sample_range){0, 11 * S}).sum));
	struct bucket_histogram h = {0};
	assert_true(sample_store_histogram_figures(s.store, 0, "ttft_ns", &sample_range_all, &h));
	near(h.n, 6);
	near(h.sum, 15);
	/* the bound 2, seen only later, is also that of the earlier bucket up to 4 */
	struct bucket_quantile q = bucket_histogram_quantile(&h, 80);
	near(q.low, 2);
	near(q.high, 4);
	bucket_histogram_release(&h);
	sample_store_free(s.store);
	server_samples_release(&s);
}

/* Memory stays below its limit, and sums and means over the whole stay the same. */
static void test_memory_is_bounded(void **state)
{
	(void)state;
	enum { READINGS = 40000 };
	struct server_samples s = {.store = sample_store_new(100000)};
	double gauge = 0, counter = 0;
	for (int64_t i = 1; i <= READINGS; i++) {
		char text[400];
		snprintf(
			text, sizeof text,
			"{\"sample\":\"server\",\"t_ns\":%lld,\"target\":\"a\",\"interval_ns\":10,\"gauges\":{\"running\":%lld},"
			"\"counters\":{\"n\":%lld},\"histograms\":{\"h\":{\"count\":2,\"sum\":5,\"buckets\":[[%lld,2]]}}}",
			(long long)(10 * i), (long long)(i % 7), (long long)(i % 5), (long long)(1 + i % 3));
		add(&s, 0, text);
		gauge += (double)(i % 7);
		counter += (double)(i % 5);
	}
	struct bucket_histogram h = {0};
	near(sample_store_gauge_figures(s.store, 0, "running", &sample_range_all).mean, gauge / READINGS);
	near(sample_store_gauge_figures(s.store, 0, "running", &sample_range_all).max, 6);
	near(sample_store_counter_figures(s.store, 0, "n", &sample_range_all).sum, counter);
	assert_true(sample_store_histogram_figures(s.store, 0, "h", &sample_range_all, &h));
	near(h.n, 2 * READINGS);
	near(h.sum, 5 * READINGS);
	assert_int_equal(sample_store_dropped(s.store), 0);
	/* a half of the time has about a half of it */
	double half = sample_store_counter_figures(s.store, 0, "n", &(struct sample_range){0, 5 * READINGS}).sum;
	assert_true(fabs(half - counter / 2) < 0.01 * counter);
	bucket_histogram_release(&h);
	sample_store_free(s.store);
	server_samples_release(&s);
}

static void test_names_are_limited(void **state)
{
	(void)state;
	struct server_samples s = {.store = sample_store_new(20000)};
	for (int i = 0; i < 3 * SAMPLE_SOURCES_MOST; i++) {
		char text[200];
		snprintf(text, sizeof text, "{\"sample\":\"server\",\"t_ns\":0,\"target\":\"%d\",\"gauges\":{\"g%d\":1}}", i,
		         i);
		add(&s, 0, text);
	}
	assert_int_equal(s.count, SAMPLE_SOURCES_MOST);
	assert_true(sample_store_dropped(s.store) >= 2 * SAMPLE_SOURCES_MOST);
	sample_store_free(s.store);
	server_samples_release(&s);
}

static void test_restarts(void **state)
{
	static const char *const lines[] = {
		"{\"t_ns\":1,\"target\":\"a\",\"resets\":0}",
		"{\"t_ns\":2,\"target\":\"a\",\"interval_ns\":1,\"counters\":{\"x\":1},\"resets\":3}",
		"{\"t_ns\":3,\"target\":\"b\"}",
		"{\"t_ns\":4,\"target\":\"a\",\"interval_ns\":1,\"resets\":1}",
	};
	struct sample_store *store = sample_store_new(SAMPLE_STORE_BYTES);
	struct server_samples s = {.store = store};
	(void)state;
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		struct ipf_error err = {0};
		struct jdoc doc = {0};
		assert_int_equal(jdoc_parse(&doc, lines[i], strlen(lines[i]), &err), 0);
		assert_int_equal(server_samples_add(&s, 0, 10, &doc, &err), 0);
		jdoc_release(&doc);
	}
	assert_int_equal(s.count, 2);
	assert_int_equal(s.targets[0].restarts, 2);
	assert_int_equal(s.targets[0].restarted_ns, 12);
	assert_int_equal(s.targets[1].restarts, 0);
	server_samples_release(&s);
	sample_store_free(store);
}

static void test_bad_lines(void **state)
{
	(void)state;
	static const struct {
		const char *line, *text;
	} cases[] = {
		{"{}", "t_ns: missing in a sample"},
		{"{\"t_ns\":1}", "target: missing in a sample"},
		{"{\"t_ns\":9000000000000000000,\"target\":\"a\"}", "t_ns: 9000000000000000000 is out of range"},
		{"{\"t_ns\":1,\"target\":7}", "target: expected a string, got 7"},
		{"{\"t_ns\":1,\"target\":\"a\",\"interval_ns\":-1}", "interval_ns: -1 is negative"},
		{"{\"t_ns\":1,\"target\":\"a\",\"gauges\":{\"x\":\"y\"}}", "gauges: x: expected a number"},
		{"{\"t_ns\":1,\"target\":\"a\",\"gauges\":[]}", "gauges: expected an object, got []"},
		{"{\"t_ns\":1,\"target\":\"a\",\"interval_ns\":1,\"counters\":{\"x\":-1}}",
	     "counters: x: expected a number of at least 0"},
		{"{\"t_ns\":1,\"target\":\"a\",\"interval_ns\":1,\"histograms\":{\"x\":{\"count\":1,\"sum\":1,\"buckets\":[[2,1],[1,"
	     "1]]}}}",
	     "histograms: x: expected buckets [bound, count] in order of their bounds"},
		{"{\"t_ns\":1,\"target\":\"a\",\"interval_ns\":1,\"resets\":\"x\"}",
	     "resets: expected an integer of 0 or more, got \"x\""},
	};
	struct server_samples s = {.store = sample_store_new(SAMPLE_STORE_BYTES)};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct ipf_error err = {0};
		struct jdoc doc = {0};
		assert_int_equal(jdoc_parse(&doc, cases[i].line, strlen(cases[i].line), &err), 0);
		assert_int_equal(server_samples_add(&s, 0, 0, &doc, &err), -1);
		assert_string_equal(err.text, cases[i].text);
		jdoc_release(&doc);
	}
	sample_store_free(s.store);
	server_samples_release(&s);
}

static void test_devices(void **state)
{
	(void)state;
	struct gpu_samples s = {.store = sample_store_new(SAMPLE_STORE_BYTES)};
	static const char *const lines[] = {
		"{\"sample\":\"gpu\",\"t_ns\":0,\"source\":\"nvml\",\"host\":\"h\",\"device\":\"GPU-1\",\"index\":0,\"model\":\"NVIDIA "
		"H200\",\"utilization\":0.5,\"power_w\":300,\"energy_j\":1000}",
		"{\"sample\":\"gpu\",\"source\":\"nvml\",\"t_ns\":2000000000,\"host\":\"h\",\"device\":\"GPU-1\",\"utilization\":1,\"power_w\":500,"
		"\"energy_j\":1800}",
		"{\"sample\":\"gpu\",\"source\":\"nvml\",\"t_ns\":4000000000,\"host\":\"h\",\"device\":\"GPU-1\",\"power_w\":500,\"energy_j\":100}",
		"{\"sample\":\"gpu\",\"t_ns\":4000000000,\"host\":\"i\",\"device\":\"GPU-1\",\"power_w\":100}",
	};
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		struct ipf_error err = {0};
		struct jdoc doc = {0};
		assert_int_equal(jdoc_parse(&doc, lines[i], strlen(lines[i]), &err), 0);
		assert_int_equal(gpu_samples_add(&s, 0, 0, &doc, &err), 0);
		jdoc_release(&doc);
	}
	assert_int_equal(s.count, 2);
	assert_string_equal(s.devices[0].model, "NVIDIA H200");
	assert_string_equal(s.devices[1].host, "i");
	near(sample_store_gauge_figures(s.store, 0, "utilization", &sample_range_all).mean, 0.75);
	struct counter_figures f = sample_store_counter_figures(s.store, 0, "energy_j", &sample_range_all);
	near(f.sum, 800); /* then the counter began anew */
	near(f.seconds, 2);
	sample_store_free(s.store);
	gpu_samples_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quantiles),         cmocka_unit_test(test_quantiles_are_within_their_bounds),
		cmocka_unit_test(test_gauges_over_time),  cmocka_unit_test(test_several_targets),
		cmocka_unit_test(test_increases),         cmocka_unit_test(test_memory_is_bounded),
		cmocka_unit_test(test_names_are_limited), cmocka_unit_test(test_bad_lines),
		cmocka_unit_test(test_devices),           cmocka_unit_test(test_restarts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
