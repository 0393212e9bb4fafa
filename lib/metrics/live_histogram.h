/* A histogram of durations published while it grows, in both forms that Prometheus knows: classic, with fixed bounds
 * every version reads, and native (exponential, "sparse"), whose buckets need no choice and which gives quantiles
 * within 2.2 %.
 *
 *     live_histogram_add(h, ttft_ns, 1);
 *     struct native_span spans[NATIVE_SPANS];
 *     size_t count = live_histogram_spans(h, spans);
 *
 * Both count every value exactly where the definition says: bounds are inclusive, as in Prometheus's data model. A
 * struct of zeros is an empty histogram.
 */
#ifndef IPF_LIVE_HISTOGRAM_H
#define IPF_LIVE_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

/* Upper bounds of the classic buckets, in ns: five a decade from 100 us to 1000 s, so neighbours differ by at most a
 * factor of 1.67. */
#define LIVE_BOUNDS 36
extern const int64_t live_bounds_ns[LIVE_BOUNDS];

/* Native buckets of schema 5: bucket i holds the values in (2^((i-1)/32), 2^(i/32)] seconds. */
#define NATIVE_SCHEMA 5
enum {
	NATIVE_FIRST = -960, /* 2^-30 s, less than a nanosecond */
	NATIVE_LAST = 1087,  /* 2^34 s, more than INT64_MAX ns */
	NATIVE_BUCKETS = NATIVE_LAST - NATIVE_FIRST + 1,
};

struct live_histogram {
	int64_t count, sum_ns;            /* the sum saturates after 292 years of latency */
	int64_t zero;                     /* values of 0, which no exponential bucket holds */
	int64_t classic[LIVE_BOUNDS + 1]; /* values above the bound before and at most this one; the last: above all */
	int first, last;                  /* native buckets in use: [first, last); equal: none */
	int64_t native[NATIVE_BUCKETS];
};

/* Adds `count` times the duration; one below 0 counts as 0. */
void live_histogram_add(struct live_histogram *h, int64_t value_ns, int64_t count);
/* Copies the parts in use. */
void live_histogram_copy(struct live_histogram *to, const struct live_histogram *from);

/* A run of neighbouring native buckets; `offset` counts from the end of the span before, or, of the first span, is
 * the index of its first bucket. Gaps of one or two empty buckets do not end a span. */
struct native_span {
	int32_t offset;
	uint32_t length;
};
#define NATIVE_SPANS (NATIVE_BUCKETS / 4 + 1)
size_t live_histogram_spans(const struct live_histogram *h, struct native_span spans[NATIVE_SPANS]);
/* The number of values in the native bucket with this index. */
int64_t live_histogram_native(const struct live_histogram *h, int index);

#endif
