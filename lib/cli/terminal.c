#include "cli/terminal.h"

#include "clock.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>
#include <utf8proc.h>

/* The number in an environment variable; 0: none. */
static size_t number_in(const char *variable)
{
	const char *text = getenv(variable);
	long value = text ? strtol(text, NULL, 10) : 0;
	return value > 0 && value < 10000 ? (size_t)value : 0;
}

static size_t first_above_0(size_t a, size_t b, size_t otherwise)
{
	return a ? a : b ? b : otherwise;
}

size_t terminal_columns(void)
{
	struct winsize size = {0};
	bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0;
	return first_above_0(known ? size.ws_col : 0, number_in("COLUMNS"), 80);
}

size_t terminal_rows(void)
{
	struct winsize size = {0};
	bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0;
	return first_above_0(known ? size.ws_row : 0, number_in("LINES"), 24);
}

bool terminal_can_redraw(void)
{
	const char *name = getenv("TERM");
	return isatty(STDERR_FILENO) && name && *name && strcmp(name, "dumb") != 0;
}

bool terminal_is_utf8(void)
{
	static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};
	for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
		const char *value = getenv(variables[i]);
		if (value && *value)
			return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
	}
	return false;
}

/* The columns of the character beginning here, and its length in bytes. A byte that is not UTF-8 takes a column. */
static size_t character(const char *text, size_t len, size_t *bytes)
{
	utf8proc_int32_t code;
	utf8proc_ssize_t used = utf8proc_iterate((const utf8proc_uint8_t *)text, (utf8proc_ssize_t)len, &code);
	*bytes = used > 0 ? (size_t)used : 1;
	int width = used > 0 ? utf8proc_charwidth(code) : 1;
	return width > 0 ? (size_t)width : 0;
}

size_t terminal_fit(const char *text, size_t columns)
{
	size_t i, bytes, len = strlen(text), seen = 0, figures = 0;
	for (i = 0; i < len; i += bytes) {
		if (strncmp(text + i, "  ", 2) == 0 && i > 0 && text[i - 1] != ' ')
			figures = i;
		seen += character(text + i, len - i, &bytes);
		if (seen > columns)
			return figures;
	}
	return len;
}

size_t terminal_cut(const char *text, size_t columns)
{
	size_t i, bytes, len = strlen(text), seen = 0;
	for (i = 0; i < len; i += bytes)
		if ((seen += character(text + i, len - i, &bytes)) > columns)
			break;
	return i;
}

size_t terminal_width_of(struct slice text)
{
	size_t bytes, columns = 0;
	for (size_t i = 0; i < text.len; i += bytes)
		columns += character(text.data + i, text.len - i, &bytes);
	return columns;
}

void terminal_put(const char *data, size_t len)
{
	ssize_t wrote = write(STDERR_FILENO, data, len);
	(void)wrote;
}

/* A lock of the terminal's device belongs to a process, although all of a pipe have the same open file. */
static int lock(int command, short type)
{
	struct flock whole = {.l_type = type, .l_whence = SEEK_SET};
	return fcntl(STDERR_FILENO, command, &whole) < 0 ? -1 : whole.l_type;
}

void terminal_take(void)
{
	lock(F_SETLK, F_WRLCK);
}

void terminal_give(void)
{
	lock(F_SETLK, F_UNLCK);
}

bool terminal_is_taken(void)
{
	return isatty(STDERR_FILENO) && lock(F_GETLK, F_WRLCK) == F_WRLCK;
}

void terminal_wait(int64_t most_ns)
{
	const struct timespec pause = {.tv_nsec = NS_PER_MS};
	int64_t until = clock_now() + most_ns;
	while (terminal_is_taken() && clock_now() < until)
		nanosleep(&pause, NULL);
}
