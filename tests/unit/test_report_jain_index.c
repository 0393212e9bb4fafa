/* Jain's index of fairness. */
#include "unit.h"

#include "figures/jain_index.h"

#include <math.h>

static double of(const double *x, size_t count)
{
	struct jain_index index = {0};
	for (size_t i = 0; i < count; i++)
		jain_index_add(&index, x[i]);
	return jain_index(&index);
}

static void known_values(void **state)
{
	(void)state;
	assert_true(of((const double[]){3, 3, 3}, 3) == 1);
	assert_true(fabs(of((const double[]){1, 0, 0, 0}, 4) - 0.25) < 1e-15);
	/* the paper's example: 20 of 100 users have a dollar each of 20 */
	double x[100] = {0};
	for (int i = 0; i < 20; i++)
		x[i] = 1;
	assert_true(fabs(of(x, 100) - 0.2) < 1e-15);
	assert_true(fabs(of((const double[]){1, 2, 3}, 3) - 36.0 / 42) < 1e-15);
	assert_true(isnan(of((const double[]){1}, 1)) && isnan(of((const double[]){0, 0}, 2)) && isnan(of(NULL, 0)));
}

static void it_has_no_unit(void **state)
{
	uint64_t random = test_seed("jain");
	(void)state;
	for (int round = 0; round < 1000; round++) {
		double x[20], y[20], unit = (double)(1 + test_random(&random) % 1000) / 7;
		size_t count = 2 + test_random(&random) % 19;
		for (size_t i = 0; i < count; i++) {
			x[i] = (double)(1 + test_random(&random) % 1000);
			y[i] = x[i] * unit;
		}
		double index = of(x, count);
		assert_true(index >= 1 / (double)count - 1e-12 && index <= 1);
		assert_true(fabs(of(y, count) - index) < 1e-12);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_values),
		cmocka_unit_test(it_has_no_unit),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
