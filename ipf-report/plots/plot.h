/* A plot as it is made: its data, the gnuplot commands drawing them, and the words about it.
 *
 *     struct plot p = {.name = "cdf-ttft", .width = 640, .height = 400};
 *     plot_title(&p, "Time to first token");
 *     plot_say(&p, "The share of requests …");
 *     int block = plot_block(&p, "value_ms\tshare");
 *     plot_row(&p, (double[]){12.5, 0.5}, 2);
 *     plot_command(&p, "plot data index %d using 1:2 with lines", block);
 *     plot_release(&p);
 *
 * The data are a table of tab-separated columns, or several with two empty lines between them, which are `index` 0, 1,
 * … in gnuplot; a line beginning with # names the columns. The commands read it from the file the variable `data`
 * names. All texts from outside go through plot_quoted: see gnuplot_quote.
 *
 * Out of memory is remembered in the buffers and checked where a plot is used (plot_failed).
 */
#ifndef REPORT_PLOT_H
#define REPORT_PLOT_H

#include "buffer.h"
#include "document/shown_numbers.h"

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

enum { PLOT_WIDTH = 640, PLOT_HEIGHT = 422 };

/* An axis from `low` to `high`, and where its marks are. */
struct plot_axis {
	double low, high;
	bool log;
};

/* An axis as a reader reads it: "TTFT" in "ms". */
struct plot_scale {
	struct plot_axis axis;
	char name[80];
	const char *unit; /* ms, s, share or "" */
};

/* Where the axes are, as shares of the picture from its lower left corner, as gnuplot has them. */
struct plot_area {
	double left, right, top, bottom;
};

struct plot {
	const char *name;    /* its files', and the beginning of its ids in SVG */
	struct buffer title; /* a line */
	struct buffer about; /* a description in sentences, for those who do not see it */
	struct buffer data, script;
	int width, height; /* in the pixels of SVG */
	int blocks;
	struct plot_area area; /* in force for the next panel: see plot_panels.h */
	struct plot_scale x, y;
	json_t *panels, *range; /* NULL: none */
	bool multiplot;
	char absent[160]; /* why there is no plot; "" */
};

bool plot_failed(const struct plot *p); /* memory ran out */
void plot_release(struct plot *p);

/* There is no plot: sets why, in words such as "no request was streamed". Returns 0. */
int plot_absent(struct plot *p, const char *why);

/* A number in a title or in words: three significant digits, thousands separated, never with an exponent. */
#define PLOT_NUMBER(value) show_number(value, (char[40]){0})

/* Title and words; a text from outside in them is shown() first. plot_say adds a sentence. */
void plot_title(struct plot *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
void plot_say(struct plot *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Begins a table, whose columns are named as in "t_s\tstarted_per_s". Returns its index. */
int plot_block(struct plot *p, const char *columns);
/* A row of it. NAN is an absent value. At most six decimals, as in JSON. */
void plot_row(struct plot *p, const double *values, int count);

/* A line of the script. */
void plot_command(struct plot *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A part of a line. */
void plot_part(struct plot *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A text as a string within a line. */
void plot_quoted(struct plot *p, const char *text);
/* The same at the end of any script: a string constant or, if there is a character that fonts often lack, an expression
 * with "?" in its place if no font has it. Without it, gnuplot draws such a character over the whole picture, as PNG
 * and PDF (seen with 5.4 and Pango 1.50). The script defines glyphs(list) before. */
void plot_quote(struct buffer *script, struct slice text);
/* Copies a safe text, as much as fits into so many columns, of which wide characters (CJK) take two: the rest is
 * replaced by "…". */
void plot_shorten(char *to, size_t size, const char *text, int columns);

#endif
