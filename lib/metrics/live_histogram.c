#include "metrics/live_histogram.h"

#include "clock.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

#define DECADE(unit_) (unit_), (unit_) / 10 * 15, (unit_) / 10 * 25, (unit_)*4, (unit_)*6

const int64_t live_bounds_ns[LIVE_BOUNDS] = {
	DECADE(NS_PER_S / 10000), DECADE(NS_PER_S / 1000), DECADE(NS_PER_S / 100), DECADE(NS_PER_S / 10),
	DECADE(NS_PER_S),         DECADE(NS_PER_S * 10),   DECADE(NS_PER_S * 100), NS_PER_S * 1000,
};

enum { PER_OCTAVE = 1 << NATIVE_SCHEMA };

/* The bounds within the octave from 1/2 to 1, as Prometheus's clients have them. */
static double octave[PER_OCTAVE];

static void make_octave(void)
{
	for (int i = 0; i < PER_OCTAVE; i++)
		octave[i] = exp2((double)i / PER_OCTAVE - 1);
}

/* The index of the native bucket of a duration above 0. */
static int native_index(int64_t value_ns)
{
	int exponent, low = 0, high = PER_OCTAVE;
	double fraction = frexp((double)value_ns / (double)NS_PER_S, &exponent);
	while (low < high) { /* the first bound that is not below the fraction */
		int middle = (low + high) / 2;
		if (octave[middle] < fraction)
			low = middle + 1;
		else
			high = middle;
	}
	return low + (exponent - 1) * PER_OCTAVE;
}

static size_t classic_index(int64_t value_ns)
{
	size_t low = 0, high = LIVE_BOUNDS;
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (live_bounds_ns[middle] < value_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void live_histogram_add(struct live_histogram *h, int64_t value_ns, int64_t count)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	int64_t sum;
	if (count <= 0)
		return;
	pthread_once(&once, make_octave);
	if (value_ns < 0)
		value_ns = 0;
	h->count += count;
	if (__builtin_mul_overflow(value_ns, count, &sum) || __builtin_add_overflow(h->sum_ns, sum, &h->sum_ns))
		h->sum_ns = INT64_MAX;
	h->classic[classic_index(value_ns)] += count;
	if (value_ns == 0) {
		h->zero += count;
		return;
	}
	int index = native_index(value_ns) - NATIVE_FIRST;
	if (h->first == h->last) {
		h->first = index;
		h->last = index + 1;
	}
	h->first = index < h->first ? index : h->first;
	h->last = index >= h->last ? index + 1 : h->last;
	h->native[index] += count;
}

void live_histogram_copy(struct live_histogram *to, const struct live_histogram *from)
{
	memcpy(to, from, offsetof(struct live_histogram, native));
	memcpy(to->native + from->first, from->native + from->first,
	       (size_t)(from->last - from->first) * sizeof *from->native);
}

int64_t live_histogram_native(const struct live_histogram *h, int index)
{
	index -= NATIVE_FIRST;
	return index >= h->first && index < h->last ? h->native[index] : 0;
}

size_t live_histogram_spans(const struct live_histogram *h, struct native_span spans[NATIVE_SPANS])
{
	const int gap_most = 2;
	size_t count = 0;
	int end = -NATIVE_FIRST; /* the last span's: the first offset is the index itself */
	for (int i = h->first; i < h->last; i++) {
		if (!h->native[i])
			continue;
		if (count && i - end <= gap_most)
			spans[count - 1].length += (uint32_t)(i + 1 - end);
		else
			spans[count++] = (struct native_span){i - end, 1};
		end = i + 1;
	}
	return count;
}
