/* The tables of the text report (text_tables.c); text.c has the rest. */
#ifndef REPORT_TEXT_H
#define REPORT_TEXT_H

#include "layout.h"
#include "report.h"

/* Latencies of the total, then a line for each stage. */
void text_latency(struct layout *l, const struct report *report);
void text_tokens(struct layout *l, const struct report *report);

/* What a line of a table is about, in the `width` columns before its figures; a longer name stands in a line of its own
 * where it has to be whole. */
void text_label(struct layout *l, int width, enum style style, const char *name, bool whole);
/* The name of a member of a grouping, less what the names of all targets begin and end with: "10.0.0.1:8000". */
const char *text_member(const struct run_data *run, enum grouping by, int member, char name[200]);

#endif
