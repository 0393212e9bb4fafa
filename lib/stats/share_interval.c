#include "stats/share_interval.h"

#include <math.h>

#define Z 1.959963984540054 /* of the normal distribution, at 97.5 % */

struct share_interval share_interval(int64_t count, int64_t of)
{
	if (of <= 0)
		return (struct share_interval){NAN, NAN};
	double n = (double)of, p = (double)count / n, middle = p + Z * Z / (2 * n);
	double half = Z * sqrt(p * (1 - p) / n + Z * Z / (4 * n * n)), scale = 1 + Z * Z / n;
	double low = (middle - half) / scale, high = (middle + half) / scale;
	return (struct share_interval){count == 0 || low < 0 ? 0 : low, count == of || high > 1 ? 1 : high};
}
