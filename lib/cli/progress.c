#include "cli/progress.h"

#include "clock.h"
#include "safe_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define EVERY_TERMINAL (200 * NS_PER_MS)
#define EVERY_LOG      NS_PER_S
#define CLEAR_LINE     "\r\033[K"

void progress_init(struct progress *p, bool wanted, bool quiet)
{
	*p = (struct progress){0};
	p->terminal = isatty(STDERR_FILENO);
	p->on = !quiet && (p->terminal || wanted);
}

bool progress_due(struct progress *p, int64_t now_ns)
{
	if (!p->on || now_ns < p->next_ns)
		return false;
	p->next_ns = now_ns + (p->terminal ? EVERY_TERMINAL : EVERY_LOG);
	return true;
}

bool progress_is_left(const char *output, bool last, bool wanted)
{
	struct stat file;
	bool standard = !output || strcmp(output, "-") == 0;

	if (wanted || (standard ? fstat(STDOUT_FILENO, &file) : stat(output, &file)) < 0)
		return false;
	if (standard && isatty(STDOUT_FILENO))
		return true;
	return !last && (S_ISFIFO(file.st_mode) || S_ISSOCK(file.st_mode));
}

/* Asked each time, because a terminal changes its size. */
static size_t terminal_width(void)
{
	struct winsize size;
	const char *columns = getenv("COLUMNS");
	long width = columns ? strtol(columns, NULL, 10) : 0;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
		return size.ws_col;
	return width > 0 && width < 10000 ? (size_t)width : 80;
}

/* The length in bytes of the figures, with two spaces between them, that fit into so many columns. */
static size_t fit(const char *text, size_t columns)
{
	size_t i, seen = 0, figures = 0;

	for (i = 0; text[i]; i++) {
		if (strncmp(text + i, "  ", 2) == 0 && i > 0 && text[i - 1] != ' ')
			figures = i;
		if (((unsigned char)text[i] & 0xc0) != 0x80 && seen++ == columns)
			return figures;
	}
	return i;
}

/* One write, so that lines of several programs on a terminal do not mix. A failure to show progress is ignored. */
static void put(const char *data, size_t len)
{
	ssize_t wrote = write(STDERR_FILENO, data, len);
	(void)wrote;
}

void progress_show(struct progress *p, const char *format, ...)
{
	char raw[1024], text[sizeof raw], line[sizeof text + 8];
	va_list args;
	size_t len;
	int n;

	if (!p->on)
		return;
	va_start(args, format);
	n = vsnprintf(raw, sizeof raw, format, args);
	va_end(args);
	if (n < 0)
		return;
	safe_text(text, sizeof text, slice_of(raw));
	/* the last column stays free: some terminals wrap when it is filled */
	len = fit(text, p->terminal ? terminal_width() - 1 : sizeof text);
	n = snprintf(line, sizeof line, "%s%.*s%s", p->terminal ? "\r" : "", (int)len, text, p->terminal ? "\033[K" : "\n");
	put(line, (size_t)n);
	p->shown = true;
}

void progress_end(struct progress *p)
{
	if (p->on && p->terminal && p->shown)
		put(CLEAR_LINE, strlen(CLEAR_LINE));
	p->shown = false;
}
