/* The terminal on standard error: its size, and its abilities.
 */
#ifndef IPF_TERMINAL_H
#define IPF_TERMINAL_H

#include "buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Asked each time, because a terminal changes its size. If it does not know, COLUMNS and LINES count, or else 80 and
 * 24. At least 1. */
size_t terminal_columns(void);
size_t terminal_rows(void);
/* Whether standard error is a terminal whose cursor can be moved: TERM is set and not "dumb". */
bool terminal_can_redraw(void);
/* Whether the locale's characters are UTF-8 (LC_ALL, LC_CTYPE, LANG), so block characters can be drawn. */
bool terminal_is_utf8(void);

/* The length in bytes of the figures of a text, with two spaces between them, that fit into so many columns. Wide
 * characters take two. */
size_t terminal_fit(const char *text, size_t columns);
/* The length in bytes of the characters of a text that fit. */
size_t terminal_cut(const char *text, size_t columns);
/* The columns a text takes. */
size_t terminal_width_of(struct slice text);
/* Writes to standard error with one call, so lines of several programs do not mix. A failure to show something is
 * ignored. */
void terminal_put(const char *data, size_t len);

/* The programs of a pipe share the terminal. One that draws part of it again and again takes it: lines of others would
 * be drawn over. Ends with the process, however that ends; a program told to wait prints its lines afterwards:
 *
 *     terminal_take(); … terminal_give();                               // who draws
 *     if (terminal_is_taken()) … close the output …, terminal_wait(5 * NS_PER_S)      // who has something to say
 */
void terminal_take(void);
void terminal_give(void);
bool terminal_is_taken(void); /* by another program */
/* Until nobody has taken it, at most so long. */
void terminal_wait(int64_t most_ns);

#endif
