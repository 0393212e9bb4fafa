#include "input/csv.h"

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
	free(csv->ends);
	buffer_release(&csv->text);
	*csv = (struct csv){0};
}

#define ROW_MAX ((size_t)1 << 20) /* limits how much an unclosed quote can swallow */

/* The length of the next row with its end; all of it is in the window. A line end within quotes does not end the row.
 * If the quotes are not closed, the row is only its first line. 1, 0 at the end, -1. */
static int row_length(struct csv *csv, size_t *len, struct ipf_error *err)
{
	bool quoted = false;
	size_t at = 0, line = 0;
	for (;;) {
		const char *text = byte_window_at(csv->window);
		size_t held = csv->window->end - csv->window->begin;
		for (; at < held; at++) {
			if (text[at] == '"')
				quoted = !quoted;
			if (text[at] != '\n')
				continue;
			if (line == 0)
				line = at + 1;
			if (!quoted) {
				*len = at + 1;
				return 1;
			}
		}
		int got = quoted && line && held > ROW_MAX ? 0 : byte_window_more(csv->window, err);
		if (got < 0)
			return -1;
		if (got == 0) {
			*len = quoted && line ? line : held;
			return held > 0;
		}
	}
}

static int add_field(struct csv *csv, struct ipf_error *err)
{
	if (csv->count == csv->cap) {
		size_t cap = csv->cap ? csv->cap * 2 : 16;
		struct slice *fields = reallocarray(csv->fields, cap, sizeof *fields);
		if (fields)
			csv->fields = fields;
		size_t *ends = reallocarray(csv->ends, cap, sizeof *ends);
		if (ends)
			csv->ends = ends;
		if (!fields || !ends)
			return ipf_error_memory(err);
		csv->cap = cap;
	}
	csv->ends[csv->count++] = csv->text.len;
	return 0;
}

/* Reads the field at text[*at], up to the separator or the end. */
static int read_field(struct csv *csv, const char *text, size_t len, size_t *at, struct ipf_error *err)
{
	size_t i = *at;
	if (i < len && text[i] == '"') {
		for (i++;; i++) {
			if (i >= len)
				return ipf_error_set(err, IPF_INPUT, "a quoted field has no closing quote");
			if (text[i] == '"') {
				if (i + 1 < len && text[i + 1] == '"')
					i++;
				else
					break;
			}
			buffer_byte(&csv->text, text[i]);
		}
		i++;
		if (i < len && text[i] != csv->separator)
			return ipf_error_set(err, IPF_INPUT, "text after a closing quote: \"%c\"", text[i]);
	} else {
		while (i < len && text[i] != csv->separator)
			i++;
		buffer_append(&csv->text, text + *at, i - *at);
	}
	*at = i;
	return add_field(csv, err);
}

static int read_row(struct csv *csv, const char *text, size_t len, struct ipf_error *err)
{
	csv->count = 0;
	buffer_clear(&csv->text);
	for (size_t at = 0;; at++) {
		if (read_field(csv, text, len, &at, err) < 0)
			return -1;
		if (at >= len)
			break;
	}
	if (csv->text.failed)
		return ipf_error_memory(err);
	for (size_t i = 0, begin = 0; i < csv->count; begin = csv->ends[i++])
		csv->fields[i] = (struct slice){csv->text.data ? csv->text.data + begin : "", csv->ends[i] - begin};
	return 1;
}

int csv_next(struct csv *csv, struct ipf_error *err)
{
	for (;;) {
		size_t len;
		int got = row_length(csv, &len, err);
		if (got <= 0)
			return got;
		const char *text = byte_window_at(csv->window);
		csv->window->begin += len;
		csv->line = csv->next_line;
		for (size_t i = 0; i < len; i++)
			csv->next_line += text[i] == '\n';
		if (len > 0 && text[len - 1] == '\n')
			len--;
		if (len > 0 && text[len - 1] == '\r')
			len--;
		if (len > 0)
			return read_row(csv, text, len, err);
	}
}

/* The separator of the row that the window begins with: the most frequent one outside of quotes. */
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
	int got;
	for (bool first = true; (got = row_length(csv, len, err)) == 1; first = false) {
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
