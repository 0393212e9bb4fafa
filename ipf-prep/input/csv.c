#include "input/csv.h"

#include "array.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void csv_begin(struct csv *csv, struct byte_window *window)
{
	csv->window = window;
	csv->separator = ',';
	csv->count = 0;
	csv->line = csv->next_line = 1;
}

static void release_header(struct csv *csv)
{
	for (size_t i = 0; i < csv->column_count; i++)
		free(csv->columns[i]);
	free(csv->columns);
	free(csv->used);
	csv->columns = NULL;
	csv->used = NULL;
	csv->column_count = 0;
}

void csv_release(struct csv *csv)
{
	release_header(csv);
	free(csv->fields);
	free(csv->in_text);
	buffer_release(&csv->text);
	*csv = (struct csv){0};
}

#define ROW_MAX     ((size_t)1 << 20)  /* limits how much an unclosed quote can swallow */
#define HEADER_MAX  ((size_t)16 << 20) /* bytes, and columns: a small compressed file can have any number */
#define COLUMNS_MAX ((size_t)1 << 16)

/* How far a row has been scanned. Positions count from its first byte, so they stay valid when the window moves. */
struct row_scan {
	size_t at;
	bool has_quotes, open; /* `at` is within quotes */
};

/* Scans the row in the window: true if it is complete, with its end. */
static bool scan_row(struct row_scan *s, const char *text, size_t held)
{
	while (s->at < held) {
		const char *from = text + s->at;
		if (s->open) {
			const char *quote = memchr(from, '"', held - s->at);
			s->at = quote ? (size_t)(quote + 1 - text) : held;
			s->open = !quote;
		} else if (s->has_quotes) { /* between fields in quotes is little text */
			while (s->at < held && text[s->at] != '"' && text[s->at] != '\n')
				s->at++;
			if (s->at == held)
				break;
			s->open = text[s->at++] == '"';
			if (!s->open)
				return true;
		} else {
			const char *newline = memchr(from, '\n', held - s->at), *end = newline ? newline : text + held;
			const char *quote = memchr(from, '"', (size_t)(end - from));
			s->has_quotes = s->open = quote != NULL;
			s->at = (size_t)((quote ? quote + 1 : newline ? newline + 1 : end) - text);
			if (newline && !quote)
				return true;
		}
	}
	return false;
}

/* The length of the next row with its end; all of it is in the window. A line end within quotes does not end the row.
 * If the quotes are not closed, the row is only its first line. 1, 0 at the end, -1. */
static int row_length(struct csv *csv, struct row_scan *s, size_t *len, struct ipf_error *err)
{
	*s = (struct row_scan){.at = 0};
	for (;;) {
		const char *text = byte_window_at(csv->window);
		size_t held = csv->window->end - csv->window->begin;
		if (scan_row(s, text, held)) {
			*len = s->at;
			return 1;
		}
		if (csv->column_count == 0 && held > HEADER_MAX)
			return ipf_error_set(err, IPF_INPUT, "a header of more than %zu MiB: this is no CSV", HEADER_MAX >> 20);
		bool unclosed = s->open && held > ROW_MAX && memchr(text, '\n', held);
		int got = unclosed ? 0 : byte_window_more(csv->window, err);
		if (got < 0)
			return -1;
		if (got == 0) {
			text = byte_window_at(csv->window);
			const char *newline = s->open && held ? memchr(text, '\n', held) : NULL;
			*len = newline ? (size_t)(newline + 1 - text) : held;
			return held > 0;
		}
	}
}

/* A field as it stands in the window; `in_text`: it begins at this place of csv->text instead, plus 1. */
static int add_field(struct csv *csv, struct slice field, size_t in_text, struct ipf_error *err)
{
	if (csv->count == csv->cap) {
		if (csv->cap >= COLUMNS_MAX)
			return ipf_error_set(err, IPF_INPUT, "more than %zu fields in a row", COLUMNS_MAX);
		size_t same = csv->cap;
		if (!array_room(csv->in_text, same, csv->count + 1) || !array_room(csv->fields, csv->cap, csv->count + 1))
			return ipf_error_memory(err);
	}
	csv->in_text[csv->count] = in_text;
	csv->fields[csv->count++] = field;
	return 0;
}

/* The field at text[*at], which begins with a quote, up to the separator or the end. */
static int read_quoted(struct csv *csv, const char *text, size_t len, size_t *at, struct ipf_error *err)
{
	size_t begin = *at + 1, kept = csv->text.len;
	for (bool doubled = false;; doubled = true) {
		const char *quote = memchr(text + begin, '"', len - begin);
		if (!quote)
			return ipf_error_set(err, IPF_INPUT, "a quoted field has no closing quote");
		size_t end = (size_t)(quote - text);
		bool more = end + 1 < len && text[end + 1] == '"';
		struct slice part = {text + begin, end - begin + more};
		if (doubled || more)
			buffer_append(&csv->text, part.data, part.len);
		if (more) {
			begin = end + 2;
			continue;
		}
		*at = end + 1;
		if (*at < len && text[*at] != csv->separator)
			return ipf_error_set(err, IPF_INPUT, "text after a closing quote: \"%c\"", text[*at]);
		if (doubled)
			part.len = csv->text.len - kept;
		return add_field(csv, part, doubled ? kept + 1 : 0, err);
	}
}

/* The same for any other field. */
static int read_plain(struct csv *csv, const char *text, size_t len, size_t *at, struct ipf_error *err)
{
	size_t begin = *at, i = begin;
	while (i < len && text[i] != csv->separator)
		i++;
	*at = i;
	return add_field(csv, (struct slice){text + begin, i - begin}, 0, err);
}

static int read_row(struct csv *csv, const char *text, size_t len, struct ipf_error *err)
{
	csv->count = 0;
	buffer_clear(&csv->text);
	for (size_t at = 0;; at++) {
		bool quoted = at < len && text[at] == '"';
		if ((quoted ? read_quoted : read_plain)(csv, text, len, &at, err) < 0)
			return -1;
		if (at >= len)
			break;
	}
	if (csv->text.failed)
		return ipf_error_memory(err);
	for (size_t i = 0; csv->text.len && i < csv->count; i++)
		if (csv->in_text[i])
			csv->fields[i].data = csv->text.data + csv->in_text[i] - 1;
	return 1;
}

static int64_t newlines(const char *text, size_t len)
{
	int64_t count = 0;
	for (const char *end = text + len; (text = memchr(text, '\n', (size_t)(end - text))); text++)
		count++;
	return count;
}

int csv_next(struct csv *csv, struct ipf_error *err)
{
	for (;;) {
		size_t len;
		struct row_scan scan;
		int got = row_length(csv, &scan, &len, err);
		if (got <= 0)
			return got;
		const char *text = byte_window_at(csv->window);
		csv->window->begin += len;
		csv->line = csv->next_line;
		csv->next_line += scan.has_quotes ? newlines(text, len) : text[len - 1] == '\n';
		if (len > 0 && text[len - 1] == '\n')
			len--;
		if (len > 0 && text[len - 1] == '\r')
			len--;
		if (len > 0)
			return read_row(csv, text, len, err);
	}
}

/* The separator of the row the window begins with: the most frequent one outside of quotes. */
static char separator_of(const char *text, size_t len)
{
	static const char separators[] = {',', ';', '\t', '|'};
	size_t counts[sizeof separators] = {0}, best = 0;
	bool quoted = false;
	for (size_t i = 0; i < len; i++) {
		quoted ^= text[i] == '"';
		for (size_t k = 0; k < sizeof separators && !quoted; k++)
			counts[k] += text[i] == separators[k];
	}
	for (size_t k = 1; k < sizeof separators; k++)
		if (counts[k] > counts[best])
			best = k;
	return separators[best];
}

/* Skips a byte order mark and empty lines: 1, 0 at the end, -1. */
static int find_header(struct csv *csv, size_t *len, struct ipf_error *err)
{
	static const char bom[] = "\xef\xbb\xbf";
	struct row_scan scan;
	int got;
	for (bool first = true; (got = row_length(csv, &scan, len, err)) == 1; first = false) {
		const char *text = byte_window_at(csv->window);
		if (first && *len >= 3 && memcmp(text, bom, 3) == 0) {
			csv->window->begin += 3;
			continue;
		}
		if (text[0] != '\n' && !(text[0] == '\r' && *len == 2))
			return 1;
		csv->window->begin += *len;
		csv->next_line++;
	}
	return got;
}

int csv_header(struct csv *csv, struct ipf_error *err)
{
	size_t len;
	release_header(csv);
	int got = find_header(csv, &len, err);
	if (got <= 0)
		return got;
	csv->separator = separator_of(byte_window_at(csv->window), len);
	if ((got = csv_next(csv, err)) <= 0)
		return got;
	csv->columns = calloc(csv->count, sizeof *csv->columns);
	csv->used = calloc(csv->count, sizeof *csv->used);
	if (!csv->columns || !csv->used)
		return ipf_error_memory(err);
	for (size_t i = 0; i < csv->count; i++)
		if (!(csv->columns[csv->column_count++] = slice_dup(csv->fields[i])))
			return ipf_error_memory(err);
	return 1;
}

int csv_column(const struct csv *csv, const char *name)
{
	for (size_t i = 0; i < csv->column_count; i++)
		if (strcmp(csv->columns[i], name) == 0) {
			csv->used[i] = true;
			return (int)i;
		}
	return -1;
}
