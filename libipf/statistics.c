#include <ipf/statistics.h>

#include "memory.h"
#include "library.h"
#include "lines.h"
#include "stats/histogram.h"
#include "stats/samples.h"

#include <math.h>
#include <stdlib.h>

/* ---- all values ---- */

struct ipf_samples {
	struct samples all;
};

struct ipf_samples *ipf_samples_new(void)
{
	return calloc(1, sizeof(struct ipf_samples));
}

void ipf_samples_free(struct ipf_samples *s)
{
	if (s)
		samples_release(&s->all);
	free(s);
}

int ipf_samples_add(struct ipf_samples *s, double value)
{
	samples_add(&s->all, value);
	return s->all.failed ? -1 : 0;
}

size_t ipf_samples_count(const struct ipf_samples *s)
{
	return s->all.count;
}

double ipf_samples_percentile(struct ipf_samples *s, double p)
{
	return samples_percentile(&s->all, p);
}

double ipf_samples_mean(const struct ipf_samples *s)
{
	return samples_mean(&s->all);
}

double ipf_samples_deviation(const struct ipf_samples *s)
{
	return samples_std(&s->all);
}

int ipf_samples_interval(const struct ipf_samples *s, double *low, double *high)
{
	struct mean_interval interval = samples_mean_interval(&s->all);
	*low = interval.low;
	*high = interval.high;
	return isnan(interval.low) || isnan(interval.high) ? -1 : 0;
}

size_t ipf_samples_needed(double p)
{
	return samples_needed(p);
}

/* ---- counts ---- */

struct ipf_histogram {
	struct histogram *counts;
};

struct ipf_histogram *ipf_histogram_new(void)
{
	struct ipf_histogram *h = calloc(1, sizeof *h);
	if (h && !(h->counts = histogram_new())) {
		free(h);
		return NULL;
	}
	return h;
}

void ipf_histogram_free(struct ipf_histogram *h)
{
	if (h)
		histogram_free(h->counts);
	free(h);
}

static int done(void)
{
	return memory_ran_out() ? -1 : 0;
}

int ipf_histogram_add(struct ipf_histogram *h, int64_t value, int64_t count)
{
	library_begin();
	histogram_add(h->counts, value, count);
	return done();
}

int ipf_histogram_merge(struct ipf_histogram *into, const struct ipf_histogram *from)
{
	library_begin();
	histogram_merge(into->counts, from->counts);
	return done();
}

int ipf_histogram_add_line(struct ipf_histogram *h, struct ipf_line *line, const char *path, struct ipf_error *err)
{
	jdoc_id node;
	library_begin();
	if (line_find(line, path, &node, err) < 0)
		return -1;
	if (histogram_read(h->counts, &line->doc, node, err) == 0)
		return 0;
	ipf_error_place(err, line->place.file, line->place.number);
	return -1;
}

int64_t ipf_histogram_count(const struct ipf_histogram *h)
{
	return histogram_count(h->counts);
}

int64_t ipf_histogram_min(const struct ipf_histogram *h)
{
	return histogram_min(h->counts);
}

int64_t ipf_histogram_max(const struct ipf_histogram *h)
{
	return histogram_max(h->counts);
}

double ipf_histogram_mean(const struct ipf_histogram *h)
{
	return histogram_mean(h->counts);
}

double ipf_histogram_deviation(const struct ipf_histogram *h)
{
	return histogram_std(h->counts);
}

double ipf_histogram_percentile(const struct ipf_histogram *h, double p)
{
	return histogram_percentile(h->counts, p);
}

int ipf_histogram_next(const struct ipf_histogram *h, int *next, int64_t *low, int64_t *high, int64_t *count)
{
	struct histogram_bucket bucket;
	if (!histogram_next(h->counts, next, &bucket))
		return 0;
	*low = bucket.low;
	*high = bucket.high;
	*count = bucket.count;
	return 1;
}
