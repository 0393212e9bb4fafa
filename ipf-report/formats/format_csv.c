/* -f csv: a line for each stage and one for the total, as in RFC 4180. An absent figure is empty. */
#include "absent.h"
#include "catalogue/catalogue.h"
#include "figures/figures.h"
#include "formats/csv_writer.h"
#include "formats/report_format.h"

#include <math.h>
#include <string.h>

/* The columns are figures of the catalogue. */
struct csv_table {
	struct csv_writer *csv;
	const struct report *report;
	const struct catalogue_figure *columns[CATALOGUE_MOST];
	size_t count;
};
static const char column_order[] =
	"kind measured window_s requests/ rate/ throughput/ in_flight/ goodput/ lag_ms client_lag_ms slot_wait_ms latency/ "
	"tokens/source tokens/ events/ throughput/absent *";
static const char point_order[] =
	"rate/ throughput/ in_flight/ requests/ latency/ttft_ms latency/tpot_ms latency/e2e_ms goodput/ *";

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

/* Those disconnected on purpose are no errors, and have a column among them. */
static void counts(struct csv_writer *csv, const struct catalogue_figure *figure, const struct figures *f)
{
	char name[40];
	for (int i = 0; i < figure->name_count; i++) {
		snprintf(name, sizeof name, "%s_%s", figure->column, figure->names[i]);
		for (char *c = name; *c; c++)
			*c = *c == '-' ? '_' : *c;
		csv_count(csv, name,
		          i == VERDICT_HUNG_UP  ? f->hung_up
		          : i == VERDICT_UNSEEN ? f->unseen
		                                : catalogue_counts(figure, f)[i]);
	}
}

/* For a run a twin predicted: the twin's error in the figure of the objective. */
static double error_of(const struct objective *objective, const json_t *predicted, double in_flight)
{
	switch (objective->metric) {
	case METRIC_TTFT:
		return predicted_error(predicted, TWIN_ERROR_TTFT, objective->percentile, in_flight);
	case METRIC_TPOT:
	case METRIC_ITL_MEAN:
		return predicted_error(predicted, TWIN_ERROR_TPOT, objective->percentile, in_flight);
	case METRIC_E2E:
		return predicted_error(predicted, TWIN_ERROR_E2E, objective->percentile, in_flight);
	default:
		return NAN;
	}
}

static void objectives(struct csv_writer *csv, const struct figures *f, const struct slo *slo, const json_t *predicted)
{
	char name[80];
	for (int i = 0; i < slo->count; i++) {
		const struct objective *objective = &slo->list[i];
		bool each = isnan(objective->percentile);
		snprintf(name, sizeof name, "slo_%s_%s", objective->text, each ? "share" : "value_ms");
		csv_number(csv, name, each ? f->objectives[i].share : f->objectives[i].value_ms);
		if (!predicted || each)
			continue;
		snprintf(name, sizeof name, "slo_%s_error", objective->text);
		csv_number(csv, name, error_of(objective, predicted, f->in_flight_mean));
	}
}

static void distributions(struct csv_writer *csv, const struct catalogue_figure *figure, const struct figures *f,
                          const struct percentiles *list)
{
	char name[64];
	snprintf(name, sizeof name, figure->due ? "%s_from_start" : "%s", figure->column);
	summary(csv, name, catalogue_distribution(figure, f), list);
	if (!figure->due)
		return;
	snprintf(name, sizeof name, "%s_from_due", figure->column);
	summary(csv, name, catalogue_from_due(figure, f), list);
}

static void single(struct csv_writer *csv, const char *column, const struct catalogue_figure *figure,
                   const struct figures *f)
{
	double value = figure->kind == KIND_TEXT ? NAN : catalogue_number(figure, f);
	if (figure->kind == KIND_TEXT)
		csv_text(csv, column, slice_of(catalogue_text(figure, f)));
	else if (figure->kind == KIND_FLAG)
		csv_text(csv, column, slice_of(value != 0 ? "true" : "false"));
	else if (figure->kind == KIND_COUNT)
		csv_count(csv, column, isnan(value) ? IPF_ABSENT : (int64_t)value);
	else
		csv_number(csv, column, value);
}

static void figure_cells(struct csv_writer *csv, const struct catalogue_figure *figure, const struct report *report,
                         const struct figures *f)
{
	if (figure->kind == KIND_DISTRIBUTION)
		distributions(csv, figure, f, &report->options->percentiles);
	else if (figure->kind == KIND_COUNTS)
		counts(csv, figure, f);
	else if (figure->kind == KIND_LIST)
		objectives(csv, f, report->run->slo, report->run->parts[0].predicted);
	else
		single(csv, figure->column, figure, f);
}

/* Only a run a twin predicted has this column. */
static void predicted_cell(struct csv_writer *csv, const struct report *report)
{
	const json_t *predicted = report->run->parts[0].predicted;
	if (predicted)
		csv_text(csv, "predicted", slice_of(predicted_by(predicted).text));
}

/* `stage`, `group`: the names of the stage and of the member of a grouping whose figures these are. */
static void record(const struct csv_table *table, const struct figures *f, const char *stage, const char *group)
{
	const struct report *report = table->report;
	struct csv_writer *csv = table->csv;
	const char *key;
	json_t *value;
	char column[80];
	csv->comma = false;
	csv_text(csv, "stage", slice_of(stage));
	for (enum grouping by = 0; by < GROUPINGS; by++)
		if (report->options->by[by])
			csv_text(csv, groupings[by], slice_of(group));
	for (size_t i = 0; i < table->count; i++)
		if (table->columns[i]->column)
			figure_cells(csv, table->columns[i], report, f);
	csv_text(csv, "name", slice_of(json_string_value(json_object_get(report->run_info, "name"))));
	predicted_cell(csv, report);
	json_object_foreach(json_object_get(report->run_info, "meta"), key, value)
	{
		snprintf(column, sizeof column, "meta_%s", key);
		csv_text(csv, column, slice_of(json_string_value(value)));
	}
	csv_line_end(csv);
}

static void records(const struct csv_table *table, const struct figures *f)
{
	record(table, f, f->name, NULL);
	for (enum grouping by = 0; by < GROUPINGS; by++)
		for (int i = 0; f->groups[by] && i < table->report->figures->group_counts[by]; i++)
			if (figures_requests(&f->groups[by][i]) > 0)
				record(table, &f->groups[by][i], f->name, f->groups[by][i].name);
}

/* p50, p90 and p99 of a latency: from due if there is one. */
static void quantiles(struct csv_writer *csv, const struct catalogue_figure *figure, const struct figures *f)
{
	const struct metric_summary *d = catalogue_distribution(figure, f);
	if (figure->due && catalogue_from_due(figure, f)->n > 0)
		d = catalogue_from_due(figure, f);
	const double values[] = {d->median, d->p90, d->p99};
	static const char *const names[] = {"p50", "p90", "p99"};
	char full[40];
	for (int i = 0; i < 3; i++) {
		snprintf(full, sizeof full, "%s_%s_ms", figure->point, names[i]);
		csv_number(csv, full, d->n ? values[i] : NAN);
	}
}

/* A point of the latency-throughput curve. */
static void curve_record(const struct csv_table *table, const struct figures *f, const struct schedule_stage *stage)
{
	struct csv_writer *csv = table->csv;
	csv->comma = false;
	csv_text(csv, "stage", slice_of(f->name));
	for (size_t i = 0; i < table->count; i++) {
		const struct catalogue_figure *figure = table->columns[i];
		if (figure->point && figure->kind == KIND_DISTRIBUTION)
			quantiles(csv, figure, f);
		else if (figure->point)
			single(csv, figure->point, figure, f);
	}
	csv_count(csv, "users", stage && stage->closed ? stage->slots : IPF_ABSENT);
	predicted_cell(csv, table->report);
	csv_line_end(csv);
}

static void render_csv(const struct report *report, struct buffer *out)
{
	const struct run_figures *figures = report->figures;
	struct csv_writer csv = {.out = out, .header = true};
	struct csv_table table = {.csv = &csv, .report = report};
	table.count = catalogue_sorted(table.columns, report->curve ? point_order : column_order);
	if (report->curve)
		curve_record(&table, &figures->total, NULL);
	else
		record(&table, &figures->total, NULL, NULL);
	for (size_t i = 0; i < figures->count; i++)
		if (!report->curve)
			records(&table, &figures->stages[i]);
		else if (figures->stages[i].measured)
			curve_record(&table, &figures->stages[i], &report->run->schedule.stages[i]);
	if (!report->curve)
		records(&table, &figures->total);
}

const struct report_format format_csv = {.render = render_csv, .predicted = true, .groups = true};
