/* Prices per hour: accepted ones, and refused ones. */
#include "unit.h"

#include "analysis/cost.h"

#include <math.h>

static void prices(void **state)
{
	(void)state;
	static const struct {
		const char *text, *currency;
		double per_hour;
		bool per_gpu;
	} good[] = {{"2.5/h", "", 2.5, false},
	            {"0/h", "", 0, false},
	            {"2.5/gpu/h", "", 2.5, true},
	            {"EUR 12/gpu/h", "EUR", 12, true},
	            {"credits 1000/h", "credits", 1000, false}};
	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		struct price price;
		struct ipf_error err = {0};
		assert_int_equal(price_parse(&price, good[i].text, &err), 0);
		assert_float_equal(price.per_hour, good[i].per_hour, 1e-9);
		assert_string_equal(price.currency, good[i].currency);
		assert_int_equal(price.per_gpu, good[i].per_gpu);
	}
}

static void no_prices(void **state)
{
	(void)state;
	static const char *const bad[] = {"",        "5",     "/h",      "x/h",    "5/",    "5/day",         "EUR  5/h",
	                                  " 5/h",    "EUR/h", "5 EUR/h", "E1 5/h", "5/gpu", "LONGNAMES 5/h", "nan/h",
	                                  "1e999/h", "-1/h"};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct price price;
		struct ipf_error err = {0};
		assert_int_equal(price_parse(&price, bad[i], &err), -1);
		assert_int_equal(err.kind, IPF_USAGE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(prices), cmocka_unit_test(no_prices)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
