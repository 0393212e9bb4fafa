#include "formats/text_layout.h"

#include "absent.h"
#include "cli/units.h"
#include "cli/terminal.h"
#include "json/jdoc.h"
#include "safe_text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int width_of(const char *text, size_t len)
{
	return (int)terminal_width_of((struct slice){text, len});
}

int text_width(const char *text)
{
	return width_of(text, strlen(text));
}

void layout_end_line(struct layout *l)
{
	while (l->out->len > 0 && l->out->data[l->out->len - 1] == ' ')
		l->out->data[--l->out->len] = 0;
	buffer_byte(l->out, '\n');
	l->column = 0;
}

void layout_to(struct layout *l, int column)
{
	if (l->column >= column && l->column > 0)
		column = l->column + 1;
	for (; l->column < column; l->column++)
		buffer_byte(l->out, ' ');
}

static void put(struct layout *l, enum style style, const char *text, size_t len)
{
	static const char *const escapes[] = {[PLAIN] = "",        [STRONG] = "\033[1m", [FAINT] = "\033[2m",
	                                      [GOOD] = "\033[32m", [WARN] = "\033[33m",  [BAD] = "\033[31m"};
	bool styled = l->colour && style != PLAIN;
	if (styled)
		buffer_text(l->out, escapes[style]);
	size_t before = l->out->len;
	safe_text_append(l->out, (struct slice){text, len});
	l->column += width_of(l->out->data + before, l->out->len - before);
	if (styled)
		buffer_text(l->out, "\033[0m");
}

void layout_text(struct layout *l, enum style style, const char *text)
{
	put(l, style, text, strlen(text));
}

void layout_format(struct layout *l, enum style style, const char *format, ...)
{
	char text[512], safe[sizeof text - 4]; /* what was cut ends in "…" */
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	safe_text(safe, sizeof safe, slice_of(text));
	layout_text(l, style, safe);
}

void layout_right(struct layout *l, int column, enum style style, const char *text)
{
	layout_to(l, column - text_width(text));
	layout_text(l, style, text);
}

void layout_clipped(struct layout *l, int width, enum style style, const char *name)
{
	char text[512];
	safe_text(text, sizeof text, slice_of(name));
	if (text_width(text) <= width) {
		layout_text(l, style, text);
		return;
	}
	put(l, style, text, terminal_cut(text, (size_t)(width - 1)));
	layout_text(l, style, "\u2026");
}

void layout_level(struct layout *l, double share, bool ascii)
{
	static const char *const blocks[] = {"\u2581", "\u2582", "\u2583", "\u2584",
	                                     "\u2585", "\u2586", "\u2587", "\u2588"},
							 *const marks[] = {".", ":", "-", "=", "+", "*", "%", "#"};
	int level = isnan(share) ? 0 : share < 1 ? (int)(8 * share) : 7;
	layout_text(l, PLAIN, isnan(share) ? " " : ascii ? marks[level] : blocks[level]);
}

void layout_wrapped(struct layout *l, int indent, enum style style, const char *text)
{
	struct buffer safe = {0};
	bool first = true;
	safe_text_append(&safe, slice_of(text));
	l->out->failed |= safe.failed;
	for (const char *at = buffer_all(&safe).data; *at;) {
		size_t len = strcspn(at, " ");
		if (!first && l->column + 1 + width_of(at, len) > WIDTH) {
			layout_end_line(l);
			layout_to(l, indent);
		} else if (!first) {
			layout_text(l, PLAIN, " ");
		}
		put(l, style, at, len);
		first = false;
		at += len;
		at += strspn(at, " ");
	}
	buffer_release(&safe);
	layout_end_line(l);
}

void layout_heading(struct layout *l, const char *text)
{
	layout_end_line(l);
	layout_text(l, STRONG, text);
}

void layout_entry(struct layout *l, const char *label, const char *text)
{
	layout_to(l, 2);
	layout_text(l, PLAIN, label);
	layout_to(l, 14);
	layout_wrapped(l, 14, PLAIN, text);
}

void join(char *text, size_t size, const char *before, const char *what, const char *after)
{
	size_t len = strlen(text);
	if (what)
		snprintf(text + len, size - len, "%s%s%s%s", len ? before : "", what, after[0] ? " " : "", after);
}

const char *plural(int64_t n)
{
	return n == 1 ? "" : "s";
}

const char *show_number(double value, char text[40])
{
	if (isnan(value))
		return strcpy(text, "-");
	if (isinf(value))
		return strcpy(text, "inf");
	double size = fabs(value);
	int decimals = size >= 99.95 ? 0 : size >= 9.995 ? 1 : size >= 0.9995 ? 2 : 3;
	if (size > 1e15)
		snprintf(text, 40, "%.3g", value);
	else
		snprintf(text, 40, "%.*f", size > 0 ? decimals : 0, value);
	separate_thousands(text);
	return text;
}

const char *show_count(int64_t value, char text[40])
{
	if (value == IPF_ABSENT)
		return strcpy(text, "-");
	return format_whole(value, text);
}

/* Shortens a value that is shown in `text`. */
static const char *narrow(double value, int width, char text[40])
{
	size_t len = 0;
	if (text_width(text) <= width)
		return text;
	for (const char *at = text; *at; at++)
		if (*at != ',')
			text[len++] = *at;
	text[len] = 0;
	if ((int)len <= width)
		return text;
	char digits[40];
	snprintf(digits, sizeof digits, "%.2e", value);
	snprintf(text, 40, "%.*se%d", (int)strcspn(digits, "e"), digits, atoi(digits + strcspn(digits, "e") + 1));
	return text;
}

const char *show_narrow_number(double value, int width, char text[40])
{
	show_number(value, text);
	return narrow(value, width, text);
}

const char *show_narrow_count(int64_t value, int width, char text[40])
{
	show_count(value, text);
	return narrow((double)value, width, text);
}

const char *show_percent(double share, char text[40])
{
	if (isnan(share))
		return strcpy(text, "-");
	double percent = 100 * share;
	snprintf(text, 40, "%.*f %%", fabs(percent) > 0 && fabs(percent) < 0.095 ? 3 : 1, percent);
	return text;
}
