/* Requests as lanes, one above the other in the order of their starts: how long each waited before its start, then for
 * its first token, then until its end. The height of a bar tells these apart without colours.
 *
 * If there are more requests than LANES_MOST, only some are shown. If a request takes a good part of the run, every
 * n-th one. If it would be a dot, those starting one after another from half of LANES_MOST before the moment with the
 * most requests in flight. */
#include "plots/plot_kind.h"

#include "absent.h"
#include "cli/units.h"
#include "plots/plot_panels.h"
#include "plots/plot_style.h"
#include "plots/stage_choice.h"

#include <math.h>
#include <stdlib.h>

enum { LANES_MOST = 60, SHORTEST = 300 };
/* A request taking less of the run than this is a dot. */
#define LENGTH_LEAST 0.02

struct lane {
	double due_s, start_s, first_s,
		end_s; /* due: of the start if there is none; first: NAN if there is no first token */
	bool ok;
	int64_t n;
};

static int by_start(const void *a, const void *b)
{
	const struct lane *x = a, *y = b;
	if (x->start_s != y->start_s)
		return x->start_s < y->start_s ? -1 : 1;
	return (x->end_s > y->end_s) - (x->end_s < y->end_s);
}

/* Lanes of all requests shown, started and ended. NULL: out of memory. */
static struct lane *gather(const struct run_data *run, int64_t *count)
{
	struct lane *lanes = calloc((size_t)run->row_count + 1, sizeof *lanes);
	*count = 0;
	for (int64_t i = 0; lanes && i < run->row_count; i++) {
		const struct row *row = &run->rows[i];
		if (row->start_ns == IPF_ABSENT || row->end_ns == IPF_ABSENT || !stage_is_shown(run, row->stage))
			continue;
		int64_t shift = run->parts[row->part].shift_ns, ttft = row_get(row, METRIC_TTFT);
		lanes[(*count)++] = (struct lane){
			.due_s = (double)((row->due_ns == IPF_ABSENT ? row->start_ns : row->due_ns) + shift) / 1e9,
			.start_s = (double)(row->start_ns + shift) / 1e9,
			.first_s = ttft == IPF_ABSENT ? NAN : (double)(row->start_ns + ttft + shift) / 1e9,
			.end_s = (double)(row->end_ns + shift) / 1e9,
			.ok = row->ok,
			.n = row->n,
		};
	}
	if (lanes)
		qsort(lanes, (size_t)*count, sizeof *lanes, by_start);
	return lanes;
}

static int by_number(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* The number of the lane at whose start the most requests are in flight; -1: out of memory. */
static int64_t busiest(const struct lane *lanes, int64_t count)
{
	double *ends = calloc((size_t)count, sizeof *ends);
	int64_t ended = 0, most = -1, found = -1;
	for (int64_t i = 0; ends && i < count; i++)
		ends[i] = lanes[i].end_s;
	if (ends)
		qsort(ends, (size_t)count, sizeof *ends, by_number);
	for (int64_t i = 0; ends && i < count; i++) {
		while (ends[ended] < lanes[i].start_s)
			ended++;
		if (i - ended > most) {
			most = i - ended;
			found = i;
		}
	}
	free(ends);
	return found;
}

/* Moves the lanes to be shown to the front. Returns how many they are; -1: out of memory. */
static int choose(struct lane *lanes, int64_t count, struct plot *p)
{
	double length = 0, begin = INFINITY, end = -INFINITY;
	char all[32];
	plot_title(p, "Requests");
	if (count <= LANES_MOST)
		return (int)count;
	for (int64_t i = 0; i < count; i++) {
		length += (lanes[i].end_s - lanes[i].start_s) / (double)count;
		begin = fmin(begin, lanes[i].start_s);
		end = fmax(end, lanes[i].end_s);
	}
	if (length >= LENGTH_LEAST * (end - begin)) {
		plot_title(p, "%d of %s requests, at equal distances", LANES_MOST, format_whole(count, all));
		for (int64_t i = 0; i < LANES_MOST; i++)
			lanes[i] = lanes[i * (count - 1) / (LANES_MOST - 1)];
		return LANES_MOST;
	}
	plot_title(p, "%d of %s requests, when most were in flight", LANES_MOST, format_whole(count, all));
	int64_t middle = busiest(lanes, count), first = middle - LANES_MOST / 2;
	first = first < 0 ? 0 : first > count - LANES_MOST ? count - LANES_MOST : first;
	for (int64_t i = 0; i < LANES_MOST; i++)
		lanes[i] = lanes[first + i];
	return middle < 0 ? -1 : LANES_MOST;
}

/* The y axis has no marks, and the first lane is on top. */
static void note_panel(struct plot *p, int lanes)
{
	static const char *const times[] = {"due", "start", "first token", "end"};
	plot_axis_set(p, "y", (struct plot_axis){lanes, 0, false}, "");
	plot_panel(p, PANEL_LANES);
	for (int i = 0; i < 4; i++)
		plot_series(p, &(struct plot_series){.name = times[i], .table = 0, .x = 1 + i, .y = 0, .n = 6, .stage = -1});
}

/* `whole`: from the beginning of the run, if most of it is shown. A bar shorter than a line's width is drawn as
 * long. */
static void draw(struct plot *p, const struct lane *lanes, int count, bool whole)
{
	double begin = INFINITY, end = -INFINITY;
	bool failed = false;
	plot_block(p, "lane\tdue_s\tstart_s\tfirst_token_s\tend_s\tok\tn");
	for (int i = 0; i < count; i++) {
		const struct lane *lane = &lanes[i];
		plot_row(
			p, (double[]){i + 1, lane->due_s, lane->start_s, lane->first_s, lane->end_s, lane->ok, (double)lane->n}, 7);
		begin = fmin(begin, fmin(lane->due_s, lane->start_s));
		end = fmax(end, lane->end_s);
		failed |= !lane->ok;
	}
	const struct plot_legend_entry entries[] = {{"waits", "lt -1 lw 1.5", PLOT_LINE},
	                                            {"for the first token", "lc rgb '#d55e00' lw 3", PLOT_LINE},
	                                            {"tokens", "lc rgb '#0072b2' lw 7", PLOT_LINE},
	                                            {"failed", "lt -1 pt 2 ps 0.8", PLOT_POINT}};
	plot_legend(p, entries, 3 + failed);
	plot_axis_run(p, whole && end - begin > begin ? fmin(begin, 0) : begin, end, true);
	plot_axis_label(p, "y", "requests");
	plot_command(p, "set yrange [%d:0]\nunset ytics\nset border 1", count < 12 ? 13 : count + 1);
	note_panel(p, count < 12 ? 13 : count + 1);
	plot_command(
		p,
		"plot data using 2:1:($3-$2):(0) with vectors nohead lt -1 lw 1, \\\n"
		"     data using 3:1:3:(strcol(4) eq 'NaN' ? $5 : $4):($1-0.18):($1+0.18) with boxxyerror lc rgb '#d55e00', \\\n"
		"     data using 4:1:4:($5 < $4 + %.9g ? $4 + %.9g : $5):($1-0.42):($1+0.42) with boxxyerror lc rgb '#0072b2', \\\n"
		"     data using ($6>0?NaN:$5):1 with points lt -1 pt 2 ps 0.5",
		(end - begin) / SHORTEST, (end - begin) / SHORTEST);
}

int make_lane_plot(const struct plot_kind *kind, const struct plot_input *input, struct plot *p)
{
	int64_t count;
	(void)kind;
	if (input->run->part_count > 1 && !input->run->shards)
		return plot_absent(p, "repeats of a run have no time in common");
	struct lane *lanes = gather(input->run, &count);
	if (!lanes)
		return -1;
	int shown = count ? choose(lanes, count, p) : 0;
	if (shown > 0) {
		plot_say(p,
		         "%d requests over time, in the order of their starts: how long each waited before its start, then for "
		         "its first token, then until its end.",
		         shown);
		draw(p, lanes, shown, !input->run->only_stage);
	}
	free(lanes);
	return shown < 0 ? -1 : shown ? 1 : plot_absent(p, "no request started");
}
