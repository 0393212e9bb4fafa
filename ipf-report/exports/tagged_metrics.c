#include "exports/tagged_metrics.h"

#include "absent.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct tagged_metric *add(struct tagged_metrics *m, const char *tag, const char *title, const char *unit)
{
	struct tagged_metric *metric = &m->list[m->count++];
	*metric = (struct tagged_metric){.tag = tag, .title = title, .unit = unit, .each = true, .value = NAN};
	return metric;
}

void tagged_add(struct tagged_metrics *m, const char *tag, const char *title, const char *unit, enum load_part which,
                row_value value)
{
	row_values_of(&add(m, tag, title, unit)->values, m->load, which, value, 1);
}

void tagged_add_ms(struct tagged_metrics *m, const char *tag, const char *title, row_value ns)
{
	row_values_of(&add(m, tag, title, "ms")->values, m->load, LOAD_OK, ns, 1e6);
}

void tagged_add_gaps(struct tagged_metrics *m, const char *tag, const char *title)
{
	row_values_of_gaps(&add(m, tag, title, "ms")->values, m->load, 1e6);
}

void tagged_add_one(struct tagged_metrics *m, const char *tag, const char *title, const char *unit, double value)
{
	struct tagged_metric *metric = add(m, tag, title, unit);
	metric->each = false;
	metric->value = value;
}

void tagged_metrics_release(struct tagged_metrics *m)
{
	for (int i = 0; i < m->count; i++)
		if (m->list[i].each)
			row_values_release(&m->list[i].values);
	m->count = 0;
}

double tagged_statistic(struct tagged_metric *metric, const char *name)
{
	struct row_values *v = &metric->values;
	if (!metric->each)
		return strcmp(name, "avg") == 0 ? metric->value : NAN;
	if (v->n == 0)
		return NAN;
	const struct {
		const char *name;
		double value;
	} moments[] = {{"avg", v->mean}, {"min", v->min}, {"max", v->max}, {"sum", v->sum}, {"std", v->std}};
	for (size_t i = 0; i < sizeof moments / sizeof *moments; i++)
		if (strcmp(name, moments[i].name) == 0)
			return moments[i].value;
	return row_values_percentile(v, strtod(name + 1, NULL));
}

void tagged_metrics_json(const struct tagged_metrics *m, struct jout *w, bool sums)
{
	static const char *const names[] = {"avg", "p1",  "p5",  "p10", "p25", "p50", "p75",
	                                    "p90", "p95", "p99", "min", "max", "std"};
	for (int i = 0; i < m->count; i++) {
		struct tagged_metric metric = m->list[i];
		if (metric.each ? metric.values.n == 0 : isnan(metric.value))
			continue;
		jout_key(w, metric.tag);
		jout_begin_map(w);
		jout_member_string(w, "unit", slice_of(metric.unit));
		for (size_t k = 0; k < sizeof names / sizeof *names; k++)
			jout_member_double(w, names[k], tagged_statistic(&metric, names[k]));
		if (metric.each && sums) {
			jout_member_int(w, "count", metric.values.n);
			jout_member_double(w, "sum", metric.values.sum);
		}
		jout_end_map(w);
	}
}

static void csv_number(const struct tagged_csv *form, struct buffer *out, double value)
{
	char digits[340];
	if (isnan(value)) {
		buffer_text(out, form->empty ? "N/A" : "");
		return;
	}
	snprintf(digits, sizeof digits, "%.2f", value);
	size_t whole = strcspn(digits, ".");
	bool quoted = form->thousands && whole > 3;
	if (quoted)
		buffer_byte(out, '"');
	for (size_t i = 0; i < whole; i++) {
		if (quoted && i > 0 && (whole - i) % 3 == 0)
			buffer_byte(out, ',');
		buffer_byte(out, digits[i]);
	}
	buffer_text(out, digits + whole);
	if (quoted)
		buffer_byte(out, '"');
}

static void csv_line(const struct tagged_csv *form, const char *const *columns, struct tagged_metric *metric,
                     struct buffer *out)
{
	buffer_text(out, metric->title);
	if (!form->bare_unit || strcmp(metric->unit, form->bare_unit) != 0)
		buffer_format(out, " (%s)", metric->unit);
	for (; *columns; columns++) {
		buffer_byte(out, ',');
		csv_number(form, out, metric->each ? tagged_statistic(metric, *columns) : metric->value);
	}
	buffer_text(out, "\r\n");
}

void tagged_metrics_csv(struct tagged_metrics *m, const struct tagged_csv *form, struct buffer *out)
{
	static const char *const value[] = {"Value", NULL};
	const char *const *columns = m->count && m->list[0].each ? form->statistics : value;
	buffer_text(out, "Metric");
	for (const char *const *column = columns; *column; column++)
		buffer_format(out, ",%s", *column);
	buffer_text(out, "\r\n");
	for (int i = 0; i < m->count; i++) {
		struct tagged_metric *metric = &m->list[i];
		if (form->empty || (metric->each ? metric->values.n > 0 : !isnan(metric->value)))
			csv_line(form, columns, metric, out);
	}
}

double load_good_with_values(const struct load *load)
{
	const struct slo *slo = load->run->slo;
	int64_t good = 0;
	for (int i = 0; i < slo->count; i++) {
		enum metric m = slo->list[i].metric;
		if (!isnan(slo->list[i].percentile) ||
		    (m != METRIC_TTFT && m != METRIC_TTST && m != METRIC_TPOT && m != METRIC_E2E))
			return NAN;
	}
	for_load(load, row)
	{
		bool met = row->ok;
		for (int i = 0; i < slo->count; i++) {
			enum metric m = slo->list[i].metric;
			met &= row_asked(row, m) <= (double)slo->list[i].limit_ns;
		}
		good += met;
	}
	return slo->count ? (double)good : NAN;
}
