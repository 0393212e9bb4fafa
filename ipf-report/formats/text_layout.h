/* Text on 80 columns: headings, wrapped sentences, aligned numbers. */
#ifndef REPORT_TEXT_LAYOUT_H
#define REPORT_TEXT_LAYOUT_H

#include "buffer.h"

#include <stdint.h>

enum { WIDTH = 80 };

struct layout {
	struct buffer *out;
	bool colour;
	int column; /* in the current line, from 0; characters, not bytes */
};

enum style { PLAIN, STRONG, FAINT, GOOD, WARN, BAD };

/* The columns that UTF-8 text takes on a terminal: wide characters have two, combining ones none. */
int text_width(const char *text);

void layout_end_line(struct layout *l);
/* Appends blanks up to this column; at least one, unless the line is empty. */
void layout_to(struct layout *l, int column);
void layout_text(struct layout *l, enum style style, const char *text);
void layout_format(struct layout *l, enum style style, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Appends text that ends before `column`. */
void layout_right(struct layout *l, int column, enum style style, const char *text);
/* Appends text, cut to `width` characters with an ellipsis as the last one. */
void layout_clipped(struct layout *l, int width, enum style style, const char *text);
/* Appends a bar of one character, as high as `share` of the most; a blank for NAN. `ascii`: a mark instead. */
void layout_level(struct layout *l, double share, bool ascii);
/* Appends text from the current column on, and ends the line. Breaks lines at blanks before column WIDTH and continues
 * at column `indent`. */
void layout_wrapped(struct layout *l, int indent, enum style style, const char *text);

/* Appends an empty line and the title of a section. */
void layout_heading(struct layout *l, const char *text);
/* Appends a label, and text that is wrapped to its right. */
void layout_entry(struct layout *l, const char *label, const char *text);

/* Appends an item to a list in `text`: `what`, and after a blank `after`, if that is not "". `before` separates items.
 * Does nothing if `what` is NULL. */
void join(char *text, size_t size, const char *before, const char *what, const char *after);
const char *plural(int64_t n); /* "" or "s" */

/* Three significant digits, at most three decimals, thousands separated: 0.048 1.23 48.2 311 12,345. "-" for NAN. */
const char *show_number(double value, char text[40]);
const char *show_count(int64_t value, char text[40]); /* "-" if absent */
/* The same in at most `width` characters, at least 6: if necessary without commas, or as 1.23e7. */
const char *show_narrow_number(double value, int width, char text[40]);
const char *show_narrow_count(int64_t value, int width, char text[40]);
const char *show_percent(double share, char text[40]);

#endif
