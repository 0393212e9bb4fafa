#include "json_report/json_figures.h"
#include "json_report/json_report.h"
#include "other_tools/said.h"

#include <math.h>
#include <stdio.h>

static json_t *latency_json(const struct said_latency *d)
{
	json_t *json = json_object();
	json_put_count(json, "n", d->n);
	json_put(json, "mean", d->mean);
	json_put(json, "std", d->std);
	json_put(json, "p50", d->p50);
	json_put(json, "p90", d->p90);
	json_put(json, "p99", d->p99);
	return json;
}

static json_t *figure_json(const struct said_tool *t, enum tool_figure figure)
{
	json_t *json = json_object();
	switch (figure) {
	case TOOL_THROUGHPUT:
		json_put(json, "requests_per_s", t->requests_per_s);
		json_put(json, "output_tokens_per_s", t->output_per_s);
		json_put(json, "seconds", t->seconds);
		return json;
	case TOOL_OUTPUT_TOKENS:
		json_put(json, "total", t->output_tokens);
		return json;
	case TOOL_FAILURES:
		json_put_count(json, "ok", t->ok);
		json_put_count(json, "failed", t->failed);
		return json;
	default:
		json_decref(json);
		return latency_json(&t->latencies[figure]);
	}
}

static json_t *tool_json(const struct said_tool *t)
{
	json_t *json = json_object(), *figures = json_object(), *lacks = json_array();
	const struct tool_rules *r = t->rules;
	if (r)
		json_object_set_new(json, "tool",
		                    json_pack("{s:s, s:s, s:s, s:s}", "name", r->name, "title", r->tool, "version", r->version,
		                              "source", r->source));
	for (int i = 0; i < TOOL_FIGURES; i++) {
		char key[24];
		if (r && !r->figures[i].name)
			continue;
		json_t *figure = figure_json(t, (enum tool_figure)i);
		if (r)
			json_object_set_new(figure, "is",
			                    json_pack("{s:s, s:s}", "name", r->figures[i].name, "rule", r->figures[i].rule));
		snprintf(key, sizeof key, "%s%s", tool_figure_names[i], i < TOOL_LATENCIES ? "_ms" : "");
		json_object_set_new(figures, key, figure);
	}
	json_object_set_new(json, "figures", figures);
	for (int i = 0; i < SAID_LACKS; i++)
		if (t->lacks >> i & 1)
			json_array_append_new(lacks, json_string(said_lacks[i]));
	json_put_object(json, "lacks", lacks);
	return json;
}

json_t *json_said(const struct report *report)
{
	const struct said *said = report->said;
	if (!said || !said->any)
		return NULL;
	json_t *json = json_object(), *tools = json_array();
	json_object_set_new(json, "ipf", tool_json(&said->ours));
	for (int i = 0; i < said->count; i++)
		json_array_append_new(tools, tool_json(&said->tools[i]));
	json_object_set_new(json, "tools", tools);
	return json;
}
