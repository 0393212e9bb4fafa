/* How times are spread, noted by one thread and read by another while it goes on: a histogram of 32 buckets an octave (a value given back
 * is within 1.6 % of what was noted, exact below 32 ns, and everything above 18 minutes counts as that), a few nanoseconds to note.
 *
 *     spread_add(s, ns);                      // the thread that notes
 *     struct spread_sum sum = {0};            // the thread that reads, once a second:
 *     spread_since(s, &seen, &sum);           // what was noted since the last time, added to the sum
 *     spread_percentile(&sum, 99)
 */
#ifndef IPF_SPREAD_H
#define IPF_SPREAD_H

#include <stdatomic.h>
#include <stdint.h>

#define SPREAD_BUCKETS 1152
#define SPREAD_NEAR_NS INT64_C(1000000)

struct spread {
	atomic_uint counts[SPREAD_BUCKETS];
	atomic_uint near;     /* within SPREAD_NEAR_NS */
	atomic_llong most_ns; /* since it was last read */
};

/* What the reading thread has seen of it. */
struct spread_seen {
	unsigned counts[SPREAD_BUCKETS], near;
};

struct spread_sum {
	int64_t counts[SPREAD_BUCKETS], count, near;
	int64_t most_ns;
};

void spread_add(struct spread *s, int64_t ns); /* negative ones count as 0 */
void spread_since(struct spread *s, struct spread_seen *seen, struct spread_sum *sum);
/* p in 0 … 100, nearest rank, in nanoseconds; 0 where there is nothing. Never above most_ns. */
int64_t spread_percentile(const struct spread_sum *sum, double p);

#endif
