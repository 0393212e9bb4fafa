#include "document/text_lines.h"

#include "cli/terminal.h"
#include "safe_text.h"

#include <math.h>
#include <string.h>

int text_width(const char *text)
{
	struct buffer safe = {0};
	safe_text_append(&safe, slice_of(text));
	int width = (int)terminal_width_of(buffer_all(&safe));
	buffer_release(&safe);
	return width;
}

void end_line(struct text_lines *l)
{
	while (l->out->len > 0 && l->out->data[l->out->len - 1] == ' ')
		l->out->data[--l->out->len] = 0;
	buffer_byte(l->out, '\n');
	l->column = 0;
}

void move_to(struct text_lines *l, int column)
{
	if (l->column >= column && l->column > 0)
		column = l->column + 1;
	for (; l->column < column; l->column++)
		buffer_byte(l->out, ' ');
}

/* Safe bytes. */
static void put_bytes(struct text_lines *l, enum tone tone, const char *text, size_t len)
{
	static const char *const escapes[] = {
		[TONE_PLAIN] = "",        [TONE_FAINT] = "\033[2m", [TONE_GOOD] = "\033[32m",
		[TONE_WARN] = "\033[33m", [TONE_BAD] = "\033[31m",  [TONE_STRONG] = "\033[1m"};
	bool styled = l->colour && tone != TONE_PLAIN && len > 0;
	if (styled)
		buffer_text(l->out, escapes[tone]);
	buffer_append(l->out, text, len);
	l->column += (int)terminal_width_of((struct slice){text, len});
	if (styled)
		buffer_text(l->out, "\033[0m");
}

void put_slice(struct text_lines *l, enum tone tone, struct slice text)
{
	struct buffer safe = {0};
	safe_text_append(&safe, text);
	l->out->failed |= safe.failed;
	if (safe.len)
		put_bytes(l, tone, safe.data, safe.len);
	buffer_release(&safe);
}

void put(struct text_lines *l, enum tone tone, const char *text)
{
	put_slice(l, tone, slice_of(text));
}

void put_clipped(struct text_lines *l, enum tone tone, const char *text, int width)
{
	struct buffer safe = {0};
	safe_text_append(&safe, slice_of(text));
	l->out->failed |= safe.failed;
	const bool cut = (int)terminal_width_of(buffer_all(&safe)) > width;
	if (safe.len)
		put_bytes(l, tone, safe.data, cut ? terminal_cut(safe.data, (size_t)width - 1) : safe.len);
	if (cut)
		put(l, tone, "…");
	buffer_release(&safe);
}

void put_right(struct text_lines *l, int column, enum tone tone, const char *text)
{
	move_to(l, column - text_width(text));
	put(l, tone, text);
}

void put_wrapped(struct text_lines *l, int indent, enum tone tone, const char *text)
{
	struct buffer safe = {0};
	bool first = true;
	safe_text_append(&safe, slice_of(text));
	l->out->failed |= safe.failed;
	for (const char *at = safe.data ? safe.data : ""; *at;) {
		size_t len = strcspn(at, " ");
		if (!first && l->column + 1 + (int)terminal_width_of((struct slice){at, len}) > l->width) {
			end_line(l);
			move_to(l, indent);
		} else if (!first) {
			put_bytes(l, TONE_PLAIN, " ", 1);
		}
		put_bytes(l, tone, at, len);
		first = false;
		at += len;
		at += strspn(at, " ");
	}
	buffer_release(&safe);
	end_line(l);
}

void put_level(struct text_lines *l, double share, bool ascii)
{
	static const char *const blocks[] = {"\u2581", "\u2582", "\u2583", "\u2584",
	                                     "\u2585", "\u2586", "\u2587", "\u2588"},
							 *const marks[] = {".", ":", "-", "=", "+", "*", "%", "#"};
	int level = !(share > 0) ? 0 : share < 1 ? (int)(8 * share) : 7;
	put(l, TONE_PLAIN, isnan(share) ? " " : ascii ? marks[level] : blocks[level]);
}
