#include "stats/exact_shares.h"

#include "stats/incomplete_beta.h"

#include <math.h>

/* P[at least k of n] of a binomial distribution, k >= 1. */
static double at_least(int64_t k, int64_t n, double p)
{
	return incomplete_beta(p, 1 - p, (double)k, (double)(n - k + 1));
}

/* The share at which at least k of n has this probability. */
static double share_where(int64_t k, int64_t n, double probability)
{
	double low = 0, high = 1;
	for (int i = 0; i < 60; i++) {
		const double middle = (low + high) / 2;
		*(at_least(k, n, middle) < probability ? &low : &high) = middle;
	}
	return (low + high) / 2;
}

struct exact_interval share_exact_interval(int64_t count, int64_t all)
{
	return (struct exact_interval){count <= 0 ? 0 : share_where(count, all, 0.025),
	                               count >= all ? 1 : share_where(count + 1, all, 0.975)};
}

double share_sign_p(int64_t more, int64_t fewer)
{
	return more <= 0 ? 1 : at_least(more, more + fewer, 0.5);
}

static double log_choose(int64_t n, int64_t k)
{
	return lgamma((double)n + 1) - lgamma((double)k + 1) - lgamma((double)(n - k) + 1);
}

double share_fisher_p(int64_t hits1, int64_t all1, int64_t hits2, int64_t all2)
{
	const int64_t hits = hits1 + hits2, most = hits < all2 ? hits : all2;
	const double all = log_choose(all1 + all2, hits);
	double p = 0;
	for (int64_t k = hits2; k <= most; k++)
		if (hits - k <= all1)
			p += exp(log_choose(all2, k) + log_choose(all1, hits - k) - all);
	return p < 1 ? p : 1;
}
