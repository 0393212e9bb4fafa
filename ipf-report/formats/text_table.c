#include "formats/text_table.h"

#include <math.h>

enum { LABEL = 24, COLUMN = 9, COLUMNS = 6 };        /* a cell has room for a mark */
enum { MEAN = -1, MIN = -2, MEDIAN = -3, MAX = -4 }; /* columns that are always there */

void text_table_init(struct text_table *t, struct layout *l, const struct percentiles *list, bool tokens)
{
	*t = (struct text_table){.l = l, .list = list, .tokens = tokens};
	t->columns[t->count++] = MEAN;
	t->columns[t->count++] = MIN;
	bool median = false;
	for (int i = 0; i < list->count; i++) {
		if (list->p[i] >= 50 && !median)
			t->columns[t->count++] = MEDIAN;
		median |= list->p[i] >= 50;
		if (list->p[i] != 50 && (list->chosen || list->p[i] == 90 || list->p[i] == 99))
			t->columns[t->count++] = i;
	}
	if (!median)
		t->columns[t->count++] = MEDIAN;
	t->columns[t->count++] = MAX;
}

/* The percentile of a column; NAN: it is none. */
static double percentile_of(const struct text_table *t, int column)
{
	return column == MEDIAN ? 50 : column < 0 ? NAN : t->list->p[column];
}

static double value_of(const struct metric_summary *d, int column)
{
	switch (column) {
	case MEAN:
		return d->mean;
	case MIN:
		return d->min;
	case MEDIAN:
		return d->median;
	case MAX:
		return d->max;
	default:
		return d->at[column];
	}
}

bool text_table_part(struct text_table *t, const char *title)
{
	char name[24];
	t->first += t->shown;
	t->shown = t->count - t->first < COLUMNS ? t->count - t->first : COLUMNS;
	if (t->shown == 0)
		return false;
	layout_heading(t->l, t->first == 0 ? title : "");
	for (int i = 0; i < t->shown; i++) {
		int column = t->columns[t->first + i];
		layout_right(t->l, LABEL + (i + 1) * COLUMN, FAINT,
		             column == MEAN  ? "mean"
		             : column == MIN ? "min"
		             : column == MAX ? "max"
		                             : percentile_name(percentile_of(t, column), name));
	}
	layout_end_line(t->l);
	return true;
}

static const char *show(const struct text_table *t, double value, char text[40])
{
	if (t->tokens && value >= 10)
		value = round(value);
	bool whole = t->tokens && value == floor(value) && fabs(value) < 1e15;
	return whole ? show_narrow_count((int64_t)value, COLUMN - 2, text) : show_narrow_number(value, COLUMN - 2, text);
}

bool text_table_cell(struct layout *l, int column, const char *text, bool weak)
{
	layout_right(l, column, PLAIN, text);
	if (weak)
		layout_text(l, FAINT, "~");
	return weak;
}

void text_table_row(struct text_table *t, const char *label, const char *version, const struct metric_summary *d)
{
	char text[40];
	if (d->n == 0)
		return;
	layout_to(t->l, 2);
	layout_text(t->l, PLAIN, label);
	layout_to(t->l, 9);
	layout_text(t->l, PLAIN, version);
	for (int i = 0; i < t->shown; i++) {
		int column = t->columns[t->first + i];
		double p = percentile_of(t, column);
		bool weak = !isnan(p) && !percentile_is_firm(d->n, p);
		t->weak |= text_table_cell(t->l, LABEL + (i + 1) * COLUMN, show(t, value_of(d, column), text), weak);
	}
	layout_end_line(t->l);
}

void text_table_note(struct layout *l, bool weak)
{
	if (!weak)
		return;
	layout_to(l, 2);
	layout_text(l, FAINT, "~ too few samples for this percentile: p90 needs 44, p99 459, p99.9 4,603");
	layout_end_line(l);
}
