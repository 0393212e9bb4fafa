#include "kolmogorov.h"

#include <math.h>

double kolmogorov_p(double distance, double n)
{
	/* With Stephens' correction, the limit is accurate from n = 5 on. */
	double root = sqrt(n), x = distance * (root + 0.12 + 0.11 / root), sum = 0;

	for (int k = 1; k <= 100; k++)
		sum += (k % 2 ? 2 : -2) * exp(-2.0 * k * k * x * x);
	return x < 0.2 ? 1 : fmin(1, fmax(0, sum));
}
