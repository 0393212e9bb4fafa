#include "document/document.h"

#include "json_report/json_path.h"
#include "document/shown_numbers.h"
#include "figures/metric_summary.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- memory ---- */

struct doc_block {
	struct doc_block *next;
	size_t used, size;
	max_align_t bytes[];
};
enum { BLOCK_SIZE = 16384, ALIGNMENT = _Alignof(max_align_t) };

/* Zeroed memory living as long as the document; NULL: none is left. */
static void *take(struct document *d, size_t size)
{
	struct doc_block *b = d->blocks;
	size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	if (!b || b->size - b->used < size) {
		size_t room = size > BLOCK_SIZE ? size : BLOCK_SIZE;
		b = calloc(1, sizeof *b + room);
		if (!b) {
			d->failed = true;
			return NULL;
		}
		*b = (struct doc_block){.next = d->blocks, .size = room};
		d->blocks = b;
	}
	void *memory = (char *)b->bytes + b->used;
	b->used += size;
	return memory;
}

/* Room for one more element of a list living as long as the document. */
static void *extend(struct document *d, void *list, size_t count, size_t *cap, size_t size)
{
	if (count < *cap)
		return list;
	size_t more = *cap ? 2 * *cap : 8;
	void *longer = take(d, more * size);
	if (!longer)
		return NULL;
	if (count)
		memcpy(longer, list, count * size);
	*cap = more;
	return longer;
}

void document_release(struct document *d)
{
	while (d->blocks) {
		struct doc_block *next = d->blocks->next;
		free(d->blocks);
		d->blocks = next;
	}
	*d = (struct document){0};
}

const char *doc_copy(struct document *d, const char *text)
{
	size_t size = text ? strlen(text) + 1 : 0;
	char *copy = text ? take(d, size) : NULL;
	if (copy)
		memcpy(copy, text, size);
	return copy ? copy : text ? "" : NULL;
}

const char *doc_replace(struct document *d, const char *text, const char *these, char by)
{
	char *copy = take(d, strlen(text) + 1);
	if (!copy)
		return "";
	for (size_t i = 0; text[i]; i++)
		copy[i] = strchr(these, text[i]) ? by : text[i];
	return copy;
}

__attribute__((format(printf, 2, 0))) static const char *say(struct document *d, const char *format, va_list arguments)
{
	va_list again;
	va_copy(again, arguments);
	int len = vsnprintf(NULL, 0, format, again);
	va_end(again);
	char *text = len < 0 ? NULL : take(d, (size_t)len + 1);
	if (text)
		vsnprintf(text, (size_t)len + 1, format, arguments);
	return text ? text : "";
}

const char *doc_say(struct document *d, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	const char *text = say(d, format, arguments);
	va_end(arguments);
	return text;
}

double *doc_numbers(struct document *d, size_t count)
{
	return take(d, (count + 1) * sizeof(double));
}

/* ---- sections and parts ---- */

void doc_section(struct document *d, const char *id, const char *title)
{
	struct doc_section *list = extend(d, d->sections, d->count, &d->cap, sizeof *list);
	if (!list)
		return;
	d->sections = list;
	d->sections[d->count++] = (struct doc_section){.id = doc_copy(d, id), .title = doc_copy(d, title)};
}

struct doc_part *doc_part(struct document *d, enum part_kind kind, const char *label, const char *text)
{
	static struct doc_part lost; /* returned when memory ran out */
	struct doc_section *s = d->count ? &d->sections[d->count - 1] : NULL;
	struct doc_part *list = s ? extend(d, s->parts, s->count, &s->cap, sizeof *list) : NULL;
	if (!list)
		return &lost;
	s->parts = list;
	s->parts[s->count] = (struct doc_part){.kind = kind,
	                                       .media = EVERYWHERE,
	                                       .label = doc_copy(d, label),
	                                       .text = doc_copy(d, text || kind == PART_LEVELS ? text : ""),
	                                       .value = NAN};
	return &s->parts[s->count++];
}

struct doc_part *doc_fact(struct document *d, const char *label, const char *format, ...)
{
	va_list arguments;
	struct doc_part *part = doc_part(d, PART_FACT, label, NULL);
	va_start(arguments, format);
	part->text = say(d, format, arguments);
	va_end(arguments);
	return part;
}

struct doc_part *doc_note(struct document *d, const char *format, ...)
{
	va_list arguments;
	struct doc_part *part = doc_part(d, PART_NOTE, NULL, NULL);
	va_start(arguments, format);
	part->text = say(d, format, arguments);
	va_end(arguments);
	return part;
}

/* ---- tables ---- */

struct doc_table *doc_table(struct document *d, const struct doc_table_spec *spec)
{
	static struct doc_table lost;
	struct doc_table *t = take(d, sizeof *t);
	struct doc_column *columns = take(d, (size_t)spec->count * sizeof *columns);
	if (!t || !columns) {
		lost = (struct doc_table){.spec = {.columns = spec->columns}};
		return &lost;
	}
	for (int i = 0; i < spec->count; i++) {
		columns[i] = spec->columns[i];
		columns[i].group = doc_copy(d, columns[i].group);
		columns[i].name = doc_copy(d, columns[i].name);
		columns[i].unit = doc_copy(d, columns[i].unit);
		columns[i].path = doc_copy(d, columns[i].path);
	}
	t->spec = *spec;
	t->spec.columns = columns;
	t->spec.id = doc_copy(d, spec->id);
	t->spec.caption = doc_copy(d, spec->caption);
	t->spec.rows = doc_copy(d, spec->rows);
	struct doc_part *part = doc_part(d, PART_TABLE, NULL, NULL);
	part->table = t;
	part->media = spec->media ? spec->media : EVERYWHERE;
	return t;
}

struct doc_row *doc_row(struct document *d, struct doc_table *t, const char *name, const char *remark)
{
	static struct doc_row lost;
	struct doc_row *list = t->count < DOC_ROWS_MOST || !t->spec.count
	                           ? extend(d, t->rows, t->count, &t->cap, sizeof *list)
	                           : NULL;
	struct doc_cell *cells = list ? take(d, (size_t)(t->spec.count + 1) * sizeof *cells) : NULL;
	if (!cells) {
		t->left_out++;
		lost = (struct doc_row){.filled = t->spec.count};
		return &lost;
	}
	t->rows = list;
	t->rows[t->count] = (struct doc_row){
		.name = doc_copy(d, name ? name : ""), .remark = doc_copy(d, remark), .cells = cells};
	return &t->rows[t->count++];
}

/* The next cell of the last row; NULL: the row is not shown, or has all its cells. */
static struct doc_cell *next_cell(struct doc_table *t)
{
	struct doc_row *row = t->count && !t->left_out ? &t->rows[t->count - 1] : NULL;
	return row && row->filled < t->spec.count ? &row->cells[row->filled++] : NULL;
}

void doc_cell_text(struct document *d, struct doc_table *t, const char *text, enum tone tone)
{
	struct doc_cell *cell = next_cell(t);
	if (cell)
		*cell = (struct doc_cell){doc_copy(d, text ? text : ""), NAN, CELL_WORDS, tone, false};
}

void doc_cell_said(struct document *d, struct doc_table *t, double value, const char *text, enum tone tone)
{
	struct doc_cell *cell = next_cell(t);
	if (cell)
		*cell = (struct doc_cell){isnan(value) ? NULL : doc_copy(d, text), value, CELL_RANGE, tone, false};
}

static struct doc_cell figure_cell(struct document *d, const struct doc_table *t, double value, enum cell_kind kind)
{
	char text[40];
	if (kind == CELL_PERCENT)
		show_percent(value, text);
	else if (kind == CELL_COUNT || t->spec.whole)
		show_whole(value, text);
	else
		show_number(value, text);
	return (struct doc_cell){isnan(value) ? NULL : doc_copy(d, text), value, kind, TONE_PLAIN, false};
}

void doc_cell_figure(struct document *d, struct doc_table *t, double value, enum cell_kind kind)
{
	struct doc_cell *cell = next_cell(t);
	if (cell)
		*cell = figure_cell(d, t, value, kind);
}

bool doc_is_weak(json_t *json, const char *path)
{
	const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	char beside[128];
	double p = percentile_named(name);
	snprintf(beside, sizeof beside, "%.*sn", (int)(name - path), path);
	double n = figure_at(json, beside);
	return !isnan(p) && !isnan(figure_at(json, path)) && n >= 0 && n < 1e18 && !percentile_is_firm((int64_t)n, p);
}

void doc_cell_percentile(struct document *d, struct doc_table *t, const char *path, json_t *json)
{
	struct doc_cell *cell = next_cell(t);
	if (!cell)
		return;
	*cell = figure_cell(d, t, figure_at(json, path), CELL_NUMBER);
	if (doc_is_weak(json, path))
		cell->weak = t->weak = true;
}

/* A quantile known as a bucket. */
static void add_range(struct document *d, struct doc_table *t, json_t *quantile)
{
	double value = quantile ? json_number_value(json_array_get(quantile, 0)) : NAN,
		   from = json_number_value(json_array_get(quantile, 1));
	json_t *to = json_array_get(quantile, 2);
	char low[40], high[40], text[100];
	if (json_is_number(quantile)) {
		doc_cell_figure(d, t, json_number_value(quantile), CELL_NUMBER);
		return;
	}
	if (json_is_number(to))
		snprintf(text, sizeof text, "%s to %s", show_number(from, low), show_number(json_number_value(to), high));
	else
		snprintf(text, sizeof text, "over %s", show_number(from, low));
	doc_cell_said(d, t, value, text, TONE_PLAIN);
}

struct doc_row *doc_row_of(struct document *d, struct doc_table *t, const char *name, const char *remark, json_t *json)
{
	struct doc_row *row = doc_row(d, t, name, remark);
	for (int i = 0; i < t->spec.count; i++) {
		const struct doc_column *column = &t->spec.columns[i];
		if (!column->path)
			break;
		if (column->kind == CELL_WORDS)
			doc_cell_text(d, t, text_at(json, column->path), TONE_PLAIN);
		else if (column->kind == CELL_PERCENTILE)
			doc_cell_percentile(d, t, column->path, json);
		else if (column->kind == CELL_RANGE)
			add_range(d, t, json_at(json, column->path));
		else
			doc_cell_figure(d, t, figure_at(json, column->path), column->kind);
	}
	return row;
}

void doc_rows_of(struct document *d, struct doc_table *t, json_t *array, const char *name)
{
	json_t *one;
	size_t i;
	json_array_foreach(array, i, one) doc_row_of(d, t, text_at(one, name), NULL, one);
}

size_t doc_rows_few(const struct doc_table *t)
{
	return t->spec.few && t->count > DOC_ROWS_FEW ? DOC_ROWS_FEW : t->count;
}
