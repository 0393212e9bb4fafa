/* A document as one page: it needs no network, and is readable without script. See html_page.h. */
#ifndef REPORT_DOCUMENT_HTML_H
#define REPORT_DOCUMENT_HTML_H

#include "document/document.h"

/* Appends the parts IN_PAGE. */
void document_html(const struct document *d, struct buffer *out);

#endif
