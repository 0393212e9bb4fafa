#include "figures/early_stopping.h"

#include "stats/exact_math.h"

#include <math.h>

/* LoadGen's 1 - confidence. */
#define CHANCE 0.01

int64_t early_stopping_discard(int64_t n, double p)
{
	double above = 1 - p / 100, log_odds = exact_log(above) - exact_log(p / 100);
	double log_term = (double)n * exact_log(p / 100), sum = exact_exp(log_term);
	int64_t t = -1; /* the largest number of samples above, so far, whose probability is below */
	for (int64_t k = 0; k < n && sum < CHANCE; k++) {
		t = k;
		log_term += log_odds + exact_log((double)(n - k)) - exact_log((double)(k + 1));
		sum += exact_exp(log_term);
	}
	return t > 0 ? t : 0;
}

/* Whether at most `above` of n samples are above the percentile only by a chance below the limit. */
static bool is_enough(int64_t n, int64_t above, double p)
{
	double log_odds = exact_log(1 - p / 100) - exact_log(p / 100);
	double log_term = (double)n * exact_log(p / 100), sum = exact_exp(log_term);
	for (int64_t k = 0; k < above && k < n && sum < CHANCE; k++) {
		log_term += log_odds + exact_log((double)(n - k)) - exact_log((double)(k + 1));
		sum += exact_exp(log_term);
	}
	return sum < CHANCE;
}

int64_t early_stopping_needed(int64_t above, double p)
{
	int64_t low = above, high = above + 64;
	while (!is_enough(high, above, p))
		high *= 2;
	while (high - low > 1) {
		int64_t middle = low + (high - low) / 2;
		if (is_enough(middle, above, p))
			high = middle;
		else
			low = middle;
	}
	return high;
}

double early_stopping_estimate(struct samples *s, int64_t infinite, double p)
{
	int64_t n = (int64_t)s->count + infinite, t = early_stopping_discard(n, p);
	if (t == 0)
		return NAN;
	return t <= infinite ? INFINITY : samples_at_rank(s, (size_t)(n - t));
}
