#include "json_report/json_figures.h"
#include "json_report/json_report.h"
#include "workload/trace_findings.h"

#include <math.h>

static json_t *cause_json(const struct fidelity *f, enum fidelity_cause cause)
{
	const struct fidelity_part *part = &f->causes[cause];
	json_t *json = json_pack("{s:s}", "by", fidelity_is_server(cause) ? "server" : "client");
	json_put(json, "loss", part->loss);
	json_put_count(json, "requests", part->requests);
	json_put(json, cause == FIDELITY_INPUT || cause == FIDELITY_OUTPUT ? "tokens_ratio" : "late_ms", part->mean);
	return json;
}

static json_t *worst_json(const struct fidelity *f)
{
	json_t *list = json_array();
	for (int i = 0; i < f->worst_count; i++) {
		const struct fidelity_request *r = &f->worst[i];
		json_t *one = json_object();
		json_put_count(one, "n", r->n);
		json_put_count(one, "req", r->req);
		json_put(one, "value", r->value);
		json_put_text(one, "cause", fidelity_cause_names[r->cause]);
		json_array_append_new(list, one);
	}
	return list;
}

json_t *json_fidelity(const struct report *report)
{
	const struct fidelity *f = &report->trace->fidelity;
	json_t *json = json_object();
	if (!report->trace->given)
		return json;
	if (f->absent) {
		json_put_text(json, "absent", f->absent);
		return json;
	}
	json_t *causes = json_object();
	json_put(json, "value", f->value);
	json_put_count(json, "requests", f->requests);
	json_put(json, "speed", f->speed);
	for (enum fidelity_cause c = 0; c < FIDELITY_CAUSES; c++)
		if (f->causes[c].requests > 0)
			json_object_set_new(causes, fidelity_cause_names[c], cause_json(f, c));
	json_put_object(json, "causes", causes);
	json_object_set_new(
		json, "judged",
		json_pack("{s:b, s:b, s:b}", "input", f->input_known, "output", f->output_known, "prefix", f->prefix_known));
	if (f->followers > 0) {
		json_t *moved = json_object();
		json_put_count(moved, "requests", f->moved);
		json_put_count(moved, "of", f->followers);
		json_put(moved, "mean_ms", f->moved_ms);
		json_object_set_new(json, "moved_by_server", moved);
	}
	json_put_object(json, "worst", worst_json(f));
	return json;
}
