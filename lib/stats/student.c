#include "stats/student.h"

#include "stats/incomplete_beta.h"

#include <math.h>

double student_quantile(double z, double degrees)
{
	if (!(degrees >= 3))
		return INFINITY;
	const double q = z * z, v = 1 / degrees;
	const double first = z * (q + 1) / 4, second = z * ((5 * q + 16) * q + 3) / 96,
				 third = z * (((3 * q + 19) * q + 17) * q - 15) / 384,
				 fourth = z * ((((79 * q + 776) * q + 1482) * q - 1920) * q - 945) / 92160;
	return z + v * (first + v * (second + v * (third + v * fourth)));
}

/* More degrees of freedom change nothing that is of interest, but the digits of the gamma functions cancel. */
#define NORMAL_DEGREES 1e6

double variance_ratio_tail(double ratio, double degrees_above, double degrees_below)
{
	if (isnan(ratio) || !(degrees_above >= 1) || !(degrees_below >= 1))
		return NAN;
	if (isinf(ratio))
		return 0;
	const double above = fmin(degrees_above, NORMAL_DEGREES) * ratio, below = fmin(degrees_below, NORMAL_DEGREES);
	return incomplete_beta(below / (below + above), above / (below + above), below / 2, degrees_above / 2);
}

double student_two_sided(double t, double degrees)
{
	return variance_ratio_tail(t * t, 1, degrees);
}

double student_critical(double probability, double degrees)
{
	if (!(probability > 0 && probability < 1) || !(degrees >= 1))
		return NAN;
	double low = 0, high = 1;
	while (student_two_sided(high, degrees) > probability && high < 1e300)
		high *= 2;
	for (int i = 0; i < 80; i++) {
		const double middle = low + (high - low) / 2;
		if (student_two_sided(middle, degrees) > probability)
			low = middle;
		else
			high = middle;
	}
	return low + (high - low) / 2;
}
