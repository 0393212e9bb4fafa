#include "json_report/json_report.h"

#include "absent.h"
#include "figures/figures.h"
#include "json_report/json_figures.h"
#include "figures/load_episodes.h"

#include <string.h>

json_t *json_verdict(const struct report *report)
{
	return json_incref(report->verdict);
}

json_t *json_run(const struct report *report)
{
	return json_incref(report->run_info);
}

json_t *json_stages(const struct report *report)
{
	json_t *stages = json_array();
	for (size_t i = 0; i < report->figures->count; i++)
		json_array_append_new(stages, json_block(report, &report->figures->stages[i]));
	return stages;
}

json_t *json_total(const struct report *report)
{
	return json_block(report, &report->figures->total);
}

/* Only of a load whose bursts the run has not seen often enough. */
json_t *json_bursts(const struct report *report)
{
	const double seen = report->figures->episodes;
	return seen < LOAD_EPISODES_FEWEST
	           ? json_pack("{s:o, s:o}", "seen", json_figure(seen), "needed", json_figure(LOAD_EPISODES_FEWEST))
	           : NULL;
}

json_t *json_steady(const struct report *report)
{
	return json_incref(report->run->steady);
}

static json_t *tally_json(const struct failure_tally *t)
{
	json_t *list = json_array();
	for (int i = 0; i < t->count; i++) {
		const struct failure *f = &t->list[i];
		json_t *one = json_pack("{s:s}", "kind", f->kind);
		json_put_count(one, "status", f->status);
		json_put_count(one, "count", f->count);
		json_put_text(one, "text", f->text);
		json_put_text(one, "hint", failure_hint(f));
		json_array_append_new(list, one);
	}
	return list;
}

/* Why requests failed, the most frequent reason first. */
json_t *json_errors(const struct report *report)
{
	return tally_json(&report->run->failures);
}

json_t *json_invalid_outputs(const struct report *report)
{
	return tally_json(&report->run->invalid_outputs);
}

/* How many groups of this kind the run has. */
static int64_t members_of(const struct run_data *run, const char *by)
{
	for (enum grouping g = 0; g < GROUPINGS; g++)
		if (strcmp(groupings[g], by) == 0)
			return run->groups[g].count;
	return 0;
}

/* The options for people's view. */
json_t *json_options(const struct report *report)
{
	const struct percentiles *list = &report->options->percentiles;
	json_t *json = json_object(), *chosen = json_array();
	for (int i = 0; list->chosen && i < list->count; i++)
		json_array_append_new(chosen, json_real(list->p[i]));
	if (json_array_size(chosen) > 0)
		json_object_set(json, "percentiles", chosen);
	json_decref(chosen);
	json_put_text(json, "by", report->by);
	if (report->by)
		json_put_count(json, "members", members_of(report->run, report->by));
	return json;
}

json_t *json_plot_data(const struct report *report)
{
	return json_incref(report->plot_data);
}

json_t *json_clocks(const struct report *report)
{
	return run_data_clocks(report->run);
}

static const struct member {
	const char *name;
	json_t *(*build)(const struct report *report);
} members_in_order[REPORT_MEMBER_COUNT] = {
#define MEMBER(id_, name_, build_) {name_, build_},
	REPORT_MEMBERS(MEMBER)
#undef MEMBER
};

json_t *report_json_members(const struct report *report, unsigned members)
{
	json_t *json = json_pack("{s:s, s:i}", "ipf", "report", "version", 1);
	for (unsigned i = 0; i < REPORT_MEMBER_COUNT; i++) {
		json_t *value = members >> i & 1 ? members_in_order[i].build(report) : NULL;
		if (json_object_size(value) > 0 || json_array_size(value) > 0 || 1u << i == REPORT_STAGES)
			json_object_set(json, members_in_order[i].name, value);
		json_decref(value);
	}
	return json;
}

json_t *report_json(const struct report *report)
{
	return report_json_members(report, REPORT_ALL);
}
