#include "exports/row_values.h"

#include "absent.h"

#include <math.h>
#include <string.h>

static double or_nan(int64_t value)
{
	return value == IPF_ABSENT ? NAN : (double)value;
}

double row_metric(const struct row *row, enum metric m)
{
	return or_nan(row_get(row, (int)m));
}

/* The values of the request for the tool of a view; without one, ipf's. */
static struct tool_times times_of(const struct row *row)
{
	double end = row_stream(row);
	int64_t chunks = row_get(row, ROW_EVENTS);
	return (struct tool_times){row_metric(row, METRIC_TTFT), row_last(row), end, end,
	                           chunks == IPF_ABSENT ? 0 : chunks};
}

double row_waited(const struct row *row)
{
	const struct tool_rules *rules = row->columns->rules;
	return rules && rules->from_due && row->due_ns != IPF_ABSENT ? (double)(row->start_ns - row->due_ns) : 0;
}

double row_ttft(const struct row *row)
{
	const struct tool_rules *rules = row->columns->rules;
	struct tool_times times = times_of(row);
	return rules ? tool_ttft(rules, &times) + row_waited(row) : times.first;
}

double row_e2e(const struct row *row)
{
	const struct tool_rules *rules = row->columns->rules;
	struct tool_times times = times_of(row);
	return rules ? tool_e2e(rules, &times) + row_waited(row) : times.last;
}

double row_itl(const struct row *row)
{
	static const struct tool_rules ours = {.tpot = TOOL_TPOT_LAST_LESS_FIRST};
	const struct tool_rules *rules = row->columns->rules;
	struct tool_times times = times_of(row);
	return tool_request_itl(rules ? rules : &ours, &times, row_get(row, ROW_OUTPUT_TOKENS));
}

double row_tpot(const struct row *row)
{
	const struct tool_rules *rules = row->columns->rules;
	struct tool_times times = times_of(row);
	return rules ? tool_tpot(rules, &times, row_get(row, ROW_OUTPUT_TOKENS)) : row_itl(row);
}

double row_last(const struct row *row)
{
	return row_metric(row, METRIC_E2E);
}

double row_stream(const struct row *row)
{
	return row_metric(row, METRIC_STREAM);
}

double row_input(const struct row *row)
{
	return or_nan(row_get(row, ROW_INPUT_TOKENS));
}

double row_output(const struct row *row)
{
	return or_nan(row_get(row, ROW_OUTPUT_TOKENS));
}

double row_asked(const struct row *row, enum metric m)
{
	const struct tool_rules *rules = row->columns->rules;
	bool per_request = rules && (rules->itl == TOOL_ITL_REQUESTS || rules->itl == TOOL_ITL_REQUEST_WEIGHTS);
	return m == METRIC_TTFT   ? row_ttft(row)
	       : m == METRIC_E2E  ? row_e2e(row)
	       : m != METRIC_TPOT ? row_metric(row, m)
	       : per_request      ? row_itl(row)
	                          : row_tpot(row);
}

static bool is_part(const struct row *row, enum load_part which)
{
	return which == LOAD_SENT || row->ok == (which == LOAD_OK);
}

void row_values_of(struct row_values *v, const struct load *load, enum load_part which, row_value value, double per)
{
	*v = (struct row_values){.mean = NAN, .min = NAN, .max = NAN, .std = NAN, .sample_std = NAN, .per = per};
	v->rules = load->run->columns.rules;
	for_load(load, row) if (is_part(row, which)) samples_add(&v->list, value(row) / per);
	v->n = (int64_t)v->list.count;
	if (v->n == 0)
		return;
	samples_sort(&v->list);
	for (int64_t i = 0; i < v->n; i++)
		v->sum += v->list.values[i];
	v->mean = samples_mean(&v->list);
	v->min = v->list.values[0];
	v->max = v->list.values[v->n - 1];
	v->std = samples_std(&v->list);
	if (v->n > 1)
		v->sample_std = v->std * sqrt((double)v->n / (double)(v->n - 1));
}

void row_values_of_gaps(struct row_values *v, const struct load *load, double per)
{
	*v = (struct row_values){.mean = NAN, .min = NAN, .max = NAN, .std = NAN, .sample_std = NAN, .per = per};
	v->gaps = histogram_new();
	for (int32_t i = 0; v->gaps && i < (int32_t)load->run->schedule.count; i++) {
		const struct histogram *one = run_data_gaps(load->run, i, -1);
		bool counts = load->stage < 0 ? load->run->schedule.stages[i].measured : load->stage == i;
		if (one && counts && (load->run->columns.rules || strcmp(run_data_itl(load->run, 0), "gap") == 0))
			histogram_merge(v->gaps, one);
	}
	v->n = v->gaps ? histogram_count(v->gaps) : 0;
	if (v->n == 0)
		return;
	v->mean = histogram_mean(v->gaps) / per;
	v->sum = v->mean * (double)v->n;
	v->min = (double)histogram_min(v->gaps) / per;
	v->max = (double)histogram_max(v->gaps) / per;
	v->std = histogram_std(v->gaps) / per;
	if (v->n > 1)
		v->sample_std = v->std * sqrt((double)v->n / (double)(v->n - 1));
}

void row_values_release(struct row_values *v)
{
	samples_release(&v->list);
	histogram_free(v->gaps);
	*v = (struct row_values){0};
}

double row_values_percentile(struct row_values *v, double p)
{
	if (v->n == 0)
		return NAN;
	return v->gaps    ? histogram_percentile(v->gaps, p) / v->per
	       : v->rules ? tool_percentile(v->rules, &v->list, p)
	                  : samples_percentile(&v->list, p);
}
