/* The tables of the text report (text_tables.c); text.c has the rest. */
#ifndef REPORT_TEXT_H
#define REPORT_TEXT_H

#include "layout.h"
#include "report.h"

/* Latencies of the total, then a line for each stage. */
void text_latency(struct layout *l, const struct report *report);
void text_tokens(struct layout *l, const struct report *report);

#endif
