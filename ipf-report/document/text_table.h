/* A table of a document as lines of text. Columns are as wide as their cells; a table too wide for the line loses the
 * columns that may be left out (enum keep) or is continued below, with the names of its rows again. Long words follow
 * below their row. */
#ifndef REPORT_TEXT_TABLE_H
#define REPORT_TEXT_TABLE_H

#include "document/text_lines.h"

/* Whether a cell it shows is marked as weak. */
bool text_table(struct text_lines *l, const struct doc_table *t, bool brief);

#endif
