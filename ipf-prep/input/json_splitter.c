#include "input/json_splitter.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* The scanner's classes of bytes outside of strings. */
enum { BAD, PLAIN, NEWLINE, QUOTE, OPEN, CLOSE };

/* Letters are those of true, false and null, and the e of numbers: other text outside of quotes shows the scanner is
 * out of step. */
static const unsigned char meaning[256] = {
	['\n'] = NEWLINE, ['"'] = QUOTE,  ['{'] = OPEN,  ['['] = OPEN,  ['}'] = CLOSE, [']'] = CLOSE, [' '] = PLAIN,
	['\t'] = PLAIN,   ['\r'] = PLAIN, [','] = PLAIN, [':'] = PLAIN, ['0'] = PLAIN, ['1'] = PLAIN, ['2'] = PLAIN,
	['3'] = PLAIN,    ['4'] = PLAIN,  ['5'] = PLAIN, ['6'] = PLAIN, ['7'] = PLAIN, ['8'] = PLAIN, ['9'] = PLAIN,
	['-'] = PLAIN,    ['+'] = PLAIN,  ['.'] = PLAIN, ['E'] = PLAIN, ['t'] = PLAIN, ['r'] = PLAIN, ['u'] = PLAIN,
	['e'] = PLAIN,    ['f'] = PLAIN,  ['a'] = PLAIN, ['l'] = PLAIN, ['s'] = PLAIN, ['n'] = PLAIN,
};

/* How far a value has been scanned. Positions count from its first byte, so they stay valid when the window moves. */
struct scan {
	size_t at;
	size_t string; /* where the string around `at` begins; 0: not in a string */
	size_t depth;
	int64_t newlines;
};

enum scan_result { MORE, WHOLE, BROKEN };

#define AGAIN 2 /* a bracket was consumed: look for the next record in the new state */

/* Looks for the string's closing quote, which has an even number of backslashes before it. */
static bool scan_string(struct scan *s, const char *text, size_t len)
{
	while (s->at < len) {
		const char *quote = memchr(text + s->at, '"', len - s->at);
		if (!quote)
			break;
		size_t at = (size_t)(quote - text), first = at;
		while (first > s->string && text[first - 1] == '\\')
			first--;
		s->at = at + 1;
		if ((at - first) % 2 == 0) {
			s->string = 0;
			return true;
		}
	}
	if (s->string)
		s->at = len;
	return false;
}

/* Scans the value beginning at text[0] (an object, an array or a string) and sets s->at to its end. */
static enum scan_result scan_value(struct scan *s, const char *text, size_t len)
{
	for (;;) {
		if (s->string) {
			if (!scan_string(s, text, len))
				return MORE;
			if (s->depth == 0)
				return WHOLE;
		}
		if (s->at >= len)
			return MORE;
		while (s->at < len && meaning[(unsigned char)text[s->at]] == PLAIN)
			s->at++;
		if (s->at >= len)
			return MORE;
		switch (meaning[(unsigned char)text[s->at++]]) {
		case NEWLINE:
			s->newlines++;
			break;
		case QUOTE:
			s->string = s->at;
			break;
		case OPEN:
			s->depth++;
			break;
		case CLOSE:
			if (s->depth > 0 && --s->depth == 0)
				return WHOLE;
			break;
		default:
			s->at--;
			return BROKEN;
		}
	}
}

/* The same for a number or a literal, which end where something else follows. */
static enum scan_result scan_scalar(struct scan *s, const char *text, size_t len)
{
	while (s->at < len && !strchr(" \t\r\n,]}", text[s->at]))
		s->at++;
	return s->at < len ? WHOLE : MORE;
}

void json_splitter_begin(struct json_splitter *s, struct byte_window *window)
{
	*s = (struct json_splitter){.window = window, .at_line = 1, .line = 1};
}

bool json_splitter_by_lines(const struct json_splitter *s)
{
	return s->state == JSON_SPLITTER_LINES;
}

static int broken(struct json_splitter *s, enum ipf_error_kind kind, const char *text, struct ipf_error *err)
{
	s->state = JSON_SPLITTER_BROKEN;
	s->line = s->at_line;
	return ipf_error_set(err, kind, "%s", text);
}

static int unexpected(struct json_splitter *s, const char *wanted, int c, struct ipf_error *err)
{
	char text[96];
	if (isprint(c))
		snprintf(text, sizeof text, "expected %s, got \"%c\"", wanted, c);
	else
		snprintf(text, sizeof text, "expected %s, got the byte 0x%02x", wanted, (unsigned)c);
	return broken(s, IPF_INPUT, text, err);
}

/* The window could not be read: the error is set. */
static int read_failed(struct json_splitter *s)
{
	s->state = JSON_SPLITTER_BROKEN;
	s->line = s->at_line;
	return -1;
}

/* Skips white space: 1 and the next byte, 0 at the end, -1. */
static int next_byte(struct json_splitter *s, int *c, struct ipf_error *err)
{
	struct byte_window *window = s->window;
	for (;;) {
		for (; window->begin < window->end; window->begin++) {
			*c = (unsigned char)window->bytes[window->begin];
			if (*c == '\n')
				s->at_line++;
			else if (*c != ' ' && *c != '\t' && *c != '\r')
				return 1;
		}
		int got = byte_window_more(window, err);
		if (got <= 0)
			return got < 0 ? read_failed(s) : 0;
	}
}

/* Returns the first `len` bytes of the window as the next record. */
static int give_record(struct json_splitter *s, size_t len, int64_t newlines, struct slice *record)
{
	*record = (struct slice){byte_window_at(s->window), len};
	s->line = s->at_line;
	s->given = len;
	s->newlines = newlines;
	return 1;
}

static int next_value(struct json_splitter *s, int first, enum json_splitter_state after, struct slice *record,
                      struct ipf_error *err)
{
	struct byte_window *window = s->window;
	bool scalar = !strchr("{[\"", first);
	struct scan scan = {.at = scalar ? 0 : 1, .string = first == '"', .depth = first != '"'};
	for (;;) {
		const char *text = byte_window_at(window);
		size_t len = window->end - window->begin;
		enum scan_result found = scalar ? scan_scalar(&scan, text, len) : scan_value(&scan, text, len);
		if (found == BROKEN) {
			s->at_line += scan.newlines;
			return unexpected(s, "JSON", (unsigned char)text[scan.at], err);
		}
		if (found == WHOLE) {
			s->state = after;
			return give_record(s, scan.at, scan.newlines, record);
		}
		int got = byte_window_more(window, err);
		if (got < 0)
			return read_failed(s);
		if (got == 0) {
			s->at_line += scan.newlines;
			return broken(s, IPF_CUT, "cut within a record", err);
		}
	}
}

static int next_line(struct json_splitter *s, struct slice *record, struct ipf_error *err)
{
	struct byte_window *window = s->window;
	int c, got = next_byte(s, &c, err);
	if (got <= 0)
		return got;
	size_t seen = 0;
	for (;;) {
		const char *text = byte_window_at(window);
		size_t len = window->end - window->begin;
		const char *newline = memchr(text + seen, '\n', len - seen);
		if (newline)
			return give_record(s, (size_t)(newline - text), 0, record);
		seen = len;
		got = byte_window_more(window, err);
		if (got < 0)
			return read_failed(s);
		if (got == 0)
			return give_record(s, len, 0, record);
	}
}

/* The last of `len` bytes besides white space. */
static char last_byte(const char *text, size_t len)
{
	while (len > 1 && strchr(" \t\r\n", text[len - 1]))
		len--;
	return text[len - 1];
}

/* The file begins with an object: is it JSON Lines, or a sequence of objects? It is JSON Lines if the first line is one
 * object and nothing else. It is also if the first line is malformed and the next begins with an object, since within
 * an object a key would follow, except in a list. */
static int detect_lines(struct json_splitter *s, struct ipf_error *err)
{
	struct byte_window *window = s->window;
	struct scan scan = {.at = 1, .depth = 1};
	enum scan_result found = MORE;
	size_t line = 0; /* length of the first line, once its end was seen */
	for (;;) {
		const char *text = byte_window_at(window);
		size_t len = window->end - window->begin, seen = line ? line : scan.at;
		const char *newline = line ? text + line : memchr(text + seen, '\n', len - seen);
		if (newline)
			line = (size_t)(newline - text);
		if (found == MORE)
			found = scan_value(&scan, text, line ? line : len);
		if (line || found == WHOLE) {
			size_t at = found == WHOLE ? scan.at : line;
			while (at < len && strchr(found == WHOLE ? " \t\r" : " \t\r\n", text[at]))
				at++;
			if (at < len) {
				bool lines = found == WHOLE ? text[at] == '\n'
				                            : text[at] == '{' && !strchr(",[:", last_byte(text, line));
				s->state = lines ? JSON_SPLITTER_LINES : JSON_SPLITTER_VALUES;
				return 0;
			}
		}
		int got = byte_window_more(window, err);
		if (got < 0)
			return read_failed(s);
		if (got == 0) {
			s->state = found == WHOLE ? JSON_SPLITTER_LINES : JSON_SPLITTER_VALUES;
			return 0;
		}
	}
}

static void skip_bom(struct json_splitter *s, struct ipf_error *err)
{
	struct byte_window *window = s->window;
	while (window->end - window->begin < 3 && byte_window_more(window, err) > 0)
		;
	if (window->end - window->begin >= 3 && memcmp(byte_window_at(window), "\xef\xbb\xbf", 3) == 0)
		window->begin += 3;
}

/* Is the object beginning here empty? Then it does not show whether the file is JSON Lines. -1 on error. */
static int is_empty(struct json_splitter *s, struct ipf_error *err)
{
	struct byte_window *window = s->window;
	for (size_t at = 1;; at++) {
		while (at >= window->end - window->begin) {
			int got = byte_window_more(window, err);
			if (got <= 0)
				return got < 0 ? read_failed(s) : 0;
		}
		char c = byte_window_at(window)[at];
		if (!strchr(" \t\r\n", c) || !c)
			return c == '}';
	}
}

/* Between values: the next is an array or an object. */
static int next_top(struct json_splitter *s, struct slice *record, struct ipf_error *err)
{
	int c, got;
	if (s->state == JSON_SPLITTER_START)
		skip_bom(s, err);
	if (err->kind != IPF_OK)
		return read_failed(s);
	if ((got = next_byte(s, &c, err)) <= 0)
		return got;
	if (c == '[') {
		s->window->begin++;
		s->state = JSON_SPLITTER_OPENED;
		return AGAIN;
	}
	if (c != '{')
		return unexpected(s, "a JSON array or object", c, err);
	if (s->state == JSON_SPLITTER_START && (got = is_empty(s, err)) != 0)
		return got < 0 ? -1 : next_value(s, c, JSON_SPLITTER_START, record, err);
	if (s->state == JSON_SPLITTER_START) {
		if (detect_lines(s, err) < 0)
			return -1;
		if (s->state == JSON_SPLITTER_LINES)
			return next_line(s, record, err);
	}
	return next_value(s, c, JSON_SPLITTER_VALUES, record, err);
}

/* Within an array: the next element, or the end. */
static int next_element(struct json_splitter *s, struct slice *record, struct ipf_error *err)
{
	for (;;) {
		int c, got = next_byte(s, &c, err);
		if (got < 0)
			return -1;
		if (got == 0)
			return broken(s, IPF_CUT, "cut within the array", err);
		if (c == ']' && s->state != JSON_SPLITTER_COMMA) {
			s->window->begin++;
			s->state = JSON_SPLITTER_VALUES;
			return AGAIN;
		}
		if (s->state == JSON_SPLITTER_ELEMENT) {
			if (c != ',')
				return unexpected(s, "\",\" or \"]\" after a record", c, err);
			s->window->begin++;
			s->state = JSON_SPLITTER_COMMA;
			continue;
		}
		if (c == ',' || c == ']' || c == '}' || c == ':' || c == 0)
			return unexpected(s, "a record", c, err);
		return next_value(s, c, JSON_SPLITTER_ELEMENT, record, err);
	}
}

int json_splitter_next(struct json_splitter *s, struct slice *record, struct ipf_error *err)
{
	s->window->begin += s->given;
	s->at_line += s->newlines;
	s->given = 0;
	s->newlines = 0;
	int got = AGAIN;
	while (got == AGAIN)
		switch (s->state) {
		case JSON_SPLITTER_LINES:
			return next_line(s, record, err);
		case JSON_SPLITTER_START:
		case JSON_SPLITTER_VALUES:
			got = next_top(s, record, err);
			break;
		case JSON_SPLITTER_OPENED:
		case JSON_SPLITTER_ELEMENT:
		case JSON_SPLITTER_COMMA:
			got = next_element(s, record, err);
			break;
		default:
			return ipf_error_set(err, IPF_INPUT, "reading ended at an earlier error");
		}
	return got;
}
