#include "view/screen.h"

#include "cli/terminal.h"
#include "safe_text.h"

#include <string.h>

#define CLEAR_TO_END_OF_LINE   "\033[K"
#define CLEAR_TO_END_OF_SCREEN "\033[J"

/* The rows above the cursor's the last frame takes: lines are separated by newlines, so the cursor is in the last
 * one. */
static size_t rows_above(const struct screen *s)
{
	size_t rows = 0;
	for (size_t i = 0; i < s->shown; i++)
		rows += s->drawn_width[i] > s->columns ? (s->drawn_width[i] + s->columns - 1) / s->columns : 1;
	return rows ? rows - 1 : 0;
}

static void go_to_top(struct screen *s)
{
	size_t rows = rows_above(s);
	buffer_byte(&s->frame, '\r');
	if (rows)
		buffer_format(&s->frame, "\033[%zuA", rows);
}

void screen_begin(struct screen *s)
{
	buffer_clear(&s->frame);
	s->columns = terminal_columns();
	s->rows = terminal_rows();
	s->lines = 0;
	go_to_top(s);
}

void screen_line(struct screen *s, const char *text)
{
	struct buffer safe = {0};
	if (s->lines >= s->rows || s->lines >= SCREEN_LINES_MOST)
		return;
	safe_text_append(&safe, slice_of(text));
	/* the last column stays free: some terminals wrap when it is filled */
	size_t len = safe.data ? terminal_fit(safe.data, s->columns - 1) : 0;
	if (s->lines)
		buffer_text(&s->frame, "\r\n");
	buffer_append(&s->frame, safe.data, len);
	buffer_text(&s->frame, CLEAR_TO_END_OF_LINE);
	s->width[s->lines++] = terminal_width_of((struct slice){safe.data, len});
	s->frame.failed |= safe.failed;
	buffer_release(&safe);
}

void screen_show(struct screen *s)
{
	buffer_text(&s->frame, CLEAR_TO_END_OF_SCREEN);
	if (s->frame.failed)
		return;
	terminal_put(s->frame.data, s->frame.len);
	memcpy(s->drawn_width, s->width, sizeof s->width);
	s->shown = s->lines;
}

void screen_clear(struct screen *s)
{
	if (!s->shown)
		return;
	screen_begin(s);
	screen_show(s);
}

void screen_leave(struct screen *s)
{
	if (s->shown)
		terminal_put("\r\n", 2);
	s->shown = 0;
}

void screen_release(struct screen *s)
{
	buffer_release(&s->frame);
}
