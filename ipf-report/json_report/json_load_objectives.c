#include "analysis/analyses.h"
#include "json_report/json_figures.h"
#include "json_report/json_report.h"

#include <math.h>

static json_t *attained_json(const struct judged_load *load, const struct slo *slo)
{
	json_t *list = json_array();
	for (int k = 0; k < slo->count; k++) {
		const struct attainment *a = &load->objectives[k];
		if (isnan(slo->list[k].percentile))
			continue;
		json_t *one = json_pack("{s:s}", "objective", slo->list[k].text);
		json_put(one, "limit_ms", (double)slo->list[k].limit_ns / 1e6);
		json_put(one, "value_ms", a->value_ms);
		if (a->waited_ms < a->value_ms || a->waited_ms > a->value_ms)
			json_put(one, "with_failures_ms", a->waited_ms);
		json_put_text(one, "state", objective_state_names[a->state]);
		json_array_append_new(list, one);
	}
	return list;
}

static json_t *load_json(const struct judged_load *load, const struct report *report)
{
	const struct load_objectives *o = &report->analyses->objectives;
	json_t *json = json_pack("{s:s}", "stage", report->run->schedule.stages[load->stage].name);
	json_put_count(json, "index", load->stage);
	if (load->part >= 0)
		json_put_text(json, "run", report->run->parts[load->part].name);
	json_put(json, "begin_s", load->begin_s);
	json_put(json, load_kind_names[o->kind], load->load);
	json_put(json, "completed", load->completed);
	json_put_text(json, "state", objective_state_names[load->state]);
	json_put_text(json, "left_out", load->left_out);
	if (load->state == OBJECTIVE_TOO_FEW) {
		json_put_count(json, "requests", load->requests);
		json_put_count(json, "needed", load->needed);
		json_put(json, "percentile", load->percentile);
	}
	if (load->judged > 0)
		json_put(json, "good_share", (double)load->good / (double)load->judged);
	json_put_object(json, "objectives", attained_json(load, report->run->slo));
	return json;
}

json_t *json_load_objectives(const struct report *report)
{
	const struct load_objectives *o = &report->analyses->objectives;
	if (!o->exists || o->count == 0)
		return NULL;
	json_t *json = json_pack("{s:s, s:b}", "by", load_kind_names[o->kind], "all_met", o->all_met),
		   *loads = json_array();
	if (o->met)
		json_object_set_new(json, "met", load_json(o->met, report));
	if (o->missed)
		json_object_set_new(json, "missed", load_json(o->missed, report));
	if (o->again)
		json_object_set_new(json, "met_above", load_json(o->again, report));
	json_put(json, "between", o->between);
	json_put(json, "headroom", o->headroom);
	for (size_t i = 0; i < o->count; i++)
		json_array_append_new(loads, load_json(&o->loads[i], report));
	json_object_set_new(json, "loads", loads);
	return json;
}
