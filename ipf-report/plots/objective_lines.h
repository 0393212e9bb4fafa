/* The limits of objectives as lines in plots of the latency they limit.
 *
 *     struct objective_lines lines;
 *     objective_lines_find(&lines, slo, METRIC_TTFT);
 *     high = objective_lines_widen(&lines, &low, high);     // the axis shows them
 *     …
 *     count += objective_lines_draw(&lines, p, "y", &entries[count]);
 */
#ifndef REPORT_OBJECTIVE_LINES_H
#define REPORT_OBJECTIVE_LINES_H

#include "plots/plot_style.h"
#include "results/slo.h"

enum { OBJECTIVE_LINES_MOST = 4, OBJECTIVE_ARROW = 60 };

struct objective_lines {
	int count;
	double ms[OBJECTIVE_LINES_MOST];
	char names[OBJECTIVE_LINES_MOST][32];
};

/* The first OBJECTIVE_LINES_MOST of a metric. */
void objective_lines_find(struct objective_lines *lines, const struct slo *slo, enum metric m);
/* Extends the range of an axis in ms, and returns its new end. */
double objective_lines_widen(const struct objective_lines *lines, double *low, double high);
/* Draws them across axis "x" or "y", and says so. Adds as many entries to the legend as it returns. */
int objective_lines_draw(const struct objective_lines *lines, struct plot *p, const char *axis,
                         struct plot_legend_entry *entries);
/* Before the next panel of a plot. */
void objective_lines_end(const struct objective_lines *lines, struct plot *p);

#endif
