/* Latency and throughput of stages against their load: the offered rate, the users of closed loops or, if a run has
 * stages of both kinds, the mean number of requests in flight. The first table has a row for each measured stage, in
 * the order of the load. */
#include "plots/plot_kind.h"

#include "absent.h"
#include "plots/objective_lines.h"
#include "plots/plot_panels.h"
#include "plots/plot_style.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>

struct load_point {
	const struct figures *f;
	double load;
};

enum load_kind { BY_RATE, BY_USERS, BY_IN_FLIGHT };
static const struct {
	const char *column, *label, *load;
} load_kinds[] = {
	[BY_RATE] = {"offered_per_s", "offered requests per second", "offered rate"},
	[BY_USERS] = {"users", "users", "users"},
	[BY_IN_FLIGHT] = {"in_flight", "requests in flight (mean)", "load"},
};

struct load_axis {
	struct load_point *points;
	int count;
	enum load_kind by;
	double low, high;
};

static int by_load(const void *a, const void *b)
{
	const struct load_point *x = a, *y = b;
	if (x->load != y->load)
		return x->load < y->load ? -1 : 1;
	return (x->f > y->f) - (x->f < y->f); /* as scheduled */
}

static bool is_shown(const struct figures *f)
{
	return f->measured && figures_requests(f) > 0;
}

/* Common to all stages. */
static enum load_kind kind_of_load(const struct plot_input *input)
{
	const struct schedule *schedule = &input->run->schedule;
	bool rates = true, users = true;
	for (size_t i = 0; i < input->figures->count; i++) {
		const struct figures *f = &input->figures->stages[i];
		if (!is_shown(f))
			continue;
		rates &= !isnan(f->offered);
		users &= schedule->stages[i].closed && schedule->stages[i].slots != IPF_ABSENT;
	}
	return rates ? BY_RATE : users ? BY_USERS : BY_IN_FLIGHT;
}

/* The stages in the order of their load; 0: fewer than two loads, and why; -1: out of memory. */
static int gather(const struct plot_input *input, struct load_axis *axis, struct plot *p)
{
	const struct run_figures *figures = input->figures;
	*axis = (struct load_axis){.points = calloc(figures->count + 1, sizeof *axis->points), .by = kind_of_load(input)};
	if (!axis->points)
		return -1;
	for (size_t i = 0; i < figures->count; i++) {
		const struct figures *f = &figures->stages[i];
		double load = axis->by == BY_RATE    ? f->offered
		              : axis->by == BY_USERS ? (double)input->run->schedule.stages[i].slots
		                                     : f->in_flight_mean;
		if (is_shown(f) && !isnan(load))
			axis->points[axis->count++] = (struct load_point){f, load};
	}
	qsort(axis->points, (size_t)axis->count, sizeof *axis->points, by_load);
	if (axis->count > 0) {
		axis->low = axis->points[0].load;
		axis->high = axis->points[axis->count - 1].load;
	}
	return axis->count > 1 && axis->high > axis->low ? 1 : plot_absent(p, "no two measured stages differ in load");
}

/* For the percentiles reporting have; NAN: not one of these. */
static double percentile_of(const struct metric_summary *s, const struct percentiles *list, double p)
{
	for (int i = 0; i < list->count; i++)
		if (s->n > 0 && list->p[i] == p)
			return s->at[i];
	return s->n == 0 ? NAN : p == 50 ? s->median : p == 99 ? s->p99 : NAN;
}

static const struct metric_summary *summary_of(const struct figures *f, enum metric m)
{
	return metrics[m].from_due && f->due[m].n > 0 ? &f->due[m] : &f->start[m];
}

static const double shown_percentiles[] = {50, 90, 99};
enum { SHOWN = 3 };

#define KNEE_LINE "lt -1 lw 1.5 dt (6,4)"

/* Where the server is saturated: its interval as a band, the rate or the users as a line, which the legend names.
 * Returns how many entries it adds to the legend. */
static int mark_knee(struct plot *p, const struct load_axis *axis, const struct plot_input *input,
                     struct plot_legend_entry *entry, char name[48])
{
	const struct saturation *s = input->saturation;
	bool users = axis->by == BY_USERS;
	double at = s && users ? s->plateau.users : s ? s->knee.rate : NAN;
	if (axis->by == BY_IN_FLIGHT || !s || s->status != SATURATION_REACHED || s->by_users != users || isnan(at))
		return 0;
	plot_command(p,
	             "set object 1 rectangle from first %.9g, graph 0 to first %.9g, graph 1 behind fc rgb '#%06x' "
	             "fs solid noborder",
	             users ? s->plateau.users_low : s->low, users ? s->plateau.users_high : s->high,
	             (unsigned)plot_colours[PLOT_GRID].light);
	plot_command(p, "set arrow 1 from first %.9g, graph 0 to first %.9g, graph 1 nohead " KNEE_LINE, at, at);
	if (users)
		snprintf(name, 48, "capacity %s/s, from %s users on", PLOT_NUMBER(s->knee.rate), PLOT_NUMBER(at));
	else
		snprintf(name, 48, "capacity %s/s", PLOT_NUMBER(s->knee.rate));
	*entry = (struct plot_legend_entry){name, KNEE_LINE, PLOT_LINE};
	plot_say(p, "The server's capacity is %s requests per second, with a 95 %% interval from %s to %s.",
	         PLOT_NUMBER(s->knee.rate), PLOT_NUMBER(s->low), PLOT_NUMBER(s->high));
	if (users)
		plot_say(p, "%s users reach it, with an interval from %s to %s.", PLOT_NUMBER(at),
		         PLOT_NUMBER(s->plateau.users_low), PLOT_NUMBER(s->plateau.users_high));
	return 1;
}

static void draw_latency(struct plot *p, const struct load_axis *axis, const char *name, double low, double high,
                         const double last[SHOWN])
{
	static const char *const names[SHOWN] = {"p50", "p90", "p99"};
	struct plot_end_label labels[SHOWN];
	plot_axis_linear(p, "x", load_kinds[axis->by].label, axis->high);
	struct plot_axis y = plot_axis_ms(p, "y", name, low, high);
	for (int i = 0; i < SHOWN; i++)
		labels[i] = (struct plot_end_label){names[i], last[i], i + 1};
	plot_margin(p, "rmargin", 0.91);
	plot_end_labels(p, &y, labels, SHOWN);
	plot_panel(p, PANEL_STEPS);
	for (int i = 0; i < SHOWN; i++)
		plot_series(
			p, &(struct plot_series){
				   .name = names[i], .table = 0, .x = 0, .y = 1 + i, .stage = -1, .drawn = {i + 1, SHOWN + i + 1}});
	plot_part(p, "plot for [i=0:2] data using 1:2+i with linespoints lt i+1");
	for (int i = 0; i < SHOWN; i++)
		plot_hollow(p, &(struct plot_hollow){0, i + 1, "1", 2 + i, 5, samples_needed(shown_percentiles[i])});
	plot_part(p, "\n");
}

int make_rate_latency_plot(const struct plot_kind *kind, const struct plot_input *input, struct plot *p)
{
	struct load_axis axis;
	enum metric m = kind->metric;
	double low = INFINITY, high = -INFINITY, last[SHOWN] = {NAN, NAN, NAN};
	char columns[80];
	int made = gather(input, &axis, p);
	int missing = 0;
	bool due = made > 0, few = false;
	for (int i = 0; made > 0 && i < axis.count; i++)
		due &= summary_of(axis.points[i].f, m) == &axis.points[i].f->due[m];
	snprintf(columns, sizeof columns, "%s\tp50_ms\tp90_ms\tp99_ms\tn", load_kinds[axis.by].column);
	plot_block(p, columns);
	for (int i = 0; made > 0 && i < axis.count; i++) {
		const struct metric_summary *s = due ? &axis.points[i].f->due[m] : &axis.points[i].f->start[m];
		double row[SHOWN + 2] = {axis.points[i].load, [SHOWN + 1] = (double)s->n};
		few |= s->n > 0 && s->n < (int64_t)samples_needed(99);
		missing += s->n == 0;
		for (int k = 0; k < SHOWN; k++) {
			double ms = row[1 + k] = percentile_of(s, &input->options->percentiles, shown_percentiles[k]);
			low = isfinite(ms) && ms > 0 ? fmin(low, ms) : low;
			high = isfinite(ms) ? fmax(high, ms) : high;
			last[k] = isfinite(ms) ? ms : last[k];
		}
		plot_row(p, row, SHOWN + 2);
	}
	if (made > 0 && !isfinite(high))
		made = plot_absent(p, "no measured stage has this latency");
	if (made > 0) {
		char name[8] = "";
		for (int i = 0; metrics[m].name[i] && i < 7; i++)
			name[i] = (char)toupper((unsigned char)metrics[m].name[i]);
		plot_title(p, "%s against %s%s", name, load_kinds[axis.by].load, due ? ", from the due time" : "");
		plot_say(p, "Percentiles 50, 90 and 99 of the %s of each stage, from %s to %s %s.", name, PLOT_NUMBER(axis.low),
		         PLOT_NUMBER(axis.high), load_kinds[axis.by].label);
		plot_say(p, "At the highest load, p50 is %s ms and p99 is %s ms.", PLOT_NUMBER(last[0]), PLOT_NUMBER(last[2]));
		struct plot_legend_entry entries[3 + OBJECTIVE_LINES_MOST];
		char capacity[48], left_out[48];
		struct objective_lines limits;
		objective_lines_find(&limits, input->run->slo, m);
		high = objective_lines_widen(&limits, &low, high);
		int count = mark_knee(p, &axis, input, entries, capacity);
		count += objective_lines_draw(&limits, p, "y", &entries[count]);
		if (few) {
			plot_say(p, "Hollow points have too few samples for their percentile.");
			entries[count++] = (struct plot_legend_entry){"hollow points: too few samples", NULL, PLOT_LINE};
		}
		count += plot_missing(p, missing, axis.count, "no request of theirs has this latency", &entries[count],
		                      left_out);
		if (count)
			plot_legend(p, entries, count);
		draw_latency(p, &axis, name, low, high, last);
	}
	free(axis.points);
	return made;
}

/* In stages beyond the capacity, perhaps nothing ends while they last. */
static int mark_missing(struct plot *p, const struct load_axis *axis, struct plot_legend_entry *entry, char words[48])
{
	const char *why = NULL;
	int missing = 0;
	for (int i = 0; i < axis->count; i++) {
		const struct figures *f = axis->points[i].f;
		if (!isnan(f->completed))
			continue;
		why = f->no_throughput ? f->no_throughput : "their rate is not known";
		missing++;
	}
	return plot_missing(p, missing, axis->count, why, entry, words);
}

static void draw_throughput(struct plot *p, const struct load_axis *axis, const struct plot_input *input, double high,
                            bool good)
{
	struct plot_legend_entry entries[5] = {{"completed", "lt 1", PLOT_LINE_AND_POINT}};
	char capacity[48], left_out[48];
	int count = 1;
	plot_axis_linear(p, "x", load_kinds[axis->by].label, axis->high);
	plot_axis_linear(p, "y", "requests per second", high);
	if (good)
		entries[count++] = (struct plot_legend_entry){"goodput", "lt 2", PLOT_LINE_AND_POINT};
	if (axis->by == BY_RATE)
		entries[count++] = (struct plot_legend_entry){"as offered", "lt -1 lw 1 dt 2", PLOT_LINE};
	count += mark_knee(p, axis, input, &entries[count], capacity);
	count += mark_missing(p, axis, &entries[count], left_out);
	plot_legend(p, entries, count);
	plot_panel(p, PANEL_STEPS);
	for (int i = 0; i < 1 + good; i++)
		plot_series(p, &(struct plot_series){.name = entries[i].name,
		                                     .table = 0,
		                                     .x = 0,
		                                     .y = 1 + i,
		                                     .stage = -1,
		                                     .drawn = {i + 1 + (axis->by == BY_RATE)}});
	plot_part(p, "plot ");
	if (axis->by == BY_RATE)
		plot_part(p, "x with lines lt -1 lw 1 dt 2, ");
	plot_command(p, good ? "data using 1:2 with linespoints lt 1, data using 1:3 with linespoints lt 2"
	                     : "data using 1:2 with linespoints lt 1");
}

int make_rate_throughput_plot(const struct plot_kind *kind, const struct plot_input *input, struct plot *p)
{
	struct load_axis axis;
	double high = 0;
	bool good = false;
	char columns[80];
	(void)kind;
	int made = gather(input, &axis, p);
	if (made > 0) {
		plot_title(p, "Throughput against %s", load_kinds[axis.by].load);
		snprintf(columns, sizeof columns, "%s\tcompleted_per_s\tgoodput_per_s\toutput_tokens_per_s",
		         load_kinds[axis.by].column);
		plot_block(p, columns);
	}
	for (int i = 0; made > 0 && i < axis.count; i++) {
		const struct figures *f = axis.points[i].f;
		plot_row(p, (double[]){axis.points[i].load, f->completed, f->goodput, f->output_per_s}, 4);
		high = isnan(f->completed) ? high : fmax(high, f->completed);
		good |= !isnan(f->goodput);
	}
	if (made > 0 && !(high > 0))
		made = plot_absent(p, "no measured stage completed requests");
	if (made > 0) {
		plot_say(p, "Completed requests per second of each stage%s, from %s to %s %s; at most %s.",
		         good ? ", and those meeting all objectives" : "", PLOT_NUMBER(axis.low), PLOT_NUMBER(axis.high),
		         load_kinds[axis.by].label, PLOT_NUMBER(high));
		draw_throughput(p, &axis, input, axis.by == BY_RATE ? fmax(high, axis.high) : high, good);
	}
	free(axis.points);
	return made;
}
