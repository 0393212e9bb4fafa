#include "job/delay_histogram.h"

#include "stats/log_linear.h"

enum { BITS = 5 }; /* 32 buckets an octave */

static unsigned bucket_of(int64_t ns)
{
	unsigned bucket = (unsigned)log_linear_bucket(ns, BITS);
	return bucket < DELAY_HISTOGRAM_BUCKETS ? bucket : DELAY_HISTOGRAM_BUCKETS - 1;
}

/* Its middle. */
static int64_t value_of(unsigned bucket)
{
	int64_t lowest = log_linear_lowest((int)bucket, BITS);
	return lowest + (log_linear_lowest((int)bucket + 1, BITS) - lowest) / 2;
}

/* One thread writes: no locked instruction is needed. */
static void add_one(atomic_uint *count)
{
	atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + 1, memory_order_relaxed);
}

void delay_histogram_add(struct delay_histogram *h, int64_t ns)
{
	if (ns < 0)
		ns = 0;
	add_one(&h->counts[bucket_of(ns)]);
	if (ns <= DELAY_HISTOGRAM_NEAR_NS)
		add_one(&h->near);
	if (ns > atomic_load_explicit(&h->most_ns, memory_order_relaxed))
		atomic_store_explicit(&h->most_ns, ns, memory_order_relaxed);
}

void delay_histogram_since(struct delay_histogram *h, struct delay_histogram_seen *seen,
                           struct delay_histogram_sum *sum)
{
	unsigned near = atomic_load_explicit(&h->near, memory_order_relaxed);
	sum->near += near - seen->near; /* unsigned: right even when a count wraps around */
	seen->near = near;
	for (unsigned i = 0; i < DELAY_HISTOGRAM_BUCKETS; i++) {
		unsigned count = atomic_load_explicit(&h->counts[i], memory_order_relaxed);
		sum->counts[i] += count - seen->counts[i];
		sum->count += count - seen->counts[i];
		seen->counts[i] = count;
	}
	if (sum->near > sum->count)
		sum->near = sum->count; /* a delay added in the meantime */
	int64_t most = atomic_exchange_explicit(&h->most_ns, 0, memory_order_relaxed);
	if (most > sum->most_ns)
		sum->most_ns = most;
}

int64_t delay_histogram_percentile(const struct delay_histogram_sum *sum, double p)
{
	int64_t rank = (int64_t)((double)sum->count * p / 100), before = 0;
	for (unsigned i = 0; i < DELAY_HISTOGRAM_BUCKETS; i++) {
		before += sum->counts[i];
		if (before > rank || (before && before == sum->count)) {
			int64_t value = value_of(i);
			return value < sum->most_ns ? value : sum->most_ns;
		}
	}
	return 0;
}
