/* A mergeable log-linear histogram of non-negative integers (nanoseconds): 512 buckets an octave, so that the value
 * given back for a bucket (its middle) is within 0.1 % of every value in it; exact below 512. Counts, minimum, maximum
 * and sum are exact.
 */
#ifndef IPF_HISTOGRAM_H
#define IPF_HISTOGRAM_H

#include "buffer.h"
#include "error.h"
#include "json/jdoc.h"

#include <stdbool.h>
#include <stdint.h>

struct histogram;

struct histogram *histogram_new(void); /* NULL: out of memory */
void histogram_free(struct histogram *h);
void histogram_add(struct histogram *h, int64_t value, int64_t count); /* negative values count as 0 */
void histogram_merge(struct histogram *into, const struct histogram *from);

int64_t histogram_count(const struct histogram *h);
int64_t histogram_min(const struct histogram *h); /* IPF_ABSENT when empty, as are the next ones (doubles: NAN) */
int64_t histogram_max(const struct histogram *h);
double histogram_mean(const struct histogram *h);
double histogram_std(const struct histogram *h); /* from the buckets, population */
double histogram_percentile(const struct histogram *h,
                            double p); /* p in 0 … 100, interpolated like samples_percentile */

/* {"count":…,"min":…,"max":…,"sum":…,"buckets":[[index,count],…]} as a JSON value, and back (merging into `h`). */
void histogram_write(const struct histogram *h, struct buffer *out);
int histogram_read(struct histogram *h, const struct jdoc *doc, jdoc_id node, struct ipf_error *err);

#endif
