/* Text on 80 columns: headings, wrapped sentences, numbers that line up. */
#ifndef REPORT_LAYOUT_H
#define REPORT_LAYOUT_H

#include "buffer.h"

#include <stdint.h>

enum { WIDTH = 80 };

struct layout {
	struct buffer *out;
	bool colour;
	int column; /* of the line that is being written, from 0; characters, not bytes */
};

enum style { PLAIN, STRONG, FAINT, GOOD, WARN, BAD };

/* How wide UTF-8 text is: its code points. */
int text_width(const char *text);

void layout_end_line(struct layout *l);
/* Blanks up to this column (at least one where something stands before it). */
void layout_to(struct layout *l, int column);
void layout_text(struct layout *l, enum style style, const char *text);
void layout_format(struct layout *l, enum style style, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* So that it ends before `column`. */
void layout_right(struct layout *l, int column, enum style style, const char *text);
/* Cut to `width` characters, the last one being an ellipsis. */
void layout_clipped(struct layout *l, int width, enum style style, const char *text);
/* From the current column on, broken at blanks before column WIDTH and continued at `indent`; ends the line. */
void layout_wrapped(struct layout *l, int indent, enum style style, const char *text);

/* A blank line, and a section's title on the next one. */
void layout_heading(struct layout *l, const char *text);
/* A label, and what it is about, wrapped beside it. */
void layout_entry(struct layout *l, const char *label, const char *text);

/* Adds `what`, with `after` behind a blank, to a list in `text`; `before` goes between two of them. Nothing where what
 * is NULL. */
void join(char *text, size_t size, const char *before, const char *what, const char *after);
const char *plural(int64_t n); /* "" or "s" */

/* Three significant digits, at most three decimals, thousands separated: 0.048 1.23 48.2 311 12,345; "-" for NAN,
 * "inf". */
const char *show_number(double value, char text[40]);
const char *show_count(int64_t value, char text[40]); /* "-" where absent */
const char *show_percent(double share, char text[40]);

#endif
