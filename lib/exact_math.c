/* Logarithm and exponential from IEEE additions and multiplications, each of which rounds the same way on every machine (the build
 * forbids the compiler to fuse them). ldexp is exact everywhere. */
#include "rng.h"

#include "exp_table.h"
#include "log_table.h"

#include <math.h>
#include <string.h>

/* ln 2 in two parts: the first has 21 zero bits at its end, so that its product with an exponent is exact. */
#define LN2_HIGH 0x1.62e42fefap-1
#define LN2_LOW  0x1.cf79abc9e3b3ap-40
#define INV_LN2  0x1.71547652b82fep+0

/* x = 2^e m with m between the roots of 1/2 and of 2; for x that is finite and above 0. Without a branch that half of all x would take. */
static double split(double x, int64_t *e)
{
	const uint64_t sqrt_half = UINT64_C(0x3fe6a09e667f3bcd);
	uint64_t bits;
	int64_t below = 0, over;
	double m;

	if (x < 0x1p-1022) { /* its first bits are zeros */
		x *= 0x1p54;
		below = 54;
	}
	memcpy(&bits, &x, sizeof bits);
	over = (int64_t)(bits - sqrt_half + (UINT64_C(1023) << 52)) >> 52;
	bits -= (uint64_t)(over - 1023) << 52;
	memcpy(&m, &bits, sizeof m);
	*e = over - 1023 - below;
	return m;
}

/* Added to x and taken away again, WHOLE leaves the nearest whole number, and a power of two of it the nearest multiple of that: the sum has
 * no digits for more. Its bits count them. */
#define WHOLE 0x1.8p+52

static int64_t to_whole(double x, double whole, double *nearest)
{
	double sum = x + whole;
	int64_t from, to;

	memcpy(&from, &whole, sizeof from);
	memcpy(&to, &sum, sizeof to);
	*nearest = sum - whole;
	return to - from;
}

double exact_log(double x)
{
	double m, nearest, r, square, sum;
	int64_t e, k;

	if (!(x > 0))
		return x == 0 ? -INFINITY : NAN;
	if (x > 0x1.fffffffffffffp+1023)
		return x;
	m = split(x, &e);
	/* ln m = ln c + ln(1 + r) with c = k/128, the nearest, and m - c exact. With |r| < 0.0056 seven terms of the series reach 2^-58 of
	 * r; around 1 they are the whole sum, so that nothing cancels. */
	k = to_whole(m, WHOLE / 128, &nearest);
	r = (m - nearest) * near_one[k - 91].inverse;
	square = r * r;
	sum = r * (1.0 / 3) - 0.5 + square * (r * 0.2 - 0.25 + square * (r * (1.0 / 7) - 1.0 / 6));
	return (double)e * LN2_HIGH + (near_one[k - 91].log + (r + (square * sum + (double)e * LN2_LOW)));
}

double exact_exp(double x)
{
	double nearest, r, square, sum, power, value;
	uint64_t bits;
	int64_t k;

	if (isnan(x))
		return x;
	if (x > 710)
		return INFINITY;
	if (x < -746)
		return 0;
	/* e^x = 2^(k/64) e^r, where |r| is little more than ln 2 / 128: Taylor's series, of which the terms to the sixth power reach 2^-64. */
	k = to_whole(x * (64 * INV_LN2), WHOLE, &nearest);
	r = (x - nearest * (LN2_HIGH / 64)) - nearest * (LN2_LOW / 64);
	square = r * r;
	sum = 0.5 + r * (1.0 / 6) + square * (1.0 / 24 + r * (1.0 / 120) + square * (1.0 / 720));
	power = powers[k & 63].power;
	value = power + power * (r + (square * sum + powers[k & 63].missing));
	k >>= 6;
	if (k < -1021 || k > 1022) /* beside the normal numbers */
		return ldexp(value, (int)k);
	memcpy(&bits, &value, sizeof bits);
	bits += (uint64_t)k << 52;
	memcpy(&value, &bits, sizeof value);
	return value;
}
