/* Texts in a page. Whatever is not a constant of ours goes through here.
 *
 *     html_text(out, stage->name);                        // between tags, and in attributes with double quotes
 *
 * A text is made safe first (safe_text.h: control characters and those that reorder a line become visible escapes),
 * then the special characters of HTML become references: & < > " ' and `. The result is plain text in an element, or
 * within the double quotes of an attribute. It is never right within <script> or <style>, as a URL, or as the name of
 * an attribute: nothing from outside goes there.
 */
#ifndef REPORT_HTML_TEXT_H
#define REPORT_HTML_TEXT_H

#include "document/document.h"

void html_text(struct buffer *out, const char *text); /* NULL is "" */
void html_slice(struct buffer *out, struct slice text);

/* The same, with line ends kept: for <pre>. */
void html_lines(struct buffer *out, struct slice text);

/* A sentence of ours, with `words` between backquotes as <code>. A text from outside in it may have any. */
void html_prose(struct buffer *out, const char *text);

/* The class of a tone: "ok", "doubtful", "invalid", "soft"; "" of a plain one. */
const char *html_tone(enum tone tone);

/* Appends a name as a part of an id: letters and digits; everything else is "-". */
void html_id(struct buffer *out, const char *name);

#endif
