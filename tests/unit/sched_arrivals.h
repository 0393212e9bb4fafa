/* Common to the tests of the arrivals' distributions. Every test prints its seed; IPF_TEST_SEED runs it with another.
 * The bounds are those of one failure in some ten thousand seeds. */
#ifndef IPF_TEST_SCHED_ARRIVALS_H
#define IPF_TEST_SCHED_ARRIVALS_H

#include "unit.h"

#include "absent.h"
#include "clock.h"
#include "inputs/stage_inputs.h"
#include "stages.h"
#include "kinds/arrival_process.h"

#include <math.h>

struct times {
	double *s; /* seconds */
	int64_t *ns;
	size_t count;
};

static inline void times_free(struct times *t)
{
	free(t->s);
	free(t->ns);
}

/* The first `n` arrivals of a spec, or those of its for=. */
static inline struct times arrivals(const char *spec, uint64_t seed, uint64_t ordinal, size_t n)
{
	struct ipf_error err = {0};
	struct arrival_process p;
	struct stages stages;
	struct times t = {0};
	char *specs[] = {(char *)(uintptr_t)spec};
	size_t cap = 0;
	int64_t at;

	struct stage_inputs inputs = {0};

	if (stages_parse(&stages, specs, 1, &inputs, &err) < 0)
		fail_msg("%s", err.text);
	stages.list[0].ordinal = ordinal;
	assert_int_equal(arrival_process_begin(&p, &stages.list[0], NULL, seed, &err), 0);
	for (;;) {
		at = stages.list[0].kind->next(&p);
		if (at == ARRIVAL_NONE ||
		    (n ? t.count == n : stages.list[0].for_ns != IPF_ABSENT && at >= stages.list[0].for_ns))
			break;
		if (t.count == cap) {
			cap = cap ? cap * 2 : 1024;
			t.ns = realloc(t.ns, cap * sizeof *t.ns);
			t.s = realloc(t.s, cap * sizeof *t.s);
			assert_non_null(t.ns);
			assert_non_null(t.s);
		}
		t.ns[t.count] = at;
		t.s[t.count++] = (double)at / 1e9;
	}
	arrival_process_end(&p);
	stages_release(&stages);
	json_decref(inputs.files);
	buffer_release(&inputs.notes);
	return t;
}

static inline int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Kolmogorov's distance between the values (sorted here) and a distribution, times the root of their number. The
 * values are rounded to nanoseconds: n of the same stand for the probability between half a nanosecond below and
 * half a one above. */
static inline double ks(double *values, size_t n, double (*cdf)(double value, const double *args), const double *args)
{
	double most = 0;

	qsort(values, n, sizeof *values, compare);
	for (size_t i = 0, below = 0; i < n; i++) {
		if (i + 1 < n && values[i + 1] - values[i] < 0.25e-9)
			continue;
		most = fmax(most, fabs(cdf(values[i] - 0.5e-9, args) - (double)below / (double)n));
		most = fmax(most, fabs(cdf(values[i] + 0.5e-9, args) - (double)(i + 1) / (double)n));
		below = i + 1;
	}
	return most * sqrt((double)n);
}

#define KS_BOUND 2.2 /* 2 exp(-2 · 2.2²) = 0.00013 */

static inline double exponential_cdf(double x, const double *rate)
{
	return x > 0 ? 1 - exp(-x * *rate) : 0;
}

static inline double uniform_cdf(double x, const double *length)
{
	return x / *length;
}

/* Gaps between arrivals; the first arrival is not one. */
static inline double *gaps_of(const struct times *t)
{
	double *gaps = malloc(t->count * sizeof *gaps);

	assert_non_null(gaps);
	for (size_t i = 0; i + 1 < t->count; i++)
		gaps[i] = t->s[i + 1] - t->s[i];
	return gaps;
}

/* Variance over mean of the counts in windows of `window` seconds. */
static inline double dispersion(const struct times *t, double length, double window, size_t *windows)
{
	double sum = 0, squares = 0;
	size_t at = 0;

	*windows = (size_t)(length / window);
	for (size_t w = 0; w < *windows; w++) {
		size_t before = at;
		while (at < t->count && t->s[at] < (double)(w + 1) * window)
			at++;
		sum += (double)(at - before);
		squares += (double)(at - before) * (double)(at - before);
	}
	return (squares - sum * sum / (double)*windows) / ((double)*windows - 1) / (sum / (double)*windows);
}

#endif
