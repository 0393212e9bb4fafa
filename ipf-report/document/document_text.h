/* A document on a terminal or in a file of text: headings, wrapped sentences, aligned numbers. */
#ifndef REPORT_DOCUMENT_TEXT_H
#define REPORT_DOCUMENT_TEXT_H

#include "document/document.h"

struct text_style {
	int width;   /* columns of the terminal; 0: 80 */
	bool colour; /* with escape sequences */
	bool ascii;  /* without characters beyond ASCII where these draw bars */
};

/* Appends the parts IN_TEXT. */
void document_text(const struct document *d, const struct text_style *style, struct buffer *out);

#endif
