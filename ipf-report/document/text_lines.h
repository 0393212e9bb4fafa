/* Lines of text for a terminal: columns, wrapped words, numbers ending in a column, texts made safe, and styles. */
#ifndef REPORT_TEXT_LINES_H
#define REPORT_TEXT_LINES_H

#include "document/document.h"

struct text_lines {
	struct buffer *out;
	int width;  /* a line's, in columns */
	int column; /* in the current line, from 0; characters, not bytes */
	bool colour;
};

/* The columns a text takes once it is safe: wide characters have two, combining ones none. */
int text_width(const char *text);

void end_line(struct text_lines *l);
/* Appends blanks up to this column; at least one, unless the line is empty. */
void move_to(struct text_lines *l, int column);
/* Appends an unbroken text. */
void put(struct text_lines *l, enum tone tone, const char *text);
void put_slice(struct text_lines *l, enum tone tone, struct slice text);
/* The same, cut to `width` columns with an ellipsis as the last one. */
void put_clipped(struct text_lines *l, enum tone tone, const char *text, int width);
/* The same, so it ends before `column`. */
void put_right(struct text_lines *l, int column, enum tone tone, const char *text);
/* Appends words from the current column on and ends the line; continues at column `indent`. */
void put_wrapped(struct text_lines *l, int indent, enum tone tone, const char *text);
/* Appends a bar of one character, as high as `share` of the most; a blank for NAN. `ascii`: a mark instead. */
void put_level(struct text_lines *l, double share, bool ascii);

#endif
