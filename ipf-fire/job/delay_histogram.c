#include "job/delay_histogram.h"

#define OCTAVE 32 /* buckets of one */

static unsigned bucket_of(int64_t ns)
{
	if (ns < OCTAVE)
		return ns < 0 ? 0 : (unsigned)ns;
	unsigned shift = 58 -
	                 (unsigned)__builtin_clzll((unsigned long long)ns); /* so that OCTAVE <= ns >> shift < 2 * OCTAVE */
	unsigned bucket = (shift + 1) * OCTAVE + (unsigned)(ns >> shift) - OCTAVE;
	return bucket < DELAY_HISTOGRAM_BUCKETS ? bucket : DELAY_HISTOGRAM_BUCKETS - 1;
}

/* Its middle. */
static int64_t value_of(unsigned bucket)
{
	if (bucket < 2 * OCTAVE)
		return bucket;
	unsigned shift = bucket / OCTAVE - 1;
	return ((int64_t)(bucket % OCTAVE + OCTAVE) << shift) + (INT64_C(1) << shift) / 2;
}

/* Only one thread writes: no locked instruction is needed. */
static void add_one(atomic_uint *count)
{
	atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + 1, memory_order_relaxed);
}

void delay_histogram_add(struct delay_histogram *s, int64_t ns)
{
	if (ns < 0)
		ns = 0;
	add_one(&s->counts[bucket_of(ns)]);
	if (ns <= DELAY_HISTOGRAM_NEAR_NS)
		add_one(&s->near);
	if (ns > atomic_load_explicit(&s->most_ns, memory_order_relaxed))
		atomic_store_explicit(&s->most_ns, ns, memory_order_relaxed);
}

void delay_histogram_since(struct delay_histogram *s, struct delay_histogram_seen *seen,
                           struct delay_histogram_sum *sum)
{
	unsigned near = atomic_load_explicit(&s->near, memory_order_relaxed);
	sum->near += near - seen->near; /* unsigned: right also when a count goes round */
	seen->near = near;
	for (unsigned i = 0; i < DELAY_HISTOGRAM_BUCKETS; i++) {
		unsigned count = atomic_load_explicit(&s->counts[i], memory_order_relaxed);
		sum->counts[i] += count - seen->counts[i];
		sum->count += count - seen->counts[i];
		seen->counts[i] = count;
	}
	if (sum->near > sum->count)
		sum->near = sum->count; /* one that was noted meanwhile */
	int64_t most = atomic_exchange_explicit(&s->most_ns, 0, memory_order_relaxed);
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
