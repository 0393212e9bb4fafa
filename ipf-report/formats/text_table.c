#include "formats/text_table.h"

#include <math.h>

enum { LABEL = 26, COLUMN = 10, COLUMNS = 5 }; /* a cell has room for a mark */
enum { MEAN = -1, MAX = -2 };                  /* columns without a percentile */

void text_table_init(struct text_table *t, struct layout *l, const struct percentiles *list, bool tokens)
{
	*t = (struct text_table){.l = l, .list = list, .tokens = tokens};
	t->columns[t->count++] = MEAN;
	for (int i = 0; i < list->count; i++)
		if (list->chosen || list->p[i] == 50 || list->p[i] == 90 || list->p[i] == 99)
			t->columns[t->count++] = i;
	t->columns[t->count++] = MAX;
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
		             : column == MAX ? "max"
		                             : percentile_name(t->list->p[column], name));
	}
	layout_end_line(t->l);
	return true;
}

static const char *show(const struct text_table *t, double value, char text[40])
{
	if (t->tokens && value >= 10)
		value = round(value);
	return t->tokens && value == floor(value) ? show_count((int64_t)value, text) : show_number(value, text);
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
		double value = column == MEAN ? d->mean : column == MAX ? d->max : d->at[column];
		bool weak = column >= 0 && !percentile_is_firm(d->n, t->list->p[column]);
		t->weak |= text_table_cell(t->l, LABEL + (i + 1) * COLUMN, show(t, value, text), weak);
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
