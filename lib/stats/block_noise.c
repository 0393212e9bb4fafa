#include "stats/block_noise.h"

#include <math.h>

static double mean_of(const double *values, size_t count)
{
	double sum = 0;
	for (size_t i = 0; i < count; i++)
		sum += values[i];
	return sum / (double)count;
}

/* The correlation of neighbours; *spread is the sum of squares. */
static double neighbours(const double *values, size_t count, double *spread)
{
	const double mean = mean_of(values, count);
	double products = 0, squares = 0;
	for (size_t i = 0; i < count; i++) {
		squares += (values[i] - mean) * (values[i] - mean);
		if (i > 0)
			products += (values[i] - mean) * (values[i - 1] - mean);
	}
	*spread = squares;
	return squares > 0 ? products / squares : 0;
}

/* Joins blocks into `to` of them, whose sizes differ by at most one. */
static void join(const double *from, size_t count, double *blocks, size_t to)
{
	for (size_t i = 0; i < to; i++) {
		double sum = 0;
		for (size_t k = i * count / to; k < (i + 1) * count / to; k++)
			sum += from[k];
		blocks[i] = sum;
	}
}

/* Values of a sample correlate by -1/n on average although they are independent. */
static double unbiased(double r, size_t count)
{
	return r + (1 + 3 * r) / (double)count;
}

/* The degrees of freedom of a variance: fewer than the blocks less one if few of them have most of it, but above 2,
 * since the kurtosis is below the number of blocks. */
static double degrees_of(const double *blocks, size_t count, double spread)
{
	const double mean = mean_of(blocks, count), variance = spread / (double)count, all = (double)count - 1;
	double fourth = 0;
	for (size_t i = 0; i < count; i++)
		fourth += (blocks[i] - mean) * (blocks[i] - mean) * (blocks[i] - mean) * (blocks[i] - mean);
	const double kurtosis = variance > 0 ? fourth / (double)count / (variance * variance) : 0;
	return kurtosis > 3 ? fmin(all, 2 * (double)count / (kurtosis - 1)) : all;
}

/* How many blocks to begin with. */
static size_t first_blocks(size_t count)
{
	const size_t wanted = count / BLOCKS_PARTS;
	const size_t blocks = wanted < BLOCKS_FEWEST ? BLOCKS_FEWEST : wanted > BLOCKS_MOST ? BLOCKS_MOST : wanted;
	return count < blocks ? count : blocks;
}

struct block_noise block_noise_of(const double *parts, size_t count)
{
	double blocks[BLOCKS_MOST], spread;
	if (count < 2)
		return (struct block_noise){.variance = NAN};
	size_t used = first_blocks(count);
	join(parts, count, blocks, used);
	double r = neighbours(blocks, used, &spread);
	while (used >= 2 * BLOCKS_FEWEST && unbiased(r, used) > 1 / sqrt((double)used)) {
		used /= 2;
		join(parts, count, blocks, used);
		r = neighbours(blocks, used, &spread);
	}
	struct block_noise noise = {.variance = (double)used * spread / (double)(used - 1),
	                            .degrees = degrees_of(blocks, used, spread)};
	const double seen = fmax(0, fmin(unbiased(r, used), 0.8));
	noise.variance *= (1 + seen) / (1 - seen);
	return noise;
}

struct block_noise block_noise_add(struct block_noise a, struct block_noise b)
{
	struct block_noise sum = {.variance = a.variance + b.variance, .independent = a.independent + b.independent};
	const double of_a = a.degrees > 0 ? a.variance * a.variance / a.degrees : 0,
				 of_b = b.degrees > 0 ? b.variance * b.variance / b.degrees : 0;
	if (of_a + of_b > 0)
		sum.degrees = sum.variance * sum.variance / (of_a + of_b);
	else
		sum.degrees = a.degrees + b.degrees;
	return sum;
}
