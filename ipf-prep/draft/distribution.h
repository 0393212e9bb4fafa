/* Distributions of random numbers, as options give them: 128, uniform:64-256, normal:550,150,min=10,max=1024,
 * lognormal:550,150,…, histogram:FILE, or `dataset`, which leaves the numbers as they are in the data.
 *
 * The numbers are counts (of tokens, of turns), at least 1, or times with a unit (2s, 500ms), at least 0, drawn in
 * nanoseconds.
 *
 *     struct distribution dist;
 *     if (distribution_parse(&dist, "uniform:64-256", DISTRIBUTION_COUNT, &err) < 0) …
 *     int64_t tokens = distribution_draw(&dist, &rng);
 *     distribution_release(&dist);
 */
#ifndef PREP_DISTRIBUTION_H
#define PREP_DISTRIBUTION_H

#include "error.h"
#include "stats/rng.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum distribution_kind {
	DISTRIBUTION_DATASET,
	DISTRIBUTION_CONSTANT,
	DISTRIBUTION_UNIFORM,
	DISTRIBUTION_NORMAL,
	DISTRIBUTION_LOGNORMAL,
	DISTRIBUTION_HISTOGRAM
};
enum distribution_unit { DISTRIBUTION_COUNT, DISTRIBUTION_TIME };

struct distribution_bucket {
	int64_t low, high; /* both included */
	double upto;       /* sum of the weights of this bucket and of those before it */
};

struct distribution {
	enum distribution_kind kind;
	enum distribution_unit unit;
	double mean, std; /* parameters of the normal or log-normal distribution itself */
	double mu, sigma; /* log-normal: mean and deviation of the logarithm */
	int64_t min, max; /* both included; constant: equal */
	struct distribution_bucket *buckets;
	size_t bucket_count;
};

/* Parses an option's value other than histogram:FILE. IPF_USAGE: `expected …, got "…"`. */
int distribution_parse(struct distribution *dist, const char *text, enum distribution_unit unit, struct ipf_error *err);
/* Parses the text of a histogram file, which ends in NUL: lines of `NUMBER WEIGHT` or `LOW-HIGH WEIGHT` (each number of
 * the range equally likely), separated by blanks or a comma. Empty lines and lines beginning with # are skipped. `file`
 * is its name in errors (IPF_INPUT). */
int distribution_histogram(struct distribution *dist, const char *file, const char *text, enum distribution_unit unit,
                           struct ipf_error *err);
/* A number between min and max: one outside of them is drawn again, up to 10000 times, then replaced by the nearer
 * bound. */
int64_t distribution_draw(const struct distribution *dist, struct rng *rng);
void distribution_release(struct distribution *dist);

#endif
