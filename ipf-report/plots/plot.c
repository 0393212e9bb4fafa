#include "plots/plot.h"

#include "cli/gnuplot.h"
#include "cli/terminal.h"
#include "safe_text.h"
#include "utf8.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool plot_failed(const struct plot *p)
{
	return p->title.failed || p->about.failed || p->data.failed || p->script.failed;
}

void plot_release(struct plot *p)
{
	buffer_release(&p->title);
	buffer_release(&p->about);
	buffer_release(&p->data);
	buffer_release(&p->script);
	json_decref(p->panels);
	json_decref(p->range);
	p->panels = p->range = NULL;
}

int plot_absent(struct plot *p, const char *why)
{
	snprintf(p->absent, sizeof p->absent, "%s", why);
	return 0;
}

__attribute__((format(printf, 2, 0))) static void add_formatted(struct buffer *to, const char *format,
                                                                va_list arguments)
{
	char text[1024];
	vsnprintf(text, sizeof text, format, arguments);
	buffer_text(to, text);
}

void plot_title(struct plot *p, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	buffer_clear(&p->title);
	add_formatted(&p->title, format, arguments);
	va_end(arguments);
}

void plot_say(struct plot *p, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	if (p->about.len)
		buffer_byte(&p->about, ' ');
	add_formatted(&p->about, format, arguments);
	va_end(arguments);
}

int plot_block(struct plot *p, const char *columns)
{
	buffer_format(&p->data, "%s# %s\n", p->blocks ? "\n\n" : "", columns);
	return p->blocks++;
}

static void add_number(struct buffer *to, double value)
{
	char digits[360];
	if (!isfinite(value)) {
		buffer_text(to, "NaN");
		return;
	}
	int len = snprintf(digits, sizeof digits, "%.6f", fabs(value) < 1e9 ? round(value * 1e6) / 1e6 : value);
	while (digits[len - 1] == '0')
		len--;
	if (digits[len - 1] == '.')
		len--;
	digits[len] = 0;
	buffer_text(to, strcmp(digits, "-0") == 0 ? "0" : digits);
}

void plot_row(struct plot *p, const double *values, int count)
{
	for (int i = 0; i < count; i++) {
		if (i)
			buffer_byte(&p->data, '\t');
		add_number(&p->data, values[i]);
	}
	buffer_byte(&p->data, '\n');
}

void plot_command(struct plot *p, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	add_formatted(&p->script, format, arguments);
	buffer_byte(&p->script, '\n');
	va_end(arguments);
}

void plot_part(struct plot *p, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	add_formatted(&p->script, format, arguments);
	va_end(arguments);
}

/* The code point at `at`, which is well-formed. */
static uint32_t code_point(const unsigned char *at, size_t bytes)
{
	uint32_t point = bytes == 1 ? at[0] : at[0] & (0x7fu >> bytes);
	for (size_t i = 1; i < bytes; i++)
		point = point << 6 | (at[i] & 0x3f);
	return point;
}

/* Beyond Latin, Greek, Cyrillic and general punctuation. */
static bool is_uncommon(uint32_t point)
{
	return point >= 0x530 && !(point >= 0x2000 && point < 0x2070);
}

void plot_quote(struct buffer *script, struct slice text)
{
	struct buffer safe = {0}, plain = {0}, list = {0};
	safe_text_append(&safe, text);
	for (size_t i = 0, bytes; i < safe.len; i += bytes) {
		bytes = utf8_character(safe.data + i, safe.len - i);
		bytes = bytes ? bytes : 1;
		uint32_t point = code_point((const unsigned char *)safe.data + i, bytes);
		if (is_uncommon(point)) {
			buffer_format(&list, "%s%x", list.len ? " " : "", (unsigned)point);
			buffer_byte(&plain, '?');
		} else {
			buffer_append(&plain, safe.data + i, bytes);
		}
	}
	if (list.len) {
		buffer_text(script, "(glyphs('");
		buffer_slice(script, buffer_all(&list));
		buffer_text(script, "') ? ");
	}
	gnuplot_quote(script, text);
	if (list.len) {
		buffer_text(script, " : ");
		gnuplot_quote(script, buffer_all(&plain));
		buffer_byte(script, ')');
	}
	script->failed |= safe.failed || plain.failed || list.failed;
	buffer_release(&safe);
	buffer_release(&plain);
	buffer_release(&list);
}

void plot_quoted(struct plot *p, const char *text)
{
	plot_quote(&p->script, slice_of(text));
}

void plot_shorten(char *to, size_t size, const char *text, int columns)
{
	safe_text(to, size, slice_of(text));
	if (terminal_width_of(slice_of(to)) <= (size_t)columns)
		return;
	char *end = to + terminal_cut(to, (size_t)columns - 1);
	if (end + sizeof "…" <= to + size)
		strcpy(end, "…");
	else
		*end = 0;
}
