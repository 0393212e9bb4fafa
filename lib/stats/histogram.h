/* A mergeable log-linear histogram of non-negative integers (nanoseconds). A fine one has 512 buckets an octave: the
 * value read for a bucket is its middle, within 0.1 % of every value in it, and exact below 512. A coarse one has 64
 * buckets: within 0.8 %, and exact below 64. Count, minimum, maximum and sum are exact.
 *
 *     struct histogram *gaps = histogram_new();
 *     histogram_add(gaps, gap_ns, 1);
 *     histogram_percentile(gaps, 99)
 *     histogram_free(gaps);
 *
 * Memory is taken for the range of values that occur: a coarse one of values within an octave takes about 600 bytes,
 * and no one more than 30 kB; a fine one at most 230 kB. If memory runs out, values are lost: see memory.h.
 *
 * A histogram belongs to one thread. ipf-fire's delay_histogram.h is the one that a second thread may read while the
 * first adds; both use the buckets of log_linear.h. Where all values fit in memory, samples.h gives exact percentiles.
 */
#ifndef IPF_HISTOGRAM_H
#define IPF_HISTOGRAM_H

#include "buffer.h"
#include "error.h"
#include "json/jdoc.h"

#include <stdbool.h>
#include <stdint.h>

struct histogram;

struct histogram *histogram_new(void);              /* fine; NULL: out of memory */
struct histogram *histogram_new_coarse(void);       /* NULL: out of memory */
void histogram_free(struct histogram *h);           /* NULL is fine */
size_t histogram_memory(const struct histogram *h); /* the bytes it takes; 0 for NULL */
/* Adds `count` times the value. A negative value counts as 0; count <= 0 adds nothing. */
void histogram_add(struct histogram *h, int64_t value, int64_t count);
/* Both must be fine, or both coarse. */
void histogram_merge(struct histogram *into, const struct histogram *from);

int64_t histogram_count(const struct histogram *h);
/* For an empty histogram the integers are IPF_ABSENT, the doubles NAN. */
int64_t histogram_min(const struct histogram *h);
int64_t histogram_max(const struct histogram *h);
double histogram_mean(const struct histogram *h);
double histogram_std(const struct histogram *h);                  /* population standard deviation, from the buckets */
double histogram_percentile(const struct histogram *h, double p); /* p in 0 … 100; interpolated as in samples.h */

/* The non-empty buckets, in order: begin with *next = 0. false: there is none any more. */
struct histogram_bucket {
	int64_t low, high, count; /* values from low to high */
};
bool histogram_next(const struct histogram *h, int *next, struct histogram_bucket *bucket);

/* Appends {"count":…,"min":…,"max":…,"sum":…,"buckets":[[index,count],…]}, see ipf-results(5). */
void histogram_write(const struct histogram *h, struct buffer *out);
/* The same as the end of a map the caller has begun: "count":…} */
void histogram_write_members(const struct histogram *h, struct buffer *out);
/* Reads that and adds it to `h`, which says whether it is fine or coarse. -1: IPF_INPUT for a histogram contradicting
 * itself, or out of memory; `h` is then unchanged. */
int histogram_read(struct histogram *h, const struct jdoc *doc, jdoc_id node, struct ipf_error *err);

#endif
