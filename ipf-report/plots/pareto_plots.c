/* A user's speed against the system's: output tokens per second of one request (1 / median TPOT) and of all together,
 * or of each accelerator. A point for each measured stage; a line joins those not beaten in both. */
#include "plots/plot_kind.h"

#include "plots/plot_panels.h"
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

/* In the order of the user's tokens per second, and how many measured stages have none. NULL: out of memory. */
static struct pareto_point *gather(const struct run_figures *figures, double devices, int *count, int *missing)
{
	struct pareto_point *points = calloc(figures->count + 1, sizeof *points);
	*count = *missing = 0;
	for (size_t i = 0; points && i < figures->count; i++) {
		const struct figures *f = &figures->stages[i];
		const struct metric_summary *tpot = &f->start[METRIC_TPOT];
		if (f->measured && tpot->n > 0 && tpot->median > 0 && isfinite(tpot->median) && f->output_per_s > 0)
			points[(*count)++] = (struct pareto_point){f, 1e3 / tpot->median, f->output_per_s / devices, true};
		else
			*missing += f->measured && figures_requests(f) > 0;
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

/* ---- numbers beside the points ---- */

/* in pixels: the area between the axes, and a number of so many characters */
enum { AREA_WIDTH = 500, AREA_HEIGHT = 240, CHARACTER = 9, NUMBER_HEIGHT = 17, POINT_RADIUS = 6, LINE_SAMPLES = 40 };

struct box {
	double left, right, low, high; /* in pixels from the origin */
};

/* The area that numbers must not cover. */
struct placing {
	const struct pareto_point *points;
	int count;
	const struct plot_axis *x, *y;
	struct box *placed;
	int placed_count;
};

static double pixel_x(const struct placing *all, double user)
{
	return plot_axis_place(all->x, user) * AREA_WIDTH;
}

static double pixel_y(const struct placing *all, double system)
{
	return plot_axis_place(all->y, system) * AREA_HEIGHT;
}

static bool covers(const struct box *box, double x, double y, double margin)
{
	return x > box->left - margin && x < box->right + margin && y > box->low - margin && y < box->high + margin;
}

/* Whether the line from one point of the front to the next goes through the box. */
static bool covers_front(const struct placing *all, const struct box *box)
{
	const struct pareto_point *from = NULL;
	for (int i = 0; i < all->count; i++) {
		const struct pareto_point *to = &all->points[i];
		if (!to->front)
			continue;
		for (int k = 0; from && k <= LINE_SAMPLES; k++) {
			double share = k / (double)LINE_SAMPLES;
			if (covers(box, pixel_x(all, from->user + (to->user - from->user) * share),
			           pixel_y(all, from->system + (to->system - from->system) * share), 2))
				return true;
		}
		from = to;
	}
	return false;
}

static bool is_free(const struct placing *all, const struct box *box)
{
	if (box->left < 0 || box->right > AREA_WIDTH || box->low < 0 || box->high > AREA_HEIGHT)
		return false;
	for (int i = 0; i < all->count; i++)
		if (covers(box, pixel_x(all, all->points[i].user), pixel_y(all, all->points[i].system), POINT_RADIUS))
			return false;
	for (int i = 0; i < all->placed_count; i++) {
		const struct box *other = &all->placed[i];
		if (box->left < other->right && other->left < box->right && box->low < other->high && other->low < box->high)
			return false;
	}
	return !covers_front(all, box);
}

/* Beside the point, above or below it: the first free place. */
static bool place(struct placing *all, const struct pareto_point *point)
{
	static const int ways[][2] = {{-1, 0}, {1, 0}, {0, 1}, {0, -1}, {-1, -1}, {1, 1}, {-1, 1}, {1, -1}};
	char text[32];
	double half_width = snprintf(text, sizeof text, "%.3g", point->f->offered) * CHARACTER / 2.0;
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
		double x = pixel_x(all, point->user) + ways[i][0] * (half_width + POINT_RADIUS + 3);
		double y = pixel_y(all, point->system) + ways[i][1] * (NUMBER_HEIGHT / 2.0 + POINT_RADIUS + 1);
		struct box box = {x - half_width, x + half_width, y - NUMBER_HEIGHT / 2.0, y + NUMBER_HEIGHT / 2.0};
		if (is_free(all, &box)) {
			all->placed[all->placed_count++] = box;
			return true;
		}
	}
	return false;
}

/* A table of the offered rates and of the middles of their numbers; points whose number would cover something have
 * none. 0: there is no number; -1: out of memory. */
static int add_numbers(struct plot *p, struct placing *all)
{
	int block = 0;
	all->placed = calloc((size_t)all->count, sizeof *all->placed);
	for (int i = 0; all->placed && i < all->count; i++) {
		const struct pareto_point *point = &all->points[i];
		if (isnan(point->f->offered) || !place(all, point))
			continue;
		const struct box *box = &all->placed[all->placed_count - 1];
		if (block == 0)
			block = plot_block(p,
			                   "user_tokens_per_s\toutput_tokens_per_s\toffered_per_s\tnumber_x_share\tnumber_y_share");
		plot_row(p,
		         (double[]){point->user, point->system, point->f->offered, (box->left + box->right) / 2 / AREA_WIDTH,
		                    (box->low + box->high) / 2 / AREA_HEIGHT},
		         5);
	}
	bool failed = !all->placed;
	free(all->placed);
	return failed ? -1 : block;
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

/* -1: out of memory. */
static int draw(struct plot *p, const struct pareto_point *points, int count, int missing, const char *system)
{
	double user_most = 0, system_most = 0;
	bool beaten = false;
	for (int i = 0; i < count; i++) {
		user_most = fmax(user_most, points[i].user);
		system_most = fmax(system_most, points[i].system);
		beaten |= !points[i].front;
	}
	add_points(p, points, count, true);
	int rest = beaten ? add_points(p, points, count, false) : 0; /* for gnuplot, a table without rows is none */
	struct plot_axis x = plot_axis_linear(p, "x", "output tokens per second of a user", user_most);
	struct plot_axis y = plot_axis_linear(p, "y", system, system_most * 1.06);
	struct placing all = {.points = points, .count = count, .x = &x, .y = &y};
	int numbers = add_numbers(p, &all), shown = 1;
	char left_out[48];
	struct plot_legend_entry entries[4] = {{"best trade-offs", "lt 1", PLOT_LINE_AND_POINT}};
	if (beaten)
		entries[shown++] = (struct plot_legend_entry){"beaten in both", "lt 6 pt 6", PLOT_POINT};
	if (numbers > 0)
		entries[shown++] = (struct plot_legend_entry){"numbers: offered requests/s", NULL, PLOT_LINE};
	shown += plot_missing(p, missing, missing + count, "no TPOT, or no tokens that came while they lasted",
	                      &entries[shown], left_out);
	plot_legend(p, entries, shown);
	plot_panel(p, PANEL_POINTS);
	for (int i = 0; i < 1 + beaten; i++)
		plot_series(p,
		            &(struct plot_series){
						.name = entries[i].name, .table = i ? rest : 0, .x = 0, .y = 1, .stage = -1, .drawn = {i + 1}});
	plot_part(p, "plot data index 0 using 1:2 with linespoints lt 1");
	if (beaten)
		plot_part(p, ", data index %d using 1:2 with points lt 6 pt 6", rest);
	if (numbers > 0)
		plot_part(p, ", data index %d using ($4*%.9g):($5*%.9g):(sprintf('%%.3g', $3)) with labels center", numbers,
		          x.high, y.high);
	plot_part(p, "\n");
	return numbers;
}

int make_pareto_plot(const struct plot_kind *kind, const struct plot_input *input, struct plot *p)
{
	bool each = strcmp(kind->name, "pareto-gpu") == 0;
	int count, missing, devices = each ? accelerators_of(input->run) : 1;
	if (devices == 0)
		return plot_absent(p, "no accelerator was sampled");
	struct pareto_point *points = gather(input->figures, devices, &count, &missing);
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
	int drawn = draw(p, points, count, missing,
	                 each ? "output tokens/s per accelerator" : "output tokens per second of all");
	free(points);
	return drawn < 0 ? -1 : 1;
}
