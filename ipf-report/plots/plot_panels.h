/* The panels of a plot: where its axes are in the picture, and which columns of its data are drawn. A page reads the
 * values behind the picture from them.
 *
 *     plot_axis_ms(p, "x", "TTFT", 1, 250);
 *     plot_axis_shares(p, "y");
 *     plot_panel(p, PANEL_POINTS);                                  // the axes and margins set before
 *     plot_series(p, &(struct plot_series){.name = "low", .table = 0, .x = 0, .y = 1, .stage = -1, .drawn = {1, 2}});
 *     plot_panel_requests(p, "ttft_due_ms", NULL, REQUESTS_OK);     // a point may be a request
 *
 * They become "panels" and "range" of a plot in the JSON report (ipf-report-json(5)). Out of memory is remembered, see
 * memory.h.
 */
#ifndef REPORT_PLOT_PANELS_H
#define REPORT_PLOT_PANELS_H

#include "plots/plot.h"

enum panel_kind {
	PANEL_STEPS,  /* all series have values at the same places of the x axis */
	PANEL_POINTS, /* each series has points of its own */
	PANEL_LANES,  /* a row of the table is a request, with a place on the y axis */
	PANEL_CELLS   /* cells of a grid, each with a count */
};

enum { SERIES_DRAWN_MOST = 3 };

struct plot_series {
	const char *name;
	int table, x, y;              /* the columns drawn, from 0 */
	int n;                        /* the column with the number of a request; 0: none */
	double offset;                /* a point is that far right of its x */
	double step_s;                /* > 0: a rate over steps of so many seconds */
	int stage;                    /* the stage it shows, from 0; -1: all of them */
	int drawn[SERIES_DRAWN_MOST]; /* its elements of the plot command, from 1; 0 ends them */
};

/* Begins a panel. In a multiplot, each plot command has one. */
void plot_panel(struct plot *p, enum panel_kind kind);
/* A series of the panel begun last. */
void plot_series(struct plot *p, const struct plot_series *series);
/* The cells of the panel begun last, in a grid between the ends of its axes: a row of the table has the low and the
 * high end of a cell on each axis, and its count of `of`, such as "requests". */
void plot_cells(struct plot *p, int table, int columns, int rows, const char *of);

/* By which members of "outliers" of the JSON report a request has its place in the panel; NULL: it has none on that
 * axis. */
enum panel_requests { REQUESTS_OK, REQUESTS_FAILED };
void plot_panel_requests(struct plot *p, const char *x, const char *y, enum panel_requests which);

/* The figures of the time line that add up: for the table of a part of the run. */
struct plot_total {
	const char *name;
	int column;
	bool mean; /* a mean over each step, not a rate */
};
void plot_range(struct plot *p, double step_s, double end_s, const struct plot_total *totals, int count);

#endif
