/* A few lines on standard error drawn again in place, below whatever the terminal showed before.
 *
 *     struct screen s = {0};
 *     if (terminal_can_redraw()) …
 *     screen_begin(&s);
 *     screen_line(&s, "requests  812 done  3 failed");     // the most important first
 *     screen_show(&s);                                     // the lines replace those of the last time
 *     screen_leave(&s);                                    // they stay; the cursor is below them
 *     screen_release(&s);
 *
 * A line consists of figures with two spaces between them; those the width has no room for are left out, and so are
 * lines below the height of the terminal. A frame is one write. After the terminal became narrower, the lines of the
 * last frame are taken to be wrapped, as most terminals do.
 */
#ifndef IPF_SCREEN_H
#define IPF_SCREEN_H

#include "buffer.h"

enum { SCREEN_LINES_MOST = 64 };

/* Zero-initialise. */
struct screen {
	struct buffer frame;
	size_t columns, rows, lines;                  /* the frame being made */
	size_t width[SCREEN_LINES_MOST];              /* its lines' */
	size_t shown, drawn_width[SCREEN_LINES_MOST]; /* the frame on the terminal */
};

void screen_begin(struct screen *s);
/* Adds a line; control characters are escaped (safe_text.h). */
void screen_line(struct screen *s, const char *text);
void screen_show(struct screen *s);
/* Removes the lines from the terminal. */
void screen_clear(struct screen *s);
void screen_leave(struct screen *s);
void screen_release(struct screen *s);

#endif
