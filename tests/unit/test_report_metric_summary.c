/* Distributions: percentiles against their definition, failures at infinity, the list of percentiles. */
#include "unit.h"

#include "figures/metric_summary.h"

#include <math.h>

static void fill(struct samples *s, const double *values, size_t count)
{
	for (size_t i = 0; i < count; i++)
		samples_add(s, values[i]);
}

static void a_few_numbers(void **state)
{
	(void)state;
	static const double values[] = {40, 10, 20, 30};
	struct percentiles list;
	struct samples s = {0};
	struct metric_summary d;
	percentiles_default(&list);
	fill(&s, values, 4);
	metric_summary_of_samples(&d, &s, 0, 0.5, &list);
	assert_int_equal(d.n, 4);
	assert_float_equal(d.mean, 12.5, 1e-12);
	assert_float_equal(d.std, sqrt(125) / 2, 1e-12);
	assert_float_equal(d.min, 5, 0);
	assert_float_equal(d.max, 20, 0);
	assert_float_equal(d.at[4], 12.5, 1e-12); /* p50 */
	assert_float_equal(d.at[6], 18.5, 1e-12); /* p90: 30 + 0.7 × 10, scaled */
	assert_true(isnan(d.low));                /* too few for an interval */
	samples_release(&s);
}

static void nothing(void **state)
{
	(void)state;
	struct percentiles list;
	struct samples s = {0};
	struct metric_summary d;
	percentiles_default(&list);
	metric_summary_of_samples(&d, &s, 0, 1, &list);
	assert_int_equal(d.n, 0);
	assert_true(isnan(d.mean) && isnan(d.max) && isnan(d.at[0]));
	struct histogram *h = histogram_new();
	metric_summary_of_histogram(&d, h, 1, &list);
	assert_int_equal(d.n, 0);
	assert_true(isnan(d.mean) && isnan(d.max) && isnan(d.at[0]));
	histogram_free(h);
}

/* With k failures at infinity, a percentile is that of the set with k very large numbers, or infinite where these would
 * show. */
static void failures_at_infinity(void **state)
{
	(void)state;
	uint64_t random = test_seed("failures_at_infinity");
	for (int round = 0; round < 200; round++) {
		size_t count = test_random(&random) % 30, infinite = test_random(&random) % 10;
		struct samples some = {0}, all = {0};
		for (size_t i = 0; i < count; i++) {
			double value = (double)(test_random(&random) % 1000);
			samples_add(&some, value);
			samples_add(&all, value);
		}
		for (size_t i = 0; i < infinite; i++)
			samples_add(&all, 1e300);
		for (double p = 0; p <= 100; p += 6.25) {
			double got = percentile_with_infinite(&some, (int64_t)infinite, p), expected = samples_percentile(&all, p);
			if (count + infinite == 0)
				assert_true(isnan(got));
			else if (expected > 1e6)
				assert_true(isinf(got));
			else
				assert_float_equal(got, expected, 1e-6);
		}
		samples_release(&some);
		samples_release(&all);
	}
}

static void lists_of_percentiles(void **state)
{
	(void)state;
	static const char *const wrong[] = {"", "0", "100", "50,", ",50", "p", "pp50", "50 ", "nan", "-1", "50;90", "1e3"};
	struct percentiles list;
	struct ipf_error err = {0};
	char name[24];
	assert_int_equal(percentiles_parse(&list, "99.9,p50,90,50.0,99.99", &err), 0);
	assert_int_equal(list.count, 4);
	assert_string_equal(percentile_name(list.p[0], name), "p50");
	assert_string_equal(percentile_name(list.p[2], name), "p99.9");
	assert_string_equal(percentile_name(list.p[3], name), "p99.99");
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		ipf_error_clear(&err);
		if (percentiles_parse(&list, wrong[i], &err) == 0)
			fail_msg("\"%s\" was taken", wrong[i]);
		assert_int_equal(err.kind, IPF_USAGE);
	}
	char many[256] = "1";
	for (int i = 2; i <= PERCENTILES_MOST; i++)
		snprintf(many + strlen(many), sizeof many - strlen(many), ",%d", i);
	ipf_error_clear(&err);
	assert_int_equal(percentiles_parse(&list, many, &err), 0);
	strcat(many, ",77");
	assert_int_equal(percentiles_parse(&list, many, &err), -1);
}

static void firm_percentiles(void **state)
{
	(void)state;
	assert_true(percentile_is_firm(459, 99));
	assert_false(percentile_is_firm(458, 99));
	assert_true(percentile_is_firm(44, 90));
	assert_false(percentile_is_firm(43, 90));
	assert_true(percentile_is_firm(459, 1));
	assert_false(percentile_is_firm(458, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_few_numbers),        cmocka_unit_test(nothing),
		cmocka_unit_test(failures_at_infinity), cmocka_unit_test(lists_of_percentiles),
		cmocka_unit_test(firm_percentiles),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
