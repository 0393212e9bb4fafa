#include "draft/random_places.h"

#include "absent.h"
#include "unit.h"

static void shares_and_numbers_are_told_apart(void **state)
{
	static const struct {
		const char *text;
		double share;
		int64_t count;
	} good[] = {{"1%", 0.01, 0}, {"0.5", 0.5, 0}, {"100%", 1, 0}, {"1", 0, 1}, {"50", 0, 50}, {"2k", 0, 2000}};
	static const char *const wrong[] = {"", "0", "0%", "0.0", "-1", "101%", "x", "1.5", "1%%"};
	struct share_or_count option;
	(void)state;
	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		struct ipf_error err = {0};
		assert_int_equal(share_or_count_parse(&option, good[i].text, &err), 0);
		assert_float_equal(option.share, good[i].share, 0);
		assert_int_equal(option.count, good[i].count);
	}
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct ipf_error err = {0};
		if (share_or_count_parse(&option, wrong[i], &err) == 0)
			fail_msg("\"%s\" is accepted", wrong[i]);
		assert_int_equal(err.kind, IPF_USAGE);
	}
}

static void each_part_has_one_place(void **state)
{
	static const double rates[] = {0.001, 0.01, 1.0 / 3, 1, 2.5};
	(void)state;
	for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
		for (uint64_t seed = 1; seed <= 20; seed++) {
			struct random_places p;
			int64_t taken = 0;
			random_places_init(&p, seed, "place", rates[i], IPF_ABSENT);
			for (int64_t index = 0; index < 10000; index++) {
				while (random_places_take(&p, index))
					taken++;
				/* as many as whole parts, and perhaps the one of the part begun */
				double parts = (double)(index + 1) * rates[i];
				if ((double)taken < parts - 1 || (double)taken > parts + 1)
					fail_msg("rate %g: %lld places in %lld requests", rates[i], (long long)taken, (long long)index + 1);
			}
		}
}

static void places_are_uniform(void **state)
{
	enum { SEEDS = 4000, REQUESTS = 10 };
	int by_request[REQUESTS] = {0};
	(void)state;
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		struct random_places p;
		random_places_init(&p, seed, "place", 1.0 / REQUESTS, 1);
		for (int64_t index = 0; index < REQUESTS; index++)
			by_request[index] += random_places_take(&p, index);
		assert_false(random_places_take(&p, INT64_MAX / 4));
	}
	/* 400 expected, with a standard deviation of 19 */
	for (int i = 0; i < REQUESTS; i++)
		assert_in_range(by_request[i], 310, 490);
}

static void a_rate_of_zero_has_no_place(void **state)
{
	struct random_places p;
	(void)state;
	random_places_init(&p, 1, "place", 0, IPF_ABSENT);
	assert_false(random_places_take(&p, 1000000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shares_and_numbers_are_told_apart),
		cmocka_unit_test(each_part_has_one_place),
		cmocka_unit_test(places_are_uniform),
		cmocka_unit_test(a_rate_of_zero_has_no_place),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
