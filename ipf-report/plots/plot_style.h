/* How all plots look: size of the text, lines, axes, colours.
 *
 * Lines differ in colour, in their dashes and in their points, so they are told apart in grey, too. The colours are
 * those of Okabe and Ito ("Color Universal Design", 2008), which colour-blind readers can tell apart. Text is large
 * enough to be read when the picture is shown at half its size.
 */
#ifndef REPORT_PLOT_STYLE_H
#define REPORT_PLOT_STYLE_H

#include "plots/plot.h"

enum plot_format { PLOT_SVG, PLOT_PNG, PLOT_PDF };
/* "svg", "png", "pdf", NULL */
extern const char *const plot_format_names[];

/* A colour of plots, and its equivalent on a dark page. The first three are text and axes, grid, and background. */
struct plot_colour {
	const char *name; /* "ink", "1": of the CSS variable --plot-NAME and of the classes */
	uint32_t light, dark;
};
enum {
	PLOT_INK,
	PLOT_GRID,
	PLOT_PAPER,
	PLOT_SERIES,
	PLOT_SERIES_MOST = 6,
	PLOT_COLOURS = PLOT_SERIES + PLOT_SERIES_MOST
};
extern const struct plot_colour plot_colours[PLOT_COLOURS];

/* The title is label 1, in the middle, and that many pixels below the top; label 2 is that of the y axis. Labels and
 * arrows from PLOT_LEGEND on are those of legends. */
enum { PLOT_TITLE_AT = 20, PLOT_LEGEND = 100 };
/* The server is label 3, in a strip of so many pixels at the bottom. */
enum { PLOT_FOOT = 22 };

/* The area of a plot that sets no margin. */
extern const struct plot_area plot_usual_area;

/* The commands before those of a plot: terminal, encoding, line types 1 to PLOT_SERIES_MOST, border, grid. */
void plot_style_begin(const struct plot *p, enum plot_format format, struct buffer *script);

/* Sets the range, the marks and the label of axis "x" or "y" for values from 0 to `high` at least: linear, from 0. */
struct plot_axis plot_axis_linear(struct plot *p, const char *axis, const char *label, double high);
/* The same for times in ms from `low` to `high`: in the unit that fits; logarithmic if they span more than a factor
 * of PLOT_LOG_FROM. */
#define PLOT_LOG_FROM 40
struct plot_axis plot_axis_ms(struct plot *p, const char *axis, const char *label, double low, double high);
/* The x axis for the time of a run in seconds, in s, min or h; if not `named`, with marks but without words. */
struct plot_axis plot_axis_run(struct plot *p, double low_s, double high_s, bool named);
/* The y axis of a small panel, without a label: three marks at most, for values from 0 to `high`, and for times. */
struct plot_axis plot_axis_panel(struct plot *p, double high);
struct plot_axis plot_axis_panel_ms(struct plot *p, double low, double high);
/* The axis of a cumulative distribution: from 0 to 100 %. */
void plot_axis_shares(struct plot *p, const char *axis);
/* The label alone, of an axis the caller sets. */
void plot_axis_label(struct plot *p, const char *axis, const char *label);
/* Notes an axis whose commands the caller writes: its range in the values of the data, and the unit of these. */
void plot_axis_set(struct plot *p, const char *axis, struct plot_axis range, const char *unit);
/* The name alone, for a panel without an axis label. */
void plot_axis_name(struct plot *p, const char *axis, const char *name);
/* Sets a margin, "lmargin" to "tmargin", at this share of the picture. */
void plot_margin(struct plot *p, const char *margin, double at);
/* Where a value is between the ends of the axis, from 0 to 1. */
double plot_axis_place(const struct plot_axis *axis, double value);

/* The least number of 1, 2 or 5 times a power of ten, or with `fine` also of 1.5, 2.5, 3, 4, 6 and 8 times it, that is
 * not less; of the value 0: 1. */
double plot_round_up(double value, bool fine);

/* Words at the right ends of lines, beside the axis: at its bottom if the value is below it. They move apart if they
 * would overlap. */
struct plot_end_label {
	const char *text;
	double value; /* NAN: none */
	int series;   /* its line type, from 1 */
};
void plot_end_labels(struct plot *p, const struct plot_axis *y, struct plot_end_label *labels, int count);

/* A legend: samples of lines with their names, one beside the other, as many as fit, and in more rows if they do not.
 * gnuplot's own is not used, since it takes the widths of texts for larger than they are. */
enum plot_sample { PLOT_LINE, PLOT_LINE_AND_POINT, PLOT_POINT };
struct plot_legend_entry {
	const char *name;
	const char
		*line; /* how it is drawn, as in "lt 1"; a colour, as in "fc rgb 'red'", for a filled box; NULL: words only */
	enum plot_sample sample;
};
/* Above the plot area, which begins below it. */
void plot_legend(struct plot *p, const struct plot_legend_entry *entries, int count);
/* `missing` stages out of `all` have no point in the plot: says so, with the reason as in "no request ended within the
 * window", and sets an entry of the legend, whose words are in `words`. The number of entries: 0 or 1. */
int plot_missing(struct plot *p, int missing, int all, const char *why, struct plot_legend_entry *entry,
                 char words[48]);
/* Makes points of a line hollow where a column has fewer samples than needed: goes on with a plot command, behind the
 * line, whose points it covers with smaller ones of the paper's colour. */
struct plot_hollow {
	int block;      /* the data's: its index */
	int series;     /* line type, from 1 */
	const char *x;  /* as in "using": a column, or an expression in parentheses */
	int y, samples; /* columns */
	size_t needed;
};
void plot_hollow(struct plot *p, const struct plot_hollow *hollow);
/* In one row that ends `right` pixels from the right edge and is `down` pixels below the top. */
void plot_legend_right(struct plot *p, const struct plot_legend_entry *entries, int count, int right, int down);

#endif
