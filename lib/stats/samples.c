#include "stats/samples.h"

#include "array.h"
#include "stats/autocorrelation.h"
#include "stats/block_noise.h"
#include "stats/exact_math.h"
#include "stats/sort_numbers.h"
#include "stats/student.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CONFIDENCE 0.99

enum { RANGES = 4096, FEW_SAMPLES = 16 * RANGES };

/* Samples by their sizes: those of a range come before those of the next one. */
struct sample_ranges {
	size_t begin[RANGES + 1];
	bool sorted[RANGES];
	double *spare; /* as long as `cap` of the samples was */
	size_t spare_cap;
};

void samples_add(struct samples *s, double value)
{
	if (isnan(value)) /* an absent value */
		return;
	if (!array_room(s->values, s->cap, s->count + 1)) {
		s->failed = true;
		return;
	}
	s->values[s->count++] = value;
	s->sorted = s->partitioned = false;
}

double *samples_reserve(struct samples *s, size_t more)
{
	if (more > SIZE_MAX / sizeof *s->values - s->count) {
		s->failed = true;
		return NULL;
	}
	size_t cap = s->count + more > 0 ? s->count + more : 1;
	if (cap > s->cap) {
		double *values = realloc(s->values, cap * sizeof *values);
		if (!values) {
			s->failed = true;
			return NULL;
		}
		s->values = values;
		s->cap = cap;
	}
	s->sorted = s->partitioned = false;
	return s->values + s->count;
}

void samples_clear(struct samples *s)
{
	s->count = 0;
	s->sorted = s->partitioned = false;
}

void samples_sort(struct samples *s)
{
	if (!s->sorted && s->count)
		sort_doubles(s->values, s->count);
	s->sorted = true;
	s->partitioned = false;
}

static unsigned range_of(double value, uint64_t least, unsigned shift)
{
	return (unsigned)((sort_key_of_double(value) - least) >> shift);
}

/* Moves the values to the places of their ranges. NULL: out of memory. */
static struct sample_ranges *divide(struct samples *s, uint64_t least, unsigned shift)
{
	struct sample_ranges *r = s->ranges ? s->ranges : calloc(1, sizeof *r);
	if (r && r->spare_cap < s->cap) {
		free(r->spare);
		r->spare = malloc(s->cap * sizeof *r->spare);
		r->spare_cap = r->spare ? s->cap : 0;
	}
	s->ranges = r;
	if (!r || !r->spare)
		return NULL;
	memset(r->begin, 0, sizeof r->begin);
	memset(r->sorted, 0, sizeof r->sorted);
	for (size_t i = 0; i < s->count; i++)
		r->begin[range_of(s->values[i], least, shift) + 1]++;
	for (size_t k = 0; k < RANGES; k++)
		r->begin[k + 1] += r->begin[k];
	for (size_t i = 0; i < s->count; i++)
		r->spare[r->begin[range_of(s->values[i], least, shift)]++] = s->values[i];
	memmove(r->begin + 1, r->begin, RANGES * sizeof *r->begin); /* each begin has become that of the next */
	r->begin[0] = 0;
	double *values = s->values;
	s->values = r->spare;
	r->spare = values;
	size_t cap = s->cap;
	s->cap = r->spare_cap;
	r->spare_cap = cap;
	return r;
}

void samples_partition(struct samples *s)
{
	uint64_t least = UINT64_MAX, most = 0;
	unsigned shift = 0;
	if (s->sorted || s->partitioned || s->count < FEW_SAMPLES)
		return;
	for (size_t i = 0; i < s->count; i++) {
		uint64_t key = sort_key_of_double(s->values[i]);
		least = key < least ? key : least;
		most = key > most ? key : most;
	}
	while ((most - least) >> shift >= RANGES)
		shift++;
	if (least == most)
		s->sorted = true;
	else
		s->partitioned = divide(s, least, shift) != NULL; /* without memory, percentiles sort all */
}

/* Sorts the range that this rank is in. */
static void sort_range(struct samples *s, size_t rank)
{
	struct sample_ranges *r = s->ranges;
	size_t low = 0, high = RANGES;
	while (high - low > 1) {
		size_t middle = (low + high) / 2;
		if (r->begin[middle] <= rank)
			low = middle;
		else
			high = middle;
	}
	if (!r->sorted[low])
		sort_doubles(s->values + r->begin[low], r->begin[low + 1] - r->begin[low]);
	r->sorted[low] = true;
}

double samples_at_rank(struct samples *s, size_t rank)
{
	if (s->partitioned)
		sort_range(s, rank);
	else
		samples_sort(s);
	return s->values[rank];
}

void samples_release(struct samples *s)
{
	if (s->ranges)
		free(s->ranges->spare);
	free(s->ranges);
	free(s->values);
	*s = (struct samples){0};
}

double samples_percentile(struct samples *s, double p)
{
	double rank, part, low, high;
	size_t below;

	if (s->count == 0 || isnan(p))
		return NAN;
	rank = fmin(fmax(p / 100, 0), 1) * (double)(s->count - 1);
	below = (size_t)rank;
	part = rank - (double)below;
	low = samples_at_rank(s, below);
	if (part == 0 || below + 1 == s->count || isinf(low))
		return low;
	high = samples_at_rank(s, below + 1);
	if (isinf(high)) /* a failure, which counts as infinitely late: no arithmetic with it */
		return high;
	/* from the nearer end, as NumPy: the result never leaves [low, high] */
	return part < 0.5 ? low + (high - low) * part : high - (high - low) * (1 - part);
}

/* Compensated sum (Neumaier), so the order of the values hardly matters. */
static double sum_of(const double *values, size_t count)
{
	double sum = 0, lost = 0;

	for (size_t i = 0; i < count; i++) {
		double next = sum + values[i];
		if (fabs(sum) >= fabs(values[i]))
			lost += (sum - next) + values[i];
		else
			lost += (values[i] - next) + sum;
		sum = next;
	}
	return isfinite(sum) ? sum + lost : sum;
}

static double mean_of(const double *values, size_t count)
{
	return count ? sum_of(values, count) / (double)count : NAN;
}

/* Mean of the squared distances from the mean. */
static double variance_of(const double *values, size_t count)
{
	double mean = mean_of(values, count), sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += (values[i] - mean) * (values[i] - mean);
	return count ? sum / (double)count : NAN;
}

double samples_mean(const struct samples *s)
{
	return mean_of(s->values, s->count);
}

double samples_std(const struct samples *s)
{
	return sqrt(variance_of(s->values, s->count));
}

static bool any_negative(const struct samples *s)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->values[i] < 0)
			return true;
	return false;
}

/* By successive blocks of the samples. */
static struct block_noise noise_of_mean(const struct samples *s)
{
	double parts[BLOCKS_PARTS_MOST];
	const size_t number = s->count < BLOCKS_PARTS_MOST ? s->count : BLOCKS_PARTS_MOST;
	const double mean = samples_mean(s);
	for (size_t i = 0; i < number; i++) {
		parts[i] = 0;
		for (size_t k = i * s->count / number; k < (i + 1) * s->count / number; k++)
			parts[i] += (s->values[k] - mean) / (double)s->count;
	}
	return block_noise_of(parts, number);
}

struct mean_interval samples_mean_interval(const struct samples *s)
{
	struct mean_interval interval = {NAN, NAN, NAN};
	if (s->count < SAMPLES_FOR_INTERVAL || s->sorted || s->partitioned)
		return interval;
	struct mean_estimate e = mean_estimate_of(s->values, s->count);
	if (!isfinite(e.mean))
		return interval;
	interval.n_eff = e.n_eff;
	if (!mean_estimate_enough(e.n_eff, (double)s->count))
		return interval;
	const struct block_noise blocks = noise_of_mean(s);
	const double by_blocks = sqrt(blocks.variance), degrees = by_blocks > e.error ? blocks.degrees : e.n_eff - 1,
				 half = fmax(e.error, by_blocks) * student_critical(0.05, fmax(fmin(degrees, e.n_eff - 1), 1));
	interval.low = e.mean - half;
	interval.high = e.mean + half;
	if (e.mean > 0 && !any_negative(s)) { /* finite: a mean of n such values is at least 1/n of the largest of them */
		interval.low = e.mean * exact_exp(-half / e.mean);
		interval.high = e.mean * exact_exp(half / e.mean);
	}
	return interval;
}

size_t samples_needed(double p)
{
	double tail = p < 50 ? 100 - p : p, n;

	if (!(tail < 100)) /* minimum and maximum: no number of samples is enough */
		return SIZE_MAX;
	n = ceil(log(1 - CONFIDENCE) / log(tail / 100));
	return n < 0x1p63 ? (size_t)n : SIZE_MAX;
}
