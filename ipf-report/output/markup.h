/* Text within XML and HTML, where some characters are written as entities.
 *
 *     markup_escape(out, slice_of("a<b"), "");      // a&lt;b, in an element or in an attribute within double quotes
 */
#ifndef REPORT_MARKUP_H
#define REPORT_MARKUP_H

#include "buffer.h"

/* Appends the text with & < > " as entities, and each character of `more` by its number. Control characters, which XML
 * cannot contain, are left to safe_text.h. */
void markup_escape(struct buffer *out, struct slice text, const char *more);

#endif
