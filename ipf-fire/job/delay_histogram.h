/* A histogram of delays filled by one thread and read by another: 32 buckets an octave. A value read is within 1.6 % of
 * the value added, and exact below 32 ns; above 18 minutes all values count as the highest bucket. Adding takes a few
 * nanoseconds.
 *
 *     delay_histogram_add(h, ns);                      // the writing thread
 *     struct delay_histogram_sum sum = {0};            // the reading thread, once a second:
 *     delay_histogram_since(h, &seen, &sum);           // adds to the sum what is new since the last call
 *     delay_histogram_percentile(&sum, 99)
 *
 * Why not stats/histogram.h, which shares the arithmetic of the buckets (stats/log_linear.h): there one thread owns a
 * histogram of 220 KiB, which goes into the results and merges without loss. Here every sending thread has several on
 * its path per read, small enough for its cache, of atomic counters that another thread reads without stopping it.
 */
#ifndef IPF_DELAY_HISTOGRAM_H
#define IPF_DELAY_HISTOGRAM_H

#include <stdatomic.h>
#include <stdint.h>

#define DELAY_HISTOGRAM_BUCKETS 1152
#define DELAY_HISTOGRAM_NEAR_NS INT64_C(1000000)

struct delay_histogram {
	atomic_uint counts[DELAY_HISTOGRAM_BUCKETS];
	atomic_uint near;     /* delays of at most DELAY_HISTOGRAM_NEAR_NS */
	atomic_llong most_ns; /* the longest delay since the last read */
};

/* The counts at the reading thread's last look. */
struct delay_histogram_seen {
	unsigned counts[DELAY_HISTOGRAM_BUCKETS], near;
};

struct delay_histogram_sum {
	int64_t counts[DELAY_HISTOGRAM_BUCKETS], count, near;
	int64_t most_ns;
};

void delay_histogram_add(struct delay_histogram *h, int64_t ns); /* a negative delay counts as 0 */
void delay_histogram_since(struct delay_histogram *h, struct delay_histogram_seen *seen,
                           struct delay_histogram_sum *sum);
/* p in 0 … 100, nearest rank, in nanoseconds; at most most_ns; 0 for an empty sum. */
int64_t delay_histogram_percentile(const struct delay_histogram_sum *sum, double p);

#endif
