#include "stats/student.h"

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
