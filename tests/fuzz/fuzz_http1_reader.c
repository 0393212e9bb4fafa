/* Any bytes, as the reads of a connection: the responses they are, or why they are none, are the same however the bytes
 * come in pieces. The first byte has the number of cuts and whether the response has no body; each cut is two bytes;
 * the rest is the server's output, response after response while the connection may be kept. */
#include "http/http1_reader.h"

#include <stdlib.h>
#include <string.h>

#define RESPONSES_MOST 20

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct told {
	uint64_t hash; /* over all events of the sink */
};

static void add(struct told *t, const void *bytes, size_t len)
{
	const unsigned char *at = bytes;
	for (size_t i = 0; i < len; i++)
		t->hash = (t->hash ^ at[i]) * UINT64_C(1099511628211);
}

static void on_status(void *data, int status)
{
	if (status < 100 || status > 999)
		abort();
	add(data, &status, sizeof status);
}

static void on_header(void *data, struct slice name, struct slice value)
{
	if (!name.len || memchr(value.data, '\n', value.len) || memchr(value.data, '\r', value.len) ||
	    memchr(value.data, '\0', value.len))
		abort();
	add(data, name.data, name.len);
	add(data, ":", 1);
	add(data, value.data, value.len);
}

static bool on_body(void *data, const char *bytes, size_t len)
{
	if (!len)
		abort();
	add(data, bytes, len);
	return true;
}

static void on_request(void *data, struct slice method, struct slice target)
{
	add(data, method.data, method.len);
	add(data, target.data, target.len);
}

static const struct http1_sink sink = {on_status, on_header, on_body, on_request};

/* How the bytes come in pieces: cut in some places, or each `step` bytes. */
struct pieces {
	size_t cuts[7], count, step, len;
};

static size_t end_of_piece(const struct pieces *p, size_t at)
{
	size_t end = p->step && p->step < p->len - at ? at + p->step : p->len;
	for (size_t i = 0; i < p->count; i++)
		if (p->cuts[i] > at && p->cuts[i] < end)
			end = p->cuts[i];
	return end;
}

/* One response: the sink's part, and how it ended. */
static enum http1_result read_response(struct http1_reader *r, const char *text, size_t *at, const struct pieces *p,
                                       struct told *told)
{
	enum http1_result result = HTTP1_MORE;
	size_t begin = *at;
	while (result == HTTP1_MORE && *at < p->len) {
		size_t n = end_of_piece(p, *at) - *at, used;
		/* a copy of its own, so a sanitizer sees one byte too far */
		char *copy = malloc(n);
		if (!copy)
			abort();
		memcpy(copy, text + *at, n);
		result = http1_read(r, copy, n, &used, &sink, told);
		free(copy);
		if (used > n || (result == HTTP1_MORE && used != n))
			abort();
		*at += used;
	}
	if (result == HTTP1_CUT || result == HTTP1_STOPPED || (result == HTTP1_MALFORMED) != (r->why != NULL))
		abort();
	if (r->offset > *at - begin || (result != HTTP1_MALFORMED && r->offset != *at - begin))
		abort();
	return result == HTTP1_MORE ? http1_closed(r) : result;
}

/* A sum of all responses. */
static uint64_t read_all(const char *text, const struct pieces *p, bool no_body, bool requests)
{
	struct http1_reader r = {0};
	struct told told = {.hash = UINT64_C(14695981039346656037)};
	size_t at = 0;
	for (int i = 0; i < RESPONSES_MOST; i++) {
		if (requests)
			http1_begin_request(&r);
		else
			http1_begin(&r, no_body);
		enum http1_result result = read_response(&r, text, &at, p, &told);
		uint64_t end[] = {(uint64_t)result, r.offset, r.status, r.keep, r.why ? strlen(r.why) : 0};
		add(&told, end, sizeof end);
		if (result != HTTP1_COMPLETE || !r.keep || at == p->len)
			break;
	}
	http1_release(&r);
	return told.hash;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t count = size ? data[0] & 7 : 0;
	if (size < 1 + count * 2)
		return 0;
	bool no_body = data[0] & 8, requests = data[0] & 16;
	const char *text = (const char *)data + 1 + count * 2;
	struct pieces whole = {.len = size - 1 - count * 2}, some = whole, bytes = whole;
	for (size_t i = 0; i < count && whole.len; i++)
		some.cuts[some.count++] = (data[1 + i * 2] | (size_t)data[2 + i * 2] << 8) % whole.len;
	bytes.step = 1;
	uint64_t expected = read_all(text, &whole, no_body, requests);
	if (read_all(text, &some, no_body, requests) != expected || read_all(text, &bytes, no_body, requests) != expected)
		abort();
	return 0;
}
