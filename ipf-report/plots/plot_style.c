#include "plots/plot_style.h"

#include "cli/terminal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const plot_format_names[] = {[PLOT_SVG] = "svg", [PLOT_PNG] = "png", [PLOT_PDF] = "pdf", NULL};

const struct plot_colour plot_colours[PLOT_COLOURS] = {
	[PLOT_INK] = {"ink", 0x000000, 0xe6e6e6},      [PLOT_GRID] = {"grid", 0xd8d8d8, 0x444444},
	[PLOT_PAPER] = {"paper", 0xffffff, 0x16181c},  [PLOT_SERIES] = {"1", 0x0072b2, 0x56b4e9},
	[PLOT_SERIES + 1] = {"2", 0xd55e00, 0xff8f40}, [PLOT_SERIES + 2] = {"3", 0x009e73, 0x2fcf9f},
	[PLOT_SERIES + 3] = {"4", 0xcc79a7, 0xe8a5c8}, [PLOT_SERIES + 4] = {"5", 0xe69f00, 0xf5c04d},
	[PLOT_SERIES + 5] = {"6", 0x666666, 0xb0b0b0},
};

const struct plot_area plot_usual_area = {.left = 0.165, .right = 0.945, .top = 0.88, .bottom = 0.17};

static const int points[PLOT_SERIES_MOST] = {7, 5, 9, 13, 11, 6}; /* all filled, but for the last */

/* The same proportions in every format: a pixel of SVG is two of PNG, and 1/100 inch in PDF. */
static void set_terminal(const struct plot *p, enum plot_format format, struct buffer *script)
{
	if (format == PLOT_SVG)
		buffer_format(script, "set terminal svg noenhanced size %d,%d font 'sans-serif,17' background '#ffffff'\n",
		              p->width, p->height);
	else if (format == PLOT_PNG)
		buffer_format(
			script,
			"set terminal pngcairo noenhanced size %d,%d font 'sans,12.5' fontscale 2 linewidth 2 pointscale 2 "
			"background '#ffffff'\n",
			2 * p->width, 2 * p->height);
	else
		buffer_format(
			script,
			"set terminal pdfcairo noenhanced size %.2fin,%.2fin font 'sans,12' fontscale 0.75 linewidth 1.5 pointscale 0.8\n",
			p->width / 100.0, p->height / 100.0);
}

void plot_style_begin(const struct plot *p, enum plot_format format, struct buffer *script)
{
	static const char *const dashes[PLOT_SERIES_MOST] = {"1",          "(9,4)",          "(3,3)",
	                                                     "(12,3,2,3)", "(12,3,2,3,2,3)", "(2,5)"};
	buffer_text(script, "reset\nset encoding utf8\n");
	set_terminal(p, format, script);
	/* whether a font has these characters (plot_quote); viewers of SVG have their own fonts */
	buffer_text(
		script,
		format == PLOT_SVG
			? "glyphs(list) = 1\n"
			: "glyphs(list) = strlen(system(\"fc-list ':charset=\".list.\"' family </dev/null 2>/dev/null\")) > 0\n");
	for (int i = 0; i < PLOT_SERIES_MOST; i++)
		buffer_format(script, "set linetype %d lc rgb '#%06x' lw 2.2 dt %s pt %d ps 0.9\n", i + 1,
		              plot_colours[PLOT_SERIES + i].light, dashes[i], points[i]);
	buffer_format(script,
	              "set border 3 lw 1 lc rgb '#%06x'\nset tics nomirror out scale 0.6\n"
	              "set grid lt -1 lc rgb '#%06x' lw 1 dt 1\nset style fill solid 1 noborder\n"
	              "set xtics offset 0,0.4\nunset key\n"
	              "set lmargin at screen %.3f\nset rmargin at screen %.3f\nset tmargin at screen %.2f\n"
	              "set bmargin at screen %.2f\n",
	              plot_colours[PLOT_INK].light, plot_colours[PLOT_GRID].light, plot_usual_area.left,
	              plot_usual_area.right, plot_usual_area.top, plot_usual_area.bottom);
}

/* ---- axes ---- */

double plot_round_up(double value, bool fine)
{
	static const double steps[] = {1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10}, coarse[] = {1, 2, 5, 10};
	if (!(value > 0))
		return 1;
	double power = pow(10, floor(log10(value)));
	const double *list = fine ? steps : coarse;
	int i = 0;
	while (list[i] < 10 && list[i] * power < value * (1 - 1e-9))
		i++;
	return list[i] * power;
}

/* The greatest of 1, 2 or 5 times a power of ten not above it. */
static double round_down(double value)
{
	double power = pow(10, floor(log10(value) + 1e-9)), digit = value / power * (1 + 1e-9);
	return power * (digit >= 5 ? 5 : digit >= 2 ? 2 : 1);
}

double plot_axis_place(const struct plot_axis *axis, double value)
{
	if (axis->log)
		return (log(value) - log(axis->low)) / (log(axis->high) - log(axis->low));
	return (value - axis->low) / (axis->high - axis->low);
}

void plot_axis_set(struct plot *p, const char *axis, struct plot_axis range, const char *unit)
{
	struct plot_scale *scale = *axis == 'x' ? &p->x : &p->y;
	scale->axis = range;
	scale->unit = unit;
}

void plot_axis_name(struct plot *p, const char *axis, const char *name)
{
	struct plot_scale *scale = *axis == 'x' ? &p->x : &p->y;
	snprintf(scale->name, sizeof scale->name, "%s", name);
}

void plot_margin(struct plot *p, const char *margin, double at)
{
	*(*margin == 'l'   ? &p->area.left
	  : *margin == 'r' ? &p->area.right
	  : *margin == 't' ? &p->area.top
	                   : &p->area.bottom) = at;
	plot_command(p, "set %s at screen %.5f", margin, at);
}

/* A mark in few characters: 0.25, 1500, 20k, 1.5M. */
static const char *mark_text(double value, char text[32])
{
	double size = fabs(value);
	if (size >= 999.5e6)
		snprintf(text, 32, "%.4gG", value / 1e9);
	else if (size >= 999.5e3)
		snprintf(text, 32, "%.4gM", value / 1e6);
	else if (size >= 9999.5)
		snprintf(text, 32, "%.4gk", value / 1e3);
	else
		snprintf(text, 32, "%.4g", value);
	return text;
}

/* Marks every `step` from low to high, in units of `unit`; 0: without numbers. */
static void set_marks(struct plot *p, const char *axis, const struct plot_axis *range, double step, double unit)
{
	char text[32] = "";
	plot_part(p, "set %srange [%.9g:%.9g]\nset %stics (", axis, range->low, range->high, axis);
	int64_t first = (int64_t)ceil(range->low / step - 1e-9);
	for (int64_t i = first; (double)i * step <= range->high + step * 1e-9; i++)
		plot_part(p, "%s'%s' %.9g", i > first ? ", " : "", unit > 0 ? mark_text((double)i * step / unit, text) : "",
		          (double)i * step);
	plot_command(p, ")");
}

/* The distance of marks, of which there are at most `most` intervals. */
static double mark_step(double span, int most)
{
	return plot_round_up(span / most, false);
}

/* The place of the y axis's label does not depend on how wide gnuplot takes the marks to be. */
void plot_axis_label(struct plot *p, const char *axis, const char *label)
{
	bool x = strcmp(axis, "x") == 0;
	plot_axis_name(p, axis, label);
	plot_part(p, x ? "set xlabel " : "set label 2 ");
	plot_quoted(p, label);
	plot_command(p, x ? " offset 0,1.15" : " at screen 0.022, graph 0.5 center rotate by 90");
}

static void set_label(struct plot *p, const char *axis, const char *label, const char *unit)
{
	char text[160];
	snprintf(text, sizeof text, unit ? "%s (%s)" : "%s", label, unit);
	plot_axis_label(p, axis, text);
	plot_axis_name(p, axis, label); /* a value beside it has its own unit */
}

struct plot_axis plot_axis_linear(struct plot *p, const char *axis, const char *label, double high)
{
	double step = mark_step(high > 0 ? high : 1, 6);
	struct plot_axis range = {0, ceil((high > 0 ? high : 1) / step - 1e-9) * step, false};
	set_marks(p, axis, &range, step, 1);
	set_label(p, axis, label, NULL);
	plot_axis_set(p, axis, range, "");
	return range;
}

static const struct {
	double ms;
	const char *name;
} units[] = {{1e-3, "µs"}, {1, "ms"}, {1e3, "s"}, {60e3, "min"}, {3600e3, "h"}};

static struct plot_axis linear_ms(struct plot *p, const char *axis, const char *label, double high)
{
	int unit = high < 1 ? 0 : high < 10e3 ? 1 : high < 20 * 60e3 ? 2 : high < 10 * 3600e3 ? 3 : 4;
	double scale = units[unit].ms, step = mark_step(high / scale, 6) * scale;
	struct plot_axis range = {0, ceil(high / step - 1e-9) * step, false};
	set_marks(p, axis, &range, step, scale);
	set_label(p, axis, label, units[unit].name);
	plot_axis_set(p, axis, range, "ms");
	return range;
}

/* A mark with its unit. */
static const char *ms_text(double ms, char text[32])
{
	int unit = ms < 1 - 1e-9 ? 0 : ms < 1000 * (1 - 1e-9) ? 1 : 2;
	snprintf(text, 32, "%.4g %s", ms / units[unit].ms, units[unit].name);
	return text;
}

/* Marks at powers of ten and, if these are few, at 2 and 5 times them; each with its unit. */
static void set_log_marks(struct plot *p, const char *axis, const struct plot_axis *range)
{
	static const double steps[] = {1, 2, 5};
	char text[32];
	double decades = log10(range->high / range->low);
	int every = decades > 7 ? 2 : 1, first = (int)floor(log10(range->low) + 1e-9), shown = 0;
	plot_part(p, "set logscale %s\nset %srange [%.9g:%.9g]\nset %stics (", axis, axis, range->low, range->high, axis);
	for (int k = first; pow(10, k) <= range->high * (1 + 1e-9); k++)
		for (int i = 0; i < 3; i++) {
			double value = steps[i] * pow(10, k);
			if (value < range->low * (1 - 1e-9) || value > range->high * (1 + 1e-9))
				continue;
			bool named = (i == 0 || decades <= 2.4) && k % every == 0;
			plot_part(p, "%s'%s' %.9g %d", shown++ ? ", " : "", named ? ms_text(value, text) : "", value, i > 0);
		}
	plot_command(p, ")");
}

struct plot_axis plot_axis_ms(struct plot *p, const char *axis, const char *label, double low, double high)
{
	if (!(high > 0))
		high = 1;
	low = fmax(low, 1e-3);
	if (high / low < PLOT_LOG_FROM)
		return linear_ms(p, axis, label, high);
	struct plot_axis range = {round_down(low), plot_round_up(high, false), true};
	set_log_marks(p, axis, &range);
	set_label(p, axis, label, NULL);
	plot_axis_set(p, axis, range, "ms");
	return range;
}

struct plot_axis plot_axis_run(struct plot *p, double low_s, double high_s, bool named)
{
	static const double minutes[] = {1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440};
	double span = high_s - low_s, unit = span < 300 ? 1 : span < 5 * 3600 ? 60 : 3600, step = mark_step(span, 7);
	for (size_t i = 0; unit > 1 && i < sizeof minutes / sizeof *minutes; i++)
		if ((step = 60 * minutes[i]) >= span / 7)
			break;
	struct plot_axis range = {low_s, high_s, false};
	set_marks(p, "x", &range, fmax(step, span / 50), named ? unit : 0);
	if (named)
		set_label(p, "x", "time of the run", unit == 1 ? "s" : unit == 60 ? "min" : "h");
	plot_axis_name(p, "x", "time");
	plot_axis_set(p, "x", range, "s");
	return range;
}

void plot_axis_shares(struct plot *p, const char *axis)
{
	plot_axis_set(p, axis, (struct plot_axis){0, 1, false}, "share");
	plot_command(p,
	             "set %srange [0:1]\nset %stics ('0' 0, '25 %%%%' 0.25, '50 %%%%' 0.5, '75 %%%%' 0.75, '90 %%%%' 0.9, "
	             "'100 %%%%' 1)",
	             axis, axis);
}

struct plot_axis plot_axis_panel(struct plot *p, double high)
{
	struct plot_axis range = {0, plot_round_up(high, true), false};
	set_marks(p, "y", &range, range.high / 2, 1);
	plot_axis_set(p, "y", range, "");
	return range;
}

struct plot_axis plot_axis_panel_ms(struct plot *p, double low, double high)
{
	char text[2][32];
	low = fmax(low, 1e-3);
	if (!(high / low >= PLOT_LOG_FROM)) {
		struct plot_axis range = {0, plot_round_up(high, true), false};
		plot_command(p, "set yrange [0:%.9g]\nset ytics ('0' 0, '%s' %.9g, '%s' %.9g)", range.high,
		             ms_text(range.high / 2, text[0]), range.high / 2, ms_text(range.high, text[1]), range.high);
		plot_axis_set(p, "y", range, "ms");
		return range;
	}
	struct plot_axis range = {pow(10, floor(log10(low) + 1e-9)), pow(10, ceil(log10(high) - 1e-9)), true};
	int decades = (int)round(log10(range.high / range.low)), every = (decades + 2) / 3;
	plot_part(p, "set logscale y\nset yrange [%.9g:%.9g]\nset ytics (", range.low, range.high);
	for (int i = 0; i <= decades; i += every)
		plot_part(p, "%s'%s' %.9g", i ? ", " : "", ms_text(range.low * pow(10, i), text[0]), range.low * pow(10, i));
	plot_command(p, ")");
	plot_axis_set(p, "y", range, "ms");
	return range;
}

/* ---- words beside lines ---- */

/* The least distance of two, as a share of the axis. */
#define LABEL_DISTANCE 0.075

static int by_value(const void *a, const void *b)
{
	double x = ((const struct plot_end_label *)a)->value, y = ((const struct plot_end_label *)b)->value;
	if (isnan(x) || isnan(y))
		return isnan(x) - isnan(y);
	return (x > y) - (x < y);
}

void plot_end_labels(struct plot *p, const struct plot_axis *y, struct plot_end_label *labels, int count)
{
	double at[16];
	int n = 0;
	qsort(labels, (size_t)count, sizeof *labels, by_value);
	for (; n < count && n < 16 && !isnan(labels[n].value); n++) {
		at[n] = fmax(plot_axis_place(y, labels[n].value), 0); /* 0 has no place on a logarithmic axis */
		if (n && at[n] < at[n - 1] + LABEL_DISTANCE)
			at[n] = at[n - 1] + LABEL_DISTANCE;
	}
	for (int i = n - 1; i >= 0; i--) {
		double most = i == n - 1 ? 1 : at[i + 1] - LABEL_DISTANCE;
		at[i] = fmin(at[i], most);
	}
	for (int i = 0; i < n; i++) {
		plot_part(p, "set label ");
		plot_quoted(p, labels[i].text);
		plot_command(p, " at graph 1.02,%.4f left tc rgb '#%06x'", at[i],
		             plot_colours[PLOT_SERIES + labels[i].series - 1].light);
	}
}

/* ---- legends ---- */

/* in pixels: a sample, the height of a box, the space behind it, a character of the mean width, what a wide one has
 * more, the space to the next entry, a row */
enum { SAMPLE = 40, BOX = 14, SAMPLE_GAP = 8, CHARACTER = 9, WIDER = 3, ENTRY_GAP = 18, ROW = 24 };

static int sample_width(const struct plot_legend_entry *entry)
{
	return entry->line ? SAMPLE + SAMPLE_GAP : 0;
}

static int entry_width(const struct plot_legend_entry *entry)
{
	int width = sample_width(entry) + (int)terminal_width_of(slice_of(entry->name)) * CHARACTER;
	for (const char *at = entry->name; *(at += strcspn(at, "0123456789=<>%@mwMW")); at++)
		width += WIDER;
	return width;
}

static void draw_sample(struct plot *p, const struct plot_legend_entry *entry, int number, double x, double y)
{
	double left = x / p->width, right = (x + SAMPLE) / p->width, half = BOX / 2.0 / p->height;
	if (strncmp(entry->line, "fc", 2) == 0)
		plot_command(p, "set object %d rectangle from screen %.5f,%.5f to screen %.5f,%.5f %s fs solid noborder",
		             number, left, y - half, right, y + half, entry->line);
	else if (entry->sample != PLOT_POINT)
		plot_command(p, "set arrow %d from screen %.5f,%.5f to screen %.5f,%.5f nohead %s", number, left, y, right, y,
		             entry->line);
	if (entry->sample != PLOT_LINE)
		plot_command(p, "set label %d '' at screen %.5f,%.5f point %s", number + 1, (left + right) / 2, y, entry->line);
}

static void draw_entry(struct plot *p, const struct plot_legend_entry *entry, int number, double x, double y)
{
	if (entry->line)
		draw_sample(p, entry, number, x, y);
	plot_part(p, "set label %d ", number);
	plot_quoted(p, entry->name);
	plot_command(p, " at screen %.5f,%.5f left", (x + sample_width(entry)) / p->width, y);
}

void plot_legend(struct plot *p, const struct plot_legend_entry *entries, int count)
{
	double left = 0.165 * p->width, x = left, most = 0.985 * p->width, height = p->height;
	int row = 0;
	for (int i = 0; i < count; i++) {
		if (x > left && x + entry_width(&entries[i]) > most) {
			x = left;
			row++;
		}
		draw_entry(p, &entries[i], PLOT_LEGEND + 2 * i, x, 1 - (PLOT_TITLE_AT + (row + 1) * ROW) / height);
		x += entry_width(&entries[i]) + ENTRY_GAP;
	}
	plot_margin(p, "tmargin", 1 - (PLOT_TITLE_AT + (row + 1.8) * ROW) / height);
}

int plot_missing(struct plot *p, int missing, int all, const char *why, struct plot_legend_entry *entry, char words[48])
{
	if (missing == 0)
		return 0;
	plot_say(p, "%d of %d stages are not shown: %s.", missing, all, why);
	snprintf(words, 48, "%d of %d stages not shown", missing, all);
	*entry = (struct plot_legend_entry){words, NULL, PLOT_LINE};
	return 1;
}

void plot_hollow(struct plot *p, const struct plot_hollow *hollow)
{
	plot_part(p, ", \\\n     data index %d using %s:($%d < %zu ? $%d : NaN) with points pt %d ps 0.4 lc rgb '#%06x'",
	          hollow->block, hollow->x, hollow->samples, hollow->needed, hollow->y, points[hollow->series - 1],
	          (unsigned)plot_colours[PLOT_PAPER].light);
}

void plot_legend_right(struct plot *p, const struct plot_legend_entry *entries, int count, int right, int down)
{
	double x = p->width - right + ENTRY_GAP;
	for (int i = 0; i < count; i++)
		x -= entry_width(&entries[i]) + ENTRY_GAP;
	for (int i = 0; i < count; i++) {
		draw_entry(p, &entries[i], PLOT_LEGEND + 2 * i, x, 1 - down / (double)p->height);
		x += entry_width(&entries[i]) + ENTRY_GAP;
	}
}
