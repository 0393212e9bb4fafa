/* Wilson's interval of a share, against published values and its properties. */
#include "unit.h"

#include "figures/share_interval.h"

#include <math.h>

static void known_values(void **state)
{
	(void)state;
	static const struct {
		int64_t count, of;
		double low, high;
	} cases[] = {{81, 263, 0.2553, 0.3662}, /* Newcombe 1998, table I, method 3 */
	             {15, 148, 0.0624, 0.1605},
	             {0, 20, 0, 0.1611},
	             {1, 29, 0.0061, 0.1718},
	             {10, 10, 0.7225, 1}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct share_interval s = share_interval(cases[i].count, cases[i].of);
		assert_true(fabs(s.low - cases[i].low) < 0.00005);
		assert_true(fabs(s.high - cases[i].high) < 0.00005);
	}
	assert_true(isnan(share_interval(0, 0).low) && isnan(share_interval(0, 0).high));
}

static void it_holds_the_share(void **state)
{
	(void)state;
	for (int64_t of = 1; of < 60; of++)
		for (int64_t count = 0; count <= of; count++) {
			struct share_interval s = share_interval(count, of), other = share_interval(of - count, of);
			double share = (double)count / (double)of;
			assert_true(s.low >= 0 && s.low <= share && share <= s.high && s.high <= 1);
			assert_true(fabs(s.low - (1 - other.high)) < 1e-12);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_values),
		cmocka_unit_test(it_holds_the_share),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
