#include "series/bucket_histogram.h"

#include "array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool grow(struct bucket_histogram *h)
{
	return array_room(h->list, h->cap, h->count + 1);
}

/* The first bucket that does not precede these bounds. */
static size_t place_of(const struct bucket_histogram *h, double low, double high)
{
	size_t begin = 0, end = h->count;
	while (begin < end) {
		size_t middle = begin + (end - begin) / 2;
		const struct bucket_interval *b = &h->list[middle];
		if (b->low < low || (!(b->low > low) && b->high < high))
			begin = middle + 1;
		else
			end = middle;
	}
	return begin;
}

void bucket_histogram_add(struct bucket_histogram *h, double low, double high, double count)
{
	if (!(count > 0) || !isfinite(count) || !isfinite(low) || !(high >= low))
		return;
	size_t at = place_of(h, low, high);
	bool known = at < h->count && !(h->list[at].low > low) && !(h->list[at].high > high);
	if (!known) {
		if (!grow(h)) {
			h->failed = true;
			return;
		}
		memmove(h->list + at + 1, h->list + at, (h->count - at) * sizeof *h->list);
		h->list[at] = (struct bucket_interval){.low = low, .high = high};
		h->count++;
	}
	h->list[at].count += count;
	h->n += count;
}

void bucket_histogram_add_unplaced(struct bucket_histogram *h, double count)
{
	h->n += count;
	h->unplaced += count;
}

void bucket_histogram_merge(struct bucket_histogram *into, const struct bucket_histogram *from)
{
	for (size_t i = 0; i < from->count; i++)
		bucket_histogram_add(into, from->list[i].low, from->list[i].high, from->list[i].count);
	bucket_histogram_add_unplaced(into, from->unplaced);
	into->sum += from->sum;
	into->failed |= from->failed;
}

/* How many values are at most x, if those of a bucket are spread evenly over it. */
static double at_most(const struct bucket_histogram *h, double x)
{
	double sum = 0;
	for (size_t i = 0; i < h->count; i++) {
		const struct bucket_interval *b = &h->list[i];
		if (x >= b->high || (isinf(b->high) && x >= b->low))
			sum += b->count;
		else if (x > b->low)
			sum += b->count * (x - b->low) / (b->high - b->low);
	}
	return sum;
}

/* The quantile of rank `wanted` if every value were at the lower bound of its bucket: it cannot be lower. */
static double lowest(const struct bucket_histogram *h, double wanted)
{
	double sum = 0;
	for (size_t i = 0; i < h->count; i++) {
		sum += h->list[i].count;
		if (sum >= wanted)
			return h->list[i].low;
	}
	return h->list[h->count - 1].low;
}

/* The same at the upper bounds, which are in no order. */
static double highest(const struct bucket_histogram *h, double wanted)
{
	double found = INFINITY;
	for (size_t i = 0; i < h->count; i++) {
		double x = h->list[i].high, sum = 0;
		for (size_t k = 0; x < found && k < h->count; k++)
			sum += h->list[k].high <= x ? h->list[k].count : 0;
		if (x < found && sum >= wanted)
			found = x;
	}
	return found;
}

struct bucket_quantile bucket_histogram_quantile(const struct bucket_histogram *h, double p)
{
	if (h->count == 0 || h->unplaced > 0 || !(p >= 0 && p <= 100))
		return (struct bucket_quantile){NAN, NAN, NAN};
	double wanted = h->n * p / 100;
	if (wanted > h->n * (1 - 1e-12))
		wanted = h->n * (1 - 1e-12); /* counts that are sums of parts may not add up to n to the last bit */
	struct bucket_quantile q = {.low = lowest(h, wanted), .high = highest(h, wanted)};
	double low = q.low, high = isinf(q.high) ? q.low : q.high;
	for (size_t i = 0; isinf(q.high) && i < h->count; i++) /* the highest bound that is known */
		high = fmax(high, isinf(h->list[i].high) ? h->list[i].low : h->list[i].high);
	for (int i = 0; i < 100 && high > low; i++) {
		double middle = low + (high - low) / 2;
		if (at_most(h, middle) < wanted)
			low = middle;
		else
			high = middle;
	}
	q.value = high;
	return q;
}

double bucket_histogram_mean(const struct bucket_histogram *h)
{
	return h->n > 0 ? h->sum / h->n : NAN;
}

void bucket_histogram_release(struct bucket_histogram *h)
{
	free(h->list);
	*h = (struct bucket_histogram){0};
}
