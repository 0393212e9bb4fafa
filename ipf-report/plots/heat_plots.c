/* Latency over time, as a map: how many requests (gaps) took how long, when. */
#include "plots/plot_kind.h"

#include "absent.h"
#include "plots/density.h"
#include "plots/objective_lines.h"
#include "plots/plot_panels.h"
#include "plots/stage_choice.h"

#include <math.h>

/* Fewer make no map. */
enum { LEAST = 50 };

/* Calls `add` for each latency of the run: when it ended, in s, and how long it was, in ms. */
struct latency_walk {
	const struct run_data *run;
	enum metric metric; /* METRIC_ITL_MEAN: all gaps */
	void (*add)(double at_s, double ms, double count, void *to);
	void *to;
};

static void walk_rows(const struct latency_walk *walk)
{
	for (int64_t i = 0; i < walk->run->row_count; i++) {
		const struct row *row = &walk->run->rows[i];
		int64_t ns = row_get(row, (int)walk->metric);
		if (row->ok && ns != IPF_ABSENT && row->start_ns != IPF_ABSENT && stage_is_shown(walk->run, row->stage))
			walk->add((double)(row->start_ns + ns + walk->run->parts[row->part].shift_ns) / 1e9, (double)ns / 1e6, 1,
			          walk->to);
	}
}

/* Each gap is in the middle of its bucket and of its window. */
static void walk_gaps(const struct latency_walk *walk)
{
	const struct window *w;
	for (size_t i = 0; walk->run->windows && (w = series_get(walk->run->windows, i)); i++) {
		struct histogram_bucket bucket;
		double at_s = ((double)window_begin_ns(w) + (double)w->length_ns / 2) / 1e9;
		for (int next = 0;
		     w->itl_ns && stage_is_shown(walk->run, (int32_t)w->stage) && histogram_next(w->itl_ns, &next, &bucket);)
			walk->add(at_s, ((double)bucket.low + (double)bucket.high) / 2e6, (double)bucket.count, walk->to);
	}
}

static void walk(const struct latency_walk *all)
{
	if (all->metric == METRIC_ITL_MEAN)
		walk_gaps(all);
	else
		walk_rows(all);
}

struct extent {
	double n, begin_s, end_s, low_ms, high_ms;
};

static void widen(double at_s, double ms, double count, void *to)
{
	struct extent *e = to;
	e->n += count;
	e->begin_s = fmin(e->begin_s, at_s);
	e->end_s = fmax(e->end_s, at_s);
	e->low_ms = ms > 0 ? fmin(e->low_ms, ms) : e->low_ms;
	e->high_ms = fmax(e->high_ms, ms);
}

static void count(double at_s, double ms, double n, void *to)
{
	density_add(to, at_s, ms, n);
}

/* The time the map covers, and how many columns it has: those of gaps are whole windows. */
static int divide_time(const struct run_data *run, bool gaps, const struct extent *e, struct plot_axis *x)
{
	*x = (struct plot_axis){run->only_stage ? e->begin_s : fmin(0, e->begin_s), e->end_s, false};
	if (!gaps)
		return DENSITY_COLUMNS_MOST;
	double every_s = (double)series_every_ns(run->windows) / 1e9;
	x->low = floor(x->low / every_s) * every_s;
	double windows = ceil((e->end_s - x->low) / every_s), each = ceil(windows / DENSITY_COLUMNS_MOST);
	x->high = x->low + ceil(windows / each) * each * every_s;
	return (int)ceil(windows / each);
}

int make_heat_plot(const struct plot_kind *kind, const struct plot_input *input, struct plot *p)
{
	struct latency_walk all = {.run = input->run, .metric = kind->metric, .add = widen};
	struct extent e = {0, INFINITY, -INFINITY, INFINITY, 0};
	struct density d;
	bool gaps = kind->metric == METRIC_ITL_MEAN;
	const char *name = metrics[kind->metric].label;
	if (input->run->part_count > 1 && !input->run->shards)
		return plot_absent(p, "repeats of a run have no time in common");
	all.to = &e;
	walk(&all);
	if (e.n < LEAST || !(e.end_s > e.begin_s))
		return plot_absent(p, gaps ? "the windows have fewer than 50 gaps between tokens"
		                           : "fewer than 50 successful requests have this latency");
	plot_title(p, "%s over time", name);
	plot_say(p, "How many %s had which %s, from the start, in each part of the run; the longest took %s ms.",
	         gaps ? "gaps between tokens" : "requests", name, PLOT_NUMBER(e.high_ms));
	struct plot_axis x;
	int columns = divide_time(input->run, gaps, &e, &x);
	x = plot_axis_run(p, x.low, x.high, true);
	struct plot_legend_entry entries[OBJECTIVE_LINES_MOST];
	struct objective_lines limits;
	objective_lines_find(&limits, input->run->slo, gaps ? METRIC_ITL_MAX : kind->metric);
	e.high_ms = objective_lines_widen(&limits, &e.low_ms, e.high_ms);
	if (objective_lines_draw(&limits, p, "y", entries))
		plot_legend(p, entries, limits.count);
	struct plot_axis y = plot_axis_ms(p, "y", name, fmax(e.low_ms, e.high_ms * 1e-5), e.high_ms);
	density_init(&d, &x, &y, columns);
	all.add = count;
	all.to = &d;
	walk(&all);
	density_draw(&d, p, "t_s", "latency_ms", gaps ? "gaps" : "requests");
	plot_part(p, "\n");
	if (kind->metric == METRIC_TTFT)
		plot_panel_requests(p, "first_s", "ttft_ms", REQUESTS_OK);
	else if (kind->metric == METRIC_E2E)
		plot_panel_requests(p, "end_s", "e2e_ms", REQUESTS_OK);
	bool failed = !d.cells;
	density_release(&d);
	return failed ? -1 : 1;
}
