#include "difference/holm.h"

#include <math.h>
#include <stdbool.h>

void holm_adjust(double *p, size_t count)
{
	bool done[HOLM_MOST] = {false};
	size_t left = 0;
	double most = 0;
	for (size_t i = 0; i < count && i < HOLM_MOST; i++) {
		done[i] = isnan(p[i]);
		left += !done[i];
	}
	for (; left > 0; left--) {
		size_t least = HOLM_MOST;
		for (size_t i = 0; i < count && i < HOLM_MOST; i++)
			if (!done[i] && (least == HOLM_MOST || p[i] < p[least]))
				least = i;
		/* never below the adjusted value of a smaller one */
		most = fmax(most, fmin(p[least] * (double)left, 1));
		p[least] = most;
		done[least] = true;
	}
}
