/* A distribution as a table of its quantiles: a model's summary of any number of values.
 *
 *     struct quantile_table table;
 *     quantile_table_of(&table, &samples);
 *     double tokens = quantile_table_at(&table, rng_uniform(&rng));
 *
 * The ranks of the table are fixed: every per cent, and closer at both ends. Between two ranks values are interpolated.
 */
#ifndef PREP_QUANTILE_TABLE_H
#define PREP_QUANTILE_TABLE_H

#include "model/model_json.h"
#include "stats/samples.h"

#include <stdint.h>

enum { QUANTILE_KNOTS = 107 };

struct quantile_table {
	int64_t count;             /* the values'; 0: there is no table */
	double at[QUANTILE_KNOTS]; /* ascending */
};

/* The rank of a knot, 0 … 1. */
double quantile_rank(int knot);
/* Makes the table of these samples, which are sorted by it. */
void quantile_table_of(struct quantile_table *table, struct samples *samples);
/* The value at rank `u`, 0 … 1. */
double quantile_table_at(const struct quantile_table *table, double u);
/* The rank of a value, 0 … 1; of equal values, the middle of their ranks. */
double quantile_table_rank(const struct quantile_table *table, double value);

/* A list of the values; NULL: out of memory. */
json_t *quantile_table_json(const struct quantile_table *table);
/* Reads such a list. -1: IPF_INPUT. */
int quantile_table_read(struct quantile_table *table, const struct model_place *at, const char *key,
                        struct ipf_error *err);

#endif
