/* A row of small bars, one character for each value: ▁▂▄█.
 *
 *     const double rate[] = {0, 10, 40, NAN, 38};
 *     sparkline(&line, rate, 5, true);                // "▁▂█ █"
 *
 * The highest bar is the largest value; bars begin at 0. A NAN is a space, as is every value if none is above 0 and
 * finite.
 */
#ifndef IPF_SPARKLINE_H
#define IPF_SPARKLINE_H

#include "buffer.h"

/* Appends `count` characters: block elements of Unicode or, without `utf8`, ASCII characters of growing darkness. */
void sparkline(struct buffer *out, const double *values, size_t count, bool utf8);

#endif
