#include "kinds/gaps.h"

#include "stats/exact_math.h"

#include <math.h>
#include <stddef.h>

#define SQRT_2PI 2.5066282746310005
#define SQRT_3   1.7320508075688772

static double power(double x, double y)
{
	return x > 0 ? exact_exp(exact_log(x) * y) : 0;
}

/* Lanczos, A Precision Approximation of the Gamma Function (1964), with g = 7 and Godfrey's nine coefficients. */
double exact_gamma(double x)
{
	static const double c[] = {0.99999999999980993,  676.5203681218851,     -1259.1392167224028,
	                           771.32342877765313,   -176.61502916214059,   12.507343278686905,
	                           -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7};
	double z = x - 1, t = z + 7.5, sum = c[0];

	for (size_t i = 1; i < sizeof c / sizeof *c; i++)
		sum += c[i] / (z + (double)i);
	return SQRT_2PI * power(t, z + 0.5) * exact_exp(-t) * sum;
}

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
		return power(rng_exponential(rng), 1 / gaps->shape) * gaps->scale;
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
		return power(rng_gamma(rng, 1 + 1 / gaps->shape), 1 / gaps->shape) * gaps->scale;
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
