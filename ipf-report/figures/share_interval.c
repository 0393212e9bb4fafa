#include "figures/share_interval.h"

#include <math.h>

#define Z 1.959963984540054 /* the normal distribution's, at 97.5 % */

struct share_interval share_interval(int64_t count, int64_t of)
{
	return share_interval_at((double)count / (double)of, (double)of, Z);
}

struct share_interval share_interval_at(double p, double n, double z)
{
	if (!(n > 0))
		return (struct share_interval){NAN, NAN};
	const double middle = p + z * z / (2 * n), half = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n));
	const double scale = 1 + z * z / n, low = (middle - half) / scale, high = (middle + half) / scale;
	return (struct share_interval){p <= 0 || low < 0 ? 0 : low, p >= 1 || high > 1 ? 1 : high};
}
