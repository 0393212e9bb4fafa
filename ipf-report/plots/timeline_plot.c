/* The run over time, in panels one above the other: load, requests in flight, tokens, latency, failures, and the
 * metrics of servers and accelerators. A panel without data is left out. */
#include "plots/plot_kind.h"

#include "absent.h"
#include "cli/terminal.h"
#include "plots/objective_lines.h"
#include "plots/plot_panels.h"
#include "plots/plot_style.h"
#include "plots/stage_choice.h"
#include "safe_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS_MOST = 200, STAGE_MARKS_MOST = 12 };
/* The columns a stage's number needs, and those of a name cut and still says something. */
enum { STAGE_NUMBER_WIDTH = 2, STAGE_NAME_LEAST = 14 };
/* Room for the names below, if numbers are above: in characters; how many lines, and their height in pixels. */
enum { STAGE_ENTRY_WIDTH = 24, STAGE_LINE_WIDTH = 62, STAGE_LINES = 6, STAGE_LINE = 24 };
/* in pixels: words above all panels, words above a panel, its height, the space below it, and the x axis's */
enum { TOP = 56, HEAD = 26, BODY = 78, GAP = 8, BOTTOM = 60, LEFT = 84, RIGHT = 14 };

enum column {
	T,
	SCHEDULED,
	STARTED,
	COMPLETED,
	FAILED,
	IN_FLIGHT,
	INPUT_TOKENS,
	OUTPUT_TOKENS,
	TTFT_P50,
	TTFT_P99,
	ITL_P50,
	ITL_P99,
	E2E_P50,
	E2E_P99,
	LAG_P50,
	LAG_P99,
	RUNNING,
	WAITING,
	KV_CACHE,
	UTILIZATION,
	POWER,
	REPLICAS,
	MEMORY,
	FILES,
	COLUMNS
};
static const char column_names[] =
	"t_s\tscheduled_per_s\tstarted_per_s\tcompleted_per_s\tfailed_per_s\tin_flight\tinput_tokens_per_s\t"
	"output_tokens_per_s\tttft_p50_ms\tttft_p99_ms\titl_p50_ms\titl_p99_ms\te2e_p50_ms\te2e_p99_ms\tlag_p50_ms\tlag_p99_ms\t"
	"server_running\tserver_waiting\tkv_cache_usage\tgpu_utilization\tgpu_power_w\treplicas_ready\tprocess_memory_mb\t"
	"process_open_files";

struct time_table {
	double (*rows)[COLUMNS];
	int count;
	int64_t begin_ns, step_ns, end_ns;  /* end: of the last window, within the last step */
	double low[COLUMNS], high[COLUMNS]; /* for values that exist and, in `low`, are above 0 */
};

/* ---- data ---- */

static double percentile_ms(const struct histogram *h, double p)
{
	return h && histogram_count(h) > 0 ? histogram_percentile(h, p) / 1e6 : NAN;
}

static void fill_client(double row[COLUMNS], const struct window *w, double seconds)
{
	row[SCHEDULED] = (double)w->scheduled / seconds;
	row[STARTED] = (double)w->started / seconds;
	row[COMPLETED] = (double)w->ok / seconds;
	row[FAILED] = (double)window_failed(w) / seconds;
	row[IN_FLIGHT] = (double)w->in_flight_ns / 1e9 / seconds;
	row[INPUT_TOKENS] = (double)w->input_tokens / seconds;
	row[OUTPUT_TOKENS] = ((double)w->output_tokens + (double)w->failed_output_tokens) / seconds;
	const struct histogram *const latencies[] = {w->ttft_ns, w->itl_ns, w->e2e_ns, w->lag_ns};
	for (int i = 0; i < 4; i++) {
		row[TTFT_P50 + 2 * i] = percentile_ms(latencies[i], 50);
		row[TTFT_P50 + 2 * i + 1] = percentile_ms(latencies[i], 99);
	}
}

static void fill_servers(double row[COLUMNS], const struct plot_input *input, const struct sample_range *range)
{
	static const struct {
		enum column column;
		const char *name;
		bool mean, device;
	} gauges[] = {{RUNNING, "running", false, false},
	              {WAITING, "waiting", false, false},
	              {KV_CACHE, "kv_cache_usage", true, false},
	              {REPLICAS, "replicas_ready", false, false},
	              {UTILIZATION, "utilization", true, true},
	              {POWER, "power_w", false, true},
	              {MEMORY, "process_resident_memory_bytes", false, false},
	              {FILES, "process_open_fds", false, false}};
	int devices[64], count = 0;
	for (int i = 0; i < input->run->accelerators.count && count < 64; i++)
		devices[count++] = input->run->accelerators.devices[i].source;
	for (size_t i = 0; i < sizeof gauges / sizeof *gauges; i++) {
		const int *list = gauges[i].device ? devices : input->servers->sources;
		int n = gauges[i].device ? count : input->servers->sources_count;
		row[gauges[i].column] =
			n ? sample_store_gauge_total(input->run->samples, list, n, gauges[i].name, range, gauges[i].mean).mean
			  : NAN;
	}
	row[MEMORY] /= 1e6;
}

static void note_extent(struct time_table *t, const double row[COLUMNS])
{
	for (int c = 0; c < COLUMNS; c++) {
		t->high[c] = isnan(row[c]) ? t->high[c] : fmax(t->high[c], row[c]);
		t->low[c] = row[c] > 0 ? fmin(t->low[c], row[c]) : t->low[c];
	}
}

/* The sum of the windows from *at on that begin before `end_ns` and are of shown stages. NULL: out of memory.
 */
static struct window *sum_until(const struct run_data *run, size_t *at, int64_t end_ns, int64_t step_ns)
{
	struct window *sum = window_new(0, 0, step_ns);
	const struct window *w;
	for (; sum && (w = series_get(run->windows, *at)) && window_begin_ns(w) < end_ns; ++*at)
		if (stage_is_shown(run, (int32_t)w->stage))
			window_merge(sum, w);
	return sum;
}

/* The first and the last window of shown stages; false: there are not two. */
static bool find_ends(const struct run_data *run, const struct window **first, const struct window **last)
{
	const struct window *w;
	*first = *last = NULL;
	for (size_t i = 0; i < series_count(run->windows) && (w = series_get(run->windows, i)); i++) {
		if (!stage_is_shown(run, (int32_t)w->stage))
			continue;
		*first = *first ? *first : w;
		*last = w;
	}
	return *first && (*last)->number > (*first)->number;
}

/* 1; 0: there are too few windows; -1: out of memory. */
static int build(struct time_table *t, const struct plot_input *input)
{
	struct series *windows = input->run->windows;
	size_t at = 0;
	const struct window *first, *last;
	if (!find_ends(input->run, &first, &last))
		return 0;
	int64_t all = last->number - first->number + 1, each = (all + STEPS_MOST - 1) / STEPS_MOST;
	*t = (struct time_table){.begin_ns = window_begin_ns(first),
	                         .step_ns = each * series_every_ns(windows),
	                         .end_ns = window_begin_ns(last) + series_every_ns(windows),
	                         .count = (int)((all + each - 1) / each)};
	for (int c = 0; c < COLUMNS; c++) {
		t->low[c] = INFINITY;
		t->high[c] = -INFINITY;
	}
	t->rows = calloc((size_t)t->count, sizeof *t->rows);
	for (int i = 0; t->rows && i < t->count; i++) {
		const struct sample_range range = {t->begin_ns + i * t->step_ns, t->begin_ns + (i + 1) * t->step_ns};
		struct window *sum = sum_until(input->run, &at, range.end_ns, t->step_ns);
		if (!sum)
			return -1;
		t->rows[i][T] = (double)range.begin_ns / 1e9;
		fill_client(t->rows[i], sum, (double)t->step_ns / 1e9);
		fill_servers(t->rows[i], input, &range);
		note_extent(t, t->rows[i]);
		window_free(sum);
	}
	if (!t->rows)
		return -1;
	/* closed loops offer no rate */
	for (int i = 0; t->high[SCHEDULED] == 0 && i < t->count; i++)
		t->rows[i][SCHEDULED] = NAN;
	return 1;
}

/* ---- panels ---- */

struct line {
	enum column column;
	const char *name; /* in the key */
	bool steps;       /* a rate of the whole window, not a value in it */
};

struct panel {
	const char *title;
	struct line lines[3];
	bool latency, share;
	enum metric metric; /* a latency's */
	enum column needs;  /* it is shown if this one has a value … */
	bool above_zero;    /* … above 0 */
};

static const struct panel panels[] = {
	{"requests/s",
     {{SCHEDULED, "offered", true}, {STARTED, "achieved", true}, {COMPLETED, "completed", true}},
     .needs = STARTED},
	{"in flight", {{IN_FLIGHT, NULL, false}}, .needs = IN_FLIGHT},
	{"output tokens/s", {{OUTPUT_TOKENS, NULL, true}}, .needs = OUTPUT_TOKENS, .above_zero = true},
	{"TTFT",
     {{TTFT_P50, "p50", false}, {TTFT_P99, "p99", false}},
     .latency = true,
     .metric = METRIC_TTFT,
     .needs = TTFT_P50},
	{"ITL",
     {{ITL_P50, "p50", false}, {ITL_P99, "p99", false}},
     .latency = true,
     .metric = METRIC_ITL_MAX,
     .needs = ITL_P50},
	{"lag of the client",
     {{LAG_P50, "p50", false}, {LAG_P99, "p99", false}},
     .latency = true,
     .metric = METRIC_LAG,
     .needs = LAG_P50},
	{"failed/s", {{FAILED, NULL, true}}, .needs = FAILED, .above_zero = true},
	{"in the servers", {{RUNNING, "running", false}, {WAITING, "waiting", false}}, .needs = RUNNING},
	{"KV cache in use", {{KV_CACHE, NULL, false}}, .share = true, .needs = KV_CACHE},
	{"accelerators busy", {{UTILIZATION, NULL, false}}, .share = true, .needs = UTILIZATION},
	{"replicas ready", {{REPLICAS, NULL, false}}, .needs = REPLICAS},
	{"memory of the processes, MB", {{MEMORY, NULL, false}}, .needs = MEMORY},
	{"files open in the processes", {{FILES, NULL, false}}, .needs = FILES},
};
enum { PANELS = sizeof panels / sizeof *panels };

static bool is_shown(const struct time_table *t, const struct panel *panel)
{
	return panel->above_zero ? t->high[panel->needs] > 0 : t->high[panel->needs] > -INFINITY;
}

/* Three marks fit into the height of a panel. */
static void set_value_axis(struct plot *p, const struct time_table *t, const struct panel *panel,
                           const struct objective_lines *limits)
{
	double low = INFINITY, high = 0;
	for (int i = 0; i < 3 && panel->lines[i].column; i++) {
		low = fmin(low, t->low[panel->lines[i].column]);
		high = fmax(high, t->high[panel->lines[i].column]);
	}
	plot_command(p, "unset logscale y");
	high = objective_lines_widen(limits, &low, high);
	if (panel->latency) {
		plot_axis_panel_ms(p, low, high);
	} else if (panel->share) {
		plot_command(p, "set yrange [0:1]\nset ytics ('0' 0, '50 %%%%' 0.5, '100 %%%%' 1)");
		plot_axis_set(p, "y", (struct plot_axis){0, 1, false}, "share");
	} else {
		plot_axis_panel(p, high);
	}
}

/* How a line is drawn. The line of the offered load is broad and grey, behind the others. */
static const char *line_style(const struct line *line, int number, char style[64])
{
	if (line->column == SCHEDULED)
		snprintf(style, 64, "lt 1 dt 1 lw 4 lc rgb '#%06x'", (unsigned)plot_colours[PLOT_GRID].light);
	else
		snprintf(style, 64, "lt %d lw 2", number);
	return style;
}

/* The lines of a panel with values. Returns how many. */
static int lines_of(const struct panel *panel, const struct time_table *t, const struct line *lines[3])
{
	int count = 0;
	for (int i = 0; i < 3 && panel->lines[i].column; i++)
		if (panel->lines[i].column != SCHEDULED || t->high[SCHEDULED] > 0)
			lines[count++] = &panel->lines[i];
	return count;
}

static void note_panel(struct plot *p, const struct time_table *t, const struct panel *panel)
{
	const struct line *lines[3];
	int count = lines_of(panel, t, lines);
	plot_axis_name(p, "y", panel->title);
	plot_panel(p, PANEL_STEPS);
	for (int i = 0; i < count; i++)
		plot_series(p, &(struct plot_series){
						   .name = lines[i]->name ? lines[i]->name : panel->title,
						   .table = 0,
						   .x = T,
						   .y = (int)lines[i]->column,
						   .offset = (double)t->step_ns / 2e9,
						   .step_s = lines[i]->steps ? (double)t->step_ns / 1e9 : 0,
						   .stage = -1,
						   /* the area between the percentiles goes with the upper one */
						   .drawn = {i + 1 + panel->latency, panel->latency && i > 0 ? 1 : 0},
					   });
	if (panel->needs == FAILED)
		plot_panel_requests(p, "end_s", NULL, REQUESTS_FAILED);
	else if (panel->latency && panel->metric == METRIC_TTFT)
		plot_panel_requests(p, "first_s", NULL, REQUESTS_OK);
}

static void draw_lines(struct plot *p, const struct time_table *t, const struct panel *panel)
{
	double half_s = (double)t->step_ns / 2e9;
	char style[64];
	const struct line *lines[3];
	int count = lines_of(panel, t, lines);
	plot_part(p, "plot ");
	if (panel->latency)
		plot_part(p, "data using ($1+%.9g):%d:%d with filledcurves lc rgb '#c8%06x', ", half_s,
		          panel->lines[0].column + 1, panel->lines[1].column + 1, (unsigned)plot_colours[PLOT_SERIES].light);
	for (int i = 0; i < count; i++) {
		plot_part(p, "%sdata using ($1+%.9g):%d with %s %s%s", i ? ", " : "", half_s, lines[i]->column + 1,
		          lines[i]->steps ? "histeps" : "linespoints",
		          line_style(lines[i], (int)(lines[i] - panel->lines) + 1, style),
		          lines[i]->steps ? "" : " pt 7 ps 0.2");
	}
	plot_part(p, "\n");
}

static void draw_legend(struct plot *p, const struct time_table *t, const struct panel *panel, int down)
{
	struct plot_legend_entry entries[3];
	char styles[3][64];
	const struct line *lines[3];
	int count = lines_of(panel, t, lines);
	for (int i = 0; i < count; i++)
		entries[i] = (struct plot_legend_entry){
			lines[i]->name, line_style(lines[i], (int)(lines[i] - panel->lines) + 1, styles[i]), PLOT_LINE};
	plot_command(p, "unset for [i=%d:%d] label i\nunset for [i=%d:%d] arrow i", PLOT_LEGEND, PLOT_LEGEND + 5,
	             PLOT_LEGEND, PLOT_LEGEND + 5);
	if (count > 1)
		plot_legend_right(p, entries, count, RIGHT, down);
}

static void draw_panel(struct plot *p, const struct plot_input *input, const struct time_table *t,
                       const struct panel *panel, int top, bool last)
{
	struct plot_legend_entry unnamed[OBJECTIVE_LINES_MOST];
	struct objective_lines limits = {0};
	double height = p->height;
	plot_margin(p, "tmargin", 1 - (top + HEAD) / height);
	plot_margin(p, "bmargin", 1 - (top + HEAD + BODY) / height);
	plot_command(p, "set label 2 '%s' at graph 0,1.14 left", panel->title);
	if (panel->latency)
		objective_lines_find(&limits, input->run->slo, panel->metric);
	set_value_axis(p, t, panel, &limits);
	objective_lines_draw(&limits, p, "y", unnamed);
	plot_axis_run(p, (double)t->begin_ns / 1e9, (double)(t->begin_ns + t->count * t->step_ns) / 1e9, last);
	draw_legend(p, t, panel, top + HEAD / 2);
	note_panel(p, t, panel);
	draw_lines(p, t, panel);
	objective_lines_end(&limits, p);
}

/* ---- stages ---- */

/* The columns of text above a stage; a name may take one less, so it does not touch the next. */
static int stage_room(const struct stage_window *w, double span_s)
{
	return (int)((double)(w->end_ns - w->begin_ns) / 1e9 / span_s * (PLOT_WIDTH - LEFT - RIGHT) / 9.5) - 1;
}

/* Numbers are shorter than names, but names say more: these if enough of each can be read. */
static bool names_fit(const struct run_data *run, double span_s)
{
	for (size_t i = 0; i < run->schedule.count; i++) {
		struct stage_window w = run_data_window(run, (int32_t)i);
		int room = w.begin_ns == IPF_ABSENT ? 0 : stage_room(&w, span_s);
		int width = (int)terminal_width_of(slice_of(run->schedule.stages[i].name));
		if (room >= STAGE_NUMBER_WIDTH && room < STAGE_NAME_LEAST && room < width)
			return false;
	}
	return true;
}

static bool are_marked(const struct run_data *run)
{
	return run->schedule.count <= STAGE_MARKS_MOST && run->schedule.count >= 2 && !run->only_stage;
}

/* The stages' names by number, in lines below the plot: "1 constant   2 sweep 20/s". */
struct stage_lines {
	char text[STAGE_LINES][320];
	int count; /* 0: their names are above the plot, or nothing is */
};

static void list_stages(const struct run_data *run, double span_s, struct stage_lines *lines)
{
	size_t used = 0;
	lines->count = 0;
	if (!are_marked(run) || names_fit(run, span_s))
		return;
	for (size_t i = 0; i < run->schedule.count; i++) {
		char name[160], entry[200];
		plot_shorten(name, sizeof name, run->schedule.stages[i].name, STAGE_ENTRY_WIDTH);
		snprintf(entry, sizeof entry, "%zu %s", i + 1, name);
		size_t width = terminal_width_of(slice_of(entry));
		const bool fresh = lines->count == 0 || used + 3 + width > STAGE_LINE_WIDTH;
		if (fresh && lines->count == STAGE_LINES)
			return;
		char *line = lines->text[fresh ? lines->count++ : lines->count - 1];
		size_t len = fresh ? 0 : strlen(line);
		used = fresh ? width : used + 3 + width;
		snprintf(line + len, sizeof lines->text[0] - len, "%s%s", fresh ? "" : "   ", entry);
	}
}

/* Lines where stages begin, and their names above, or else their numbers, if there is room. */
static void mark_stages(struct plot *p, const struct plot_input *input, const struct time_table *t,
                        const struct stage_lines *lines)
{
	const struct run_data *run = input->run;
	double begin_s = (double)t->begin_ns / 1e9, span_s = (double)(t->count * t->step_ns) / 1e9;
	int marks = 0;
	char name[160], number[24];
	if (!are_marked(run))
		return;
	const bool names = lines->count == 0;
	for (size_t i = 0; i < run->schedule.count; i++) {
		struct stage_window w = run_data_window(run, (int32_t)i);
		if (w.begin_ns == IPF_ABSENT)
			continue;
		double from_s = (double)w.begin_ns / 1e9, to_s = (double)w.end_ns / 1e9;
		if (from_s > begin_s + span_s / 100)
			plot_command(p, "set arrow %d from first %.9g, graph 0 to first %.9g, graph 1 nohead lt -1 lw 1 dt (2,4)",
			             ++marks, from_s, from_s);
		if (stage_room(&w, span_s) < STAGE_NUMBER_WIDTH)
			continue;
		snprintf(number, sizeof number, "%zu", i + 1);
		plot_part(p, "set label %zu ", i + 10);
		plot_shorten(name, sizeof name, names ? run->schedule.stages[i].name : number, stage_room(&w, span_s));
		plot_quoted(p, name);
		plot_command(p, " at first %.9g, screen %.5f center", (from_s + to_s) / 2, 1 - 44.0 / p->height);
	}
	if (names)
		return;
	plot_command(p, "set label 9 'stage' at screen 0.022, screen %.5f left", 1 - 44.0 / p->height);
	plot_say(p, "Stages are numbered in the order of the schedule; their names are below the plot.");
	for (int i = 0; i < lines->count; i++) {
		plot_part(p, "set label %d ", 10 + STAGE_MARKS_MOST + i);
		plot_quoted(p, lines->text[i]);
		plot_command(p, " at screen 0.022, screen %.5f left",
		             (PLOT_FOOT + (lines->count - i) * STAGE_LINE - STAGE_LINE / 2.0) / p->height);
	}
}

static void draw(struct plot *p, const struct plot_input *input, const struct time_table *t)
{
	struct stage_lines lines;
	int shown = 0, last = 0, top = TOP;
	for (int i = 0; i < PANELS; i++)
		if (is_shown(t, &panels[i])) {
			shown++;
			last = i;
		}
	list_stages(input->run, (double)(t->count * t->step_ns) / 1e9, &lines);
	p->height = TOP + shown * (HEAD + BODY + GAP) + BOTTOM + lines.count * STAGE_LINE + PLOT_FOOT;
	p->multiplot = true;
	plot_command(p, "set multiplot");
	plot_margin(p, "lmargin", (double)LEFT / PLOT_WIDTH);
	plot_margin(p, "rmargin", 1 - (double)RIGHT / PLOT_WIDTH);
	mark_stages(p, input, t, &lines);
	for (int i = 0; i <= last; i++) {
		if (!is_shown(t, &panels[i]))
			continue;
		draw_panel(p, input, t, &panels[i], top, i == last);
		top += HEAD + BODY + GAP;
		if (top == TOP + HEAD + BODY + GAP)
			plot_command(p, "unset label 1\nunset label 3\nunset for [i=9:%d] label i",
			             10 + STAGE_MARKS_MOST + STAGE_LINES);
	}
	plot_command(p, "unset multiplot");
}

/* The columns that add up, so a part of the run has exact figures. */
static void note_range(struct plot *p, const struct time_table *t)
{
	static const struct plot_total totals[] = {
		{"requests scheduled", SCHEDULED, false}, {"requests started", STARTED, false},
		{"requests completed", COMPLETED, false}, {"requests failed", FAILED, false},
		{"input tokens", INPUT_TOKENS, false},    {"output tokens", OUTPUT_TOKENS, false},
		{"requests in flight", IN_FLIGHT, true},
	};
	plot_range(p, (double)t->step_ns / 1e9, (double)t->end_ns / 1e9, totals, sizeof totals / sizeof *totals);
}

int make_time_line_plot(const struct plot_kind *kind, const struct plot_input *input, struct plot *p)
{
	const struct run_data *run = input->run;
	struct time_table t = {0};
	(void)kind;
	if (run->part_count > 1 && !run->shards)
		return plot_absent(p, "repeats of a run have no time in common");
	if (!run->windows)
		return plot_absent(p, "the results have no windows");
	int made = build(&t, input);
	if (made > 0) {
		plot_title(p, run->only_stage ? "The stage over time" : "The run over time");
		plot_say(p, "Load, requests in flight, tokens and latency in %d steps of %s s.", t.count,
		         PLOT_NUMBER((double)t.step_ns / 1e9));
		plot_block(p, column_names);
		for (int i = 0; i < t.count; i++)
			plot_row(p, t.rows[i], COLUMNS);
		draw(p, input, &t);
		note_range(p, &t);
	} else if (made == 0) {
		plot_absent(p,
		            run->only_stage ? "the stage is shorter than two windows" : "the run is shorter than two windows");
	}
	free(t.rows);
	return made;
}
