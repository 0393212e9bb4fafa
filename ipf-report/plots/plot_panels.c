#include "plots/plot_panels.h"

#include "json/json_put.h"

static const char *const kinds[] = {
	[PANEL_STEPS] = "steps", [PANEL_POINTS] = "points", [PANEL_LANES] = "lanes", [PANEL_CELLS] = "cells"};

/* The panel begun last. */
static json_t *last(const struct plot *p)
{
	return json_array_get(p->panels, json_array_size(p->panels) - 1);
}

static json_t *scale_json(const struct plot_scale *scale)
{
	json_t *json = json_object();
	json_put_text(json, "name", scale->name);
	json_put_text(json, "unit", scale->unit);
	json_put_exact(json, "low", scale->axis.low);
	json_put_exact(json, "high", scale->axis.high);
	if (scale->axis.log)
		json_object_set_new(json, "log", json_true());
	return json;
}

void plot_panel(struct plot *p, enum panel_kind kind)
{
	json_t *panel = json_object(), *area = json_array();
	if (!p->panels)
		p->panels = json_array();
	json_put_text(panel, "kind", kinds[kind]);
	/* gnuplot names the elements of the first plot of a multiplot 1a, 2a, …, those of the second 1b */
	if (p->multiplot)
		json_put_text(panel, "letter", (char[]){(char)('a' + json_array_size(p->panels)), 0});
	json_array_append_new(area, json_figure(p->area.left * p->width));
	json_array_append_new(area, json_figure((1 - p->area.top) * p->height));
	json_array_append_new(area, json_figure(p->area.right * p->width));
	json_array_append_new(area, json_figure((1 - p->area.bottom) * p->height));
	json_put_object(panel, "area", area);
	json_put_object(panel, "x", scale_json(&p->x));
	json_put_object(panel, "y", scale_json(&p->y));
	json_array_append_new(p->panels, panel);
}

void plot_series(struct plot *p, const struct plot_series *series)
{
	json_t *json = json_object(), *list = json_object_get(last(p), "series"), *drawn = json_array();
	if (!list) {
		list = json_array();
		json_object_set_new(last(p), "series", list);
	}
	json_put_text(json, "name", series->name);
	json_put_count(json, "table", series->table);
	json_put_count(json, "x", series->x);
	json_put_count(json, "y", series->y);
	if (series->n)
		json_put_count(json, "n", series->n);
	if (series->offset > 0)
		json_put(json, "offset", series->offset);
	if (series->step_s > 0)
		json_put(json, "step_s", series->step_s);
	if (series->stage >= 0)
		json_put_count(json, "stage", series->stage);
	for (int i = 0; i < SERIES_DRAWN_MOST && series->drawn[i]; i++)
		json_array_append_new(drawn, json_integer(series->drawn[i]));
	json_put_object(json, "drawn", drawn);
	json_array_append_new(list, json);
}

void plot_cells(struct plot *p, int table, int columns, int rows, const char *of)
{
	json_t *json = json_object();
	json_put_count(json, "table", table);
	json_put_count(json, "columns", columns);
	json_put_count(json, "rows", rows);
	json_put_text(json, "of", of);
	json_put_object(last(p), "cells", json);
}

void plot_panel_requests(struct plot *p, const char *x, const char *y, enum panel_requests which)
{
	json_t *json = json_object();
	json_put_text(json, "x", x);
	json_put_text(json, "y", y);
	json_object_set_new(json, "failed", json_boolean(which == REQUESTS_FAILED));
	json_put_object(last(p), "requests", json);
}

void plot_range(struct plot *p, double step_s, double end_s, const struct plot_total *totals, int count)
{
	json_t *list = json_array();
	p->range = json_object();
	json_put(p->range, "step_s", step_s);
	json_put(p->range, "end_s", end_s);
	for (int i = 0; i < count; i++) {
		json_t *total = json_object();
		json_put_text(total, "name", totals[i].name);
		json_put_count(total, "column", totals[i].column);
		json_object_set_new(total, "mean", json_boolean(totals[i].mean));
		json_array_append_new(list, total);
	}
	json_put_object(p->range, "totals", list);
}
