/* Logarithm and exponential from IEEE additions, multiplications and divisions, each of which rounds the same way on every
 * machine (the build forbids the compiler to fuse them). ldexp and floor are exact everywhere. */
#include "rng.h"

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

double exact_log(double x)
{
	double m, r, sum;
	int64_t e;
	int k;

	if (!(x > 0))
		return x == 0 ? -INFINITY : NAN;
	if (x > 0x1.fffffffffffffp+1023)
		return x;
	m = split(x, &e);
	/* ln m = ln c + ln(1 + r) with c = k/128, the nearest, and m - c exact. With |r| < 0.0056 seven terms of the series reach 2^-58 of
	 * r; around 1 they are the whole sum, so that nothing cancels. */
	k = (int)(m * 128 + 0.5);
	r = (m - k / 128.0) * near_one[k - 91].inverse;
	sum = ((((r * (1.0 / 7) - 1.0 / 6) * r + 0.2) * r - 0.25) * r + 1.0 / 3) * r - 0.5;
	return (double)e * LN2_HIGH + (near_one[k - 91].log + (r + (r * r * sum + (double)e * LN2_LOW)));
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
