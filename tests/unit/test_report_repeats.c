/* Outliers among repeats: the critical values of Grubbs' test, and how often it finds one where there is none. */
#include "unit.h"

#include "analysis/repeats.h"
#include "stats/rng.h"

#include <math.h>

/* Two-sided at 5 %: F. E. Grubbs and G. Beck, Technometrics 14(4), 1972, Table I, at 2.5 % of each side. */
static void critical_values(void **state)
{
	(void)state;
	static const double table[][2] = {{4, 1.481}, {5, 1.715},  {6, 1.887}, {7, 2.020},
	                                  {8, 2.126}, {10, 2.290}, {20, 2.709}};
	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		assert_float_equal(repeats_critical((int)table[i][0], 0.05), table[i][1], 0.002);
}

static void seldom_without_reason(void **state)
{
	(void)state;
	enum { TIMES = 4000, RUNS = 6 };
	struct rng rng;
	int found = 0;
	rng_init(&rng, 1, "runs", 0);
	for (int k = 0; k < TIMES; k++) {
		double x[RUNS], mean = 0, squares = 0, most = 0;
		for (int r = 0; r < RUNS; r++)
			mean += (x[r] = rng_normal(&rng)) / RUNS;
		for (int r = 0; r < RUNS; r++) {
			squares += (x[r] - mean) * (x[r] - mean);
			most = fmax(most, fabs(x[r] - mean));
		}
		found += most / sqrt(squares / (RUNS - 1)) > repeats_critical(RUNS, 0.05);
	}
	assert_in_range(found, 160, 240); /* 200 with a standard deviation of 14; the seed is fixed */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(critical_values),
		cmocka_unit_test(seldom_without_reason),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
