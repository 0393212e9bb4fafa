#include "draft/distribution.h"

#include "unit.h"

#include <math.h>

static struct distribution parsed(const char *text)
{
	struct distribution dist;
	struct ipf_error err = {0};
	if (distribution_parse(&dist, text, DISTRIBUTION_COUNT, &err) < 0)
		fail_msg("%s", err.text);
	return dist;
}

static void moments(const char *text, int n, double *mean, double *std, int64_t *least, int64_t *most)
{
	struct distribution dist = parsed(text);
	struct rng rng;
	double sum = 0, squares = 0;
	rng_init(&rng, 1, "test", 0);
	*least = INT64_MAX;
	*most = 0;
	for (int i = 0; i < n; i++) {
		int64_t x = distribution_draw(&dist, &rng);
		sum += (double)x;
		squares += (double)x * (double)x;
		*least = x < *least ? x : *least;
		*most = x > *most ? x : *most;
	}
	*mean = sum / n;
	*std = sqrt(squares / n - *mean * *mean);
}

static void close_to(double got, double wanted, double tolerance)
{
	if (fabs(got - wanted) > tolerance)
		fail_msg("%g, not %g ± %g", got, wanted, tolerance);
}

static void shapes(void **state)
{
	(void)state;
	double mean, std;
	int64_t least, most;
	moments("128", 100, &mean, &std, &least, &most);
	assert_int_equal(least, 128);
	assert_int_equal(most, 128);
	moments("uniform:64-256", 100000, &mean, &std, &least, &most);
	assert_int_equal(least, 64);
	assert_int_equal(most, 256);
	close_to(mean, 160, 1);
	close_to(std, sqrt((193.0 * 193 - 1) / 12), 1);
	moments("normal:550,150", 100000, &mean, &std, &least, &most);
	close_to(mean, 550, 2);
	close_to(std, 150, 2);
	assert_true(least >= 1);
	moments("normal:550,150,min=500,max=600", 10000, &mean, &std, &least, &most);
	assert_int_equal(least, 500);
	assert_int_equal(most, 600);
	moments("lognormal:550,400", 200000, &mean, &std, &least, &most);
	close_to(mean, 550, 4);
	close_to(std, 400, 10);
	moments("normal:10,0", 10, &mean, &std, &least, &most);
	assert_int_equal(least, 10);
	/* bounds drawing do not reach */
	moments("normal:10,1,min=1000,max=2000", 3, &mean, &std, &least, &most);
	assert_int_equal(most, 1000);
	assert_int_equal(parsed("dataset").kind, DISTRIBUTION_DATASET);
	assert_int_equal(parsed("1.5k").min, 1500);
}

static void refusals(void **state)
{
	(void)state;
	static const char *const wrong[] = {
		"",
		"0",
		"-1",
		"many",
		"uniform",
		"uniform:",
		"uniform:64",
		"uniform:64-",
		"uniform:256-64",
		"uniform:0-5",
		"normal:",
		"normal:5",
		"normal:0,1",
		"normal:5,-1",
		"normal:5,1,min=0",
		"normal:5,1,min=9,max=8",
		"normal:5,1,2",
		"normal:5,x",
		"poisson:5",
		"lognormal:1",
		"normal:inf,1",
		"128 ",
	};
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct distribution dist;
		struct ipf_error err = {0};
		if (distribution_parse(&dist, wrong[i], DISTRIBUTION_COUNT, &err) == 0)
			fail_msg("%s was taken", wrong[i]);
		assert_int_equal(err.kind, IPF_USAGE);
		assert_true(err.text[0]);
	}
}

static void times(void **state)
{
	(void)state;
	struct distribution dist;
	struct ipf_error err = {0};
	struct rng rng;
	rng_init(&rng, 1, "test", 0);
	assert_int_equal(distribution_parse(&dist, "2s", DISTRIBUTION_TIME, &err), 0);
	assert_true(distribution_draw(&dist, &rng) == INT64_C(2000000000));
	assert_int_equal(distribution_parse(&dist, "0", DISTRIBUTION_TIME, &err), 0);
	assert_true(distribution_draw(&dist, &rng) == 0);
	assert_int_equal(distribution_parse(&dist, "normal:8s,6s,max=9s", DISTRIBUTION_TIME, &err), 0);
	for (int i = 0; i < 1000; i++)
		assert_in_range(distribution_draw(&dist, &rng), 0, UINT64_C(9000000000));
	assert_int_equal(distribution_parse(&dist, "uniform:250ms-1m30s", DISTRIBUTION_TIME, &err), 0);
	for (int i = 0; i < 1000; i++)
		assert_in_range(distribution_draw(&dist, &rng), 250000000, UINT64_C(90000000000));
	assert_int_equal(distribution_parse(&dist, "8", DISTRIBUTION_TIME, &err), -1);
	ipf_error_clear(&err);
	assert_int_equal(distribution_parse(&dist, "uniform:1-2", DISTRIBUTION_TIME, &err), -1);
}

static void histograms(void **state)
{
	(void)state;
	struct distribution dist;
	struct ipf_error err = {0};
	struct rng rng;
	int seen[30] = {0};
	rng_init(&rng, 1, "test", 0);
	assert_int_equal(
		distribution_histogram(&dist, "h", "# lengths\n5 1\n\n10-19, 3 \r\n20\t0\n", DISTRIBUTION_COUNT, &err), 0);
	for (int i = 0; i < 40000; i++)
		seen[distribution_draw(&dist, &rng)]++;
	assert_in_range(seen[5], 9500, 10500);
	for (int i = 10; i < 20; i++)
		assert_in_range(seen[i], 2750, 3250);
	assert_int_equal(seen[20], 0);
	distribution_release(&dist);
	static const char *const wrong[] = {"",        "5\n",    "5 x\n", "x 5\n",   "0 1\n",
	                                    "9-5 1\n", "5 -1\n", "5 0\n", "5 1 2\n", "5-6-7 1\n"};
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		ipf_error_clear(&err);
		if (distribution_histogram(&dist, "h", wrong[i], DISTRIBUTION_COUNT, &err) == 0)
			fail_msg("\"%s\" was taken", wrong[i]);
		assert_int_equal(err.kind, IPF_INPUT);
		assert_string_equal(err.file, "h");
		distribution_release(&dist);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shapes),
		cmocka_unit_test(refusals),
		cmocka_unit_test(times),
		cmocka_unit_test(histograms),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
