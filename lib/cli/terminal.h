/* The terminal that standard error is: its size, and what it can draw.
 */
#ifndef IPF_TERMINAL_H
#define IPF_TERMINAL_H

#include "buffer.h"

#include <stdbool.h>
#include <stddef.h>

/* Asked each time, because a terminal changes its size. If it does not know, COLUMNS and LINES count, or else 80 and
 * 24. At least 1. */
size_t terminal_columns(void);
size_t terminal_rows(void);
/* Whether standard error is a terminal whose cursor can be moved: TERM is set and not "dumb". */
bool terminal_can_redraw(void);
/* Whether the locale's characters are UTF-8 (LC_ALL, LC_CTYPE, LANG), so that block characters can be drawn. */
bool terminal_is_utf8(void);

/* The length in bytes of the figures of a text, with two spaces between them, that fit into so many columns. Wide
 * characters take two. */
size_t terminal_fit(const char *text, size_t columns);
/* The length in bytes of the characters of a text that fit. */
size_t terminal_cut(const char *text, size_t columns);
/* The columns that a text takes. */
size_t terminal_width_of(struct slice text);
/* Writes to standard error with one call, so that lines of several programs do not mix. A failure to show something is
 * ignored. */
void terminal_put(const char *data, size_t len);

#endif
