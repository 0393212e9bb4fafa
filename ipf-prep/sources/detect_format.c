#include "sources/detect_format.h"

#include "input/json_splitter.h"

#include <string.h>

#define LOOK ((size_t)4 << 20) /* how much of a file is looked at, in bytes */

static const struct source_format *ask_all(const struct sniff *sniff)
{
	const struct source_format *format;
	for (size_t i = 0; (format = source_at(i)); i++)
		if (format->recognises && format->recognises(sniff))
			return format;
	return NULL;
}

/* The first record of a JSON file, or the first row of a page of rows; NULL if it is not JSON, or cut. */
static const struct jdoc *first_record(struct byte_window *window, struct jdoc *j, struct jdoc *row)
{
	struct json_splitter splitter;
	struct slice text;
	struct ipf_error ignored = {0};
	json_splitter_begin(&splitter, window);
	if (json_splitter_next(&splitter, &text, &ignored) != 1 || jdoc_parse(j, text.data, text.len, &ignored) < 0)
		return NULL;
	jdoc_id rows = jdoc_get(j, JDOC_ROOT, "rows");
	struct slice inner = jdoc_raw(j, jdoc_get(j, jdoc_at(j, rows, 0), "row"));
	if (jdoc_get(j, JDOC_ROOT, "features") == JDOC_NONE || !inner.data)
		return j;
	return jdoc_parse(row, inner.data, inner.len, &ignored) == 0 ? row : NULL;
}

const struct source_format *detect_format(struct input *input, struct ipf_error *err)
{
	const char *bytes;
	int64_t len = input_peek(input, LOOK, &bytes, err);
	if (len < 0)
		return NULL;
	struct sniff sniff = {.head = {bytes, (size_t)len}};
	struct slice left = sniff.head;
	struct byte_window window = {.read = byte_window_read_slice, .data = &left};
	struct jdoc j = {0}, row = {0};
	struct csv csv = {0};
	struct ipf_error ignored = {0};
	size_t blank = 0;
	while (blank < (size_t)len && strchr(" \t\r\n\xef\xbb\xbf", bytes[blank]))
		blank++;
	if (blank < (size_t)len && (bytes[blank] == '{' || bytes[blank] == '[')) {
		sniff.json = first_record(&window, &j, &row);
	} else {
		csv_begin(&csv, &window);
		if (csv_header(&csv, &ignored) == 1)
			sniff.csv = &csv;
	}
	const struct source_format *format = len > 0 ? ask_all(&sniff) : NULL;
	if (!format && len == 0)
		ipf_error_at(err, IPF_INPUT, input_name(input), 0, "the file is empty");
	else if (!format)
		ipf_error_at(err, IPF_INPUT, input_name(input), 0,
		             "cannot detect the format: give one that --list shows, or use jsonl or csv with --field");
	jdoc_release(&j);
	jdoc_release(&row);
	csv_release(&csv);
	byte_window_release(&window);
	return format;
}
