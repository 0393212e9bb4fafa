/* The distributions and the run over time in few steps, which the text report draws as bars. */
#include "figures/figures.h"
#include "figures/time_line.h"
#include "json_report/json_figures.h"
#include "json_report/json_report.h"

#include <math.h>

enum { BINS = 44, SAMPLES_LEAST = 100 };

/* A histogram of equal bins from the minimum to the p99. */
struct shape {
	double low_ns, high_ns;
	double counts[BINS];
};

static void add(struct shape *s, double value_ns, double count)
{
	if (value_ns > s->high_ns)
		return;
	int at = (int)((value_ns - s->low_ns) / (s->high_ns - s->low_ns) * BINS);
	s->counts[at < BINS ? at : BINS - 1] += count;
}

/* false: it has no shape. */
static bool begin(struct shape *s, const struct metric_summary *d)
{
	*s = (struct shape){.low_ns = d->min * 1e6, .high_ns = d->p99 * 1e6};
	return d->n >= SAMPLES_LEAST && isfinite(s->high_ns) && s->high_ns > s->low_ns;
}

/* From due if there is one. */
static bool of_requests(struct shape *s, const struct report *report, enum metric m)
{
	const struct figures *total = &report->figures->total;
	bool due = total->due[m].n > 0;
	const struct samples_query query = {report->run, report->options, -1, m, due ? FROM_DUE : FROM_START};
	struct samples samples = {0};
	int64_t infinite;
	bool good = begin(s, due ? &total->due[m] : &total->start[m]) && figures_samples(&query, &samples, &infinite) == 0;
	for (size_t i = 0; good && i < samples.count; i++)
		add(s, samples.values[i], 1);
	samples_release(&samples);
	return good;
}

static bool of_gaps(struct shape *s, const struct report *report)
{
	struct histogram *all = begin(s, &report->figures->total.itl) ? figures_gaps(report->run, -1) : NULL;
	struct histogram_bucket bucket;
	int next = 0;
	while (all && histogram_next(all, &next, &bucket))
		add(s, fmax((double)(bucket.low + bucket.high) / 2, s->low_ns), (double)bucket.count);
	histogram_free(all);
	return all != NULL;
}

json_t *json_shape(const struct report *report)
{
	static const struct {
		const char *name;
		enum metric metric; /* METRIC_COUNT: gaps */
	} rows[] = {{"ttft_ms", METRIC_TTFT}, {"itl_ms", METRIC_COUNT}, {"tpot_ms", METRIC_TPOT}, {"e2e_ms", METRIC_E2E}};
	json_t *json = json_object();
	struct shape s;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (!(rows[i].metric == METRIC_COUNT ? of_gaps(&s, report) : of_requests(&s, report, rows[i].metric)))
			continue;
		json_t *one = json_object(), *counts = json_array();
		json_put(one, "low", s.low_ns / 1e6);
		json_put(one, "high", s.high_ns / 1e6);
		for (int k = 0; k < BINS; k++)
			json_array_append_new(counts, json_integer((json_int_t)s.counts[k]));
		json_object_set_new(one, "counts", counts);
		json_object_set_new(json, rows[i].name, one);
	}
	return json;
}

json_t *json_time_line(const struct report *report)
{
	struct time_line t;
	json_t *json = json_object(), *rows = json_array();
	if (time_line_build(&t, report->run, report->servers)) {
		json_put(json, "begin_s", (double)t.begin_ns / 1e9);
		json_put(json, "step_s", (double)t.step_ns / 1e9);
		for (int r = 0; r < t.rows; r++) {
			json_t *row = json_pack("{s:s}", "name", t.row[r].label), *values = json_array();
			json_put(row, "most", t.row[r].most);
			for (int i = 0; i < t.steps; i++)
				json_array_append_new(values, isnan(t.row[r].value[i]) ? json_null() : json_figure(t.row[r].value[i]));
			json_object_set_new(row, "values", values);
			json_array_append_new(rows, row);
		}
		json_object_set(json, "rows", rows);
	}
	json_decref(rows);
	return json;
}
