/* Tails of Student's t and of F, and the noise of sums of correlated blocks. */
#include "unit.h"

#include "stats/block_noise.h"
#include "stats/rng.h"
#include "stats/student.h"

#include <math.h>

static void close_to(double got, double expected, double relative)
{
	if (!(fabs(got - expected) <= relative * fabs(expected)))
		fail_msg("%.15g, expected %.15g", got, expected);
}

/* SciPy 1.17.1: 2 * stats.t.sf(t, v), stats.t.isf(p / 2, v), stats.f.sf(f, a, b). */
static void tails(void **state)
{
	(void)state;
	static const struct {
		double t, degrees, p;
	} two_sided[] = {
		{0.5, 1, 0.704832764699133},   {2, 1, 0.295167235300867},      {12.7062047361747, 1, 0.05},
		{2, 2, 0.183503419072274},     {3.182446305284263, 3, 0.05},   {4, 10, 0.00251833262473669},
		{1e-3, 7, 0.999230017244999},  {10, 30, 4.57525140822962e-11}, {1.96, 1e5, 0.04999856319430168},
		{40, 40, 7.0408105747785e-34}, {2.5, 2.5, 0.104569963078155},
	};
	for (size_t i = 0; i < sizeof two_sided / sizeof *two_sided; i++)
		close_to(student_two_sided(two_sided[i].t, two_sided[i].degrees), two_sided[i].p, 1e-9);
	close_to(student_two_sided(1.96, 1e12), 0.0499957905597, 1e-5);
	close_to(student_two_sided(-2, 2), student_two_sided(2, 2), 1e-15);
	close_to(student_critical(0.05, 1), 12.7062047361747, 1e-9);
	close_to(student_critical(0.05, 4.5), 2.658912347204404, 1e-9);
	close_to(student_critical(0.001, 23), 3.76762680431178, 1e-9);
	close_to(student_critical(0.0025, 1.3), 75.73766292737156, 1e-9);
	close_to(variance_ratio_tail(3, 4, 60), 0.025276321398524582, 1e-9);
	close_to(student_critical(0.5, 10), 0.699812061312431, 1e-9);
	assert_true(isnan(student_critical(1, 3)) && isnan(variance_ratio_tail(1, 0.5, 4)));
	assert_true(student_two_sided(INFINITY, 3) == 0);
	assert_true(student_two_sided(0, 3) == 1);
	assert_true(isnan(student_two_sided(NAN, 3)) && isnan(student_two_sided(1, 0.5)));
	assert_true(isnan(student_critical(0, 3)) && isnan(student_critical(0.05, NAN)));
}

/* A first-order autoregressive process of `count` values with unit variance. */
static void correlated(double *values, size_t count, double r, struct rng *rng)
{
	double x = rng_normal(rng);
	for (size_t i = 0; i < count; i++) {
		values[i] = x;
		x = r * x + sqrt(1 - r * r) * rng_normal(rng);
	}
}

/* How often the 95 % interval of a sum of 48 blocks, each of 20 values, covers its expectation of 0. */
static double coverage(double r, uint64_t seed)
{
	enum { REPETITIONS = 1000, BLOCKS = 48, EACH = 20 };
	static double values[BLOCKS * EACH];
	double parts[BLOCKS];
	int inside = 0;
	for (uint64_t k = 0; k < REPETITIONS; k++) {
		struct rng rng;
		double sum = 0;
		rng_init(&rng, seed, "blocks", k);
		correlated(values, BLOCKS * EACH, r, &rng);
		for (size_t b = 0; b < BLOCKS; b++) {
			parts[b] = 0;
			for (size_t i = 0; i < EACH; i++)
				parts[b] += values[b * EACH + i];
			sum += parts[b];
		}
		const struct block_noise noise = block_noise_of(parts, BLOCKS);
		inside += fabs(sum) <= student_critical(0.05, noise.degrees) * sqrt(noise.variance);
	}
	return (double)inside / REPETITIONS;
}

/* Naive intervals of such values cover their mean in 24 % of all cases for r = 0.95. */
static void covers(void **state)
{
	(void)state;
	const uint64_t seed = 20240229;
	static const double correlations[] = {0, 0.5, 0.9, 0.95};
	for (size_t i = 0; i < sizeof correlations / sizeof *correlations; i++) {
		const double got = coverage(correlations[i], seed + i);
		printf("# r = %g: %.1f %%\n", correlations[i], 100 * got);
		assert_true(got > 0.925 && got < 0.98);
	}
}

/* Few blocks of independent values: their correlation by chance, often negative, must not make intervals narrow, and
 * never so narrow that a sum of nothing but chance seems to be far from 0. */
static void few_blocks(void **state)
{
	(void)state;
	enum { REPETITIONS = 2000 };
	static const size_t counts[] = {40, 60, 100, 160};
	for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
		double parts[160];
		int inside = 0, far = 0;
		for (uint64_t k = 0; k < REPETITIONS; k++) {
			struct rng rng;
			double sum = 0;
			rng_init(&rng, 55, "few", k * 10 + c);
			for (size_t i = 0; i < counts[c]; i++)
				sum += parts[i] = rng_normal(&rng);
			const struct block_noise noise = block_noise_of(parts, counts[c]);
			const double t = fabs(sum) / sqrt(noise.variance);
			assert_true(noise.variance > 0);
			inside += t <= student_critical(0.05, noise.degrees);
			far += student_two_sided(t, noise.degrees) < 0.0005;
		}
		printf("# %zu: %.1f %%, p below 0.0005: %d\n", counts[c], 100.0 * inside / REPETITIONS, far);
		assert_true(inside >= 0.94 * REPETITIONS && inside <= 0.985 * REPETITIONS);
		assert_true(far <= 6);
	}
}

static void edges(void **state)
{
	(void)state;
	double parts[200] = {0};
	assert_true(isnan(block_noise_of(parts, 0).variance) && isnan(block_noise_of(parts, 1).variance));
	assert_true(block_noise_of(parts, 200).variance == 0);
	parts[7] = 1; /* all that varies is in one block of many: hardly anything is known of its variance */
	const struct block_noise one = block_noise_of(parts, 48);
	assert_true(one.variance > 0 && one.degrees < 4);
	for (int i = 0; i < 48; i++)
		parts[i] = i % 2 ? 1 : -1; /* the next block does the work one block leaves */
	assert_true(block_noise_of(parts, 48).variance < 48 * 0.2);
	const struct block_noise sum = block_noise_add((struct block_noise){.variance = 4, .degrees = 10},
	                                               (struct block_noise){.variance = 4, .degrees = 10});
	close_to(sum.variance, 8, 1e-12);
	close_to(sum.degrees, 20, 1e-12);
	assert_true(isnan(block_noise_add(sum, (struct block_noise){.variance = NAN}).variance));
	close_to(block_noise_add((struct block_noise){0}, sum).degrees, 20, 1e-12);
}

/* ---- by hand ---- */

/* Blocks around 10, each of the given number of parts: the first one has all of it. */
static struct block_noise noise_of_blocks(const double *blocks, size_t count, size_t parts)
{
	double values[1000] = {0};
	for (size_t b = 0; b < count; b++)
		values[b * parts / count] = 10 + blocks[b];
	return block_noise_of(values, parts);
}

static void expect(struct block_noise got, double variance, double degrees)
{
	close_to(got.variance, variance, 1e-12);
	close_to(got.degrees, degrees, 1e-12);
}

/* The variance of a sum is the number of blocks times theirs, and more if neighbours resemble each other. */
static void noise_of_few_blocks_by_hand(void **state)
{
	(void)state;
	expect(noise_of_blocks((const double[]){-1, 1}, 2, 2), 2 * 2, 1);
	/* no correlation, or 1/3 without bias */
	expect(noise_of_blocks((const double[]){-1, 0, 1}, 3, 3), 3 * (4. / 3) / (2. / 3), 2);
	/* squares 8, products of neighbours 1: r = 1/8, or 1/8 + (1 + 3/8) / 8 without bias */
	const double r = 0.296875;
	expect(noise_of_blocks((const double[]){1, 1, -1, -1, 1, 1, -1, -1}, 8, 8), 64. / 7 * (1 + r) / (1 - r), 7);
	/* squares 42, products 26.25: r = 0.625, or 0.98 without bias, of which 0.8 counts; eight blocks are not joined */
	expect(noise_of_blocks((const double[]){-3.5, -2.5, -1.5, -.5, .5, 1.5, 2.5, 3.5}, 8, 80), 8 * 42. / 7 * 9, 7);
	/* the same noise of much smaller blocks */
	struct block_noise small = block_noise_of((const double[]){1e-3, 1e-3, -1e-3, -1e-3, 1e-3, 1e-3, -1e-3, -1e-3}, 8);
	small.variance *= 1e6;
	expect(small, 64. / 7 * (1 + r) / (1 - r), 7);
	/* neighbours that differ do not count */
	expect(noise_of_blocks((const double[]){1, -1, 1, -1, 1, -1, 1, -1}, 8, 79), 64. / 7, 7);
}

/* Two parts of the last block. */
static void parts_of_a_block_are_added(void **state)
{
	(void)state;
	const double parts[] = {1, -1, 1, -1, 1, -1, 1, 2, -3};
	expect(block_noise_of(parts, 9), 64. / 7, 7);
}

/* Few blocks with most of the variance: 2 n / (kurtosis - 1) degrees, but fewer than blocks. */
static void outliers_leave_few_degrees(void **state)
{
	(void)state;
	/* squares 49 + 7, fourth powers 2401 + 7: kurtosis 301 / 49 */
	expect(noise_of_blocks((const double[]){-1, -1, -1, 7, -1, -1, -1, -1}, 8, 8), 64, 16 / (301. / 49 - 1));
	/* kurtosis 157 / 49: 7.26 degrees, of which eight blocks have 7 */
	expect(noise_of_blocks((const double[]){1, -1, 5, -5, 1, -1, 1, -1}, 8, 8), 64, 7);
}

static void blocks_begin_with_ten_parts(void **state)
{
	(void)state;
	static const struct {
		size_t parts, blocks;
	} cases[] = {{7, 7}, {8, 8}, {89, 8}, {90, 9}, {479, 47}, {480, 48}, {490, 48}, {1000, 48}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		double blocks[BLOCKS_MOST];
		for (size_t b = 0; b < cases[i].blocks; b++)
			blocks[b] = b % 2 ? 1 : -1;
		close_to(noise_of_blocks(blocks, cases[i].blocks, cases[i].parts).degrees, (double)cases[i].blocks - 1, 0);
	}
}

/* Sixteen blocks, two of each of these. Their squares add up to 80, and the products of equal neighbours to 40. Those
 * of the others are -27 and -29: the correlation is 13/80, or 0.2555 without bias, and 11/80, or 0.2258. Its standard
 * error is a quarter. */
static void visible_correlation_joins_blocks(void **state)
{
	(void)state;
	static const double above[] = {3, -3, 1, -1, -1, 3, -3, 1}, below[] = {3, -3, 1, -1, 1, -3, 3, -1};
	double pairs[16];
	for (int i = 0; i < 16; i++)
		pairs[i] = above[i / 2];
	expect(noise_of_blocks(pairs, 16, 160), 8 * 160. / 7, 7);
	for (int i = 0; i < 16; i++)
		pairs[i] = below[i / 2];
	const double r = 11. / 80 + (1 + 33. / 80) / 16;
	expect(noise_of_blocks(pairs, 16, 160), 16 * 80. / 15 * (1 + r) / (1 - r), 15);
}

static void noises_are_added(void **state)
{
	(void)state;
	const struct block_noise one = {.variance = 4, .degrees = 1, .independent = 3},
							 two = {.variance = 2, .degrees = 4, .independent = 5};
	const struct block_noise sum = block_noise_add(one, two), turned = block_noise_add(two, one);
	expect(sum, 6, 36. / (16 + 1));
	expect(turned, 6, 36. / (16 + 1));
	close_to(sum.independent, 8, 0);
	/* without variance their degrees are those of both */
	const struct block_noise none = block_noise_add((struct block_noise){.degrees = 3},
	                                                (struct block_noise){.degrees = 4});
	expect(none, 0, 7);
	expect(block_noise_add((struct block_noise){.variance = 2}, one), 6, 36. / 16);
	expect(block_noise_add(one, (struct block_noise){.variance = 2}), 6, 36. / 16);
	expect(block_noise_add((struct block_noise){.variance = 0.1, .degrees = 5},
	                       (struct block_noise){.variance = 0.3, .degrees = 5}),
	       0.4, 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tails),
		cmocka_unit_test(covers),
		cmocka_unit_test(few_blocks),
		cmocka_unit_test(edges),
		cmocka_unit_test(noise_of_few_blocks_by_hand),
		cmocka_unit_test(parts_of_a_block_are_added),
		cmocka_unit_test(outliers_leave_few_degrees),
		cmocka_unit_test(blocks_begin_with_ten_parts),
		cmocka_unit_test(visible_correlation_joins_blocks),
		cmocka_unit_test(noises_are_added),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
