/* How times are spread, noted by one thread and read by another while it goes on: a histogram of 32 buckets an octave
 * (a value given back is within 1.6 % of what was noted, exact below 32 ns, and everything above 18 minutes counts as
 * that), a few nanoseconds to note.
 *
 *     delay_histogram_add(s, ns);                      // the thread that notes
 *     struct delay_histogram_sum sum = {0};            // the thread that reads, once a second:
 *     delay_histogram_since(s, &seen, &sum);           // what was noted since the last time, added to the sum
 *     delay_histogram_percentile(&sum, 99)
 */
#ifndef IPF_DELAY_HISTOGRAM_H
#define IPF_DELAY_HISTOGRAM_H

#include <stdatomic.h>
#include <stdint.h>

#define DELAY_HISTOGRAM_BUCKETS 1152
#define DELAY_HISTOGRAM_NEAR_NS INT64_C(1000000)

struct delay_histogram {
	atomic_uint counts[DELAY_HISTOGRAM_BUCKETS];
	atomic_uint near;     /* within DELAY_HISTOGRAM_NEAR_NS */
	atomic_llong most_ns; /* since it was last read */
};

/* What the reading thread has seen of it. */
struct delay_histogram_seen {
	unsigned counts[DELAY_HISTOGRAM_BUCKETS], near;
};

struct delay_histogram_sum {
	int64_t counts[DELAY_HISTOGRAM_BUCKETS], count, near;
	int64_t most_ns;
};

void delay_histogram_add(struct delay_histogram *s, int64_t ns); /* negative ones count as 0 */
void delay_histogram_since(struct delay_histogram *s, struct delay_histogram_seen *seen,
                           struct delay_histogram_sum *sum);
/* p in 0 … 100, nearest rank, in nanoseconds; 0 where there is nothing. Never above most_ns. */
int64_t delay_histogram_percentile(const struct delay_histogram_sum *sum, double p);

#endif
