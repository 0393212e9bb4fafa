/* The blocks of the JSON report: the figures of a stage, of a member of a grouping, or of the total, by the catalogue.
 */
#include "catalogue/catalogue.h"
#include "figures/figures.h"
#include "figures/gap_positions.h"
#include "json_report/json_figures.h"
#include "json_report/json_report.h"

#include <math.h>
#include <string.h>

/* ---- figures with a shape of their own ---- */

static json_t *counts_json(const char *const *names, const int64_t *counts, int count)
{
	json_t *json = json_object();
	for (int i = 0; i < count; i++)
		if (counts[i] > 0)
			json_put_count(json, names[i], counts[i]);
	return json;
}

/* Only of several: one is named by tokens/source. */
static json_t *sources_json(const struct report *report, const struct figures *f)
{
	json_t *json = counts_json(sources, f->by_source, SOURCES);
	(void)report;
	if (json_object_size(json) < 2)
		json_object_clear(json);
	return json;
}

static json_t *residual_json(const struct report *report, const struct figures *f)
{
	json_t *json = json_object();
	(void)report;
	for (int i = 0; i < RESIDUALS; i++) {
		const struct token_difference *r = &f->residuals[i];
		json_t *one = json_object();
		if (r->n > 0) {
			json_put_count(one, "n", r->n);
			json_put(one, "mean", r->mean);
			json_put(one, "min", r->min);
			json_put(one, "max", r->max);
			json_put(one, "share", r->share);
		}
		json_put_object(json, r->name, one);
	}
	return json;
}

static json_t *finish_json(const struct report *report, const struct figures *f)
{
	return counts_json((const char *const *)report->run->finishes.list, f->by_finish, report->run->finishes.count);
}

static json_t *early_stopping_json(const struct report *report, const struct figures *f)
{
	json_t *json = json_object();
	char name[32], percentile[24];
	(void)report;
	for (int i = 0; i < WAITED; i++) {
		json_t *one = json_object();
		for (int k = 0; k < EARLY_PERCENTILES; k++)
			json_put(one, percentile_name(early_percentiles[k], percentile), f->early[i][k]);
		snprintf(name, sizeof name, "%s_ms", metrics[waited_metrics[i]].name);
		json_put_object(json, name, one);
	}
	return json;
}

static json_t *objectives_json(const struct report *report, const struct figures *f)
{
	const struct slo *slo = report->run->slo;
	json_t *objectives = json_array();
	for (int i = 0; i < slo->count; i++) {
		const struct objective *objective = &slo->list[i];
		const struct attainment *a = &f->objectives[i];
		json_t *one = json_pack("{s:s}", "objective", objective->text);
		json_put(one, "limit_ms", (double)objective->limit_ns / 1e6);
		json_put(one, "share", a->share);
		json_put(one, "value_ms", a->value_ms);
		if (a->unmeasured > 0)
			json_put_count(one, "unmeasured", a->unmeasured);
		if (a->absent > 0)
			json_put_count(one, "absent", a->absent);
		if (!isnan(a->value_ms) && (a->state == OBJECTIVE_MET || a->state == OBJECTIVE_MISSED))
			json_object_set_new(one, "met", json_boolean(a->state == OBJECTIVE_MET));
		json_put_text(one, "not_judged", a->state == OBJECTIVE_TOO_FEW ? objective_state_names[a->state] : NULL);
		json_array_append_new(objectives, one);
	}
	return objectives;
}

/* For members of groupings, the gaps are not known by position. */
static json_t *positions_json(const struct report *report, const struct figures *f)
{
	const struct run_figures *all = report->figures;
	const struct percentiles *percentiles = &report->options->percentiles;
	json_t *list = json_array();
	struct gap_positions found = {0};
	int got = 0;
	if (f == &all->total)
		got = gap_positions_find(&found, report->run, -1);
	for (size_t i = 0; i < all->count; i++)
		if (f == &all->stages[i])
			got = gap_positions_find(&found, report->run, (int32_t)i);
	for (int i = 0; got > 0 && i < found.count; i++) {
		struct metric_summary summary;
		metric_summary_of_histogram(&summary, found.list[i].gaps, 1e-6, percentiles);
		json_t *one = json_pack("{s:I, s:I}", "from", (json_int_t)found.list[i].from, "to",
		                        (json_int_t)found.list[i].to),
			   *figures = json_summary(&summary, percentiles);
		json_object_update(one, figures);
		json_decref(figures);
		json_array_append_new(list, one);
	}
	gap_positions_release(&found);
	return list;
}

/* ---- all of them ---- */

static const struct shape {
	const char *path;
	json_t *(*build)(const struct report *report, const struct figures *f);
} shapes[] = {
	{"tokens/sources", sources_json},
	{"tokens/residual", residual_json},
	{"tokens/finish_reasons", finish_json},
	{"early_stopping", early_stopping_json},
	{"accuracy", json_accuracy},
	{"goodput/objectives", objectives_json},
};

static json_t *shape_json(const char *path, const struct report *report, const struct figures *f)
{
	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
		if (strcmp(shapes[i].path, path) == 0)
			return shapes[i].build(report, f);
	return NULL;
}

static json_t *distribution_json(const struct catalogue_figure *figure, const struct report *report,
                                 const struct figures *f)
{
	const struct percentiles *list = &report->options->percentiles;
	json_t *start = json_summary(catalogue_distribution(figure, f), list), *both = json_object();
	if (!figure->due) {
		json_decref(both);
		return start;
	}
	json_put_object(both, "from_start", start);
	json_put_object(both, "from_due", json_summary(catalogue_from_due(figure, f), list));
	return both;
}

static json_t *number_json(const struct catalogue_figure *figure, double value)
{
	if (isnan(value) || (figure->positive && value <= 0))
		return NULL;
	return figure->kind == KIND_COUNT ? json_integer((json_int_t)value) : json_figure(value);
}

/* A new value; NULL or empty: the figure does not exist. */
static json_t *figure_json(const struct catalogue_figure *figure, const struct report *report, const struct figures *f)
{
	switch (figure->kind) {
	case KIND_TEXT:
		return catalogue_text(figure, f) ? json_string(catalogue_text(figure, f)) : NULL;
	case KIND_FLAG:
		return json_boolean(catalogue_number(figure, f) != 0);
	case KIND_DISTRIBUTION:
		return distribution_json(figure, report, f);
	case KIND_COUNTS:
		return counts_json(figure->names, catalogue_counts(figure, f), figure->name_count);
	case KIND_GROUP:
	case KIND_LIST:
		return shape_json(figure->path, report, f);
	default:
		return number_json(figure, catalogue_number(figure, f));
	}
}

/* Objects a block has even if they are empty. */
static bool is_required(const char *path, size_t len)
{
	static const char *const paths[] = {"requests", "requests/errors", "rate",     "throughput",
	                                    "tokens",   "latency",         "in_flight"};
	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
		if (strlen(paths[i]) == len && memcmp(paths[i], path, len) == 0)
			return true;
	return false;
}

/* Sets a member at its path, and takes the value over. */
static void put_at(json_t *json, const char *path, json_t *value)
{
	const char *slash = strchr(path, '/');
	char group[32];
	if (json_object_size(value) == 0 && json_array_size(value) == 0 && !is_required(path, strlen(path)) &&
	    (json_is_object(value) || json_is_array(value))) {
		json_decref(value);
		value = NULL;
	}
	if (slash && (value || is_required(path, (size_t)(slash - path)))) {
		snprintf(group, sizeof group, "%.*s", (int)(slash - path), path);
		if (!json_object_get(json, group))
			json_object_set_new(json, group, json_object());
		json = json_object_get(json, group);
	}
	if (value)
		json_object_set_new(json, slash ? slash + 1 : path, value);
}

static void put_groups(json_t *json, const struct report *report, const struct figures *f)
{
	for (enum grouping by = 0; by < GROUPINGS; by++) {
		if (!f->groups[by])
			continue;
		json_t *groups = json_object();
		char name[24];
		for (int i = 0; i < report->figures->group_counts[by]; i++)
			if (figures_requests(&f->groups[by][i]) > 0)
				json_object_set_new(groups, f->groups[by][i].name, json_block(report, &f->groups[by][i]));
		snprintf(name, sizeof name, "by_%s", groupings[by]);
		json_object_set_new(json, name, groups);
		if (f->total && report->figures->group_counts[by] < report->run->groups[by].count)
			json_put_count(json, "groups_left_out", report->run->groups[by].count - report->figures->group_counts[by]);
	}
}

json_t *json_block(const struct report *report, const struct figures *f)
{
	json_t *json = json_object();
	for (size_t i = 0; i < catalogue_count; i++)
		put_at(json, catalogue[i].path, figure_json(&catalogue[i], report, f));
	put_groups(json, report, f);
	put_at(json, "itl_by_position_ms", positions_json(report, f)); /* a report has it behind the groups */
	return json;
}
