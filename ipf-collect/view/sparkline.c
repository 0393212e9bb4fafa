#include "view/sparkline.h"

#include <math.h>

static const char *const blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
static const char *const shades[] = {"_", ".", ":", "-", "=", "+", "*", "#"};
enum { HEIGHTS = sizeof blocks / sizeof *blocks };

static double largest(const double *values, size_t count)
{
	double most = 0;
	for (size_t i = 0; i < count; i++)
		if (isfinite(values[i]) && values[i] > most)
			most = values[i];
	return most;
}

void sparkline(struct buffer *out, const double *values, size_t count, bool utf8)
{
	double most = largest(values, count);
	for (size_t i = 0; i < count; i++) {
		if (!isfinite(values[i]) || most <= 0) {
			buffer_byte(out, ' ');
			continue;
		}
		/* 0 and everything below the first step is the lowest bar, the largest value the highest */
		double height = ceil(fmax(values[i], 0) / most * HEIGHTS) - 1;
		size_t step = height > 0 ? (size_t)height : 0;
		buffer_text(out, utf8 ? blocks[step] : shades[step]);
	}
}
