#include "html/plot_values.h"

#include "json_report/json_path.h"
#include "plots/plot_style.h"
#include "safe_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A plot of ours has at most 13 panels of 5 series. */
enum { PANELS_MOST = 32, SERIES_MOST = 16 };
/* Significant digits: of values, and of times and totals. */
enum { DIGITS = 6, TIME_DIGITS = 8 };

/* ---- numbers and texts ---- */

static json_t *number_json(double value, int digits)
{
	char text[40];
	if (!isfinite(value))
		return json_null();
	if (value == floor(value) && fabs(value) < 1e15)
		return json_integer((json_int_t)value);
	snprintf(text, sizeof text, "%.*g", digits, value);
	return json_real(strtod(text, NULL));
}

static void copy_text(json_t *to, json_t *from, const char *name)
{
	const char *text = text_at(from, name);
	struct buffer safe = {0};
	if (!text)
		return;
	safe_text_append(&safe, slice_of(text));
	if (!safe.failed)
		json_object_set_new(to, name, json_stringn(safe.data ? safe.data : "", safe.len));
	buffer_release(&safe);
}

static void copy_number(json_t *to, json_t *from, const char *name)
{
	double value = figure_at(from, name);
	if (isfinite(value))
		json_object_set_new(to, name, number_json(value, 12));
}

static void copy_flag(json_t *to, json_t *from, const char *name)
{
	if (json_is_true(json_object_get(from, name)))
		json_object_set_new(to, name, json_true());
}

static void copy_numbers(json_t *to, json_t *from, const char *name)
{
	json_t *list = json_array(), *number;
	size_t i;
	json_array_foreach(json_object_get(from, name), i, number) if (json_is_number(number))
		json_array_append_new(list, number_json(json_number_value(number), 9));
	json_object_set_new(to, name, list);
}

/* ---- tables ---- */

/* A plot's tables as text, and the columns taken from them. */
struct plot_columns {
	const char *data;
	json_t *columns;
};

/* The line after `line`; NULL: it is the last. */
static const char *next_line(const char *line)
{
	const char *end = strchr(line, '\n');
	return end && end[1] ? end + 1 : NULL;
}

/* The first row of a table; each begins with a line of names. NULL: there is none. */
static const char *table_begin(const char *data, double table)
{
	double at = -1;
	for (const char *line = *data ? data : NULL; line; line = next_line(line)) {
		if (*line == '#' && ++at == table)
			return next_line(line);
	}
	return NULL;
}

static bool is_row(const char *line)
{
	return line && *line != '\n' && *line != '#';
}

/* A column of a row; NAN: it is missing. */
static double field_of(const char *line, double column)
{
	const size_t len = strcspn(line, "\n");
	const char *at = line, *end = line + len;
	for (double i = 0; i < column && at; i++) {
		at = memchr(at, '\t', (size_t)(end - at));
		at = at ? at + 1 : NULL;
	}
	char *rest;
	double value = at ? strtod(at, &rest) : NAN;
	return at && rest > at ? value : NAN;
}

static json_t *column_json(const char *data, double table, double column, double step_s, int digits)
{
	json_t *list = json_array();
	for (const char *line = table_begin(data, table); is_row(line); line = next_line(line)) {
		double value = field_of(line, column);
		json_array_append_new(list, number_json(step_s > 0 ? round(value * step_s) : value, digits));
	}
	return list;
}

/* The number of a column, which is added unless an equal one is there. */
static json_t *take_column(struct plot_columns *c, double table, double column, double step_s, int digits)
{
	json_t *values = column_json(c->data, table, column, step_s, digits);
	size_t at = 0;
	while (at < json_array_size(c->columns) && !json_equal(json_array_get(c->columns, at), values))
		at++;
	if (at == json_array_size(c->columns))
		json_array_append(c->columns, values);
	json_decref(values);
	return json_integer((json_int_t)at);
}

/* ---- panels ---- */

static bool is_time(json_t *scale)
{
	const char *unit = text_at(scale, "unit");
	return unit && strcmp(unit, "s") == 0;
}

static json_t *scale_json(json_t *from)
{
	json_t *to = json_object();
	copy_text(to, from, "name");
	copy_text(to, from, "unit");
	copy_number(to, from, "low");
	copy_number(to, from, "high");
	copy_flag(to, from, "log");
	return to;
}

static json_t *series_json(struct plot_columns *c, json_t *panel, json_t *from)
{
	json_t *to = json_object();
	double table = figure_at(from, "table"), n = figure_at(from, "n"), step_s = figure_at(from, "step_s");
	copy_text(to, from, "name");
	copy_number(to, from, "offset");
	copy_number(to, from, "step_s");
	copy_number(to, from, "stage");
	copy_numbers(to, from, "drawn");
	json_object_set_new(
		to, "x",
		take_column(c, table, figure_at(from, "x"), 0, is_time(json_object_get(panel, "x")) ? TIME_DIGITS : DIGITS));
	json_object_set_new(to, "y", take_column(c, table, figure_at(from, "y"), step_s, DIGITS));
	if (!isnan(n))
		json_object_set_new(to, "n", take_column(c, table, n, 0, DIGITS));
	return to;
}

static struct plot_axis axis_of(json_t *scale)
{
	return (struct plot_axis){figure_at(scale, "low"), figure_at(scale, "high"),
	                          json_is_true(json_object_get(scale, "log"))};
}

/* The cell in which the middle of an edge and the next one is. */
static double cell_of(const struct plot_axis *axis, double low, double high, double count)
{
	double middle = axis->log ? sqrt(low * high) : (low + high) / 2;
	return floor(plot_axis_place(axis, middle) * count);
}

static json_t *cells_json(const char *data, json_t *panel, json_t *from)
{
	json_t *to = json_object(), *list = json_array();
	copy_text(to, from, "of");
	const struct plot_axis x = axis_of(json_object_get(panel, "x")), y = axis_of(json_object_get(panel, "y"));
	double columns = figure_at(from, "columns"), rows = figure_at(from, "rows");
	copy_number(to, from, "columns");
	copy_number(to, from, "rows");
	for (const char *line = table_begin(data, figure_at(from, "table")); is_row(line); line = next_line(line)) {
		double cell[] = {cell_of(&x, field_of(line, 0), field_of(line, 1), columns),
		                 cell_of(&y, field_of(line, 2), field_of(line, 3), rows), field_of(line, 4)};
		for (size_t i = 0; i < 3 && isfinite(cell[0] + cell[1] + cell[2]); i++)
			json_array_append_new(list, number_json(cell[i], DIGITS));
	}
	json_object_set_new(to, "at", list);
	return to;
}

/* ---- reports that were altered: what has not all its members is left out ---- */

static bool is_sound_cells(json_t *cells)
{
	return text_at(cells, "of") && figure_at(cells, "columns") >= 1 && figure_at(cells, "rows") >= 1;
}

/* Lanes are of requests. */
static bool is_sound_series(json_t *series, json_t *panel)
{
	const char *kind = text_at(panel, "kind");
	return text_at(series, "name") && !((kind && strcmp(kind, "lanes") == 0) && isnan(figure_at(series, "n")));
}

static bool is_sound_range(json_t *range)
{
	return figure_at(range, "step_s") > 0 && isfinite(figure_at(range, "end_s"));
}

static bool is_sound_scale(json_t *scale)
{
	double low = figure_at(scale, "low"), high = figure_at(scale, "high");
	return text_at(scale, "name") && isfinite(low) && isfinite(high) && low != high &&
	       (!json_object_get(scale, "log") || (low > 0 && high > 0));
}

/* Without axes, nothing has a place. */
static bool is_sound(json_t *panel)
{
	json_t *area = json_object_get(panel, "area"), *side;
	bool numbers = json_array_size(area) == 4;
	size_t i;
	json_array_foreach(area, i, side) numbers &= json_is_number(side);
	return numbers && is_sound_scale(json_object_get(panel, "x")) && is_sound_scale(json_object_get(panel, "y"));
}

static json_t *panel_json(struct plot_columns *c, json_t *from)
{
	json_t *to = json_object(), *list = json_array(), *one, *cells = json_object_get(from, "cells");
	size_t i;
	copy_text(to, from, "kind");
	copy_text(to, from, "letter");
	copy_numbers(to, from, "area");
	json_object_set_new(to, "x", scale_json(json_object_get(from, "x")));
	json_object_set_new(to, "y", scale_json(json_object_get(from, "y")));
	json_array_foreach(json_object_get(from, "series"), i, one) if (i < SERIES_MOST && is_sound_series(one, from))
		json_array_append_new(list, series_json(c, from, one));
	json_object_set_new(to, "series", list);
	if (is_sound_cells(cells))
		json_object_set_new(to, "cells", cells_json(c->data, from, cells));
	json_t *requests = json_object_get(from, "requests");
	if (requests) {
		json_t *places = json_object();
		copy_text(places, requests, "x");
		copy_text(places, requests, "y");
		copy_flag(places, requests, "failed");
		json_object_set_new(to, "requests", places);
	}
	return to;
}

static json_t *range_json(struct plot_columns *c, json_t *from)
{
	json_t *to = json_object(), *list = json_array(), *one;
	size_t i;
	copy_number(to, from, "step_s");
	copy_number(to, from, "end_s");
	json_object_set_new(to, "x", take_column(c, 0, 0, 0, TIME_DIGITS));
	json_array_foreach(json_object_get(from, "totals"), i, one)
	{
		json_t *total = i < SERIES_MOST && text_at(one, "name") ? json_object() : NULL;
		bool mean = json_is_true(json_object_get(one, "mean"));
		if (!total)
			continue;
		copy_text(total, one, "name");
		copy_flag(total, one, "mean");
		json_object_set_new(
			total, "y", take_column(c, 0, figure_at(one, "column"), mean ? 0 : figure_at(from, "step_s"), TIME_DIGITS));
		json_array_append_new(list, total);
	}
	json_object_set_new(to, "totals", list);
	return to;
}

/* NULL: it has no panels. */
static json_t *plot_json(json_t *plot)
{
	json_t *to = json_object(), *list = json_array(), *one, *range = json_object_get(plot, "range");
	struct plot_columns c = {.data = words_at(plot, "data"), .columns = json_array()};
	size_t i;
	json_array_foreach(json_object_get(plot, "panels"), i, one) if (i < PANELS_MOST && is_sound(one))
		json_array_append_new(list, panel_json(&c, one));
	json_object_set_new(to, "panels", list);
	if (is_sound_range(range))
		json_object_set_new(to, "range", range_json(&c, range));
	json_object_set_new(to, "columns", c.columns);
	if (json_array_size(list) > 0)
		return to;
	json_decref(to);
	return NULL;
}

/* ---- requests ---- */

static json_t *outliers_json(json_t *from)
{
	static const char *const keys[] = {"n",          "part",         "index",         "due_s",  "start_s",
	                                   "first_s",    "end_s",        "ttft_ms",       "e2e_ms", "ttft_due_ms",
	                                   "e2e_due_ms", "input_tokens", "output_tokens", "stage",  "error"};
	enum { KEYS = sizeof keys / sizeof *keys, NUMBERS = KEYS - 2 };
	json_t *to = json_object(), *names = json_array(), *rows = json_array(), *one;
	size_t i;
	copy_number(to, from, "slowest_each");
	copy_number(to, from, "failed");
	for (size_t k = 0; k < KEYS; k++)
		json_array_append_new(names, json_string(keys[k]));
	json_array_append_new(names, json_string("ok"));
	json_array_foreach(json_object_get(from, "requests"), i, one)
	{
		if (!isfinite(figure_at(one, "n")))
			continue;
		json_t *row = json_array(), *copy = json_object();
		for (size_t k = 0; k < KEYS; k++) {
			(k < NUMBERS ? copy_number : copy_text)(copy, one, keys[k]);
			json_t *value = json_object_get(copy, keys[k]);
			json_array_append(row, value ? value : json_null());
		}
		json_array_append_new(row, json_integer(json_is_true(json_object_get(one, "ok"))));
		json_array_append_new(rows, row);
		json_decref(copy);
	}
	json_object_set_new(to, "keys", names);
	json_object_set_new(to, "rows", rows);
	return to;
}

void plot_values_write(json_t *plots, json_t *outliers, struct buffer *out)
{
	json_t *all = json_object(), *list = json_object(), *one;
	size_t i;
	json_array_foreach(plots, i, one)
	{
		json_t *plot = plot_json(one);
		if (plot)
			json_object_set_new(list, words_at(one, "name"), plot);
	}
	bool any = json_object_size(list) > 0;
	json_object_set_new(all, "plots", list);
	json_object_set_new(all, "outliers", outliers_json(outliers));
	char *text = json_dumps(all, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(12));
	if (any && text) {
		buffer_text(out, "<script type=\"application/json\" id=\"plot-values\">");
		for (const char *at = text; *at; at++)
			*at == '<' ? buffer_text(out, "\\u003c") : buffer_byte(out, *at);
		buffer_text(out, "</script>\n");
	}
	out->failed |= !text;
	free(text);
	json_decref(all);
}
