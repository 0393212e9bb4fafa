/* Descriptions of formats: any text is a layout or one error; a layout reads any records. The input is a description, a
 * byte 0, and records of JSON. */
#include "sources/layout.h"

#include "absent.h"
#include "input/json_splitter.h"
#include "sources/layout_rows.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int take(struct sink *sink, struct draft *d, struct ipf_error *err)
{
	(void)sink;
	(void)err;
	if (d->failed)
		return 0;
	struct draft *copy = draft_clone(d);
	if (!copy || copy->count == 0)
		abort();
	free(copy);
	return 0;
}

static void unusable(struct sink *sink, const char *why)
{
	(void)sink;
	if (!*why)
		abort();
}

static void put_row(const char *label, const char *places, void *data)
{
	(void)data;
	if (!*label || !places)
		abort();
}

static void read_records(const struct source_format *format, void *state, struct slice text)
{
	struct sink sink = {.take = take, .unusable = unusable, .no_request = unusable};
	struct slice left = text, one;
	struct byte_window window = {.read = byte_window_read_slice, .data = &left};
	struct json_splitter splitter;
	struct jdoc json = {0};
	struct ipf_error err = {0};
	int64_t number = 0;
	json_splitter_begin(&splitter, &window);
	while (json_splitter_next(&splitter, &one, &err) == 1) {
		if (jdoc_parse(&json, one.data, one.len, &err) == 0) {
			struct source_record record = {.number = ++number, .file = "fuzz", .line = 1, .json = &json};
			draft_reset(&sink.draft);
			sink.draft.number = number;
			if (format->read_record(state, &record, &sink, &err) < 0 && (err.kind != IPF_INPUT || !err.text[0]))
				abort();
		}
		ipf_error_clear(&err);
	}
	byte_window_release(&window);
	jdoc_release(&json);
	draft_release(&sink.draft);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = size ? memchr(data, 0, size) : NULL;
	struct ipf_error err = {0};
	struct distribution as_recorded = {.kind = DISTRIBUTION_DATASET};
	struct source_settings settings = {
		.n = IPF_ABSENT, .from_ns = IPF_ABSENT, .to_ns = IPF_ABSENT, .input = &as_recorded, .lone = size & 1};
	void *state = NULL;
	if (!end)
		return 0;
	struct layout *layout = layout_load("fuzz", (const char *)data, &err);
	if (!layout) {
		if (err.kind != IPF_INPUT || !err.text[0])
			abort();
		return 0;
	}
	layout_each_row(layout, put_row, NULL);
	if (source_open(&layout->format, &settings, &state, &err) < 0)
		abort();
	read_records(&layout->format, state, (struct slice){(const char *)end + 1, (size_t)(data + size - end) - 1});
	source_close(&layout->format, state);
	layout_free(layout);
	return 0;
}
