/* What a user gets against what the system does: output tokens per second of one request (1 / median TPOT) and of all
 * together, or of each accelerator. A point for each measured stage; a line joins those that no other one beats in
 * both. */
#include "plots/plot_kind.h"

#include "plots/plot_style.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct pareto_point {
	const struct figures *f;
	double user, system;
	bool front;
};

static int by_user(const void *a, const void *b)
{
	const struct pareto_point *x = a, *y = b;
	if (x->user != y->user)
		return x->user < y->user ? -1 : 1;
	return (x->system > y->system) - (x->system < y->system);
}

/* Different accelerators, whichever part of the run sampled them. */
static int accelerators_of(const struct run_data *run)
{
	const struct gpu_device *d = run->accelerators.devices;
	int count = 0;
	for (int i = 0; i < run->accelerators.count; i++) {
		bool seen = false;
		for (int k = 0; k < i; k++)
			seen |= strcmp(d[i].host, d[k].host) == 0 && strcmp(d[i].device, d[k].device) == 0;
		count += !seen;
	}
	return count;
}

/* In the order of the user's tokens per second. NULL: out of memory. */
static struct pareto_point *gather(const struct run_figures *figures, double devices, int *count)
{
	struct pareto_point *points = calloc(figures->count + 1, sizeof *points);
	*count = 0;
	for (size_t i = 0; points && i < figures->count; i++) {
		const struct figures *f = &figures->stages[i];
		const struct metric_summary *tpot = &f->start[METRIC_TPOT];
		if (f->measured && tpot->n > 0 && tpot->median > 0 && isfinite(tpot->median) && f->output_per_s > 0)
			points[(*count)++] = (struct pareto_point){f, 1e3 / tpot->median, f->output_per_s / devices, true};
	}
	if (points)
		qsort(points, (size_t)*count, sizeof *points, by_user);
	double best = -INFINITY;
	for (int i = *count - 1; i >= 0; i--) {
		points[i].front = points[i].system > best;
		best = fmax(best, points[i].system);
	}
	return points;
}

/* A table of the offered rates, but for points so near to an earlier one that their numbers would overlap. */
static int add_numbers(struct plot *p, const struct pareto_point *points, int count, double user_most,
                       double system_most)
{
	int block = plot_block(p, "user_tokens_per_s\toutput_tokens_per_s\toffered_per_s");
	for (int i = 0; i < count; i++) {
		bool near = isnan(points[i].f->offered);
		for (int k = 0; k < i && !near; k++)
			near = fabs(points[i].user - points[k].user) < 0.12 * user_most &&
			       fabs(points[i].system - points[k].system) < 0.07 * system_most;
		if (!near)
			plot_row(p, (double[]){points[i].user, points[i].system, points[i].f->offered}, 3);
	}
	return block;
}

/* A table of the points on the front, or of the others. */
static int add_points(struct plot *p, const struct pareto_point *points, int count, bool front)
{
	int block = plot_block(p, "user_tokens_per_s\toutput_tokens_per_s\toffered_per_s");
	for (int i = 0; i < count; i++)
		if (points[i].front == front)
			plot_row(p, (double[]){points[i].user, points[i].system, points[i].f->offered}, 3);
	return block;
}

static void draw(struct plot *p, const struct pareto_point *points, int count, const char *system)
{
	double user_most = 0, system_most = 0;
	bool beaten = false, loads = false;
	for (int i = 0; i < count; i++) {
		user_most = fmax(user_most, points[i].user);
		system_most = fmax(system_most, points[i].system);
		beaten |= !points[i].front;
		loads |= !isnan(points[i].f->offered);
	}
	add_points(p, points, count, true);
	int rest = beaten ? add_points(p, points, count, false) : 0; /* for gnuplot, a table without rows is none */
	const struct plot_legend_entry entries[] = {{"best trade-offs", "lt 1", true},
	                                            {"numbers: offered requests/s", NULL, false},
	                                            {"beaten in both", "lt 6 lw 0 pt 6", true}};
	if (loads)
		plot_legend(p, entries, 2 + beaten);
	else
		plot_legend(p, (struct plot_legend_entry[]){entries[0], entries[2]}, 1 + beaten);
	int numbers = loads ? add_numbers(p, points, count, user_most, system_most) : 0;
	plot_axis_linear(p, "x", "output tokens per second of a user", user_most);
	plot_axis_linear(p, "y", system, system_most * 1.06);
	plot_part(p, "plot data index 0 using 1:2 with linespoints lt 1");
	if (beaten)
		plot_part(p, ", data index %d using 1:2 with points lt 6 pt 6", rest);
	if (loads)
		plot_part(p, ", data index %d using 1:2:(sprintf('%%.3g', $3)) with labels right offset -0.7,-0.7", numbers);
	plot_part(p, "\n");
}

int make_pareto_plot(const struct plot_kind *kind, const struct plot_input *input, struct plot *p)
{
	bool each = strcmp(kind->name, "pareto-gpu") == 0;
	int count, devices = each ? accelerators_of(input->run) : 1;
	if (devices == 0)
		return plot_absent(p, "no accelerator was sampled");
	struct pareto_point *points = gather(input->figures, devices, &count);
	if (!points)
		return -1;
	if (count < 2) {
		free(points);
		return plot_absent(p, "fewer than two measured stages have a TPOT and tokens per second");
	}
	plot_title(p, each ? "Tokens per second: a user's and each accelerator's"
	                   : "Tokens per second: a user's and the system's");
	plot_say(p, "Output tokens per second of one request (1 / median TPOT) and of %s, for %d stages.",
	         each ? "each accelerator" : "all requests together", count);
	draw(p, points, count, each ? "output tokens per second and accelerator" : "output tokens per second of all");
	free(points);
	return 1;
}
