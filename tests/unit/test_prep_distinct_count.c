/* Numbers of different values, against known ones: exact while they fit, and within their error beyond. */
#include "unit.h"

#include "shape/distinct_count.h"
#include "text_hash.h"

#include <math.h>

/* `count` different values, each of them `times`. */
static struct distinct_count counted(uint64_t first, uint64_t step, int64_t count, int times)
{
	struct distinct_count d = {0};
	for (int t = 0; t < times; t++)
		for (int64_t i = 0; i < count; i++) {
			uint64_t value = first + step * (uint64_t)i;
			distinct_count_add(&d, text_hash_mixed((struct slice){(const char *)&value, sizeof value}));
		}
	assert_false(d.failed);
	return d;
}

static void assert_estimate(struct distinct_count *d, int64_t count)
{
	const double error = distinct_count_error(d), off = fabs(distinct_count_estimate(d) - (double)count);
	assert_true(error <= 0.008);
	if (off > 3 * error * (double)count)
		fail_msg("%lld values: %.0f, which is off by %.2f of its errors", (long long)count, distinct_count_estimate(d),
		         off / (error * (double)count));
	distinct_count_release(d);
}

static void nothing(void **state)
{
	(void)state;
	struct distinct_count d = {0};
	assert_true(distinct_count_estimate(&d) == 0 && distinct_count_error(&d) == 0);
	distinct_count_release(&d);
}

static void few_values_are_counted_exactly(void **state)
{
	(void)state;
	const int64_t counts[] = {1, 1000, (int64_t)DISTINCT_KEPT};
	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
		struct distinct_count d = counted(0, 1, counts[i], 2);
		assert_true(distinct_count_estimate(&d) == (double)counts[i] && distinct_count_error(&d) == 0);
		distinct_count_release(&d);
	}
}

static void many_values_are_estimated_within_their_error(void **state)
{
	(void)state;
	const uint64_t steps[] = {1, 64, UINT64_C(0x9e3779b97f4a7c15)};
	const int64_t counts[] = {(int64_t)DISTINCT_KEPT + 1, 100000, 1000000, 5000000};
	for (size_t i = 0; i < 3; i++)
		for (size_t k = 0; k < 4; k++) {
			struct distinct_count d = counted(i * 12345, steps[i], counts[k], 1);
			assert_true(distinct_count_error(&d) > 0);
			assert_estimate(&d, counts[k]);
		}
}

static void neither_order_nor_repetition_matters(void **state)
{
	(void)state;
	struct distinct_count up = counted(1, 1, 300000, 3), down = counted(300000, UINT64_MAX, 300000, 1);
	assert_int_equal(up.count, down.count);
	assert_int_equal(up.depth, down.depth);
	distinct_count_release(&up);
	distinct_count_release(&down);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing),
		cmocka_unit_test(few_values_are_counted_exactly),
		cmocka_unit_test(many_values_are_estimated_within_their_error),
		cmocka_unit_test(neither_order_nor_repetition_matters),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
