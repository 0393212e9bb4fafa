#include "stats/incomplete_beta.h"

#include "stats/exact_math.h"

#include <math.h>

/* ln Γ(x) for x > 0: Stirling's series (DLMF 5.11.1) where its terms are small, reached by Γ(x + 1) = x Γ(x). */
static double log_gamma(double x)
{
	double product = 1;
	for (; x < 12; x++)
		product *= x;
	const double inverse = 1 / x, square = inverse * inverse;
	const double series =
		inverse * (1.0 / 12 - square * (1.0 / 360 - square * (1.0 / 1260 - square * (1.0 / 1680 - square / 1188))));
	const double half_log_two_pi = 0.91893853320467274178;
	return (x - 0.5) * exact_log(x) - x + half_log_two_pi + series - exact_log(product);
}

/* The continued fraction of I_x(a, b), by the method of Lentz; converges fast for x < (a + 1) / (a + b + 2). */
static double beta_fraction(double x, double a, double b)
{
	const double tiny = 1e-300;
	double c = 1, d = 1 - (a + b) * x / (a + 1);
	d = 1 / (fabs(d) < tiny ? tiny : d);
	double value = d;
	for (int m = 1; m <= 10000; m++) {
		const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
					 odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		d = 1 + even * d;
		c = 1 + even / c;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = fabs(c) < tiny ? tiny : c;
		value *= d * c;
		d = 1 + odd * d;
		c = 1 + odd / c;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = fabs(c) < tiny ? tiny : c;
		value *= d * c;
		if (fabs(d * c - 1) < 1e-15)
			break;
	}
	return value;
}

double incomplete_beta(double x, double rest, double a, double b)
{
	if (x <= 0 || rest <= 0)
		return x <= 0 ? 0 : 1;
	const double front = exact_exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * exact_log(x) +
	                               b * exact_log(rest));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(x, a, b) / a;
	return 1 - front * beta_fraction(rest, b, a) / b;
}
