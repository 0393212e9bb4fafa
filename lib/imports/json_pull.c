#include "imports/json_pull.h"

#include "cli/interrupt.h"
#include "safe_text.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void json_pull_init(struct json_pull *p, struct stream_reader *input)
{
	*p = (struct json_pull){.input = input, .line = 1};
}

void json_pull_release(struct json_pull *p)
{
	buffer_release(&p->token);
}

int json_pull_wrong(const struct json_pull *p, struct ipf_error *err, const char *format, ...)
{
	char text[500], path[JSON_PULL_PATH * 72] = "";
	size_t len = 0;
	va_list values;
	va_start(values, format);
	vsnprintf(text, sizeof text, format, values);
	va_end(values);
	for (int i = 0; i < p->depth && i < JSON_PULL_PATH; i++)
		len += (size_t)(p->open[i] == '{'
		                    ? snprintf(path + len, sizeof path - len, "%s%.60s", len ? "." : "", p->path[i].key)
		                    : snprintf(path + len, sizeof path - len, "[%lld]", (long long)p->path[i].index));
	return ipf_error_at(err, IPF_INPUT, stream_reader_name(p->input), p->line, "%s%s%s", path, *path ? ": " : "", text);
}

/* ---- bytes ---- */

/* Waits with a timeout, since a signal may arrive between the check and the wait. */
static int await_input(struct json_pull *p, struct ipf_error *err)
{
	struct pollfd wait = {.events = POLLIN};
	while (!interrupted()) {
		if (stream_reader_ready(p->input, &wait.fd))
			return 0;
		int got = poll(&wait, 1, 500);
		if (got > 0 || (got < 0 && errno != EINTR))
			return 0;
	}
	return ipf_error_at(err, IPF_CUT, stream_reader_name(p->input), 0, "interrupted");
}

/* 1: there is a byte at p->at; 0: the end of the input; -1. */
static int more(struct json_pull *p, struct ipf_error *err)
{
	struct slice text;
	if (p->at < p->end)
		return 1;
	if (await_input(p, err) < 0)
		return -1;
	int got = stream_reader_text(p->input, &text, err);
	if (got == 1) {
		p->at = text.data;
		p->end = text.data + text.len;
	}
	return got;
}

static int cut(struct json_pull *p, struct ipf_error *err)
{
	return ipf_error_at(err, IPF_CUT, stream_reader_name(p->input), p->line, "cut: the JSON ends in the middle");
}

/* The next byte that is no white space, which stays; 0: the end of the input; -1. */
static int next_byte(struct json_pull *p, struct ipf_error *err)
{
	int got;
	while ((got = more(p, err)) == 1) {
		char c = *p->at;
		if (c != ' ' && c != '\n' && c != '\t' && c != '\r')
			return (unsigned char)c;
		p->line += c == '\n';
		p->at++;
	}
	return got;
}

static int needed_byte(struct json_pull *p, struct ipf_error *err)
{
	int c = next_byte(p, err);
	return c == 0 ? cut(p, err) : c;
}

/* The beginning of the value at this place. */
static int unexpected(struct json_pull *p, const char *wanted, struct ipf_error *err)
{
	size_t len = 1, most = (size_t)(p->end - p->at) < 24 ? (size_t)(p->end - p->at) : 24;
	if (*p->at == '"') {
		while (len < most && p->at[len] != '"' && p->at[len] != '\n')
			len++;
		len += len < most && p->at[len] == '"';
	} else if (!strchr("{}[]:,", *p->at)) {
		while (len < most && !strchr(",:]}\n", p->at[len]))
			len++;
	}
	return json_pull_wrong(p, err, "expected %s, got %s%s", wanted, shown_slice((struct slice){p->at, len}).text,
	                       len == 24 ? "…" : "");
}

/* ---- structure ---- */

int json_pull_document(struct json_pull *p, struct ipf_error *err)
{
	p->depth = 0;
	int c = next_byte(p, err);
	return c > 0 ? 1 : c;
}

static int type_of(int c)
{
	switch (c) {
	case '{':
		return JDOC_MAP;
	case '[':
		return JDOC_LIST;
	case '"':
		return JDOC_TEXT;
	case 't':
	case 'f':
		return JDOC_BOOL;
	case 'n':
		return JDOC_NULL;
	default:
		return (c >= '0' && c <= '9') || c == '-' || c == 'N' || c == 'I' ? JDOC_NUMBER : -1;
	}
}

int json_pull_type(struct json_pull *p, struct ipf_error *err)
{
	int c = needed_byte(p, err);
	if (c < 0)
		return -1;
	return type_of(c) < 0 ? unexpected(p, "a JSON value", err) : type_of(c);
}

int json_pull_enter(struct json_pull *p, enum jdoc_type type, struct ipf_error *err)
{
	int c = needed_byte(p, err);
	if (c < 0)
		return -1;
	if (c != (type == JDOC_MAP ? '{' : '['))
		return unexpected(p, type == JDOC_MAP ? "an object" : "a list", err);
	if (p->depth == JSON_PULL_DEPTH)
		return json_pull_wrong(p, err, "nested deeper than %d", JSON_PULL_DEPTH);
	if (p->depth < JSON_PULL_PATH) {
		p->path[p->depth].key[0] = '\0';
		p->path[p->depth].index = -1;
	}
	p->open[p->depth++] = (char)c;
	p->first = true;
	p->at++;
	return 0;
}

/* Before a member or an element: 1; 0: the container ended; -1. */
static int step(struct json_pull *p, struct ipf_error *err)
{
	bool map = p->open[p->depth - 1] == '{';
	int c = needed_byte(p, err);
	if (c < 0)
		return -1;
	if (c == (map ? '}' : ']')) {
		p->at++;
		p->depth--;
		p->first = false;
		return 0;
	}
	if (!p->first && c != ',')
		return unexpected(p, map ? "\",\" or \"}\"" : "\",\" or \"]\"", err);
	if (!p->first) {
		p->at++;
		if (needed_byte(p, err) < 0)
			return -1;
	}
	p->first = false;
	if (p->depth <= JSON_PULL_PATH)
		p->path[p->depth - 1].index++;
	return 1;
}

int json_pull_element(struct json_pull *p, struct ipf_error *err)
{
	return step(p, err);
}

/* ---- values ---- */

static void keep(struct buffer *to, const char *from, const char *end)
{
	if (to)
		buffer_append(to, from, (size_t)(end - from));
}

static int check_size(struct json_pull *p, const struct buffer *to, struct ipf_error *err)
{
	if (!to)
		return 0;
	if (to->failed)
		return ipf_error_memory(err);
	return to->len > JSON_PULL_VALUE_MOST
	           ? json_pull_wrong(p, err, "a value is longer than %d MiB", JSON_PULL_VALUE_MOST >> 20)
	           : 0;
}

/* Texts that are skipped have a limit, too: a few kilobytes of compressed data can make one that takes minutes. */
static int check_text(struct json_pull *p, const struct buffer *to, size_t len, struct ipf_error *err)
{
	size_t most = stream_line_limit() ? stream_line_limit() : STREAM_LINE_MAX;
	if (len > most)
		return json_pull_wrong(p, err, "a text is longer than %zu MiB; --max-line allows longer ones", most >> 20);
	return check_size(p, to, err);
}

/* A text, with its quotes. */
static int take_text(struct json_pull *p, struct buffer *to, struct ipf_error *err)
{
	bool quote_open = false, escaped = false;
	size_t len = 0;
	for (;;) {
		int got = more(p, err);
		if (got <= 0)
			return got < 0 ? -1 : cut(p, err);
		const char *from = p->at;
		bool ended = false;
		while (p->at < p->end && !ended) {
			char c = *p->at++;
			if (c == '\n') /* cannot be in a text: stop here rather than at the end of a damaged file */
				return json_pull_wrong(p, err, "a text is not closed");
			ended = c == '"' && quote_open && !escaped;
			escaped = c == '\\' && !escaped;
			quote_open = true;
		}
		keep(to, from, p->at);
		len += (size_t)(p->at - from);
		if (check_text(p, to, len, err) < 0)
			return -1;
		if (ended)
			return 0;
	}
}

/* A number or a word into p->token. */
static int take_scalar(struct json_pull *p, struct ipf_error *err)
{
	buffer_clear(&p->token);
	int got;
	while ((got = more(p, err)) == 1) {
		const char *from = p->at;
		while (p->at < p->end && !strchr(" \t\r\n,:]}[{\"", *p->at)) /* nor a NUL */
			p->at++;
		buffer_append(&p->token, from, (size_t)(p->at - from));
		if (p->token.len > 1000)
			return json_pull_wrong(p, err, "expected a JSON value, got \"%s…\"",
			                       shown_slice((struct slice){p->token.data, 20}).text);
		if (p->at < p->end)
			break;
	}
	if (got < 0)
		return -1;
	if (p->token.failed)
		return ipf_error_memory(err);
	return p->token.len ? 0 : got == 0 ? cut(p, err) : unexpected(p, "a JSON value", err);
}

static bool is_not_json(struct slice token)
{
	return slice_is(token, "NaN") || slice_is(token, "Infinity") || slice_is(token, "-Infinity");
}

/* Larger numbers would become infinite in other units, sums and squares. */
static int check_number(struct json_pull *p, struct ipf_error *err)
{
	const struct slice token = buffer_all(&p->token);
	if (token.len <= 30 && !memchr(token.data, 'e', token.len) && !memchr(token.data, 'E', token.len))
		return 0;
	return fabs(strtod(token.data, NULL)) <= JSON_PULL_NUMBER_MOST
	           ? 0
	           : json_pull_wrong(p, err, "expected a number of at most %g, got %s", JSON_PULL_NUMBER_MOST,
	                             shown_slice(token).text);
}

static int take_scalar_into(struct json_pull *p, struct buffer *to, struct ipf_error *err)
{
	if (take_scalar(p, err) < 0)
		return -1;
	if (to && is_not_json(buffer_all(&p->token)))
		buffer_text(to, "null");
	else if (to && check_number(p, err) < 0)
		return -1;
	else
		keep(to, p->token.data, p->token.data + p->token.len);
	return check_size(p, to, err);
}

/* One byte of a map or a list: a bracket, comma or colon. `open` are the brackets inside this value. */
static int take_mark(struct json_pull *p, int c, char *open, int *depth, struct ipf_error *err)
{
	if (c == '{' || c == '[') {
		if (*depth == JSON_PULL_DEPTH)
			return json_pull_wrong(p, err, "nested deeper than %d", JSON_PULL_DEPTH);
		open[(*depth)++] = (char)c;
	} else if (c == '}' || c == ']') {
		if (*depth == 0 || open[*depth - 1] != (c == '}' ? '{' : '['))
			return unexpected(p, "a JSON value", err);
		(*depth)--;
	}
	p->at++;
	return 0;
}

static int take_value(struct json_pull *p, struct buffer *to, struct ipf_error *err)
{
	char open[JSON_PULL_DEPTH];
	int depth = 0;
	do {
		int c = needed_byte(p, err), bad;
		if (c < 0)
			return -1;
		if (c == '"') {
			bad = take_text(p, to, err);
		} else if (strchr("{}[]", c) || (depth > 0 && (c == ',' || c == ':'))) {
			keep(to, p->at, p->at + 1);
			bad = take_mark(p, c, open, &depth, err);
		} else {
			bad = take_scalar_into(p, to, err);
		}
		if (bad < 0 || check_size(p, to, err) < 0)
			return -1;
	} while (depth > 0);
	return 0;
}

int json_pull_skip(struct json_pull *p, struct ipf_error *err)
{
	return take_value(p, NULL, err);
}

int json_pull_value(struct json_pull *p, struct buffer *raw, struct ipf_error *err)
{
	buffer_clear(raw);
	return take_value(p, raw, err);
}

int json_pull_number(struct json_pull *p, double *value, struct ipf_error *err)
{
	int type = json_pull_type(p, err);
	*value = NAN;
	if (type < 0)
		return -1;
	if (type == JDOC_MAP || type == JDOC_LIST || type == JDOC_TEXT)
		return unexpected(p, "a number", err);
	if (take_scalar(p, err) < 0)
		return -1;
	struct slice token = buffer_all(&p->token);
	if (slice_is(token, "null") || is_not_json(token))
		return 0;
	/* strtod knows more forms than JSON: hexadecimal, "inf" */
	char *after;
	*value = strtod(token.data, &after);
	if (*after || strpbrk(token.data, "xXnN"))
		return json_pull_wrong(p, err, "expected a number, got %s", shown_slice(token).text);
	return check_number(p, err);
}

int json_pull_member(struct json_pull *p, struct slice *key, struct ipf_error *err)
{
	int got = step(p, err);
	if (got <= 0)
		return got;
	if (*p->at != '"')
		return unexpected(p, "a key", err);
	buffer_clear(&p->token);
	if (take_text(p, &p->token, err) < 0)
		return -1;
	size_t len = p->token.len - 2 < JSON_PULL_KEY ? p->token.len - 2 : JSON_PULL_KEY;
	memcpy(p->key, p->token.data + 1, len);
	*key = (struct slice){p->key, len};
	if (p->depth <= JSON_PULL_PATH)
		snprintf(p->path[p->depth - 1].key, sizeof p->path->key, "%.*s", (int)len, p->key);
	int c = needed_byte(p, err);
	if (c < 0)
		return -1;
	if (c != ':')
		return unexpected(p, "\":\"", err);
	p->at++;
	return 1;
}
