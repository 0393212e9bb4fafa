/* The run over time, in few steps: the sparklines of the text report. The windows themselves are in run->windows.
 *
 *     struct time_line t;
 *     if (time_line_build(&t, run, servers))
 *         for (int i = 0; i < t.rows; i++) … t.row[i].label, t.row[i].value[0 … t.steps - 1] …
 *
 * A step is one window or several; it counts all stages, also unmeasured ones. A value absent from a step is NAN.
 */
#ifndef REPORT_TIME_LINE_H
#define REPORT_TIME_LINE_H

#include "figures/server_figures.h"

enum { TIME_LINE_STEPS = 48, TIME_LINE_LEAST = 8, TIME_LINE_ROWS = 10 };

struct time_line_row {
	const char *label;
	double value[TIME_LINE_STEPS];
	double most; /* NAN: there is no value */
};

struct time_line {
	int64_t begin_ns, step_ns;
	int steps, rows;
	struct time_line_row row[TIME_LINE_ROWS];
};

/* false: there are no windows, fewer than TIME_LINE_LEAST, parts that are repeats, or no memory for it. */
bool time_line_build(struct time_line *t, const struct run_data *run, const struct server_figures *servers);

#endif
