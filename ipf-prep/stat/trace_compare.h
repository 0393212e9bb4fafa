/* ipf-prep stat TRACE --against FILE: how near the traffic of one trace is to that of another, or of a model.
 *
 *     struct comparison c = {0};
 *     traffic_of(path, &c.this, &cut, &err), traffic_of(other, &c.against, &cut, &err);
 *     comparison_make(&c);
 *     json_t *json = comparison_json(&c);
 *     comparison_show(&c, stdout);
 *
 * Each of the two may be a trace or a model. A figure the data do not allow says why instead.
 */
#ifndef PREP_TRACE_COMPARE_H
#define PREP_TRACE_COMPARE_H

#include "model/traffic_figures.h"

#include <stdio.h>

enum { COMPARISON_ROWS = 64 };

enum comparison_unit {
	COMPARE_RATIO,  /* as a ratio to the reference */
	COMPARE_NUMBER, /* the difference itself */
	COMPARE_SHARE,  /* the same of shares, which people read in percentage points */
};

struct comparison_row {
	char name[48]; /* "dispersion 1s", "input_tokens p50" */
	double this, against;
	double difference; /* in the unit */
	double limit;
	bool near;
	enum comparison_unit unit;
	char absent[96]; /* why it is not comparable; empty: it is */
};

struct comparison {
	struct traffic_figures this, against;
	struct comparison_row rows[COMPARISON_ROWS];
	int count, near, absent;
};

/* The figures of a trace or of a model. If a trace is cut, *cut is the error, and its figures are of the part before.
 */
int traffic_of(const char *path, struct traffic_figures *figures, struct ipf_error *cut, struct ipf_error *err);
/* Fills the rows. */
void comparison_make(struct comparison *c);
json_t *comparison_json(const struct comparison *c); /* new; NULL: out of memory */
void comparison_show(const struct comparison *c, FILE *to);

/* Draws both: dispersion, lengths, times, hits. 1; 0: gnuplot is not installed; -1: an error. */
int comparison_draw(const struct comparison *c, const char *path, struct ipf_error *err);

#endif
