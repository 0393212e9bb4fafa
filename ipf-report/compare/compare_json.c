#include "compare/compare_json.h"

#include "absent.h"
#include "safe_text.h"
#include "stream/provenance.h"
#include "version.h"

#include <math.h>
#include <string.h>

static const char *const side_names[SIDES] = {"base", "new"};
static const char *const noise_names[] = {[NOISE_BLOCKS] = "blocks", [NOISE_RUNS] = "runs"};

static void set_number(json_t *to, const char *name, double value)
{
	if (isfinite(value))
		json_object_set_new(to, name, json_real(value));
}

static void set_if(json_t *to, const char *name, json_t *value)
{
	if (value)
		json_object_set(to, name, value);
}

static json_t *side_of(const struct comparison *c, int s)
{
	const struct run_data *run = c->runs[s];
	json_t *side = json_object(), *files = json_array(), *header = run->parts[0].header;
	json_t *records = provenance_find(header, "records");
	for (int i = 0; i < run->part_count; i++)
		json_array_append_new(files, json_string(shown(run->parts[i].name).text));
	json_object_set_new(side, "results", files);
	json_object_set_new(side, "runs", json_integer(c->run_count[s]));
	set_number(side, "output_tokens", c->output_tokens[s]);
	if (c->answers.canaries[s] > 0) {
		json_object_set_new(side, "canaries", json_integer(c->answers.canaries[s]));
		json_object_set_new(side, "wrong_canaries", json_integer(c->answers.wrong[s]));
	}
	if (c->answers.other_marks[s] > 0)
		json_object_set_new(side, "mixed_up", json_integer(c->answers.other_marks[s]));
	set_number(side, "cached_share", c->cached[s]);
	set_number(side, "later_turns_cached_share", c->later[s].cached_share);
	set_number(side, "later_turns_same_server", c->later[s].same_server);
	set_number(side, "draft_acceptance", c->accepted[s]);
	if (c->requests[s] > 0)
		json_object_set_new(side, "requests", json_integer(c->requests[s]));
	set_if(side, "target", json_object_get(records, "target"));
	set_if(side, "model", json_object_get(records, "model"));
	set_if(side, "imported", json_object_get(json_object_get(header, "imported"), "tool"));
	set_if(side, "predicted", run->parts[0].predicted);
	json_object_set_new(side, "verdict", verdict_checks_json(c->verdicts[s]));
	return side;
}

static json_t *figure_json(const struct figure_difference *f)
{
	const struct difference *d = &f->d;
	json_t *json = json_object();
	json_object_set_new(json, "name", json_string(f->figure->name));
	json_object_set_new(json, "label", json_string(f->figure->label));
	json_object_set_new(json, "unit", json_string(*f->figure->unit ? f->figure->unit : "share"));
	set_number(json, "base", d->base);
	set_number(json, "new", d->value);
	set_number(json, "difference", d->value - d->base);
	if (d->relative)
		set_number(json, "change", d->change);
	if (!isnan(d->low)) {
		json_object_set_new(json, "interval_of", json_string(d->relative ? "change" : "difference"));
		set_number(json, "low", d->low);
		set_number(json, "high", d->high);
	}
	set_number(json, "p", d->p);
	set_number(json, "p_adjusted", d->adjusted);
	json_object_set_new(json, "finding", json_string(finding_name(f->figure, d->finding)));
	if (d->noise != NOISE_UNKNOWN)
		json_object_set_new(json, "noise", json_string(noise_names[d->noise]));
	set_number(json, "between_runs", d->between);
	set_number(json, "within_runs", d->within);
	set_number(json, "visible", difference_visible(d));
	if (d->runs_needed != IPF_ABSENT)
		json_object_set_new(json, "runs_needed", json_integer(d->runs_needed));
	for (int s = 0; s < SIDES; s++) {
		json_t *runs = d->runs[s] > 1 && f->of_runs[s] ? json_array() : NULL;
		for (int r = 0; runs && r < d->runs[s]; r++)
			json_array_append_new(runs, isfinite(f->of_runs[s][r]) ? json_real(f->of_runs[s][r]) : json_null());
		if (runs)
			json_object_set_new(json, s == SIDE_BASE ? "base_runs" : "new_runs", runs);
	}
	return json;
}

json_t *compare_json(const struct comparison *c)
{
	json_t *json = json_object(), *figures = json_array();
	json_object_set_new(json, "ipf", json_string("comparison"));
	json_object_set_new(json, "version", json_integer(1));
	json_object_set_new(json, "tool", json_string("ipf-report " IPF_VERSION));
	json_object_set_new(json, "outcome", json_string(outcome_names[c->outcome]));
	for (int s = 0; s < SIDES; s++)
		json_object_set_new(json, side_names[s], side_of(c, s));
	if (c->answers.known)
		json_object_set_new(json, "answers",
		                    json_pack("{s:b, s:f, s:f}", "paired", c->answers.paired, "p_worse", c->answers.p_worse,
		                              "p_better", c->answers.p_better));
	json_object_set_new(json, "paired", json_boolean(c->paired));
	if (c->replays_capture)
		json_object_set_new(json, "replays_capture", json_true());
	json_object_set_new(json, "same_records", json_boolean(c->same_records));
	json_object_set(json, "settings", c->settings);
	json_object_set_new(json, "limits",
	                    json_pack("{s:f, s:f, s:f, s:f, s:s, s:I}", "min_effect", c->options->effect,
	                              "min_share_effect", c->options->share_effect, "alpha", DIFFERENCE_ALPHA, "power",
	                              DIFFERENCE_POWER, "adjusted_by", "holm", "tests", (json_int_t)c->family));
	if (c->noise != NOISE_UNKNOWN)
		json_object_set_new(json, "noise", json_string(noise_names[c->noise]));
	for (size_t k = 0; k < c->count; k++)
		json_array_append_new(figures, figure_json(&c->figures[k]));
	json_object_set_new(json, "figures", figures);
	json_t *conditions = c->condition_count ? json_array() : NULL;
	for (size_t k = 0; k < c->condition_count; k++) {
		const struct fail_if *condition = &c->conditions[k];
		json_t *one = json_pack("{s:s, s:b}", "condition", shown(condition->text).text, "failed", condition->failed);
		if (condition->undecided)
			json_object_set_new(one, "undecided", json_true());
		json_object_set_new(one, "detail", json_string(condition->detail));
		json_array_append_new(conditions, one);
	}
	set_if(json, "fail_if", conditions);
	json_decref(conditions);
	return json;
}
