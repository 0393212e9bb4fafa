/* A comparison as one page that needs no network (html/html_page.h): the result, the settings that differ, before any
 * number, then the figures, what changed first, and their intervals and distributions as pictures. */
#ifndef COMPARE_COMPARE_HTML_H
#define COMPARE_COMPARE_HTML_H

#include "compare/comparison.h"

void compare_html(const struct comparison *c, struct buffer *out);

#endif
