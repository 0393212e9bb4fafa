/* How unevenly arrivals are spread over time: the index of dispersion, the variance of the number of arrivals in
 * windows of a width divided by its mean, for widths from 1 s to 1,000 s. It is 1 for a Poisson process.
 *
 *     struct dispersion d = {0};
 *     dispersion_expect(&d, later_ns);             // arrivals that are known ahead: later turns of a session
 *     dispersion_add(&d, at_ns);                   // the first arrivals of sessions, in order
 *     dispersion_index(&d, i), d.scales[i].windows
 *
 * Windows begin at the first arrival. The last one, which may be incomplete, does not count, nor do turns after the
 * last session has begun. Memory is for the arrivals known ahead.
 */
#ifndef PREP_DISPERSION_H
#define PREP_DISPERSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DISPERSION_SCALES = 10 };
extern const int dispersion_seconds[DISPERSION_SCALES]; /* 1, 2, 5, … 1000 */

/* Zero-initialise. */
struct dispersion {
	bool begun, failed; /* failed: out of memory */
	int64_t first_ns, last_ns, count;
	struct dispersion_scale {
		int64_t end_ns, window, in_window, windows;
		double sum, squares;
	} scales[DISPERSION_SCALES];
	int64_t *ahead; /* a heap */
	size_t ahead_count, ahead_cap;
};

void dispersion_expect(struct dispersion *d, int64_t at_ns);
void dispersion_add(struct dispersion *d, int64_t at_ns);
/* NAN: there are fewer than two windows. */
double dispersion_index(const struct dispersion *d, int scale);
void dispersion_release(struct dispersion *d);

#endif
