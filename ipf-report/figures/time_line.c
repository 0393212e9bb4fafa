#include "figures/time_line.h"

#include "absent.h"

#include <math.h>
#include <stdlib.h>

static struct time_line_row *add_row(struct time_line *t, const char *label)
{
	struct time_line_row *row = &t->row[t->rows++];
	row->label = label;
	row->most = NAN;
	for (int i = 0; i < t->steps; i++)
		row->value[i] = NAN;
	return row;
}

static void set(struct time_line_row *row, int step, double value)
{
	row->value[step] = value;
	if (!isnan(value))
		row->most = isnan(row->most) ? value : fmax(row->most, value);
}

/* A row without any value, or with nothing but zeros where these mean nothing, is left out. */
static void drop_empty(struct time_line *t, bool zeros)
{
	double most = t->row[t->rows - 1].most;
	if (isnan(most) || (zeros && !(most > 0)))
		t->rows--;
}

/* The sums of all windows of each step. false: out of memory. */
static bool sum_steps(const struct time_line *t, struct series *windows, struct window *sums[TIME_LINE_STEPS])
{
	const struct window *w;
	for (int i = 0; i < t->steps; i++)
		if (!(sums[i] = window_new(0, 0, t->step_ns)))
			return false;
	for (size_t i = 0; (w = series_get(windows, i)); i++)
		window_merge(sums[(window_begin_ns(w) - t->begin_ns) / t->step_ns], w);
	return true;
}

static double percentile_ms(const struct histogram *h, double p)
{
	return h && histogram_count(h) > 0 ? histogram_percentile(h, p) / 1e6 : NAN;
}

static void add_client_rows(struct time_line *t, struct window *const *sums)
{
	double step_s = (double)t->step_ns / 1e9;
	struct time_line_row *rows[5];
	const char *const labels[5] = {"started/s", "in flight", "tokens/s", "TTFT p99 ms", "failed"};
	for (int r = 0; r < 5; r++) {
		rows[r] = add_row(t, labels[r]);
		for (int i = 0; i < t->steps; i++) {
			const struct window *w = sums[i];
			set(rows[r], i,
			    r == 0   ? (double)w->started / step_s
			    : r == 1 ? (double)w->in_flight_ns / (double)t->step_ns
			    : r == 2 ? ((double)w->output_tokens + (double)w->failed_output_tokens) / step_s
			    : r == 3 ? percentile_ms(w->ttft_ns, 99)
			             : (double)window_failed(w));
		}
		drop_empty(t, r == 4);
	}
}

static void add_server_rows(struct time_line *t, const struct run_data *run, const struct server_figures *servers)
{
	static const struct {
		const char *label, *name;
		bool share;
	} gauges[] = {{"running", "running", false},
	              {"waiting", "waiting", false},
	              {"KV cache %", "kv_cache_usage", true},
	              {"replicas", "replicas_ready", false}};
	for (size_t r = 0; servers->count > 0 && r < sizeof gauges / sizeof *gauges; r++) {
		struct time_line_row *row = add_row(t, gauges[r].label);
		for (int i = 0; i < t->steps; i++) {
			const struct sample_range range = {t->begin_ns + i * t->step_ns, t->begin_ns + (i + 1) * t->step_ns};
			double mean = sample_store_gauge_total(run->samples, servers->sources, servers->sources_count,
			                                       gauges[r].name, &range, gauges[r].share)
			                  .mean;
			set(row, i, gauges[r].share ? 100 * mean : mean);
		}
		drop_empty(t, r == 1);
	}
}

bool time_line_build(struct time_line *t, const struct run_data *run, const struct server_figures *servers)
{
	struct window *sums[TIME_LINE_STEPS] = {NULL};
	size_t count = run->windows ? series_count(run->windows) : 0;
	*t = (struct time_line){0};
	if (count == 0 || (run->part_count > 1 && !run->shards))
		return false;
	const struct window *first = series_get(run->windows, 0), *last = series_get(run->windows, count - 1);
	if (!first || !last || last->number - first->number + 1 < TIME_LINE_LEAST)
		return false;
	int64_t windows = last->number - first->number + 1, each = (windows + TIME_LINE_STEPS - 1) / TIME_LINE_STEPS;
	t->begin_ns = window_begin_ns(first);
	t->step_ns = each * series_every_ns(run->windows);
	t->steps = (int)((windows + each - 1) / each);
	bool made = sum_steps(t, run->windows, sums);
	if (made) {
		add_client_rows(t, sums);
		add_server_rows(t, run, servers);
	}
	for (int i = 0; i < t->steps; i++)
		window_free(sums[i]);
	return made;
}
