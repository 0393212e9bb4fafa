#include "document/text_table.h"

#include "document/shown_numbers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
	COLUMNS_MOST = 48,
	INDENT = 2,
	GAP = 2,
	EVEN = 9,
	LABEL_LEAST = 22,
	NAME_LEAST = 10,
	WORDS_SHORT = 14,
	NUMBER_MOST = 9
};

/* How a table is laid out. */
struct form {
	const struct doc_table *t;
	int line;                /* columns of the terminal for it */
	int label;               /* columns for the rows' names, with the indent */
	int remark;              /* where remarks begin; 0: none */
	int width[COLUMNS_MOST]; /* each column's, with the gap before it */
	int shown[COLUMNS_MOST]; /* indices of the columns, in their order */
	int count;               /* cells shown */
};

static bool is_words(const struct doc_column *c)
{
	return c->kind == CELL_WORDS;
}

/* The text of a cell, shortened if it is a long number. */
static const char *cell_text(const struct doc_cell *cell, char text[40])
{
	if (!cell->text)
		return cell->kind == CELL_WORDS ? "" : "-";
	if (cell->kind == CELL_WORDS || cell->kind == CELL_RANGE || strlen(cell->text) >= 40)
		return cell->text;
	snprintf(text, 40, "%s", cell->text);
	return show_narrow(cell->value, NUMBER_MOST - 1, text);
}

/* Words following below their row: longer than a column. */
static bool is_below(const struct doc_table *t, int column)
{
	bool is_long = false;
	for (size_t i = 0; is_words(&t->spec.columns[column]) && i < doc_rows_few(t); i++)
		is_long |= t->rows[i].cells[column].text && text_width(t->rows[i].cells[column].text) > WORDS_SHORT;
	return is_long;
}

/* A column without a value in any row says nothing. */
static bool is_empty(const struct doc_table *t, int column)
{
	for (size_t i = 0; i < doc_rows_few(t); i++)
		if (t->rows[i].cells[column].text && *t->rows[i].cells[column].text)
			return false;
	return t->spec.columns[column].keep != KEEP || is_words(&t->spec.columns[column]);
}

static const char *head_of(const struct doc_column *c, char text[80])
{
	snprintf(text, 80, "%s%s%s", c->name, c->unit ? ", " : "", c->unit ? c->unit : "");
	return text;
}

static int width_of(const struct doc_table *t, int column)
{
	char head[80], text[40];
	int width = text_width(head_of(&t->spec.columns[column], head));
	for (size_t i = 0; i < doc_rows_few(t); i++) {
		const struct doc_cell *cell = &t->rows[i].cells[column];
		int cell_width = text_width(cell_text(cell, text));
		width = cell_width > width ? cell_width : width;
	}
	return width + GAP;
}

static bool same_group(const struct doc_column *a, const struct doc_column *b)
{
	return a->group && b->group && strcmp(a->group, b->group) == 0;
}

/* How many shown columns from `at` on have its group. */
static int group_length(const struct form *f, int at)
{
	int n = 1;
	while (at + n < f->count && same_group(&f->t->spec.columns[f->shown[at]], &f->t->spec.columns[f->shown[at + n]]))
		n++;
	return n;
}

/* Makes room for the names of groups. */
static void widen_groups(struct form *f)
{
	for (int i = 0, n; i < f->count; i += n) {
		const struct doc_column *c = &f->t->spec.columns[f->shown[i]];
		int span = 0;
		n = group_length(f, i);
		for (int k = 0; k < n; k++)
			span += f->width[f->shown[i + k]];
		if (c->group && text_width(c->group) + GAP > span)
			f->width[f->shown[i]] += text_width(c->group) + GAP - span;
	}
}

static const char *row_name(const struct doc_row *row, char text[240])
{
	snprintf(text, 240, row->aside ? "(%.230s)" : "%.236s", row->name);
	return strlen(row->name) > 230 ? row->name : text;
}

/* Remarks stand behind the names of the rows with one. */
static void measure_labels(struct form *f)
{
	int named = 0, alone = 0, remarks = 0;
	char text[240];
	for (size_t i = 0; i < doc_rows_few(f->t); i++) {
		const struct doc_row *row = &f->t->rows[i];
		const int name = text_width(row_name(row, text));
		const bool remark = row->remark && !row->aside;
		int *widest = remark ? &named : &alone;
		if (name + INDENT <= f->line / 2 && name > *widest)
			*widest = name;
		if (remark && text_width(row->remark) > remarks)
			remarks = text_width(row->remark);
	}
	f->remark = remarks ? INDENT + named + 1 : 0;
	if (!remarks && alone < NAME_LEAST)
		alone = NAME_LEAST;
	f->label = f->remark + remarks > INDENT + alone ? f->remark + remarks : INDENT + alone;
}

static bool may_show(const struct form *f, int column, bool brief, bool room)
{
	const struct doc_column *c = &f->t->spec.columns[column];
	if (is_below(f->t, column) || is_empty(f->t, column))
		return false;
	return room ? c->keep == KEEP_ROOM : c->keep == KEEP || (c->keep == KEEP_FULL && !brief);
}

static int total_width(const struct form *f)
{
	int sum = f->label;
	for (int i = 0; i < f->count; i++)
		sum += f->width[f->shown[i]];
	return sum;
}

/* Names leaving no room for the widest column have lines of their own. */
static void narrow_labels(struct form *f)
{
	int widest = 0;
	for (int i = 0; i < f->count; i++)
		widest = f->width[f->shown[i]] > widest ? f->width[f->shown[i]] : widest;
	const int most = f->line - widest > INDENT ? f->line - widest : INDENT;
	f->label = f->label < most ? f->label : most;
}

/* Adds a column at its place, if the line has room. */
static bool add_column(struct form *f, int column)
{
	int with = f->width[column] > EVEN ? f->width[column] : EVEN, at = f->count;
	if (total_width(f) + with > f->line)
		return false;
	f->width[column] = with;
	for (; at > 0 && f->shown[at - 1] > column; at--)
		f->shown[at] = f->shown[at - 1];
	f->shown[at] = column;
	f->count++;
	return true;
}

/* Adds the columns for which there is room, those within groups all or none. */
static void add_columns(struct form *f, bool brief)
{
	const int count = f->t->spec.count < COLUMNS_MOST ? f->t->spec.count : COLUMNS_MOST;
	struct form with = *f;
	bool all = true;
	for (int i = 0; i < count; i++)
		if (may_show(&with, i, brief, true) && f->t->spec.columns[i].group)
			all = all && add_column(&with, i);
	if (all)
		*f = with;
	for (int i = 0; i < count; i++)
		if (may_show(f, i, brief, true) && !f->t->spec.columns[i].group && !add_column(f, i))
			return;
}

/* Makes columns as wide as those of other tables, if there is room. */
static void even_out(struct form *f)
{
	struct form even = *f;
	if (even.label < LABEL_LEAST)
		even.label = LABEL_LEAST;
	for (int i = 0; i < even.count; i++)
		if (even.width[even.shown[i]] < EVEN)
			even.width[even.shown[i]] = EVEN;
	if (total_width(&even) <= f->line)
		*f = even;
}

/* Chooses the columns of the first part; `rest`, those of a full report for which it has no room. */
static void choose_columns(struct form *f, struct form *rest, bool brief)
{
	const int count = f->t->spec.count < COLUMNS_MOST ? f->t->spec.count : COLUMNS_MOST;
	f->count = 0;
	for (int i = 0; i < count; i++) {
		f->width[i] = width_of(f->t, i);
		if (may_show(f, i, brief, false))
			f->shown[f->count++] = i;
	}
	*rest = *f;
	rest->count = 0;
	widen_groups(f);
	narrow_labels(f);
	if (total_width(f) > f->line) {
		const struct form all = *f;
		f->count = 0;
		for (int i = 0; i < all.count; i++)
			if (f->t->spec.columns[all.shown[i]].keep == KEEP_FULL)
				rest->shown[rest->count++] = all.shown[i];
			else
				f->shown[f->count++] = all.shown[i];
	}
	widen_groups(rest);
	narrow_labels(f);
	narrow_labels(rest);
	even_out(f);
	even_out(rest);
	add_columns(f, brief);
}

/* ---- lines ---- */

static bool has_groups(const struct form *f, int from, int to)
{
	for (int i = from; i < to; i++)
		if (f->t->spec.columns[f->shown[i]].group)
			return true;
	return false;
}

static void put_groups(struct text_lines *l, const struct form *f, int from, int to)
{
	int column = f->label;
	for (int i = from; i < to; i++) {
		const struct doc_column *c = &f->t->spec.columns[f->shown[i]];
		column += f->width[f->shown[i]];
		if (!c->group || (i + 1 < to && same_group(c, &f->t->spec.columns[f->shown[i + 1]])))
			continue;
		/* the part of a group on these lines can be narrower than its name */
		move_to(l, column - text_width(c->group));
		if (l->column < l->width)
			put_clipped(l, TONE_FAINT, c->group, l->width - l->column);
	}
	end_line(l);
}

static void put_heads(struct text_lines *l, const struct form *f, int from, int to)
{
	int column = f->label;
	char text[80];
	for (int i = from; i < to; i++) {
		const struct doc_column *c = &f->t->spec.columns[f->shown[i]];
		if (is_words(c)) {
			move_to(l, column + GAP);
			put(l, TONE_FAINT, head_of(c, text));
		} else {
			put_right(l, column + f->width[f->shown[i]], TONE_FAINT, head_of(c, text));
		}
		column += f->width[f->shown[i]];
	}
	end_line(l);
}

/* The caption is on the line of the first heads, unless it would touch them. */
static void put_caption(struct text_lines *l, const struct form *f, int from, int to, bool first_part)
{
	const struct doc_column *first = to > from ? &f->t->spec.columns[f->shown[from]] : NULL;
	bool groups = has_groups(f, from, to);
	char text[80];
	put(l, TONE_STRONG, first_part ? f->t->spec.caption : "");
	if (!first) {
		end_line(l);
		return;
	}
	int span = 0, n = groups ? group_length(f, from) : 1;
	for (int k = 0; k < n && from + k < to; k++)
		span += f->width[f->shown[from + k]];
	const char *head = groups && first->group ? first->group : head_of(first, text);
	if (l->column + 1 > f->label + span - text_width(head))
		end_line(l);
	if (groups)
		put_groups(l, f, from, to);
	put_heads(l, f, from, to);
}

static void put_label(struct text_lines *l, const struct form *f, size_t i)
{
	const struct doc_row *row = &f->t->rows[i], *before = i ? row - 1 : NULL;
	char text[240];
	const char *name = row_name(row, text);
	bool again = before && row->remark && !row->aside && strcmp(before->name, row->name) == 0;
	move_to(l, INDENT);
	if (!again)
		put_clipped(l, row->aside ? TONE_FAINT : TONE_PLAIN, name, l->width - INDENT);
	if (row->remark && !row->aside) {
		if (l->column > f->remark - 1)
			end_line(l);
		move_to(l, f->remark);
		put_clipped(l, TONE_PLAIN, row->remark, l->width - f->remark);
	}
	if (l->column > f->label)
		end_line(l);
}

static void put_cell(struct text_lines *l, const struct doc_cell *cell, int end, int width, bool aside)
{
	char text[40];
	enum tone tone = aside && cell->tone == TONE_PLAIN ? TONE_FAINT : cell->tone;
	if (cell->kind == CELL_WORDS) {
		move_to(l, end - width + GAP);
		put(l, tone, cell_text(cell, text));
		return;
	}
	put_right(l, end, tone, cell_text(cell, text));
	if (cell->weak)
		put(l, TONE_FAINT, "~");
}

static void put_below(struct text_lines *l, const struct doc_table *t, const struct doc_row *row)
{
	for (int i = 0; i < t->spec.count; i++) {
		const struct doc_cell *cell = &row->cells[i];
		if (!is_below(t, i) || !cell->text || !*cell->text)
			continue;
		move_to(l, 3 * INDENT);
		put_wrapped(l, 3 * INDENT, cell->tone == TONE_PLAIN ? TONE_FAINT : cell->tone, cell->text);
	}
}

/* The columns from..to of all rows. */
static void put_rows(struct text_lines *l, const struct form *f, int from, int to, bool words)
{
	for (size_t i = 0; i < doc_rows_few(f->t); i++) {
		const struct doc_row *row = &f->t->rows[i];
		int column = f->label;
		put_label(l, f, i);
		for (int k = from; k < to; k++) {
			column += f->width[f->shown[k]];
			put_cell(l, &row->cells[f->shown[k]], column, f->width[f->shown[k]], row->aside);
		}
		end_line(l);
		if (words)
			put_below(l, f->t, row);
	}
}

/* The end of the part beginning with the column `from`: a group is not divided. */
static int part_end(const struct form *f, int from)
{
	int to = from, sum = f->label;
	while (to < f->count) {
		int n = group_length(f, to), more = 0;
		for (int k = 0; k < n; k++)
			more += f->width[f->shown[to + k]];
		if (sum + more > f->line && to > from)
			break;
		while (sum + more > f->line && n > 1)
			more -= f->width[f->shown[to + --n]];
		sum += more;
		to += n;
	}
	return to;
}

/* All columns, in as many parts as the line requires. */
static void put_parts(struct text_lines *l, const struct form *f, bool first)
{
	for (int from = 0, to = 0; from < f->count || (first && from == 0); from = to) {
		to = part_end(f, from);
		if (!first || from > 0)
			end_line(l);
		put_caption(l, f, from, to, first && from == 0);
		put_rows(l, f, from, to, first && to == f->count);
		if (f->count == 0)
			return;
	}
}

static bool shows_weak(const struct form *f)
{
	bool weak = false;
	for (size_t i = 0; i < doc_rows_few(f->t); i++)
		for (int k = 0; k < f->count; k++)
			weak |= f->t->rows[i].cells[f->shown[k]].weak;
	return weak;
}

bool text_table(struct text_lines *l, const struct doc_table *t, bool brief)
{
	/* the mark of a weak percentile follows the last column */
	struct form f = {.t = t, .line = l->width - t->weak}, rest;
	if (t->count == 0)
		return false;
	measure_labels(&f);
	choose_columns(&f, &rest, brief);
	put_parts(l, &f, true);
	put_parts(l, &rest, false);
	return shows_weak(&f) || shows_weak(&rest);
}
