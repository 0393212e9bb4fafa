#include "tokenizer/unigram_score.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define EXPONENT_MOST 100000 /* larger exponents leave nothing of 64 bits */

/* Returns the nearest double to a power of ten, for exponents 0 to 308. */
static double power_of_ten(int exponent)
{
	static const double exact[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
	                               1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
	char text[16];
	if (exponent < (int)(sizeof exact / sizeof *exact))
		return exact[exponent];
	snprintf(text, sizeof text, "1e%d", exponent);
	return strtod(text, NULL);
}

/* Reads the digits fitting into 64 bits; of later digits only the number counts. Returns the exponent of the last digit
 * that was used. */
static int read_digits(const char **at, const char *end, uint64_t *digits)
{
	bool point = false, full = false;
	int exponent = 0;
	for (; *at < end && (**at == '.' || (**at >= '0' && **at <= '9')); ++*at) {
		unsigned digit = (unsigned)(**at - '0');
		if (**at == '.') {
			/* the reference tries again after the point */
			point = true;
			full = false;
			continue;
		}
		full = full || *digits > (UINT64_MAX - digit) / 10;
		if (!full)
			*digits = *digits * 10 + digit;
		if (full != point)
			exponent += point ? -1 : 1;
	}
	return exponent;
}

static int read_exponent(const char *at, const char *end)
{
	int exponent = 0;
	if (at == end)
		return 0;
	bool negative = ++at < end && *at == '-';
	for (at += at < end && (*at == '-' || *at == '+'); at < end && exponent < EXPONENT_MOST; at++)
		exponent = exponent * 10 + (*at - '0');
	return negative ? -exponent : exponent;
}

bool unigram_score_read(struct slice number, double *score)
{
	const char *at = number.data, *end = number.data + number.len;
	bool negative = at < end && *at == '-';
	uint64_t digits = 0;
	at += negative;
	int exponent = read_digits(&at, end, &digits);
	exponent += read_exponent(at, end);
	double value = (double)digits;
	for (; exponent < -308 && value != 0; exponent += 308)
		value /= 1e308;
	if (value != 0 && exponent > 308)
		return false;
	if (value != 0)
		value = exponent < 0 ? value / power_of_ten(-exponent) : value * power_of_ten(exponent);
	*score = negative ? -value : value;
	return isfinite(value);
}
