#include "stats/histogram.h"

#include "absent.h"
#include "json/jout.h"
#include "memory.h"
#include "stats/log_linear.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Buckets an octave, as powers of two; and of how many memory is taken at least. */
enum { FINE = 9, COARSE = 6, BUCKETS_LEAST = 16 };

struct histogram {
	int bits;         /* 2^bits buckets an octave */
	int first, range; /* counts[i] is that of the bucket first + i; the others are empty */
	int64_t *counts;
	int64_t count, min, max;
	unsigned __int128 sum;
};

static struct histogram *new_of(int bits)
{
	struct histogram *h = calloc(1, sizeof *h);
	if (h)
		h->bits = bits;
	return h;
}

struct histogram *histogram_new(void)
{
	return new_of(FINE);
}

struct histogram *histogram_new_coarse(void)
{
	return new_of(COARSE);
}

void histogram_free(struct histogram *h)
{
	if (!h)
		return;
	free(h->counts);
	free(h);
}

size_t histogram_memory(const struct histogram *h)
{
	return h ? sizeof *h + (size_t)h->range * sizeof *h->counts : 0;
}

static int buckets_of(const struct histogram *h)
{
	return LOG_LINEAR_BUCKETS(h->bits);
}

static int index_of(const struct histogram *h, int64_t value)
{
	return log_linear_bucket(value, h->bits);
}

static int64_t lowest_of(const struct histogram *h, int index)
{
	return log_linear_lowest(index, h->bits);
}

static int64_t highest_of(const struct histogram *h, int index)
{
	return index + 1 < buckets_of(h) ? lowest_of(h, index + 1) - 1 : INT64_MAX;
}

static double middle_of(const struct histogram *h, int index)
{
	return (double)lowest_of(h, index) + (double)(highest_of(h, index) - lowest_of(h, index)) / 2;
}

static int64_t count_at(const struct histogram *h, int index)
{
	return index >= h->first && index - h->first < h->range ? h->counts[index - h->first] : 0;
}

/* Makes room for the buckets from `low` to `high`, and as much again as there was on the side that grows, so the copies
 * are few. -1: out of memory. */
static int reach(struct histogram *h, int low, int high)
{
	int first = h->range ? h->first : low, end = h->range ? h->first + h->range : low;
	if (low >= first && high < end)
		return 0;
	int spare = h->range > BUCKETS_LEAST ? h->range : BUCKETS_LEAST;
	if (low < first)
		first = low - low % BUCKETS_LEAST < first - spare ? low - low % BUCKETS_LEAST : first - spare;
	if (high >= end)
		end = high + 1 > end + spare ? high + 1 : end + spare;
	first = first > 0 ? first - first % BUCKETS_LEAST : 0;
	end = end < buckets_of(h) ? end : buckets_of(h);
	int64_t *counts = calloc((size_t)(end - first), sizeof *counts);
	if (!counts)
		return -1;
	if (h->range)
		memcpy(counts + (h->first - first), h->counts, (size_t)h->range * sizeof *counts);
	free(h->counts);
	h->counts = counts;
	h->first = first;
	h->range = end - first;
	return 0;
}

/* Counts saturate instead of overflowing. */
static void add_to(int64_t *count, int64_t n)
{
	if (__builtin_add_overflow(*count, n, count))
		*count = INT64_MAX;
}

static void widen(struct histogram *h, int64_t min, int64_t max)
{
	if (h->count == 0 || min < h->min)
		h->min = min;
	if (h->count == 0 || max > h->max)
		h->max = max;
}

void histogram_add(struct histogram *h, int64_t value, int64_t count)
{
	if (count <= 0)
		return;
	if (value < 0)
		value = 0;
	int index = index_of(h, value);
	if ((index < h->first || index - h->first >= h->range) && reach(h, index, index) < 0)
		return;
	widen(h, value, value);
	add_to(&h->counts[index - h->first], count);
	add_to(&h->count, count);
	h->sum += (unsigned __int128)value * (unsigned __int128)count;
}

void histogram_merge(struct histogram *into, const struct histogram *from)
{
	if (from->count == 0 || reach(into, index_of(into, from->min), index_of(into, from->max)) < 0)
		return;
	widen(into, from->min, from->max);
	for (int i = index_of(from, from->min); i <= index_of(from, from->max); i++)
		add_to(&into->counts[i - into->first], count_at(from, i));
	add_to(&into->count, from->count);
	into->sum += from->sum;
}

int64_t histogram_count(const struct histogram *h)
{
	return h->count;
}

int64_t histogram_min(const struct histogram *h)
{
	return h->count ? h->min : IPF_ABSENT;
}

int64_t histogram_max(const struct histogram *h)
{
	return h->count ? h->max : IPF_ABSENT;
}

double histogram_mean(const struct histogram *h)
{
	return h->count ? (double)h->sum / (double)h->count : NAN;
}

/* The best estimate of the values in bucket i. */
static double value_of(const struct histogram *h, int i)
{
	return fmin(fmax(middle_of(h, i), (double)h->min), (double)h->max);
}

double histogram_std(const struct histogram *h)
{
	double sum = 0, distance, mean = histogram_mean(h);

	if (h->count == 0)
		return NAN;
	for (int i = index_of(h, h->min); i <= index_of(h, h->max); i++) {
		distance = value_of(h, i) - mean;
		sum += (double)count_at(h, i) * distance * distance;
	}
	return sqrt(sum / (double)h->count);
}

double histogram_percentile(const struct histogram *h, double p)
{
	double rank, part, low;
	int64_t below, passed = 0;
	int i, next;

	if (h->count == 0 || isnan(p))
		return NAN;
	rank = fmin(fmax(p / 100, 0), 1) * (double)(h->count - 1);
	if (rank >= (double)(h->count - 1))
		return (double)h->max;
	below = (int64_t)rank;
	part = rank - (double)below;
	if (below == 0 && part == 0)
		return (double)h->min;
	for (i = index_of(h, h->min); count_at(h, i) <= below - passed; i++)
		passed += count_at(h, i);
	low = below == 0 ? (double)h->min : value_of(h, i);
	next = i;
	if (count_at(h, i) <= below + 1 - passed)
		for (next++; count_at(h, next) == 0; next++)
			;
	/* the maximum is known exactly, like the minimum */
	return low + ((below + 1 == h->count - 1 ? (double)h->max : value_of(h, next)) - low) * part;
}

static void write_sum(unsigned __int128 sum, struct buffer *out)
{
	char digits[40];
	size_t i = sizeof digits;

	do {
		digits[--i] = (char)('0' + (int)(sum % 10));
		sum /= 10;
	} while (sum);
	buffer_append(out, digits + i, sizeof digits - i);
}

bool histogram_next(const struct histogram *h, int *next, struct histogram_bucket *bucket)
{
	int at = *next > h->first ? *next : h->first;
	while (at - h->first < h->range && h->counts[at - h->first] == 0)
		at++;
	if (at - h->first >= h->range)
		return false;
	*bucket = (struct histogram_bucket){lowest_of(h, at), highest_of(h, at), count_at(h, at)};
	*next = at + 1;
	return true;
}

void histogram_write(const struct histogram *h, struct buffer *out)
{
	struct buffer sum = {0};
	struct jout w = {.out = out};

	write_sum(h->sum, &sum);
	jout_begin_map(&w);
	jout_member_int(&w, "count", h->count);
	jout_member_int(&w, "min", histogram_min(h));
	jout_member_int(&w, "max", histogram_max(h));
	jout_member_value(&w, "sum", buffer_all(&sum));
	out->failed = out->failed || sum.failed;
	buffer_release(&sum);
	jout_key(&w, "buckets");
	jout_begin_list(&w);
	for (int i = h->count ? index_of(h, h->min) : 0; h->count && i <= index_of(h, h->max); i++) {
		if (count_at(h, i) == 0)
			continue;
		jout_begin_list(&w);
		jout_int(&w, i);
		jout_int(&w, count_at(h, i));
		jout_end_list(&w);
	}
	jout_end_list(&w);
	jout_end_map(&w);
}

void histogram_write_members(const struct histogram *h, struct buffer *out)
{
	struct buffer map = {0};
	histogram_write(h, &map);
	if (!map.failed)
		buffer_slice(out, (struct slice){map.data + 1, map.len - 1}); /* without its opening brace */
	out->failed |= map.failed;
	buffer_release(&map);
}

static int read_sum(struct histogram *h, const struct jdoc *doc, jdoc_id map, struct ipf_error *err)
{
	jdoc_id node = jdoc_get(doc, map, "sum");
	struct slice digits = jdoc_raw(doc, node);

	for (size_t i = 0; i < digits.len; i++) {
		if (digits.data[i] < '0' || digits.data[i] > '9' || i == 38)
			return jdoc_expected(doc, node, "sum", "a non-negative integer", err);
		h->sum = h->sum * 10 + (unsigned)(digits.data[i] - '0');
	}
	return digits.len ? 0 : ipf_error_set(err, IPF_INPUT, "sum: missing");
}

static int read_buckets(struct histogram *h, const struct jdoc *doc, jdoc_id map, struct ipf_error *err)
{
	jdoc_id list = jdoc_get(doc, map, "buckets");
	int64_t index, count, last = -1;

	if (list == JDOC_NONE || jdoc_type_of(doc, list) != JDOC_LIST)
		return jdoc_expected(doc, list, "buckets", "a list of [index, count]", err);
	for (struct jdoc_each e = jdoc_each(doc, list); jdoc_step(&e);) {
		if (jdoc_type_of(doc, e.value) != JDOC_LIST || jdoc_count(doc, e.value) != 2 ||
		    !jdoc_to_int(doc, jdoc_at(doc, e.value, 0), &index) ||
		    !jdoc_to_int(doc, jdoc_at(doc, e.value, 1), &count) || index <= last || index >= buckets_of(h) ||
		    count <= 0)
			return jdoc_expected(doc, e.value, "buckets", "[index, count] with increasing indices", err);
		if (reach(h, (int)index, (int)index) < 0)
			return ipf_error_memory(err);
		h->counts[index - h->first] = count;
		if (last < 0)
			h->min = index;
		h->max = last = index;
		add_to(&h->count, count);
	}
	return 0;
}

/* Reads into an empty histogram. */
static int read_new(struct histogram *h, const struct jdoc *doc, jdoc_id map, struct ipf_error *err)
{
	int64_t count, min = 0, max = 0;
	int got, got_min, got_max;

	got = jdoc_get_uint(doc, map, "count", &count, err);
	got_min = jdoc_get_uint(doc, map, "min", &min, err);
	got_max = jdoc_get_uint(doc, map, "max", &max, err);
	if (got < 0 || got_min < 0 || got_max < 0 || read_sum(h, doc, map, err) < 0 || read_buckets(h, doc, map, err) < 0)
		return -1;
	if (got == 0)
		return ipf_error_set(err, IPF_INPUT, "count: missing");
	if (count != h->count)
		return ipf_error_set(err, IPF_INPUT, "count: expected %lld, the sum of the buckets, got %lld",
		                     (long long)h->count, (long long)count);
	if (count == 0)
		return 0;
	/* read_buckets left the indices of the first and the last bucket in min and max */
	if (got_min == 0 || got_max == 0 || min > max || index_of(h, min) != h->min || index_of(h, max) != h->max)
		return ipf_error_set(err, IPF_INPUT, "min, max: expected values of the first and the last bucket");
	h->min = min;
	h->max = max;
	return 0;
}

int histogram_read(struct histogram *h, const struct jdoc *doc, jdoc_id node, struct ipf_error *err)
{
	struct histogram *fresh = new_of(h->bits);
	int result;

	if (!fresh)
		return ipf_error_memory(err);
	result = read_new(fresh, doc, node, err);
	if (result == 0)
		histogram_merge(h, fresh);
	if (memory_ran_out())
		result = ipf_error_memory(err);
	histogram_free(fresh);
	return result;
}
