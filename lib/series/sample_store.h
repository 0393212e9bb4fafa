/* Figures over time of several sources (the targets of a scrape, accelerators), for questions about any part of a run.
 *
 *     struct sample_store *s = sample_store_new(SAMPLE_STORE_BYTES);
 *     int a = sample_store_source(s, 0, slice_of("replica-a"));
 *     sample_store_tick(s, a, t_ns);                                  // once per reading, also of one that failed
 *     sample_store_gauge(s, a, slice_of("running"), t_ns, 3);
 *     sample_store_increase(s, a, slice_of("output_tokens"), t_ns - NS_PER_S, t_ns, 812);
 *     struct gauge_figures f = sample_store_gauge_figures(s, a, "running", &(struct sample_range){0, 60 * NS_PER_S});
 *     sample_store_free(s);
 *
 * A gauge keeps its value from a reading to the next one of its source, so means and percentiles are weighted by time;
 * after the last one, for as long as it lasted from the one before. Increases of counters and histograms belong to the
 * time between two readings; of one that the range covers in part, that share counts.
 *
 * Memory is bounded: when it is used up, neighbouring readings of every figure are joined two by two. Sums, counts,
 * means and maxima stay exact over the whole time; only the edges of a range and percentiles over time become coarser.
 * Sources and names beyond SAMPLE_SOURCES_MOST and SAMPLE_NAMES_MOST, and readings earlier than the last one of their
 * source, are left out and counted. Times are in nanoseconds.
 */
#ifndef IPF_SAMPLE_STORE_H
#define IPF_SAMPLE_STORE_H

#include "buffer.h"
#include "series/bucket_histogram.h"

#include <stdint.h>

#define SAMPLE_STORE_BYTES ((size_t)64 << 20)
enum { SAMPLE_SOURCES_MOST = 1024, SAMPLE_NAMES_MOST = 256, SAMPLE_NAME_BYTES = 200, SAMPLE_BOUNDS_MOST = 256 };

struct sample_store;

struct sample_range {
	int64_t begin_ns, end_ns;
};
/* All times. */
extern const struct sample_range sample_range_all;

enum sample_kind { SAMPLE_GAUGE, SAMPLE_COUNTER, SAMPLE_HISTOGRAM };

struct gauge_figures {
	double mean, max, p50, p90; /* over time; NAN: no reading in the range */
	double seconds;             /* time in the range that readings cover */
};

struct counter_figures {
	double sum;     /* NAN: no reading in the range */
	double seconds; /* time in the range that readings cover: sum / seconds is the rate */
	double unsure; /* the sum may be off by this: when within its time an increase came that the range covers in part */
};

struct sample_store *sample_store_new(size_t max_bytes); /* NULL: out of memory */
void sample_store_free(struct sample_store *s);          /* NULL is fine */

/* The number of the source with this name in this part of the run, added if it is new. -1: too many, or a name longer
 * than SAMPLE_NAME_BYTES; -2: out of memory. */
int sample_store_source(struct sample_store *s, int part, struct slice name);
/* A reading of the source begins. false: it is earlier than the last one, and must be left out. */
bool sample_store_tick(struct sample_store *s, int source, int64_t t_ns);
/* -1: out of memory. Values that are not finite are left out. */
int sample_store_gauge(struct sample_store *s, int source, struct slice name, int64_t t_ns, double value);
int sample_store_increase(struct sample_store *s, int source, struct slice name, struct sample_range time,
                          double increase);
/* The buckets' `high` and `count` are read; a bucket begins where the next lower bound lies that the source ever had
 * for this name. `n` and `sum` are of the values. */
int sample_store_histogram(struct sample_store *s, int source, struct slice name, struct sample_range time,
                           const struct bucket_histogram *h);

/* Counts something the caller left out. */
void sample_store_leave_out(struct sample_store *s);

int sample_store_sources(const struct sample_store *s);
const char *sample_store_source_name(const struct sample_store *s, int source);
int sample_store_source_part(const struct sample_store *s, int source);
/* The first and the last reading of a source, also of failed ones; false: none. */
bool sample_store_extent(const struct sample_store *s, int source, struct sample_range *extent);
/* From the first to the last increase of a counter or histogram of a source; false: none. */
bool sample_store_increases(const struct sample_store *s, int source, struct sample_range *covered);
/* The names a source has, i = 0, 1, … until NULL. */
const char *sample_store_name(const struct sample_store *s, int source, size_t i, enum sample_kind *kind);
/* Readings, names and sources left out. */
int64_t sample_store_dropped(const struct sample_store *s);

struct gauge_figures sample_store_gauge_figures(const struct sample_store *s, int source, const char *name,
                                                const struct sample_range *range);
struct counter_figures sample_store_counter_figures(const struct sample_store *s, int source, const char *name,
                                                    const struct sample_range *range);
/* Adds to *into; false: the source has no reading of it in the range. */
bool sample_store_histogram_figures(const struct sample_store *s, int source, const char *name,
                                    const struct sample_range *range, struct bucket_histogram *into);

/* One gauge over several sources at once: their sum at each time or, for shares, their mean. Out of memory: NAN. */
struct gauge_figures sample_store_gauge_total(const struct sample_store *s, const int *sources, int count,
                                              const char *name, const struct sample_range *range, bool mean);

#endif
