/* What each figure means, and when the verdict is DOUBTFUL or INVALID: for --definitions and for pages. */
#ifndef REPORT_DEFINITIONS_H
#define REPORT_DEFINITIONS_H

#include "buffer.h"

/* Appends the text, on 80 columns. The METRICS section of ipf-report-definitions(1) has the same definitions, word for
 * word. */
void definitions_format(struct buffer *out);

/* The definitions one by one, i = 0, 1, … until NULL; for a heading *name is NULL. `words` between backquotes are
 * commands. The limits of the verdict follow from verdict_rule. */
const char *definition_at(size_t i, const char **name);

#endif
