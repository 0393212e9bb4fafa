/* -f prometheus and -f openmetrics: the figures of a finished run in the text formats of Prometheus, for a Pushgateway
 * or the textfile collector of its node_exporter. Metrics of the same meaning have the names of ipf-metrics(5). */
#include "catalogue/catalogue.h"
#include "figures/metric_summary.h"
#include "formats/report_format.h"
#include "json_report/json_path.h"
#include "json_report/json_report.h"
#include "metrics/metrics_text.h"
#include "results/run_data.h"
#include "safe_text.h"
#include "stream/predicted.h"
#include "version.h"

#include <math.h>
#include <string.h>

enum { LABEL_BYTES = 256, META_LABELS = 32, RUN_LABELS = 5 };

struct exposition {
	struct metrics_text text;
	json_t *report;
	size_t stages;
	char (*names)[LABEL_BYTES]; /* names of the stages and, behind them, the total */
};

static const char *text_of(json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));
	return text ? text : "";
}

/* The block of stage `i`; behind the last one, the total. */
static json_t *block_of(const struct exposition *e, size_t i)
{
	return i < e->stages ? json_array_get(json_object_get(e->report, "stages"), i)
	                     : json_object_get(e->report, "total");
}

/* Each stage needs a label of its own, or its figures would be those of another one. */
static void name_stages(struct exposition *e)
{
	snprintf(e->names[e->stages], LABEL_BYTES, "total");
	for (size_t i = 0; i < e->stages; i++) {
		char *name = e->names[i];
		size_t len = safe_text(name, LABEL_BYTES - 16, slice_of(text_of(block_of(e, i), "name")));
		bool taken = strcmp(name, "total") == 0;
		for (size_t k = 0; k < i; k++)
			taken |= strcmp(e->names[k], name) == 0;
		if (taken)
			snprintf(name + len, LABEL_BYTES - len, " (%zu)", i);
	}
}

/* A figure in milliseconds of at most six decimals, in seconds of at most nine. */
static double seconds_at(json_t *object, const char *path)
{
	double ms = figure_at(object, path);
	return isfinite(ms) ? round(ms * 1e6) / 1e9 : ms;
}

static void put_single(struct exposition *e, const struct metric_family *family, double value)
{
	struct metric_sink *s = &e->text.sink;
	if (isnan(value))
		return;
	s->begin(s, family);
	s->point(s, NULL, 0, value);
	s->end(s);
}

static void put_run(struct exposition *e)
{
	static const struct metric_family
		build = {"ipf_build", "Version of the program.", NULL, METRIC_INFO},
		about = {"ipf_run", "Name, model, target, API, digest and notes of the run, and the twin of a predicted run.",
	             NULL, METRIC_INFO};
	static const char *const keys[RUN_LABELS] = {"api", "digest", "model", "name", "target"};
	struct metric_sink *s = &e->text.sink;
	struct metric_label labels[RUN_LABELS + META_LABELS + 1], version = {"version", IPF_VERSION};
	char values[RUN_LABELS + META_LABELS + 1][LABEL_BYTES], names[META_LABELS][80];
	json_t *run = json_object_get(e->report, "run"), *value, *predicted = json_object_get(run, "predicted");
	const char *key;
	size_t count = 0, notes = 0;
	s->begin(s, &build);
	s->point(s, &version, 1, 1);
	s->end(s);
	for (size_t i = 0; i < RUN_LABELS; i++) {
		if (!*text_of(run, keys[i]))
			continue;
		safe_text(values[count], LABEL_BYTES, slice_of(text_of(run, keys[i])));
		labels[count] = (struct metric_label){keys[i], values[count]};
		count++;
	}
	if (predicted) {
		safe_text(values[count], LABEL_BYTES, slice_of(predicted_by(predicted).text));
		labels[count] = (struct metric_label){"predicted", values[count]};
		count++;
	}
	json_object_foreach(json_object_get(run, "meta"), key, value)
	{
		if (notes == META_LABELS)
			break;
		snprintf(names[notes], sizeof names[notes], "meta_%s", key);
		safe_text(values[count], LABEL_BYTES, slice_of(json_string_value(value)));
		labels[count] = (struct metric_label){names[notes++], values[count]};
		count++;
	}
	s->begin(s, &about);
	s->point(s, labels, count, 1);
	s->end(s);
}

static void put_times(struct exposition *e, const struct report *report)
{
	static const struct metric_family start = {"ipf_run_start_time_seconds", "When the run began, since the epoch.",
	                                           "seconds", METRIC_GAUGE},
									  time = {"ipf_run_time_seconds",
	                                          "Time of the run, from its begin to its last event.", "seconds",
	                                          METRIC_GAUGE},
									  whole = {"ipf_run_finished", "1 for a complete run, else 0.", NULL, METRIC_GAUGE};
	json_t *run = json_object_get(e->report, "run");
	if (json_object_get(run, "started"))
		put_single(e, &start, (double)(report->run->parts[0].t0_ns / 1000000) / 1e3);
	put_single(e, &time, figure_at(run, "duration_s"));
	put_single(e, &whole, json_object_get(run, "incomplete") == NULL);
}

static void put_verdict(struct exposition *e)
{
	static const struct metric_family family = {
		"ipf_verdict_status", "Answer to a question of the verdict: 0 OK, 1 DOUBTFUL, 2 INVALID.", NULL, METRIC_GAUGE};
	struct metric_sink *s = &e->text.sink;
	json_t *check;
	size_t i;
	s->begin(s, &family);
	json_array_foreach(json_object_get(json_object_get(e->report, "verdict"), "checks"), i, check)
	{
		const struct metric_label question = {"question", text_of(check, "name")};
		const char *status = text_of(check, "status");
		if (strcmp(status, "UNKNOWN") != 0 && strcmp(status, "N/A") != 0)
			s->point(s, &question, 1, strcmp(status, "OK") == 0 ? 0 : strcmp(status, "DOUBTFUL") == 0 ? 1 : 2);
	}
	s->end(s);
}

static void put_outcomes(struct exposition *e)
{
	static const struct metric_family family = {
		"ipf_requests", "Ended requests, by outcome: ok, hung-up, or the kind of their error.", NULL, METRIC_COUNTER};
	struct metric_sink *s = &e->text.sink;
	s->begin(s, &family);
	for (size_t i = 0; i < e->stages; i++) {
		json_t *requests = json_object_get(block_of(e, i), "requests"), *errors = json_object_get(requests, "errors");
		struct metric_label labels[] = {{"outcome", "ok"}, {"stage", e->names[i]}};
		s->point(s, labels, 2, figure_at(requests, "ok"));
		for (int k = 0; k < VERDICT_KINDS; k++) {
			json_t *count = json_object_get(verdict_uncounted(k) ? requests : errors,
			                                k == VERDICT_HUNG_UP ? "hung_up" : verdict_kinds[k]);
			labels[0].value = verdict_kinds[k];
			s->point(s, labels, 2, count ? json_number_value(count) : 0);
		}
	}
	s->end(s);
}

/* ---- the figures of the catalogue ---- */

static const char family_order[] =
	"requests/ window_s rate/ throughput/ in_flight/ tokens/cached_share goodput/ latency/ latency/itl_ms lag_ms "
	"client_lag_ms slot_wait_ms tokens/ *";

static const char *unit_of(const struct catalogue_figure *figure)
{
	if (figure->kind == KIND_SHARE)
		return "ratio";
	if (figure->kind == KIND_DISTRIBUTION)
		return strcmp(figure->unit, "ms") == 0 ? "seconds" : figure->unit;
	return figure->kind == KIND_DURATION ? "seconds" : NULL;
}

/* Counts, which one may add up, are not given for the total. */
static void put_figure(struct exposition *e, const struct catalogue_figure *figure, const struct metric_family *family)
{
	struct metric_sink *s = &e->text.sink;
	bool any = false;
	for (size_t i = 0; i < e->stages + (figure->kind != KIND_COUNT); i++) {
		const struct metric_label stage = {"stage", e->names[i]};
		double value = figure_at(block_of(e, i), figure->path);
		if (isnan(value))
			continue;
		if (!any)
			s->begin(s, family);
		any = true;
		s->point(s, &stage, 1, value);
	}
	if (any)
		s->end(s);
}

/* One line for each percentile; the minimum and the maximum are the quantiles 0 and 1. */
static void put_summary(struct exposition *e, const struct metric_label *labels, size_t count, json_t *d, bool time)
{
	struct text_quantile list[PERCENTILES_MOST + 2];
	struct text_summary figures = {.quantiles = list};
	const char *key;
	json_t *value;
	json_object_foreach(d, key, value)
	{
		double p = strcmp(key, "min") == 0 ? 0 : strcmp(key, "max") == 0 ? 100 : NAN;
		if (key[0] == 'p' && sscanf(key + 1, "%lf", &p) != 1)
			continue;
		if (!isnan(p) && figures.count < sizeof list / sizeof *list)
			list[figures.count++] = (struct text_quantile){round(p * 1e6) / 1e8,
			                                               time ? seconds_at(d, key) : figure_at(d, key)};
	}
	figures.n = json_integer_value(json_object_get(d, "n"));
	figures.sum = (double)figures.n * (time ? figure_at(d, "mean") / 1e3 : figure_at(d, "mean"));
	metrics_text_summary(&e->text, labels, count, &figures);
}

/* The distributions of all stages, of a latency with two of them first those from start. */
static void put_distribution(struct exposition *e, const struct catalogue_figure *figure,
                             const struct metric_family *family)
{
	static const char *const from[] = {"start", "due"}, *const members[] = {"from_start", "from_due"};
	bool any = false, time = strcmp(figure->unit, "ms") == 0;
	for (int v = 0; v < (figure->due ? 2 : 1); v++)
		for (size_t i = 0; i <= e->stages; i++) {
			const struct metric_label labels[] = {{"stage", e->names[i]}, {"from", from[v]}};
			json_t *d = json_at(block_of(e, i), figure->path);
			d = figure->due ? json_object_get(d, members[v]) : d;
			if (!json_object_get(d, "n"))
				continue;
			if (!any)
				metrics_text_begin_summaries(&e->text, family);
			any = true;
			put_summary(e, labels, figure->due ? 2 : 1, d, time);
		}
	if (any)
		e->text.sink.end(&e->text.sink);
}

static void put_figures(struct exposition *e)
{
	const struct catalogue_figure *list[CATALOGUE_MOST];
	size_t count = catalogue_sorted(list, family_order);
	for (size_t i = 0; i < count; i++) {
		const struct metric_family family = {list[i]->family, list[i]->help, unit_of(list[i]), METRIC_GAUGE};
		if (family.name && list[i]->kind == KIND_DISTRIBUTION)
			put_distribution(e, list[i], &family);
		else if (family.name)
			put_figure(e, list[i], &family);
	}
}

/* ---- objectives ---- */

static const struct objective_figure {
	struct metric_family family;
	const char *key;
} objective_figures[] = {
	{{"ipf_objective_met", "1 if the percentile is within the limit of the objective, else 0.", NULL, METRIC_GAUGE},
     "met"},
	{{"ipf_objective_value_seconds", "The percentile limited by the objective.", "seconds", METRIC_GAUGE}, "value_ms"},
	{{"ipf_objective_ratio", "Share of the requests meeting the objective.", "ratio", METRIC_GAUGE}, "share"},
};

/* An objective given twice has figures once. */
static bool is_repeated(json_t *list, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (json_equal(json_array_get(list, i), json_array_get(list, index)))
			return true;
	return false;
}

static void put_objectives(struct exposition *e)
{
	struct metric_sink *s = &e->text.sink;
	for (size_t k = 0; k < sizeof objective_figures / sizeof *objective_figures; k++) {
		const struct objective_figure *f = &objective_figures[k];
		bool any = false;
		for (size_t i = 0; i <= e->stages; i++) {
			json_t *objective, *objectives = json_at(block_of(e, i), "goodput/objectives");
			size_t o;
			json_array_foreach(objectives, o, objective)
			{
				json_t *value = json_object_get(objective, f->key);
				const struct metric_label labels[] = {{"objective", text_of(objective, "objective")},
				                                      {"stage", e->names[i]}};
				if (!value || is_repeated(objectives, o))
					continue;
				if (!any)
					s->begin(s, &f->family);
				any = true;
				s->point(s, labels, 2,
				         json_is_boolean(value)            ? json_is_true(value)
				         : strcmp(f->key, "value_ms") == 0 ? seconds_at(objective, f->key)
				                                           : figure_at(objective, f->key));
			}
		}
		if (any)
			s->end(s);
	}
}

static void render(const struct report *report, struct buffer *out, bool openmetrics)
{
	struct exposition e = {
		.text = metrics_text(out, openmetrics),
		.report = report_json_members(report, REPORT_VERDICT | REPORT_RUN | REPORT_STAGES | REPORT_TOTAL)};
	e.stages = json_array_size(json_object_get(e.report, "stages"));
	e.names = calloc(e.stages + 1, sizeof *e.names);
	if (!e.names || !e.report) {
		out->failed = true;
	} else {
		name_stages(&e);
		put_run(&e);
		put_times(&e, report);
		put_verdict(&e);
		put_outcomes(&e);
		put_figures(&e);
		put_objectives(&e);
		metrics_text_end(&e.text);
	}
	free(e.names);
	json_decref(e.report);
}

static void render_prometheus(const struct report *report, struct buffer *out)
{
	render(report, out, false);
}

static void render_openmetrics(const struct report *report, struct buffer *out)
{
	render(report, out, true);
}

const struct report_format format_prometheus = {.render = render_prometheus, .predicted = true};
const struct report_format format_openmetrics = {.render = render_openmetrics, .predicted = true};
