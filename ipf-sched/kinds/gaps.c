#include "kinds/gaps.h"

#include "stats/exact_math.h"

#include <math.h>
#include <stddef.h>

#define SQRT_3 1.7320508075688772

/* cv² = Γ(1 + 2/k) / Γ(1 + 1/k)² - 1 falls as k grows. */
static double weibull_shape(double cv)
{
	double low = 0.1, high = 100;

	for (int i = 0; i < 100; i++) {
		double k = (low + high) / 2, mean = exact_gamma(1 + 1 / k);
		if (exact_gamma(1 + 2 / k) / (mean * mean) - 1 > cv * cv)
			low = k;
		else
			high = k;
	}
	return (low + high) / 2;
}

const char *gaps_kind_name(enum gaps_kind kind)
{
	static const char *const names[] = {
		[GAPS_POISSON] = "poisson", [GAPS_CONSTANT] = "constant", [GAPS_GAMMA] = "gamma",
		[GAPS_WEIBULL] = "weibull", [GAPS_UNIFORM] = "uniform",
	};

	return names[kind];
}

void gaps_bounds(enum gaps_kind kind, double *least, double *most)
{
	static const double bounds[][2] = {
		[GAPS_POISSON] = {1, 1},      [GAPS_CONSTANT] = {0, 0},         [GAPS_GAMMA] = {0.001, 100},
		[GAPS_WEIBULL] = {0.02, 100}, [GAPS_UNIFORM] = {0.001, 0.5774},
	};

	*least = bounds[kind][0];
	*most = bounds[kind][1];
}

void gaps_init(struct gaps *gaps, enum gaps_kind kind, double cv)
{
	*gaps = (struct gaps){.kind = kind, .shape = 1, .scale = 1};
	switch (kind) {
	case GAPS_POISSON:
	case GAPS_CONSTANT:
		break;
	case GAPS_GAMMA:
		gaps->shape = 1 / (cv * cv);
		gaps->scale = 1 / gaps->shape;
		gaps->gamma = gamma_shape_of(gaps->shape);
		break;
	case GAPS_WEIBULL:
		gaps->shape = weibull_shape(cv);
		gaps->scale = 1 / exact_gamma(1 + 1 / gaps->shape);
		break;
	case GAPS_UNIFORM:
		gaps->shape = isnan(cv) ? 0 : fmax(0, 1 - cv * SQRT_3);
		gaps->scale = 2 * (1 - gaps->shape);
		break;
	}
}

double gaps_next(const struct gaps *gaps, struct rng *rng)
{
	switch (gaps->kind) {
	case GAPS_POISSON:
		return rng_exponential(rng);
	case GAPS_CONSTANT:
		return 1;
	case GAPS_GAMMA:
		return rng_gamma_of(rng, &gaps->gamma) * gaps->scale;
	case GAPS_WEIBULL:
		return exact_power(rng_exponential(rng), 1 / gaps->shape) * gaps->scale;
	case GAPS_UNIFORM:
		return gaps->shape + gaps->scale * rng_uniform(rng);
	}
	return 1;
}

/* A gap drawn with its length as weight. */
static double weighted(const struct gaps *gaps, struct rng *rng)
{
	double low = gaps->shape, high = gaps->shape + gaps->scale;

	if (gaps->kind == GAPS_GAMMA)
		return rng_gamma(rng, gaps->shape + 1) * gaps->scale;
	if (gaps->kind == GAPS_WEIBULL) /* x^k, exponential without the weight, is gamma with it */
		return exact_power(rng_gamma(rng, 1 + 1 / gaps->shape), 1 / gaps->shape) * gaps->scale;
	return sqrt(low * low + rng_uniform(rng) * (high * high - low * low));
}

double gaps_first(const struct gaps *gaps, struct rng *rng)
{
	if (gaps->kind == GAPS_CONSTANT)
		return 0;
	if (gaps->kind == GAPS_POISSON)
		return rng_exponential(rng);
	return weighted(gaps, rng) * rng_uniform(rng);
}
