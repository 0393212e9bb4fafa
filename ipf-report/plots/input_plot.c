/* TTFT against the length of the prompt: points or, of many, cells; and the median of prompts of like length. */
#include "plots/plot_kind.h"

#include "absent.h"
#include "cli/units.h"
#include "plots/density.h"
#include "plots/objective_lines.h"
#include "plots/plot_panels.h"

#include <math.h>
#include <stdlib.h>

enum { POINTS_MOST = 2000, MEDIANS = 12, MEDIAN_LEAST = 8 };

struct input_point {
	double tokens, ms;
	int64_t n;
};

static int by_tokens(const void *a, const void *b)
{
	const struct input_point *x = a, *y = b;
	if (x->tokens != y->tokens)
		return x->tokens < y->tokens ? -1 : 1;
	return (x->ms > y->ms) - (x->ms < y->ms);
}

static int by_ms(const void *a, const void *b)
{
	double x = ((const struct input_point *)a)->ms, y = ((const struct input_point *)b)->ms;
	return (x > y) - (x < y);
}

/* The points of the successful requests in measured stages. NULL: out of memory. */
static struct input_point *gather(const struct run_data *run, int64_t *count)
{
	struct input_point *points = calloc((size_t)run->row_count + 1, sizeof *points);
	*count = 0;
	for (int64_t i = 0; points && i < run->row_count; i++) {
		const struct row *row = &run->rows[i];
		if (row->ok && run->schedule.stages[row->stage].measured && row_get(row, ROW_INPUT_TOKENS) != IPF_ABSENT &&
		    row_get(row, METRIC_TTFT) != IPF_ABSENT)
			points[(*count)++] = (struct input_point){(double)row_get(row, ROW_INPUT_TOKENS),
			                                          (double)row_get(row, METRIC_TTFT) / 1e6, row->n};
	}
	return points;
}

/* A table of medians, each of as many requests, in the order of their tokens; these are sorted within. Requests of one
 * length are not divided. */
static int add_medians(struct plot *p, struct input_point *points, int64_t count)
{
	int groups = (int)fmin(MEDIANS, (double)(count / MEDIAN_LEAST));
	if (groups < 2)
		return -1;
	int block = plot_block(p, "input_tokens_median\tttft_median_ms\trequests");
	for (int64_t begin = 0, end; begin < count; begin = end) {
		end = begin + (count + groups - 1) / groups;
		end = end > count || count - end < MEDIAN_LEAST ? count : end;
		while (end < count && points[end].tokens == points[end - 1].tokens)
			end++;
		int64_t n = end - begin;
		double tokens = (points[begin + (n - 1) / 2].tokens + points[begin + n / 2].tokens) / 2;
		qsort(points + begin, (size_t)n, sizeof *points, by_ms);
		double ms = (points[begin + (n - 1) / 2].ms + points[begin + n / 2].ms) / 2;
		plot_row(p, (double[]){tokens, ms, (double)n}, 3);
	}
	return block;
}

/* The lines of the plot command up to the medians. */
static int draw_points(struct plot *p, const struct input_point *points, int64_t count, const struct plot_axis *x,
                       const struct plot_axis *y)
{
	struct density d;
	if (count <= POINTS_MOST) {
		int block = plot_block(p, "input_tokens\tttft_ms\tn");
		for (int64_t i = 0; i < count; i++)
			plot_row(p, (double[]){points[i].tokens, points[i].ms, (double)points[i].n}, 3);
		plot_panel(p, PANEL_POINTS);
		plot_series(p, &(struct plot_series){
						   .name = "requests", .table = block, .x = 0, .y = 1, .n = 2, .stage = -1, .drawn = {1}});
		plot_part(p, "plot data index %d using 1:2 with points lc rgb '#90%06x' pt 7 ps 0.4", block,
		          (unsigned)plot_colours[PLOT_SERIES].light);
		return 0;
	}
	density_init(&d, x, y, DENSITY_COLUMNS_MOST);
	for (int64_t i = 0; i < count; i++)
		density_add(&d, points[i].tokens, points[i].ms, 1);
	density_draw(&d, p, "input_tokens", "ttft_ms", "requests");
	bool failed = !d.cells;
	density_release(&d);
	return failed ? -1 : 0;
}

int make_input_plot(const struct plot_kind *kind, const struct plot_input *input, struct plot *p)
{
	int64_t count;
	double low = INFINITY, high = 0;
	struct input_point *points = gather(input->run, &count);
	(void)kind;
	if (!points)
		return -1;
	qsort(points, (size_t)count, sizeof *points, by_tokens);
	for (int64_t i = 0; i < count; i++) {
		low = points[i].ms > 0 ? fmin(low, points[i].ms) : low;
		high = fmax(high, points[i].ms);
	}
	if (count < 2 || points[0].tokens == points[count - 1].tokens) {
		free(points);
		return plot_absent(p, count < 2 ? "fewer than two requests have a TTFT and a known prompt length"
		                                : "all prompts have the same length");
	}
	plot_title(p, "TTFT against prompt length");
	char all[32], least[32], most[32];
	plot_say(p, "The time to first token, from the start, of %s requests with %s to %s input tokens.",
	         format_whole(count, all), format_whole((int64_t)points[0].tokens, least),
	         format_whole((int64_t)points[count - 1].tokens, most));
	struct plot_axis x = plot_axis_linear(p, "x", "input tokens", points[count - 1].tokens);
	struct plot_legend_entry entries[OBJECTIVE_LINES_MOST];
	struct objective_lines limits;
	objective_lines_find(&limits, input->run->slo, METRIC_TTFT);
	high = objective_lines_widen(&limits, &low, high);
	if (objective_lines_draw(&limits, p, "y", entries))
		plot_legend(p, entries, limits.count);
	struct plot_axis y = plot_axis_ms(p, "y", "TTFT", fmax(low, high * 1e-4), high);
	int made = draw_points(p, points, count, &x, &y) < 0 ? -1 : 1;
	plot_panel_requests(p, "input_tokens", "ttft_ms", REQUESTS_OK);
	int medians = add_medians(p, points, count);
	if (medians >= 0) {
		plot_command(p, ", \\\n     data index %d using 1:2 with linespoints lt 2", medians);
		plot_series(
			p, &(struct plot_series){.name = "median", .table = medians, .x = 0, .y = 1, .stage = -1, .drawn = {2}});
		plot_say(p, "The line shows medians of requests with prompts of like length.");
	} else {
		plot_part(p, "\n");
	}
	free(points);
	return made;
}
