/* How many different values occur among any number of them, in constant memory: adaptive sampling (Wegman; Flajolet
 * 1990). A table keeps the values; when it is full, it keeps of them those whose hash ends in one more bit of 0, and
 * takes only such ones from then on. Each value it keeps stands for 2^depth.
 *
 *     struct distinct_count seen = {0};
 *     distinct_count_add(&seen, hash);                 // for each value
 *     if (seen.failed) …
 *     double many = distinct_count_estimate(&seen), off = distinct_count_error(&seen);
 *     distinct_count_release(&seen);
 *
 * The count is exact up to DISTINCT_KEPT different values, and has a standard error of at most 0.8 % beyond. It is the
 * same for the same values in any order. Two values with one hash count once.
 */
#ifndef IPF_DISTINCT_COUNT_H
#define IPF_DISTINCT_COUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Values kept: a table of 512 KiB. */
#define DISTINCT_KEPT ((size_t)1 << 15)

/* Zero-initialise. */
struct distinct_count {
	uint64_t *slots; /* 0: free */
	size_t count;    /* kept */
	unsigned depth;
	bool failed; /* out of memory */
};

/* A hash of the value of which all 64 bits are good, as text_hash_mixed gives it. */
void distinct_count_add(struct distinct_count *d, uint64_t hash);
double distinct_count_estimate(const struct distinct_count *d);
/* The standard error, as a share of the estimate; 0: it is exact. */
double distinct_count_error(const struct distinct_count *d);
void distinct_count_release(struct distinct_count *d);

#endif
