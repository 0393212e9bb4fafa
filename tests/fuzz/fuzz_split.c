/* The JSON splitter: any bytes are split into records without reading outside of them, and in the same way whatever
 * chunks they come in. In an input that jansson parses as an array, it finds the same elements. The first byte sets the
 * size of the chunks. */
#include "input/json_splitter.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct chunked_text {
	const char *text;
	size_t len, at, most;
};

static int64_t read_chunks(void *data, char *to, size_t cap, struct ipf_error *err)
{
	struct chunked_text *p = data;
	size_t len = p->most;
	(void)err;
	if (len > p->len - p->at)
		len = p->len - p->at;
	if (len > cap)
		len = cap;
	memcpy(to, p->text + p->at, len);
	p->at += len;
	return (int64_t)len;
}

/* The records, each with its length before it, and the ending. */
static int split(const char *text, size_t len, size_t most, struct buffer *out, size_t *count)
{
	struct chunked_text chunks = {.text = text, .len = len, .most = most};
	struct byte_window window = {.read = read_chunks, .data = &chunks};
	struct json_splitter s;
	struct slice record;
	struct ipf_error err = {0};
	int got;
	*count = 0;
	json_splitter_begin(&s, &window);
	while ((got = json_splitter_next(&s, &record, &err)) == 1) {
		buffer_format(out, "%zu %lld ", record.len, (long long)s.line);
		buffer_slice(out, record);
		++*count;
	}
	buffer_format(out, "%d %lld %s", got, (long long)s.line, err.text);
	byte_window_release(&window);
	return got;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	struct buffer whole = {0}, chunks = {0};
	const char *text = (const char *)data + 1;
	size_t len = size - 1, count, other;
	int got = split(text, len, len + 1, &whole, &count);
	split(text, len, 1 + data[0] % 64, &chunks, &other);
	if (count != other || !slice_equal(buffer_all(&whole), buffer_all(&chunks)))
		abort();
	json_error_t why;
	json_t *list = json_loadb(text, len, 0, &why);
	if (json_is_array(list) && (got != 0 || count != json_array_size(list)))
		abort();
	json_decref(list);
	buffer_release(&whole);
	buffer_release(&chunks);
	return 0;
}
