/* A histogram whose buckets another program chose, such as those of a model server's Prometheus metrics: each bucket is
 * an interval and a count, and nothing is known of where in it the values are.
 *
 *     struct bucket_histogram ttft = {0};
 *     bucket_histogram_add(&ttft, 0.1e9, 0.25e9, 17);             // 17 values above 0.1 s and up to 0.25 s
 *     struct bucket_quantile p99 = bucket_histogram_quantile(&ttft, 99);
 *     p99.low … p99.high                                          // certain; p99.value: interpolated between them
 *     bucket_histogram_release(&ttft);
 *
 * Histograms with different buckets can be merged: intervals may overlap. Counts are real numbers, since a part of the
 * count between two readings can be added. stats/histogram.h is for our own measurements.
 */
#ifndef IPF_BUCKET_HISTOGRAM_H
#define IPF_BUCKET_HISTOGRAM_H

#include <stdbool.h>
#include <stddef.h>

struct bucket_interval {
	double low, high; /* above low, up to high; high may be INFINITY */
	double count;
};

struct bucket_histogram {
	struct bucket_interval *list; /* in order of low, then of high */
	size_t count, cap;
	double n;        /* sum of the counts */
	double unplaced; /* those of them that the other program counts in no bucket: then no quantile is known */
	double sum;      /* the values', as the other program reports it; the caller adds to it */
	bool failed;     /* memory ran out; later additions are missing */
};

/* The quantile is certainly within [low, high]: the bounds of the bucket it falls into. `value` is interpolated
 * linearly in this bucket; in one without an upper bound it is its lower bound. All NAN for an empty histogram, and for
 * one of which some values are in no bucket. */
struct bucket_quantile {
	double value, low, high;
};

/* Adds `count` values to the bucket of these bounds. A count of 0 or less, or bounds in the wrong order: nothing. */
void bucket_histogram_add(struct bucket_histogram *h, double low, double high, double count);
/* Adds `count` values of which only the sum is known. */
void bucket_histogram_add_unplaced(struct bucket_histogram *h, double count);
void bucket_histogram_merge(struct bucket_histogram *into, const struct bucket_histogram *from);
/* p in 0 … 100. */
struct bucket_quantile bucket_histogram_quantile(const struct bucket_histogram *h, double p);
/* sum / n; exact, whatever the buckets are. NAN if empty. */
double bucket_histogram_mean(const struct bucket_histogram *h);
void bucket_histogram_release(struct bucket_histogram *h);

#endif
