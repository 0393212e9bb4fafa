/* The section "Time line" of the text report: sparklines of the run. Nothing for a run of few windows. */
#ifndef REPORT_TEXT_TIME_LINE_H
#define REPORT_TEXT_TIME_LINE_H

#include "formats/report_format.h"
#include "formats/text_layout.h"

void text_time_line(struct layout *l, const struct report *report);

#endif
