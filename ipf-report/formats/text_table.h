/* Tables of the text report: metrics down; mean, minimum, median, percentiles and maximum across.
 *
 *     struct text_table t;
 *     text_table_init(&t, layout, &percentiles, false);
 *     while (text_table_part(&t, "Latency, ms"))            // more than once if the columns do not fit
 *         text_table_row(&t, "TPOT", "", &figures->start[METRIC_TPOT]);
 *     text_table_note(layout, t.weak);
 */
#ifndef REPORT_TEXT_TABLE_H
#define REPORT_TEXT_TABLE_H

#include "figures/metric_summary.h"
#include "formats/text_layout.h"

struct text_table {
	struct layout *l;
	const struct percentiles *list;
	int columns[PERCENTILES_MOST + 4]; /* mean, minimum, median, maximum, or an index into the list */
	int count;
	int first, shown; /* the columns of the current part */
	bool tokens;      /* show whole numbers from 10 on */
	bool weak;        /* a percentile was marked: it has too few samples */
};

/* Columns: the mean, the minimum, the median and the percentiles (p90 and p99 unless the user chose others) in
 * increasing order, the maximum. */
void text_table_init(struct text_table *t, struct layout *l, const struct percentiles *list, bool tokens);
/* Writes the title and the names of the next columns; false when all columns have been shown. */
bool text_table_part(struct text_table *t, const char *title);
/* Writes a row; none if there are no samples. */
void text_table_row(struct text_table *t, const char *label, const char *version, const struct metric_summary *d);
/* Writes a figure that ends before `column`, with a mark if it is weak; returns `weak`. */
bool text_table_cell(struct layout *l, int column, const char *text, bool weak);
/* Explains the mark, if `weak`. */
void text_table_note(struct layout *l, bool weak);

#endif
