#include "unit.h"

#include "kolmogorov.h"

#include <math.h>

/* Critical distances of the Kolmogorov-Smirnov test, from the usual tables. */
static void test_kolmogorov(void **state)
{
	static const struct {
		double n, distance, p;
	} cases[] = {
		{10, 0.409, 0.05}, {10, 0.489, 0.01},      {20, 0.294, 0.05},      {35, 0.224, 0.05},
		{35, 0.269, 0.01}, {10000, 0.01358, 0.05}, {10000, 0.01628, 0.01}, {10000, 0.0195, 0.001},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		double p = kolmogorov_p(cases[i].distance, cases[i].n);
		if (fabs(p / cases[i].p - 1) > 0.05)
			fail_msg("n %g, D %g: p is %g, not %g", cases[i].n, cases[i].distance, p, cases[i].p);
	}
	assert_true(kolmogorov_p(0, 100) == 1);
	assert_true(kolmogorov_p(1, 1000) < 1e-100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_kolmogorov)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
