/* When requests were due: how many over time, and the gaps between them, by which bursts are seen. */
#include "plots/plot_kind.h"

#include "absent.h"
#include "plots/plot_panels.h"
#include "plots/plot_style.h"
#include "plots/stage_choice.h"

#include <math.h>
#include <stdlib.h>

enum { STEPS_MOST = 160, GAP_POINTS = 200 };

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

/* The due times of a stage, or of all that are shown (-1), on the clock of the first part, in order. NULL: out of
 * memory. */
static int64_t *due_times(const struct run_data *run, int32_t stage, int64_t *count)
{
	int64_t *due = calloc((size_t)run->row_count + 1, sizeof *due);
	*count = 0;
	for (int64_t i = 0; due && i < run->row_count; i++) {
		const struct row *row = &run->rows[i];
		if (row->due_ns != IPF_ABSENT && (stage < 0 ? stage_is_shown(run, row->stage) : row->stage == stage))
			due[(*count)++] = row->due_ns + run->parts[row->part].shift_ns;
	}
	if (due)
		qsort(due, (size_t)*count, sizeof *due, by_value);
	return due;
}

static const char *why_no_arrivals(const struct run_data *run)
{
	return run->part_count > 1 && !run->shards ? "repeats of a run have no time in common" : NULL;
}

int make_arrivals_plot(const struct plot_kind *kind, const struct plot_input *input, struct plot *p)
{
	int64_t count, most = 0;
	const char *why = why_no_arrivals(input->run);
	(void)kind;
	if (why)
		return plot_absent(p, why);
	int64_t *due = due_times(input->run, -1, &count);
	if (!due)
		return -1;
	double begin_s = count ? (double)due[0] / 1e9 : 0, end_s = count ? (double)due[count - 1] / 1e9 : 0;
	if (!input->run->only_stage)
		begin_s = fmin(0, begin_s);
	double step_s = plot_round_up((end_s - begin_s) / STEPS_MOST, false);
	if (count < 2 || !(end_s > begin_s)) {
		free(due);
		return plot_absent(p, "fewer than two requests have a due time");
	}
	plot_block(p, "t_s\tarrivals\tarrivals_per_s");
	for (int64_t i = 0, at = 0; at < count; i++) {
		int64_t first = at;
		double until_s = begin_s + (double)(i + 1) * step_s;
		while (at < count && (double)due[at] / 1e9 < until_s)
			at++;
		most = at - first > most ? at - first : most;
		plot_row(p, (double[]){until_s - step_s, (double)(at - first), (double)(at - first) / step_s}, 3);
	}
	free(due);
	plot_title(p, "Arrivals, in steps of %s s", PLOT_NUMBER(step_s));
	plot_say(p, "How many requests per second were due in each step of %s s; at most %s.", PLOT_NUMBER(step_s),
	         PLOT_NUMBER((double)most / step_s));
	plot_axis_run(p, begin_s, ceil((end_s - begin_s) / step_s + 1e-9) * step_s + begin_s, true);
	plot_axis_linear(p, "y", "requests due per second", (double)most / step_s);
	plot_panel(p, PANEL_STEPS);
	plot_series(p, &(struct plot_series){.name = "requests due",
	                                     .table = 0,
	                                     .x = 0,
	                                     .y = 2,
	                                     .offset = step_s / 2,
	                                     .step_s = step_s,
	                                     .stage = -1,
	                                     .drawn = {1}});
	plot_command(p, "plot data using ($1+%.9g):3:(%.9g) with boxes lt 1", step_s / 2, step_s);
	return 1;
}

/* The gaps of a stage as shares of their mean; the mean is 1. -1: out of memory; 0: no gaps. */
static int add_gaps(const struct plot_input *input, int32_t stage, struct plot *p)
{
	int64_t count;
	int64_t *due = due_times(input->run, stage, &count);
	if (!due)
		return -1;
	int64_t gaps = count - 1, points = gaps < GAP_POINTS ? gaps : GAP_POINTS;
	double mean_ns = gaps > 0 ? (double)(due[count - 1] - due[0]) / (double)gaps : 0;
	for (int64_t i = 0; i < gaps; i++)
		due[i] = due[i + 1] - due[i];
	if (gaps > 1 && mean_ns > 0) {
		qsort(due, (size_t)gaps, sizeof *due, by_value);
		plot_block(p, "gap_per_mean_gap\tshare\tgap_ms");
		for (int64_t i = 1; i <= points; i++) {
			int64_t rank = (i * gaps + points - 1) / points;
			double gap_ns = (double)due[rank - 1];
			plot_row(p, (double[]){gap_ns / mean_ns, (double)rank / (double)gaps, gap_ns / 1e6}, 3);
		}
	}
	free(due);
	return gaps > 1 && mean_ns > 0;
}

int make_gaps_plot(const struct plot_kind *kind, const struct plot_input *input, struct plot *p)
{
	struct stage_choice stages;
	struct plot_legend_entry entries[STAGE_LINES_MOST + 2];
	char names[STAGE_LINES_MOST][64], lines[STAGE_LINES_MOST][16], missing[48];
	int of_stage[STAGE_LINES_MOST];
	const char *why = why_no_arrivals(input->run);
	int shown = 0;
	(void)kind;
	if (why)
		return plot_absent(p, why);
	choose_stages(input->figures, &stages);
	for (int i = 0; i < stages.count; i++) {
		int added = add_gaps(input, stages.stage[i], p);
		if (added < 0)
			return -1;
		if (!added)
			continue;
		plot_shorten(names[shown], sizeof names[shown], stages.name[i], stages.count > 2 ? 12 : 24);
		snprintf(lines[shown], sizeof lines[shown], "lt %d", shown + 1);
		of_stage[shown] = stages.stage[i];
		entries[shown] = (struct plot_legend_entry){names[shown], lines[shown], PLOT_LINE};
		shown++;
	}
	if (shown == 0)
		return plot_absent(p, "no measured stage has three due times");
	entries[shown] = (struct plot_legend_entry){"Poisson", "lt -1 lw 1 dt 2", PLOT_LINE};
	plot_title(p, "Gaps between arrivals");
	plot_say(
		p, "Cumulative distribution of the gaps between due times, as shares of the mean gap of the stage, beside that "
		   "of a Poisson process. Bursts have more short gaps.");
	int more = plot_stages_missing(p, &stages, shown, &entries[shown + 1], missing);
	plot_legend(p, entries, shown + 1 + more);
	plot_axis_label(p, "x", "gap / mean gap of the stage");
	plot_axis_label(p, "y", "share of gaps");
	plot_axis_shares(p, "y");
	plot_command(p, "set logscale x\nset xrange [0.01:10]\nset xtics ('0.01' 0.01, '0.1' 0.1, '1' 1, '10' 10)");
	plot_axis_set(p, "x", (struct plot_axis){0.01, 10, true}, "");
	plot_panel(p, PANEL_POINTS);
	for (int i = 0; i < shown; i++)
		plot_series(p, &(struct plot_series){
						   .name = names[i], .table = i, .x = 0, .y = 1, .stage = of_stage[i], .drawn = {i + 2}});
	plot_part(p, "set samples 200\nplot 1-exp(-x) with lines lt -1 lw 1 dt 2");
	for (int i = 0; i < shown; i++)
		plot_part(p, ", \\\n     data index %d using ($1<0.01?0.01:$1):2 with fsteps lt %d", i, i + 1);
	plot_part(p, "\n");
	return 1;
}
