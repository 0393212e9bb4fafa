/* -f csv: a line for each stage and one for the total, as in RFC 4180. A figure that does not exist is empty. */
#include "absent.h"
#include "formats/csv_writer.h"
#include "formats/report_format.h"

#include <math.h>
#include <string.h>

static void summary(struct csv_writer *csv, const char *name, const struct metric_summary *d,
                    const struct percentiles *list)
{
	char full[80], p[24];
	struct {
		const char *name;
		double value;
	} moments[] = {{"mean", d->mean}, {"std", d->std}, {"min", d->min}};
	snprintf(full, sizeof full, "%s_n", name);
	csv_count(csv, full, d->n);
	for (size_t i = 0; i < sizeof moments / sizeof *moments; i++) {
		snprintf(full, sizeof full, "%s_%s", name, moments[i].name);
		csv_number(csv, full, d->n ? moments[i].value : NAN);
	}
	for (int i = 0; i < list->count; i++) {
		snprintf(full, sizeof full, "%s_%s", name, percentile_name(list->p[i], p));
		csv_number(csv, full, d->n ? d->at[i] : NAN);
	}
	snprintf(full, sizeof full, "%s_max", name);
	csv_number(csv, full, d->n ? d->max : NAN);
}

static void errors(struct csv_writer *csv, const struct figures *f)
{
	char name[40];
	for (int i = 0; i < VERDICT_KINDS; i++) {
		snprintf(name, sizeof name, "errors_%s", verdict_kinds[i]);
		for (char *c = name; *c; c++)
			if (*c == '-')
				*c = '_';
		csv_count(csv, name, i == VERDICT_HUNG_UP ? f->hung_up : f->errors[i]);
	}
	csv_count(csv, "stale_resets", f->stale);
}

static void objectives(struct csv_writer *csv, const struct figures *f, const struct slo *slo)
{
	char name[80];
	csv_number(csv, "goodput_requests_per_s", f->goodput);
	csv_number(csv, "goodput_share", f->good_share);
	for (int i = 0; i < slo->count; i++) {
		const struct objective *objective = &slo->list[i];
		bool each = isnan(objective->percentile);
		snprintf(name, sizeof name, "slo_%s_%s", objective->text, each ? "share" : "value_ms");
		csv_number(csv, name, each ? f->objectives[i].share : f->objectives[i].value_ms);
	}
}

static const char *source(const struct figures *f)
{
	int most = -1;
	for (int i = 0; i < SOURCES; i++)
		if (f->by_source[i] > 0 && (most < 0 || f->by_source[i] > f->by_source[most]))
			most = i;
	return most < 0 ? NULL : sources[most];
}

static void latencies(struct csv_writer *csv, const struct figures *f, const struct percentiles *list)
{
	char name[40];
	for (enum metric m = 0; m < METRIC_LATENCIES; m++) {
		snprintf(name, sizeof name, metrics[m].from_due ? "%s_ms_from_start" : "%s_ms", metrics[m].name);
		summary(csv, name, &f->start[m], list);
		if (metrics[m].from_due) {
			snprintf(name, sizeof name, "%s_ms_from_due", metrics[m].name);
			summary(csv, name, &f->due[m], list);
		}
		if (m == METRIC_NTPOT)
			summary(csv, "itl_ms", &f->itl, list);
	}
}

static void record(struct csv_writer *csv, const struct report *report, const struct figures *f, const char *stage,
                   const char *group)
{
	const struct percentiles *list = &report->options->percentiles;
	const char *key;
	json_t *value;
	char column[80];
	csv->comma = false;
	csv_text(csv, "stage", slice_of(stage));
	for (enum grouping by = 0; by < GROUPINGS; by++)
		if (report->options->by[by])
			csv_text(csv, groupings[by], slice_of(group));
	csv_text(csv, "kind", slice_of(f->kind));
	csv_text(csv, "measured", slice_of(f->measured ? "true" : "false"));
	csv_number(csv, "window_s", f->window_s);
	csv_count(csv, "requests_scheduled", f->scheduled);
	csv_count(csv, "requests_started", f->failures_unknown ? IPF_ABSENT : f->started);
	csv_count(csv, "requests_ok", f->ok);
	csv_count(csv, "requests_failed", f->failures_unknown ? IPF_ABSENT : f->failed);
	csv_count(csv, "requests_cut", f->cut);
	errors(csv, f);
	csv_number(csv, "rate_offered", f->offered);
	csv_number(csv, "rate_achieved", f->achieved);
	csv_number(csv, "rate_completed", f->completed);
	csv_number(csv, "input_tokens_per_s", f->input_per_s);
	csv_number(csv, "output_tokens_per_s", f->output_per_s);
	csv_number(csv, "total_tokens_per_s", f->total_per_s);
	csv_number(csv, "in_flight_mean", f->in_flight_mean);
	csv_number(csv, "in_flight_max", f->in_flight_max);
	csv_number(csv, "in_flight_little", f->little);
	objectives(csv, f, report->run->slo);
	summary(csv, "lag_ms", &f->start[METRIC_LAG], list);
	summary(csv, "client_lag_ms", &f->start[METRIC_CLIENT_LAG], list);
	summary(csv, "slot_wait_ms", &f->start[METRIC_SLOT_WAIT], list);
	latencies(csv, f, list);
	csv_text(csv, "tokens_source", slice_of(source(f)));
	summary(csv, "input_tokens", &f->input, list);
	summary(csv, "output_tokens", &f->output, list);
	summary(csv, "reasoning_tokens", &f->reasoning, list);
	summary(csv, "asked_output_tokens", &f->asked_output, list);
	csv_number(csv, "cached_share", f->cached_share);
	csv_number(csv, "coalesced_share", f->events && f->reads_known ? (double)f->coalesced / (double)f->events : NAN);
	csv_count(csv, "stalls", f->events && f->stalls_known ? f->stalls : IPF_ABSENT);
	csv_text(csv, "throughput_absent", slice_of(f->no_throughput));
	csv_text(csv, "name", slice_of(json_string_value(json_object_get(report->run_info, "name"))));
	json_object_foreach(json_object_get(report->run_info, "meta"), key, value)
	{
		snprintf(column, sizeof column, "meta_%s", key);
		csv_text(csv, column, slice_of(json_string_value(value)));
	}
	csv_line_end(csv);
}

static void records(struct csv_writer *csv, const struct report *report, const struct figures *f)
{
	record(csv, report, f, f->name, NULL);
	for (enum grouping by = 0; by < GROUPINGS; by++)
		for (int i = 0; f->groups[by] && i < report->figures->group_counts[by]; i++)
			if (figures_requests(&f->groups[by][i]) > 0)
				record(csv, report, &f->groups[by][i], f->name, f->groups[by][i].name);
}

/* One name, p50, p90 and p99 of a latency that counts from due if there is one. */
static void quantiles(struct csv_writer *csv, const char *metric, const struct figures *f, enum metric m)
{
	const struct metric_summary *d = f->due[m].n > 0 ? &f->due[m] : &f->start[m];
	const double values[] = {d->median, d->p90, d->p99};
	static const char *const names[] = {"p50", "p90", "p99"};
	char full[40];
	for (int i = 0; i < 3; i++) {
		snprintf(full, sizeof full, "%s_%s_ms", metric, names[i]);
		csv_number(csv, full, d->n ? values[i] : NAN);
	}
}

/* A point of the latency-throughput curve. */
static void curve_record(struct csv_writer *csv, const struct figures *f, const struct schedule_stage *stage)
{
	csv->comma = false;
	csv_text(csv, "stage", slice_of(f->name));
	csv_number(csv, "offered_per_s", f->offered);
	csv_number(csv, "completed_per_s", f->completed);
	csv_number(csv, "output_tokens_per_s", f->output_per_s);
	csv_number(csv, "in_flight", f->in_flight_mean);
	csv_count(csv, "failed", f->failures_unknown ? IPF_ABSENT : f->failed);
	quantiles(csv, "ttft", f, METRIC_TTFT);
	quantiles(csv, "tpot", f, METRIC_TPOT);
	quantiles(csv, "e2e", f, METRIC_E2E);
	csv_number(csv, "goodput_per_s", f->goodput);
	csv_number(csv, "good_share", f->good_share);
	csv_count(csv, "users", stage && stage->closed ? stage->slots : IPF_ABSENT);
	csv_line_end(csv);
}

static void render_curve(const struct report *report, struct csv_writer *csv)
{
	curve_record(csv, &report->figures->total, NULL);
	csv->header = false;
	for (size_t i = 0; i < report->figures->count; i++)
		if (report->figures->stages[i].measured)
			curve_record(csv, &report->figures->stages[i], &report->run->schedule.stages[i]);
}

static void render_csv(const struct report *report, struct buffer *out)
{
	struct csv_writer csv = {.out = out, .header = true};
	if (report->curve) {
		render_curve(report, &csv);
		return;
	}
	record(&csv, report, &report->figures->total, NULL, NULL);
	csv.header = false;
	for (size_t i = 0; i < report->figures->count; i++)
		records(&csv, report, &report->figures->stages[i]);
	records(&csv, report, &report->figures->total);
}

const struct report_format format_csv = {.render = render_csv, .groups = true};
