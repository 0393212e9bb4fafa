/* libipf: statistics as the reports compute them; see ipf_functions(3).
 *
 *     struct ipf_samples *ttft = ipf_samples_new();
 *     ipf_samples_add(ttft, (double)ttft_ns);
 *     printf("p99 %.1f ms\n", ipf_samples_percentile(ttft, 99) / 1e6);
 *     ipf_samples_free(ttft);
 *
 * Samples keep every value and are exact; a histogram keeps counts, for more values than memory holds, and is right to
 * 0.1 %. Both belong to one thread at a time.
 */
#ifndef LIBIPF_STATISTICS_H
#define LIBIPF_STATISTICS_H

#include <ipf/streams.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ipf_samples;
struct ipf_histogram;

/* ---- all values ---- */

IPF_PUBLIC struct ipf_samples *ipf_samples_new(void);          /* NULL: out of memory */
IPF_PUBLIC void ipf_samples_free(struct ipf_samples *samples); /* NULL is fine */
/* NAN, an absent value, is not added. -1: out of memory. */
IPF_PUBLIC int ipf_samples_add(struct ipf_samples *samples, double value);
IPF_PUBLIC size_t ipf_samples_count(const struct ipf_samples *samples);
/* p from 0 to 100, by linear interpolation between order statistics, as NumPy does; NAN for no values. */
IPF_PUBLIC double ipf_samples_percentile(struct ipf_samples *samples, double p);
IPF_PUBLIC double ipf_samples_mean(const struct ipf_samples *samples);
IPF_PUBLIC double ipf_samples_deviation(const struct ipf_samples *samples); /* the population's */
/* The 95 % confidence interval of the mean, with the autocorrelation of the values in their order; call it before a
 * percentile. -1, and both NAN: fewer than 40 values, or too few that are independent. */
IPF_PUBLIC int ipf_samples_interval(const struct ipf_samples *samples, double *low, double *high);
/* How many values a percentile needs to be firm, at 99 % confidence: 459 for p99. */
IPF_PUBLIC size_t ipf_samples_needed(double p);

/* ---- counts ---- */

IPF_PUBLIC struct ipf_histogram *ipf_histogram_new(void);            /* NULL: out of memory */
IPF_PUBLIC void ipf_histogram_free(struct ipf_histogram *histogram); /* NULL is fine */
/* Adds `count` times a value of 0 or more. -1: out of memory. */
IPF_PUBLIC int ipf_histogram_add(struct ipf_histogram *histogram, int64_t value, int64_t count);
IPF_PUBLIC int ipf_histogram_merge(struct ipf_histogram *into, const struct ipf_histogram *from);
/* Adds the histogram at `path` of a line of results: "" for a line of kind IPF_LINE_HISTOGRAM, whose member "histogram"
 * is its name. -1: IPF_INPUT, also for those with other buckets: the ones of windows, and "itl_by_position_ns". */
IPF_PUBLIC int ipf_histogram_add_line(struct ipf_histogram *histogram, struct ipf_line *line, const char *path,
                                      struct ipf_error *err);
IPF_PUBLIC int64_t ipf_histogram_count(const struct ipf_histogram *histogram);
IPF_PUBLIC int64_t ipf_histogram_min(const struct ipf_histogram *histogram); /* IPF_ABSENT: empty */
IPF_PUBLIC int64_t ipf_histogram_max(const struct ipf_histogram *histogram);
IPF_PUBLIC double ipf_histogram_mean(const struct ipf_histogram *histogram); /* NAN: empty; so for the next two */
IPF_PUBLIC double ipf_histogram_deviation(const struct ipf_histogram *histogram);
IPF_PUBLIC double ipf_histogram_percentile(const struct ipf_histogram *histogram, double p);
/* The non-empty buckets, in order; begin with *next = 0. 1: values from *low to *high, *count of them; 0: there is none
 * any more. */
IPF_PUBLIC int ipf_histogram_next(const struct ipf_histogram *histogram, int *next, int64_t *low, int64_t *high,
                                  int64_t *count);

#ifdef __cplusplus
}
#endif

#endif
