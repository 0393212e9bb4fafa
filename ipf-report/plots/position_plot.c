/* Inter-token latency against the position in the answer, in bins that double: of one stage its percentiles, of several
 * the median of each. */
#include "plots/plot_kind.h"

#include "figures/gap_positions.h"
#include "plots/plot_panels.h"
#include "plots/plot_style.h"
#include "plots/stage_choice.h"

#include <math.h>
#include <string.h>

static const double percentile_list[] = {50, 90, 99};
enum { SHOWN = 3, MARKS_MOST = 13 };
static const char *const percentile_names[SHOWN] = {"p50", "p90", "p99"};

/* Settings common to the lines, in ms. */
struct extent {
	double low, high, last[STAGE_LINES_MOST];
	int first_bin, end_bin;
	bool few; /* samples, for some percentile that is drawn */
};

static int bin_of(int64_t position)
{
	return 63 - __builtin_clzll((unsigned long long)position);
}

static void widen(struct extent *e, double ms, int64_t n, double p)
{
	e->low = ms > 0 ? fmin(e->low, ms) : e->low;
	e->high = fmax(e->high, ms);
	e->few |= n < (int64_t)samples_needed(p);
}

/* A table of a stage; -1 for all. 1; 0: it has no positions; -1: out of memory. */
static int add_table(struct plot *p, const struct plot_input *input, int32_t stage, bool percentiles, struct extent *e)
{
	struct gap_positions found;
	int got = gap_positions_find(&found, input->run, stage);
	if (got > 0)
		plot_block(p, "from\tto\tgaps\tmean_ms\tp50_ms\tp90_ms\tp99_ms");
	for (int i = 0; got > 0 && i < found.count; i++) {
		const struct histogram *gaps = found.list[i].gaps;
		int64_t n = histogram_count(gaps);
		double row[4 + SHOWN] = {(double)found.list[i].from, (double)found.list[i].to, (double)n,
		                         histogram_mean(gaps) * 1e-6};
		for (int k = 0; k < SHOWN; k++) {
			row[4 + k] = histogram_percentile(gaps, percentile_list[k]) * 1e-6; /* as in the figures */
			if (k == 0 || percentiles)
				widen(e, row[4 + k], n, percentile_list[k]);
			if (percentiles)
				e->last[k] = row[4 + k];
		}
		plot_row(p, row, 4 + SHOWN);
		e->first_bin = bin_of(found.list[i].from) < e->first_bin ? bin_of(found.list[i].from) : e->first_bin;
		e->end_bin = bin_of(found.list[i].from) + 1 > e->end_bin ? bin_of(found.list[i].from) + 1 : e->end_bin;
	}
	gap_positions_release(&found);
	return got;
}

/* The bins are equally wide, with the positions at which they begin between them. */
static void draw_positions(struct plot *p, const struct extent *e)
{
	int every = (e->end_bin - e->first_bin) / MARKS_MOST + 1;
	plot_part(p, "set xrange [%d:%d]\nset xtics (", e->first_bin, e->end_bin);
	for (int bin = e->first_bin; bin <= e->end_bin; bin += every) {
		long long position = 1LL << bin;
		bool thousands = position >= 8192;
		plot_part(p, "%s'%lld%s' %d", bin > e->first_bin ? ", " : "", thousands ? position / 1024 : position,
		          thousands ? "Ki" : "", bin);
	}
	plot_command(p, ")");
	/* the middle of a bin is where it begins, on a scale of powers of two that is half a bin longer at its ends */
	plot_axis_set(p, "x", (struct plot_axis){exp2(e->first_bin - 0.5), exp2(e->end_bin - 0.5), true}, "");
}

/* The lines of the plot command: the percentiles of all gaps, or the medians of stages. */
static void note_panel(struct plot *p, const struct stage_choice *lines, bool percentiles)
{
	int count = percentiles ? SHOWN : lines->count;
	plot_panel(p, PANEL_POINTS);
	for (int i = 0; i < count; i++)
		plot_series(p, &(struct plot_series){.name = percentiles ? percentile_names[i] : lines->name[i],
		                                     .table = percentiles ? 0 : i,
		                                     .x = 0,
		                                     .y = percentiles ? 4 + i : 4,
		                                     .stage = percentiles ? -1 : lines->stage[i],
		                                     .drawn = {i + 1, count + i + 1}});
}

static void draw(struct plot *p, const struct extent *e, const char *x_label, const struct stage_choice *lines,
                 bool percentiles)
{
	plot_axis_label(p, "x", x_label);
	draw_positions(p, e);
	struct plot_axis y = plot_axis_ms(p, "y", percentiles ? "ITL" : "median ITL", e->low, e->high);
	plot_command(p, "place(from) = log(from) / log(2) + 0.5");
	if (percentiles) {
		struct plot_end_label labels[SHOWN];
		for (int i = 0; i < SHOWN; i++)
			labels[i] = (struct plot_end_label){percentile_names[i], e->last[i], i + 1};
		plot_margin(p, "rmargin", 0.91);
		plot_end_labels(p, &y, labels, SHOWN);
		note_panel(p, lines, percentiles);
		plot_part(p, "plot for [i=0:2] data using (place($1)):5+i with linespoints lt i+1");
		for (int i = 0; i < SHOWN; i++)
			plot_hollow(p,
			            &(struct plot_hollow){0, i + 1, "(place($1))", 5 + i, 3, samples_needed(percentile_list[i])});
	} else {
		note_panel(p, lines, percentiles);
		plot_part(p, "plot for [i=0:%d] data index i using (place($1)):5 with linespoints lt i+1", lines->count - 1);
		for (int i = 0; i < lines->count; i++)
			plot_hollow(p, &(struct plot_hollow){i, i + 1, "(place($1))", 5, 3, samples_needed(50)});
	}
	plot_part(p, "\n");
}

static void draw_legend(struct plot *p, const struct stage_choice *stages, const struct extent *e, bool percentiles)
{
	struct plot_legend_entry entries[STAGE_LINES_MOST + 2];
	char names[STAGE_LINES_MOST][64], lines[STAGE_LINES_MOST][24], missing[48];
	int count = 0;
	for (int i = 0; i < stages->count && !percentiles; i++) {
		plot_shorten(names[i], sizeof names[i], stages->name[i], stages->count > 2 ? 14 : 24);
		snprintf(lines[i], sizeof lines[i], "lt %d", i + 1);
		entries[count++] = (struct plot_legend_entry){names[i], lines[i], PLOT_LINE_AND_POINT};
	}
	if (!percentiles)
		count += plot_stages_missing(p, stages, stages->count, &entries[count], missing);
	if (e->few) {
		plot_say(p, "Hollow points have too few gaps for their percentile.");
		entries[count++] = (struct plot_legend_entry){"hollow points: too few gaps", NULL, PLOT_LINE};
	}
	if (count)
		plot_legend(p, entries, count);
}

/* Why a run with gaps has no positions. */
static const char *why_absent(const struct run_data *run)
{
	if (run->pooled_count == 0)
		return "there are no gaps between tokens";
	if (strcmp(run_data_itl(run, 0), "request") == 0 || strcmp(run_data_definition(run, 0), "ipf") != 0)
		return "a sample of inter-token latency is the mean of a request";
	return "the results do not have gaps by position: ipf-collect has to make them again";
}

int make_position_plot(const struct plot_kind *kind, const struct plot_input *input, struct plot *p)
{
	struct extent e = {INFINITY, 0, {NAN, NAN, NAN, NAN, NAN}, ITL_POSITION_BINS, 0, false};
	struct stage_choice stages, lines = {.count = 0};
	(void)kind;
	choose_stages(input->figures, &stages);
	bool percentiles = stages.of == 1;
	plot_title(p, percentiles ? "ITL against position in the answer" : "Median ITL against position in the answer");
	plot_say(p, "Inter-token latency by position in the answer, in bins that double: the first gap, the next two, four "
	            "and so on. Later positions are those of longer answers only.");
	for (int i = 0; i < stages.count; i++) {
		int got = add_table(p, input, percentiles ? -1 : stages.stage[i], percentiles, &e);
		if (got < 0)
			return -1;
		if (got <= 0)
			continue;
		lines.stage[lines.count] = stages.stage[i];
		lines.name[lines.count++] = stages.name[i];
	}
	if (lines.count == 0)
		return plot_absent(p, why_absent(input->run));
	if (e.end_bin - e.first_bin < 2)
		return plot_absent(p, "no answer has more than one gap");
	if (percentiles)
		plot_say(p, "In the last bin, p50 is %s ms and p99 is %s ms.", PLOT_NUMBER(e.last[0]), PLOT_NUMBER(e.last[2]));
	lines.of = stages.of;
	draw_legend(p, &lines, &e, percentiles);
	bool tokens = strcmp(run_data_itl(input->run, 0), "token") == 0;
	draw(p, &e, tokens ? "number of the token in the answer" : "number of the gap in the answer", &lines, percentiles);
	return 1;
}
