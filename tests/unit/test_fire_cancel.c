#include "unit.h"

#include "http/deadlines.h"
#include "run/cancel.h"

static int open_cancels(struct cancels *c, const char *a, const char *b, int seed, struct ipf_error *err)
{
	json_t *header = json_pack("{s:i}", "seed", seed);
	*c = (struct cancels){0};
	int result = cancels_add(c, a, err) < 0 || (b && cancels_add(c, b, err) < 0) ? -1 : 0;
	cancels_seed(c, header, 1000000);
	json_decref(header);
	return result;
}

static void test_shares_are_kept(void **state)
{
	struct cancels c, other;
	struct ipf_error err = {0};
	int count[2] = {0}, differ = 0;
	(void)state;
	assert_int_equal(open_cancels(&c, "5%@2s", "0.2@100ms", 1, &err), 0);
	assert_int_equal(open_cancels(&other, "5%@2s", "0.2@100ms", 2, &err), 0);
	assert_true(c.list[0].after_ns == 2000000000 && c.list[1].after_ns == 100000000);
	for (int64_t n = 0; n < 20000; n++) {
		int k = cancels_find(&c, n);
		assert_int_equal(cancels_find(&c, n), k);
		differ += cancels_find(&other, n) != k;
		if (k >= 0)
			count[k]++;
	}
	/* five standard deviations: 31 and 57 */
	assert_in_range(count[0], 1000 - 155, 1000 + 155);
	assert_in_range(count[1], 4000 - 285, 4000 + 285);
	assert_true(differ > 5000);
}

static void test_shares_of_all_and_of_none(void **state)
{
	struct cancels c;
	struct ipf_error err = {0};
	(void)state;
	assert_int_equal(open_cancels(&c, "90%@1s", "10%@1s", 1, &err), 0);
	for (int64_t n = 0; n < 1000; n++)
		assert_true(cancels_find(&c, n) >= 0);
	assert_int_equal(cancels_find(&c, 1000000), -1); /* exempt */
	assert_int_equal(open_cancels(&c, "0@1s", NULL, 1, &err), 0);
	for (int64_t n = 0; n < 1000; n++)
		assert_int_equal(cancels_find(&c, n), -1);
	assert_int_equal(open_cancels(&c, "90%@1s", "11%@1s", 1, &err), -1);
	assert_int_equal(err.kind, IPF_USAGE);
	ipf_error_clear(&err);
	assert_int_equal(open_cancels(&c, "1s", NULL, 1, &err), -1);
	assert_non_null(strstr(err.text, "got \"1s\""));
}

/* Sets and takes at different rates, so the ring wraps around and grows while wrapped. */
static void test_deadlines_come_in_order(void **state)
{
	struct deadlines *a = deadlines_new(2);
	int64_t set = 0, taken = 0;
	int owner;
	(void)state;
	assert_null(deadlines_first(a, 0));
	for (int round = 0; round < 200; round++) {
		for (int i = 0; i < 7 + round % 5; i++, set++)
			assert_true(
				deadlines_set(a, 1, (struct deadline){.at_ns = 10 * set, .owner = &owner, .serial = (uint64_t)set}));
		for (int i = 0; i < 3 + round % 4; i++, taken++) {
			assert_int_equal(deadlines_first(a, 1)->at_ns, 10 * taken);
			assert_int_equal(deadlines_first(a, 1)->serial, taken);
			deadlines_drop_first(a, 1);
		}
	}
	for (; taken < set; taken++) {
		assert_int_equal(deadlines_first(a, 1)->serial, taken);
		deadlines_drop_first(a, 1);
	}
	assert_null(deadlines_first(a, 1));
	assert_null(deadlines_first(a, 0));
	deadlines_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shares_are_kept),
		cmocka_unit_test(test_shares_of_all_and_of_none),
		cmocka_unit_test(test_deadlines_come_in_order),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
