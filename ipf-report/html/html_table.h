/* Tables of a page: a caption, a row of columns with their units, and a row for each thing.
 *
 *     static const struct html_column columns[] = {{.name = "stage"}, {"requests", "offered", "1/s"}, …};
 *     struct html_table t = {.out = out, .name = "stages", .columns = columns, .count = 2, .sortable = true};
 *     html_table_begin(&t, "Stages");
 *     html_row(&t, "low", NULL);
 *     html_number(&t, figure_at(stage, "rate/offered"));
 *     html_row_end(&t);
 *     html_table_end(&t);
 *
 * The first column names the row, the others are figures unless their `text` is set. A figure is shown with three
 * significant digits; the cell's data-v is the value of the JSON report, by which the script of the page sorts.
 * One that does not exist is a dash. A table that is too wide scrolls in a box, which the keyboard can reach.
 */
#ifndef REPORT_HTML_TABLE_H
#define REPORT_HTML_TABLE_H

#include "buffer.h"

#include <stdbool.h>

enum { HTML_ROWS_MOST = 200 }; /* of a table whose length follows the run's */

struct html_column {
	const char *group; /* above this column and its neighbours of the same group; NULL */
	const char *name, *unit;
	bool text;
};

struct html_table {
	struct buffer *out;
	const char *name; /* what its ids begin with */
	const struct html_column *columns;
	int count;
	bool sortable; /* the order of the rows means nothing, or can be found again by a column */
	bool wide;     /* many columns: narrower, and smaller on paper */
	bool whole;    /* figures that are whole have no decimals: tokens */
	bool foot;     /* in the last rows, which are totals */
	bool weak;     /* a figure was marked */
};

void html_table_begin(struct html_table *t, const char *caption);
/* Begins a row; `remark` follows its name; NULL: none. */
void html_row(struct html_table *t, const char *name, const char *remark);
/* The same, with the name as a link to a definition. */
void html_row_defined(struct html_table *t, const char *name, const char *definition, const char *remark);
/* The rows from here on are totals. */
void html_table_foot(struct html_table *t);
void html_number(struct html_table *t, double value);
void html_count(struct html_table *t, double value);
void html_percent(struct html_table *t, double share);
/* A figure in words of its own: "+5.1 %". NAN: a dash. */
void html_figure(struct html_table *t, double value, const char *text);
/* A percentile of n samples: marked if these are too few. */
void html_percentile(struct html_table *t, double value, double n, double p);
void html_words(struct html_table *t, const char *text); /* NULL is "" */
void html_row_end(struct html_table *t);
/* Ends the table, and explains the mark. */
void html_table_end(struct html_table *t);

/* Below a table: there are more rows, if there are. */
void html_left_out(struct buffer *out, size_t all, size_t shown);

#endif
