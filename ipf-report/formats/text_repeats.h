/* The section "Repeats" of the text report: how much the runs of a schedule differ. Nothing without repeats. */
#ifndef REPORT_TEXT_REPEATS_H
#define REPORT_TEXT_REPEATS_H

#include "formats/report_format.h"
#include "formats/text_layout.h"

void text_repeats(struct layout *l, const struct report *report);

/* In words, for every format: "3 runs of one schedule, each by itself". */
const char *repeats_title(const struct repeats *r, char text[120]);
/* The figures of which a run (from 0) is an outlier: "run 4 (d.results): TTFT p50 is 36.7 ms, in the others 28.6 to
 * 29.7; …". NULL: none. */
enum { REPEATS_WORDS = 1600 };
const char *repeats_outliers(const struct report *report, int run, char text[REPEATS_WORDS]);
/* A value of the figure: a number, or a share as percent. */
const char *repeats_value(const struct repeated_figure *f, double value, char text[40]);

#endif
