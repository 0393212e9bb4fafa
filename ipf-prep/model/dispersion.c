#include "model/dispersion.h"

#include "array.h"
#include "clock.h"

#include <math.h>
#include <stdlib.h>

const int dispersion_seconds[DISPERSION_SCALES] = {1, 2, 5, 10, 20, 50, 100, 200, 500, 1000};

/* ---- arrivals known ahead ---- */

void dispersion_expect(struct dispersion *d, int64_t at_ns)
{
	if (!array_room(d->ahead, d->ahead_cap, d->ahead_count + 1)) {
		d->failed = true;
		return;
	}
	size_t at = d->ahead_count++;
	for (; at > 0 && d->ahead[(at - 1) / 2] > at_ns; at = (at - 1) / 2)
		d->ahead[at] = d->ahead[(at - 1) / 2];
	d->ahead[at] = at_ns;
}

static int64_t pop(struct dispersion *d)
{
	int64_t first = d->ahead[0], last = d->ahead[--d->ahead_count];
	size_t at = 0, next;
	while ((next = 2 * at + 1) < d->ahead_count) {
		next += next + 1 < d->ahead_count && d->ahead[next + 1] < d->ahead[next];
		if (d->ahead[next] >= last)
			break;
		d->ahead[at] = d->ahead[next];
		at = next;
	}
	d->ahead[at] = last;
	return first;
}

/* ---- counting ---- */

static void end_window(struct dispersion_scale *s, int64_t next)
{
	double n = (double)s->in_window;
	s->sum += n;
	s->squares += n * n;
	s->windows += next - s->window; /* those in between are empty */
	s->window = next;
	s->in_window = 0;
}

static void count(struct dispersion *d, int64_t at_ns)
{
	if (!d->begun)
		d->first_ns = d->last_ns = at_ns;
	d->begun = true;
	d->last_ns = at_ns > d->last_ns ? at_ns : d->last_ns;
	d->count++;
	for (int i = 0; i < DISPERSION_SCALES; i++) {
		struct dispersion_scale *s = &d->scales[i];
		const int64_t width_ns = dispersion_seconds[i] * NS_PER_S, since_ns = d->last_ns - d->first_ns;
		if (since_ns >= s->end_ns) {
			if (s->end_ns)
				end_window(s, since_ns / width_ns);
			s->end_ns = (since_ns / width_ns + 1) * width_ns;
		}
		s->in_window++;
	}
}

void dispersion_add(struct dispersion *d, int64_t at_ns)
{
	while (d->ahead_count && d->ahead[0] <= at_ns)
		count(d, pop(d));
	count(d, at_ns);
}

double dispersion_index(const struct dispersion *d, int scale)
{
	const struct dispersion_scale *s = &d->scales[scale];
	double n = (double)s->windows, mean = s->sum / n;
	return s->windows > 1 && s->sum > 0 ? (s->squares / n - mean * mean) / mean : NAN;
}

void dispersion_release(struct dispersion *d)
{
	free(d->ahead);
	*d = (struct dispersion){.count = 0};
}
