#include "stats/exact_math.h"

#include "stats/exp_table.h"
#include "stats/log_table.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* ln 2 in two parts. The first ends in 21 zero bits, so its product with an exponent is exact. */
#define LN2_HIGH 0x1.62e42fefap-1
#define LN2_LOW  0x1.cf79abc9e3b3ap-40
#define INV_LN2  0x1.71547652b82fep+0

#define SQRT_2PI 2.5066282746310005

#define INFINITE  UINT64_C(0x7ff0000000000000) /* bit patterns of doubles */
#define NORMAL    UINT64_C(0x0010000000000000)
#define SQRT_HALF UINT64_C(0x3fe6a09e667f3bcd)

static uint64_t bits_of(double x)
{
	uint64_t bits;

	memcpy(&bits, &x, sizeof bits);
	return bits;
}

static double double_of(uint64_t bits)
{
	double x;

	memcpy(&x, &bits, sizeof x);
	return x;
}

/* Adding and subtracting WHOLE rounds x to the nearest integer, because the sum has no bits for a fraction. WHOLE
 * divided by a power of two rounds to a multiple of 1 / that power. The bits of the sum contain the integer. */
#define WHOLE 0x1.8p+52

static int64_t to_whole(double x, double whole, double *nearest)
{
	double sum = x + whole;

	*nearest = sum - whole;
	return (int64_t)(bits_of(sum) - bits_of(whole));
}

double exact_log(double x)
{
	double m, nearest, r, square, sum;
	uint64_t bits = bits_of(x);
	int64_t e, k, below = 0;

	if (bits - NORMAL >= INFINITE - NORMAL) { /* not a positive normal number */
		if (!(x > 0))
			return x == 0 ? -INFINITY : NAN;
		if (bits == INFINITE)
			return x;
		bits = bits_of(x * 0x1p54);
		below = 54;
	}
	/* x = 2^e m with m between the roots of 1/2 and of 2; without a branch, which half of all x would take */
	e = (int64_t)(bits - SQRT_HALF) >> 52;
	m = double_of(bits - ((uint64_t)e << 52));
	e -= below;
	/* ln m = ln c + ln(1 + r) with c = k/128 nearest to m, so m - c is exact. As |r| < 0.0056, seven terms of the
	 * series are accurate to 2^-58 of r. Near 1 they are the whole sum, so nothing cancels. */
	k = to_whole(m, WHOLE / 128, &nearest);
	r = (m - nearest) * near_one[k - 91].inverse;
	square = r * r;
	sum = r * (1.0 / 3) - 0.5 + square * (r * 0.2 - 0.25 + square * (r * (1.0 / 7) - 1.0 / 6));
	return (double)e * LN2_HIGH + (near_one[k - 91].log + (r + (square * sum + (double)e * LN2_LOW)));
}

double exact_exp(double x)
{
	double nearest, r, square, sum, power, value;
	bool normal = fabs(x) < 708;
	int64_t k;

	if (!normal && !(fabs(x) < 746))
		return isnan(x) ? x : x > 0 ? INFINITY : 0;
	/* e^x = 2^(k/64) e^r, where |r| is little more than ln 2 / 128: the terms of Taylor's series up to the sixth power
	 * are accurate to 2^-64. */
	k = to_whole(x * (64 * INV_LN2), WHOLE, &nearest);
	r = (x - nearest * (LN2_HIGH / 64)) - nearest * (LN2_LOW / 64);
	square = r * r;
	sum = 0.5 + r * (1.0 / 6) + square * (1.0 / 24 + r * (1.0 / 120) + square * (1.0 / 720));
	power = powers[k & 63].power;
	value = power + power * (r + (square * sum + powers[k & 63].missing));
	return normal ? double_of(bits_of(value) + ((uint64_t)(k >> 6) << 52)) : ldexp(value, (int)(k >> 6));
}

double exact_power(double x, double y)
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
	return SQRT_2PI * exact_power(t, z + 0.5) * exact_exp(-t) * sum;
}
