#include "unit.h"

#include "job/delay_histogram.h"

#include <pthread.h>

static int64_t random_time(uint64_t *state)
{
	return (int64_t)(test_random(state) >> (24 + test_random(state) % 40));
}

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

/* Against the sorted values themselves. */
static void test_percentiles(void **state)
{
	enum { COUNT = 20000 };
	static struct delay_histogram s;
	static struct delay_histogram_seen seen;
	static struct delay_histogram_sum sum;
	static int64_t values[COUNT];
	uint64_t random = test_seed("percentiles");
	int64_t near = 0;
	(void)state;
	for (int i = 0; i < COUNT; i++) {
		values[i] = random_time(&random);
		near += values[i] <= DELAY_HISTOGRAM_NEAR_NS;
		delay_histogram_add(&s, values[i]);
	}
	qsort(values, COUNT, sizeof *values, by_value);
	delay_histogram_since(&s, &seen, &sum);
	assert_int_equal(sum.count, COUNT);
	assert_int_equal(sum.near, near);
	assert_int_equal(sum.most_ns, values[COUNT - 1]);
	static const double points[] = {0, 1, 25, 50, 75, 90, 99, 99.9, 100};
	for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
		size_t rank = (size_t)(COUNT * points[i] / 100);
		double right = (double)values[rank < COUNT ? rank : COUNT - 1],
			   got = (double)delay_histogram_percentile(&sum, points[i]);
		assert_true(got >= right * (1 - 1.0 / 64) - 1 && got <= right * (1 + 1.0 / 64) + 1);
	}
}

static void test_only_what_is_new(void **state)
{
	static struct delay_histogram s;
	static struct delay_histogram_seen seen;
	struct delay_histogram_sum sum = {0};
	(void)state;
	assert_int_equal(delay_histogram_percentile(&sum, 50), 0);
	delay_histogram_add(&s, 20);
	delay_histogram_add(&s, -5);
	delay_histogram_since(&s, &seen, &sum);
	assert_int_equal(sum.count, 2);
	assert_int_equal(delay_histogram_percentile(&sum, 0), 0);
	assert_int_equal(delay_histogram_percentile(&sum, 100), 20);
	sum = (struct delay_histogram_sum){0};
	delay_histogram_since(&s, &seen, &sum);
	assert_int_equal(sum.count, 0);
	assert_int_equal(sum.most_ns, 0);
	delay_histogram_add(&s, INT64_MAX);
	delay_histogram_add(&s, 7);
	delay_histogram_since(&s, &seen, &sum);
	assert_int_equal(sum.count, 2);
	assert_int_equal(sum.near, 1);
	assert_int_equal(sum.most_ns, INT64_MAX);
	assert_int_equal(delay_histogram_percentile(&sum, 0), 7);
	assert_true(delay_histogram_percentile(&sum, 100) > INT64_C(1000000000000));
}

enum { MANY = 300000 };

static void *add_all(void *data)
{
	for (int i = 0; i < MANY; i++)
		delay_histogram_add(data, i);
	return NULL;
}

static void test_between_two_threads(void **state)
{
	static struct delay_histogram s;
	static struct delay_histogram_seen seen;
	static struct delay_histogram_sum sum;
	pthread_t adder;
	(void)state;
	assert_int_equal(pthread_create(&adder, NULL, add_all, &s), 0);
	for (int i = 0; i < 200; i++)
		delay_histogram_since(&s, &seen, &sum);
	pthread_join(adder, NULL);
	delay_histogram_since(&s, &seen, &sum);
	assert_int_equal(sum.count, MANY);
	assert_int_equal(sum.near, MANY);
	int64_t median = delay_histogram_percentile(&sum, 50);
	assert_true(median > MANY * 49 / 100 && median < MANY * 51 / 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_percentiles),
		cmocka_unit_test(test_only_what_is_new),
		cmocka_unit_test(test_between_two_threads),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
