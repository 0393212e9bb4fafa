/* Logarithm and exponential from IEEE additions, multiplications and divisions, each of which rounds the same way on every
 * machine (the build forbids the compiler to fuse them). frexp, ldexp and floor are exact everywhere. */
#include "rng.h"

#include <math.h>

/* ln 2 in two parts: the first has 21 zero bits at its end, so that its product with an exponent is exact. */
#define LN2_HIGH 0x1.62e42fefap-1
#define LN2_LOW  0x1.cf79abc9e3b3ap-40
#define INV_LN2  0x1.71547652b82fep+0
#define SQRT_HALF 0x1.6a09e667f3bcdp-1

double exact_log(double x)
{
	double m, f, s, z, sum;
	int e;

	if (isnan(x) || x < 0)
		return NAN;
	if (x == 0)
		return -INFINITY;
	if (isinf(x))
		return x;
	m = frexp(x, &e);
	if (m < SQRT_HALF) {
		m *= 2;
		e--;
	}
	/* ln m = 2 artanh s = 2 (s + s³/3 + s⁵/5 + …) with |s| < 0.172: eleven terms reach 2^-60 of the sum. Since f is exact,
	 * 2s = f - s f, which keeps the leading term free of the division's rounding. */
	f = m - 1;
	s = f / (2 + f);
	z = s * s;
	sum = 0;
	for (int k = 25; k >= 3; k -= 2)
		sum = (sum + 1.0 / k) * z;
	return e * LN2_HIGH + (f - (s * f - (2 * s * sum + e * LN2_LOW)));
}

double exact_exp(double x)
{
	double k, high, low, r, sum;

	if (isnan(x))
		return x;
	if (x > 710)
		return INFINITY;
	if (x < -746)
		return 0;
	/* e^x = 2^k e^r with |r| <= ln 2 / 2: Taylor's series, of which the terms to the fourteenth power reach 2^-58. */
	k = floor(x * INV_LN2 + 0.5);
	high = x - k * LN2_HIGH;
	low = k * LN2_LOW;
	r = high - low;
	sum = 0;
	for (int n = 14; n >= 2; n--)
		sum = (sum + 1) * r / n;
	return ldexp(1 + (r + r * sum), (int)k);
}
