#include "cli/progress.h"

#include "clock.h"
#include "cli/terminal.h"
#include "safe_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
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
	len = terminal_fit(text, p->terminal ? terminal_columns() - 1 : sizeof text);
	n = snprintf(line, sizeof line, "%s%.*s%s", p->terminal ? "\r" : "", (int)len, text, p->terminal ? "\033[K" : "\n");
	terminal_put(line, (size_t)n);
	p->shown = true;
}

void progress_end(struct progress *p)
{
	if (p->on && p->terminal && p->shown)
		terminal_put(CLEAR_LINE, strlen(CLEAR_LINE));
	p->shown = false;
}
