/* Cumulative distributions: the share of the requests (of the gaps) within a time. A line for each stage; of a run with
 * one, from the due time and from the start. Points mark p50, p90 and p99. */
#include "plots/plot_kind.h"

#include "cli/units.h"
#include "plots/objective_lines.h"
#include "plots/plot_panels.h"
#include "plots/plot_style.h"
#include "plots/stage_choice.h"
#include "safe_text.h"

#include <math.h>
#include <stdlib.h>

enum { EXACT_MOST = 400, GRID_MOST = 512, LINES_MOST = STAGE_LINES_MOST };

static const double marked[] = {50, 90, 99};
enum { MARKED = 3 };

/* The source of a line: samples in ns, or a histogram of them. */
struct distribution {
	struct samples *samples;
	int64_t infinite;
	const struct histogram *gaps;
};

static double quantile_ms(const struct distribution *d, double p)
{
	double ns = d->gaps ? histogram_percentile(d->gaps, p) : percentile_with_infinite(d->samples, d->infinite, p);
	return ns * 1e-6; /* as in the figures */
}

static int64_t size_of(const struct distribution *d)
{
	return d->gaps ? histogram_count(d->gaps) : (int64_t)d->samples->count + d->infinite;
}

/* The percentiles at which the line has points: all there are of few samples, between which percentiles are
 * interpolated; else 200, and more of the tail. */
static int percentile_grid(int64_t n, double grid[GRID_MOST])
{
	int count = 0;
	for (int64_t i = 0; n > 1 && n <= EXACT_MOST && i < n; i++)
		grid[count++] = 100.0 * (double)i / (double)(n - 1);
	for (int i = 0; n > EXACT_MOST && i < 198; i++)
		grid[count++] = i * 0.5;
	for (int i = 0; n > EXACT_MOST && i <= 100; i++)
		grid[count++] = 99 + i * 0.01;
	if (n == 1) {
		grid[count++] = 0;
		grid[count++] = 100;
	}
	return count;
}

struct cdf {
	struct plot *p;
	double low, high; /* the values', in ms */
	int lines;
	const char *names[LINES_MOST];
	int stages[LINES_MOST]; /* from 0; -1: all */
	struct objective_lines limits;
};

/* Two tables: the line, and its marks. */
static void add_line(struct cdf *cdf, const struct distribution *d, const char *name, int stage)
{
	double grid[GRID_MOST];
	int64_t n = size_of(d);
	int count = percentile_grid(n, grid);
	if (count == 0 || !isfinite(quantile_ms(d, 0)))
		return;
	plot_block(cdf->p, "value_ms\tshare");
	for (int i = 0; i < count; i++) {
		double ms = quantile_ms(d, grid[i]);
		if (!isfinite(ms))
			break;
		plot_row(cdf->p, (double[]){ms, grid[i] / 100}, 2);
		cdf->high = fmax(cdf->high, ms);
	}
	/* a few values far below all others do not make the axis longer */
	double low = quantile_ms(d, 1);
	cdf->low = low > 0 ? fmin(cdf->low, low) : cdf->low;
	plot_block(cdf->p, "value_ms\tshare\tpercentile");
	for (int i = 0; i < MARKED; i++)
		plot_row(cdf->p, (double[]){quantile_ms(d, marked[i]), marked[i] / 100, marked[i]}, 3);
	char all[32];
	if (isfinite(quantile_ms(d, 50)))
		plot_say(cdf->p, "%s: p50 %s ms, p99 %s ms, of %s.", shown(name).text, PLOT_NUMBER(quantile_ms(d, 50)),
		         PLOT_NUMBER(quantile_ms(d, 99)), format_whole(n, all));
	cdf->stages[cdf->lines] = stage;
	cdf->names[cdf->lines++] = name;
}

/* stages: of which these are lines; NULL: they are no stages. */
static void legend(const struct cdf *cdf, const struct stage_choice *stages)
{
	struct plot_legend_entry entries[LINES_MOST + 1 + OBJECTIVE_LINES_MOST];
	char names[LINES_MOST][64], lines[LINES_MOST][24], missing[48];
	for (int i = 0; i < cdf->lines; i++) {
		plot_shorten(names[i], sizeof names[i], cdf->names[i], cdf->lines > 2 ? 14 : 24);
		snprintf(lines[i], sizeof lines[i], "lt %d", i + 1);
		entries[i] = (struct plot_legend_entry){names[i], lines[i], PLOT_LINE_AND_POINT};
	}
	int more = stages ? plot_stages_missing(cdf->p, stages, cdf->lines, &entries[cdf->lines], missing) : 0;
	more += objective_lines_draw(&cdf->limits, cdf->p, "x", &entries[cdf->lines + more]);
	if (cdf->lines > 1 || more)
		plot_legend(cdf->p, entries, cdf->lines + more);
}

static void draw(struct cdf *cdf, const struct stage_choice *stages, const char *axis_name, const char *share_of)
{
	struct plot *p = cdf->p;
	char label[80];
	cdf->high = objective_lines_widen(&cdf->limits, &cdf->low, cdf->high);
	plot_axis_ms(p, "x", axis_name, fmax(cdf->low, cdf->high * 1e-6), cdf->high);
	snprintf(label, sizeof label, "share of %s", share_of);
	plot_axis_label(p, "y", label);
	plot_axis_shares(p, "y");
	legend(cdf, stages);
	plot_panel(p, PANEL_POINTS);
	for (int i = 0; i < cdf->lines; i++)
		plot_series(p, &(struct plot_series){.name = cdf->names[i],
		                                     .table = 2 * i,
		                                     .x = 0,
		                                     .y = 1,
		                                     .stage = cdf->stages[i],
		                                     .drawn = {2 * i + 1, 2 * i + 2}});
	plot_part(p, "plot ");
	for (int i = 0; i < cdf->lines; i++)
		plot_part(p, "%sdata index %d using 1:2 with lines lt %d, data index %d using 1:2 with points lt %d",
		          i ? ", \\\n     " : "", 2 * i, i + 1, 2 * i + 1, i + 1);
	plot_part(p, "\n");
}

static struct cdf begin(struct plot *p, const struct plot_input *input, enum metric m)
{
	struct cdf cdf = {.p = p, .low = INFINITY};
	objective_lines_find(&cdf.limits, input->run->slo, m);
	return cdf;
}

/* A line of a metric. -1: out of memory. */
static int add_metric(struct cdf *cdf, const struct plot_input *input, int32_t stage, enum metric m,
                      enum latency_origin origin, const char *name)
{
	struct samples s = {0};
	struct distribution d = {.samples = &s};
	const struct samples_query query = {input->run, input->options, stage, m, origin};
	int bad = figures_samples(&query, &s, &d.infinite);
	if (bad == 0)
		add_line(cdf, &d, name, stage);
	samples_release(&s);
	return bad;
}

static const char *words_of(enum metric m)
{
	return m == METRIC_TTFT  ? "Time to first token (TTFT)"
	       : m == METRIC_E2E ? "Time to the end of the answer (E2E)"
	                         : "Lag: how late requests started";
}

int make_cdf_plot(const struct plot_kind *kind, const struct plot_input *input, struct plot *p)
{
	struct cdf cdf = begin(p, input, kind->metric);
	struct stage_choice stages;
	enum metric m = kind->metric;
	choose_stages(input->figures, &stages);
	bool due = metrics[m].from_due && input->figures->total.due[m].n > 0;
	const char *from = !metrics[m].from_due ? "" : due ? ", from the due time" : ", from the start";
	plot_title(p, "%s%s", words_of(m), stages.of == 1 && due ? "" : from);
	plot_say(p, "Cumulative distribution of the %s in milliseconds.", metrics[m].name);
	int bad = 0;
	if (stages.of == 1 && due) {
		bad = add_metric(&cdf, input, -1, m, FROM_DUE, "from the due time");
		if (bad == 0)
			bad = add_metric(&cdf, input, -1, m, FROM_START, "from the start");
	} else
		for (int i = 0; i < stages.count && bad == 0; i++)
			bad = add_metric(&cdf, input, stages.stage[i], m, due ? FROM_DUE : FROM_START, stages.name[i]);
	if (bad < 0)
		return -1;
	if (cdf.lines == 0 || !(cdf.high > -INFINITY))
		return plot_absent(p, m == METRIC_TTFT  ? "no successful request was streamed"
		                      : m == METRIC_E2E ? "no request succeeded"
		                                        : "no request has a due time");
	draw(&cdf, stages.of == 1 ? NULL : &stages, metrics[m].label, "requests");
	if (m == METRIC_TTFT)
		plot_panel_requests(p, due ? "ttft_due_ms" : "ttft_ms", NULL, REQUESTS_OK);
	else if (m == METRIC_E2E)
		plot_panel_requests(p, due ? "e2e_due_ms" : "e2e_ms", NULL, REQUESTS_OK);
	return 1;
}

int make_gap_cdf_plot(const struct plot_kind *kind, const struct plot_input *input, struct plot *p)
{
	struct cdf cdf = begin(p, input, METRIC_ITL_MAX);
	struct stage_choice stages;
	(void)kind;
	choose_stages(input->figures, &stages);
	plot_title(p, "Inter-token latency (ITL)");
	plot_say(p, "Cumulative distribution of the gaps between tokens in milliseconds.");
	for (int i = 0; i < stages.count; i++) {
		struct histogram *gaps = figures_gaps(input->run, stages.of == 1 ? -1 : stages.stage[i]);
		if (!gaps)
			return -1;
		add_line(&cdf, &(struct distribution){.gaps = gaps}, stages.name[i], stages.of == 1 ? -1 : stages.stage[i]);
		histogram_free(gaps);
	}
	if (cdf.lines == 0)
		return plot_absent(p, "there are no gaps between tokens");
	draw(&cdf, &stages, "ITL", "gaps");
	return 1;
}
