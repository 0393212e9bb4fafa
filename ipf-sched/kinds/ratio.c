#include "kinds/ratio.h"

#include <math.h>
#include <stddef.h>

#define MOST_DIGITS 9 /* on either side of the point: num and den stay below 2^60 */

/* Reads digits at *at into *value; how many there were. */
static size_t digits(const char **at, uint64_t *value)
{
	size_t count = 0;

	for (; **at >= '0' && **at <= '9'; (*at)++, count++)
		if (count < 2 * MOST_DIGITS)
			*value = *value * 10 + (uint64_t)(**at - '0');
	return count;
}

bool ratio_parse(const char *text, struct ratio *ratio)
{
	uint64_t num = 0, den = 1;
	size_t whole = digits(&text, &num), decimals = 0;

	if (*text == '.') {
		text++;
		decimals = digits(&text, &num);
		if (decimals == 0)
			return false;
	}
	if (*text || whole == 0 || whole > MOST_DIGITS || decimals > MOST_DIGITS || num == 0)
		return false;
	for (size_t i = 0; i < decimals; i++)
		den *= 10;
	*ratio = (struct ratio){num, den};
	return true;
}

struct ratio ratio_of(double value)
{
	int exponent;
	double mantissa = frexp(value, &exponent);
	unsigned __int128 a = (unsigned __int128)ldexp(mantissa, 53), b = 1, rest, part;
	uint64_t num = 1, den = 0, num_before = 0, den_before = 1, next;

	/* value is exactly a/b; its continued fraction, until a convergent is the same double. */
	if (exponent >= 53)
		a <<= exponent - 53;
	else
		b <<= 53 - exponent;
	while (b != 0) {
		part = a / b;
		rest = a % b;
		next = (uint64_t)part * num + num_before;
		num_before = num;
		num = next;
		next = (uint64_t)part * den + den_before;
		den_before = den;
		den = next;
		if ((double)num / (double)den == value)
			break;
		a = b;
		b = rest;
	}
	return (struct ratio){num, den};
}

int64_t ratio_divide(int64_t ns, struct ratio by)
{
	unsigned __int128 scaled = (unsigned __int128)ns * by.den;
	unsigned __int128 result = (scaled + by.num / 2) / by.num;

	return result < RATIO_MOST ? (int64_t)result : RATIO_MOST;
}
