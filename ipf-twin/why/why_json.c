#include "why/why_json.h"

#include "json/json_put.h"

#include <math.h>

static json_t *part_json(const struct why_group *g, enum why_part p)
{
	json_t *json = json_object();
	json_put(json, "ms", g->ms[p]);
	if (g->measured > 0)
		json_put(json, "share", g->ms[p] / g->measured);
	return json;
}

static json_t *group_json(const struct why_group *g, enum why_latency of)
{
	json_t *json = json_object(), *parts = json_object(), *worst = json_array();
	json_put_count(json, "requests", g->requests);
	json_put(json, "measured_ms", g->measured);
	json_put(json, "predicted_ms", g->measured - g->ms[WHY_UNEXPLAINED]);
	json_put(json, "slot_wait_ms", g->slot);
	for (enum why_part p = 0; p < WHY_PARTS; p++)
		if (of == WHY_E2E || (p != WHY_LATER_PROMPTS && p != WHY_DECODING))
			json_object_set_new(parts, why_part_names[p], part_json(g, p));
	json_object_set_new(json, "parts", parts);
	json_put_text(json, "greatest", why_part_names[why_greatest(g->ms)]);
	json_put(json, "others", g->others[WHY_TTFT]);
	json_put(json, "others_later", g->others[WHY_E2E]);
	for (int i = 0; i < g->worst_count; i++) {
		json_t *one = json_object();
		json_put_count(one, "n", g->worst[i].n);
		json_put(one, "ms", g->worst[i].ms);
		json_put_text(one, "greatest", why_part_names[g->worst[i].part]);
		json_put(one, "greatest_ms", g->worst[i].part_ms);
		json_array_append_new(worst, one);
	}
	json_put_object(json, "worst", worst);
	return json;
}

static void put_block(json_t *to, const struct why_block *b)
{
	json_put_count(to, "requests", b->requests);
	for (enum why_latency of = 0; of < WHY_LATENCIES; of++) {
		json_t *json = json_object();
		for (enum why_percentile p = 0; p < WHY_PERCENTILES; p++)
			json_object_set_new(json, why_percentile_names[p], group_json(&b->at[of][p], of));
		json_object_set_new(to, why_latency_names[of], json);
	}
}

static json_t *over_time_json(const struct why_findings *f)
{
	json_t *json = json_object(), *list = json_array();
	for (int i = 0; i < f->interval_count; i++) {
		const struct why_interval *interval = &f->over_time[i];
		json_t *one = json_object();
		json_put(one, "t_s", (double)interval->from_ns / 1e9);
		json_put_count(one, "requests", interval->of[WHY_E2E].requests);
		for (enum why_latency of = 0; of < WHY_LATENCIES; of++)
			json_object_set_new(one, why_latency_names[of], group_json(&interval->of[of], of));
		json_array_append_new(list, one);
	}
	json_put(json, "every_s", (double)f->every_ns / 1e9);
	json_object_set_new(json, "intervals", list);
	return json;
}

json_t *why_json(const struct why_findings *f, const struct run_data *run)
{
	json_t *json = json_object(), *stages = json_array();
	json_put_text(json, "twin", f->twin);
	if (f->absent.kind != IPF_OK)
		json_put_text(json, "absent", f->absent.text);
	if (f->absent.kind == IPF_OK) {
		json_object_set_new(json, "describes", json_boolean(f->describes));
		for (enum why_latency of = 0; of < WHY_LATENCIES; of++)
			json_put(json, of == WHY_TTFT ? "ttft_error" : "e2e_error", f->errors[of]);
		json_put_count(json, "left_out", f->left_out);
		put_block(json, &f->total);
		for (size_t i = 0; i < f->stage_count; i++) {
			json_t *stage = f->stages[i].requests > 0 ? json_object() : NULL;
			if (!stage)
				continue;
			json_put_text(stage, "name", run->schedule.stages[i].name);
			put_block(stage, &f->stages[i]);
			json_array_append_new(stages, stage);
		}
	}
	if (f->interval_count > 0)
		json_object_set_new(json, "over_time", over_time_json(f));
	json_put_object(json, "stages", json_array_size(stages) > 1 ? json_incref(stages) : NULL);
	json_decref(stages);
	return json;
}
