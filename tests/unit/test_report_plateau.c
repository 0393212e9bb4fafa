/* The plateau of throughput against users: hand-made curves whose capacity is obvious, and its interval. */
#include "unit.h"

#include "analysis/plateau.h"

#include <math.h>

/* Points of 10 s; `noise`: completions vary by as much from part to part. */
static void make(struct plateau_point *points, const double rates[][2], size_t count, double noise, uint64_t *random)
{
	for (size_t i = 0; i < count; i++) {
		points[i] = (struct plateau_point){.users = rates[i][0], .seconds = 10};
		for (int k = 0; k < KNEE_BATCHES; k++) {
			double off = noise > 0 ? noise * ((double)(test_random(random) % 2001) / 1000 - 1) : 0;
			points[i].completed[k] = rates[i][1] * 10 / KNEE_BATCHES * (1 + off);
		}
	}
}

static struct plateau found(const double rates[][2], size_t count)
{
	struct plateau_point points[16];
	struct plateau p;
	make(points, rates, count, 0, NULL);
	plateau_find(points, count, &p);
	return p;
}

static void a_plateau(void **state)
{
	(void)state;
	static const double rates[][2] = {{32, 100}, {2, 20}, {16, 100}, {8, 80}, {4, 40}};
	struct plateau p = found(rates, 5);
	assert_true(p.flat && !p.falls);
	assert_float_equal(p.rate, 100, 1e-9);
	assert_float_equal(p.users, 10, 1e-9);
	assert_int_equal(p.below, 3);
	assert_int_equal(p.on, 2);
}

/* A server sharing batches: each user more brings less. */
static void a_bent_curve(void **state)
{
	(void)state;
	static const double rates[][2] = {{1, 10}, {4, 36}, {16, 110}, {64, 240}, {128, 300}, {256, 304}, {512, 300}};
	struct plateau p = found(rates, 7);
	assert_true(p.flat && !p.falls);
	assert_float_equal(p.rate, 301.333, 1e-2);
	assert_true(p.users > 64 && p.users < 128);
}

static void still_rising(void **state)
{
	(void)state;
	static const double straight[][2] = {{2, 20}, {4, 40}, {8, 80}}, bent[][2] = {{2, 20}, {4, 35}, {8, 60}},
						close[][2] = {{2, 20}, {8, 80}, {8.2, 82}}, one_above[][2] = {{2, 20}, {8, 80}, {16, 100}};
	assert_false(found(straight, 3).flat);
	assert_false(found(bent, 3).flat);
	assert_false(found(close, 3).flat);
	assert_false(found(one_above, 3).flat);
}

static void falling(void **state)
{
	(void)state;
	static const double rates[][2] = {{2, 20}, {8, 80}, {16, 60}};
	struct plateau p = found(rates, 3);
	assert_true(p.flat && p.falls);
	assert_float_equal(p.rate, 80, 1e-9);
	assert_float_equal(p.users, 8, 1e-9);
}

static void full_from_the_first_on(void **state)
{
	(void)state;
	static const double rates[][2] = {{20, 100}, {30, 100}, {40, 100}};
	struct plateau p = found(rates, 3);
	assert_true(p.flat && isnan(p.users));
	assert_int_equal(p.below, 0);
}

/* Repeats of a number of users are one point; none that succeeded is no failure. */
static void repeats_and_nothing(void **state)
{
	(void)state;
	static const double twice[][2] = {{2, 18}, {2, 22}, {16, 100}, {16, 98}, {32, 99}}, none[][2] = {{1, 0}, {2, 0}};
	struct plateau p = found(twice, 5);
	assert_true(p.flat);
	assert_int_equal(p.on, 2);
	assert_float_equal(p.rate, 99, 1e-9);
	assert_float_equal(found(none, 2).rate, 0, 0);
}

/* For curves with noise, the intervals nearly always have the capacity. */
static void the_interval(void **state)
{
	(void)state;
	uint64_t random = test_seed("interval");
	static const double rates[][2] = {{2, 20}, {5, 50}, {8, 80}, {16, 100}, {32, 100}, {48, 100}};
	struct plateau_point points[6];
	struct ipf_error err = {0};
	struct plateau p;
	int in = 0, flat = 0;
	for (int i = 0; i < 20; i++) {
		make(points, rates, 6, 0.2, &random);
		plateau_find(points, 6, &p);
		assert_int_equal(plateau_interval(points, 6, &p, &err), 0);
		assert_true(p.rate_low <= p.rate_high && p.users_low <= p.users_high);
		in += p.rate_low <= 100 && p.rate_high >= 100;
		flat += p.flat;
	}
	assert_true(in >= 14);
	assert_true(flat >= 18);
}

/* Four stages, two of them on the plateau: few parts say how much it varies. */
static void the_interval_of_few_stages(void **state)
{
	(void)state;
	enum { REPETITIONS = 400 };
	uint64_t random = 20261129;
	static const double rates[][2] = {{4, 40}, {8, 80}, {16, 100}, {32, 100}};
	struct plateau_point points[4];
	struct ipf_error err = {0};
	struct plateau p;
	int in = 0;
	for (int i = 0; i < REPETITIONS; i++) {
		make(points, rates, 4, 0.1, &random);
		plateau_find(points, 4, &p);
		assert_int_equal(plateau_interval(points, 4, &p, &err), 0);
		in += p.rate_low <= 100 && p.rate_high >= 100;
	}
	printf("# %.1f %%\n", 100.0 * in / REPETITIONS);
	assert_true(in >= 0.93 * REPETITIONS && in <= 0.985 * REPETITIONS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_plateau),
		cmocka_unit_test(a_bent_curve),
		cmocka_unit_test(still_rising),
		cmocka_unit_test(falling),
		cmocka_unit_test(full_from_the_first_on),
		cmocka_unit_test(repeats_and_nothing),
		cmocka_unit_test(the_interval_of_few_stages),
		cmocka_unit_test(the_interval),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
