/* A table of a document in a page: a caption, a row of columns with their units, and a row for each thing. A cell's
 * data-v is the exact figure, by which the script of the page sorts. A table too wide scrolls in a box, which the
 * keyboard can reach. */
#ifndef REPORT_HTML_TABLE_H
#define REPORT_HTML_TABLE_H

#include "document/document.h"

/* `title` is the heading of its section. */
void html_table(struct buffer *out, const struct doc_table *t, const char *title);

#endif
