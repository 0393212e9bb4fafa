/* The reader of responses: the table of odd ones, whole and in pieces, and cases outside the table. */
#include "http/http1_reader.h"

#include "unit.h"

#include <time.h>

/* ---- events of the sink ---- */

struct told {
	struct buffer text; /* statuses and headers; bodies by their bytes */
	size_t body_bytes;
	size_t stop_after; /* bytes of the body; 0: never */
	int status;
};

static void on_status(void *data, int status)
{
	struct told *t = data;
	t->status = status;
	buffer_format(&t->text, "%d\n", status);
}

static void on_header(void *data, struct slice name, struct slice value)
{
	struct told *t = data;
	buffer_slice(&t->text, name);
	buffer_byte(&t->text, '=');
	buffer_slice(&t->text, value);
	buffer_byte(&t->text, '\n');
}

static bool on_body(void *data, const char *bytes, size_t len)
{
	struct told *t = data;
	assert_true(len > 0);
	t->body_bytes += len;
	buffer_append(&t->text, bytes, len);
	return !t->stop_after || t->body_bytes < t->stop_after;
}

static const struct http1_sink sink = {on_status, on_header, on_body, NULL};

static struct http1_reader reader;

#define LARGE 20000 /* bytes that are not read one by one */

/* Reads all of it in pieces of at most `piece` bytes (0: of random lengths), then the end of the connection. `used`:
 * bytes of the response. */
static enum http1_result read_all(struct told *told, struct slice response, size_t piece, uint64_t *seed, size_t *used)
{
	enum http1_result result = HTTP1_MORE;
	size_t some = 0;
	*used = 0;
	while (result == HTTP1_MORE && *used < response.len) {
		size_t n = piece ? piece : 1 + (size_t)(test_random(seed) % (response.len > LARGE ? 5000 : 20));
		n = n < response.len - *used ? n : response.len - *used;
		/* a copy of just this size, so a sanitizer sees who reads past it */
		char *copy = malloc(n);
		memcpy(copy, response.data + *used, n);
		result = http1_read(&reader, copy, n, &some, &sink, told);
		free(copy);
		assert_true(some <= n && (result != HTTP1_MORE || some == n));
		*used += some;
	}
	return result == HTTP1_MORE ? http1_closed(&reader) : result;
}

/* ---- the table ---- */

static const char *const kinds[] = {
	[HTTP1_COMPLETE] = "complete",   [HTTP1_CUT] = "cut",         [HTTP1_MALFORMED] = "malformed",
	[HTTP1_TOO_LARGE] = "too-large", [HTTP1_STOPPED] = "stopped", [HTTP1_NO_MEMORY] = "no memory",
};

/* Appends the text of an entry of the table, up to `end` or an unbalanced brace; returns the rest. */
static const char *unescape(const char *from, const char *end, struct buffer *to)
{
	for (; from < end && *from != '}'; from++) {
		if (*from == '|') {
			buffer_text(to, "\r\n");
		} else if (*from != '\\') {
			buffer_byte(to, *from);
		} else if (*++from == 'x') {
			char digits[3] = {from[1], from[2], '\0'};
			buffer_byte(to, (char)strtoul(digits, NULL, 16));
			from += 2;
		} else if (*from == '{') {
			char *text;
			size_t count = strtoul(from + 1, &text, 10);
			const char *after = text + 1;
			for (size_t i = 0; i < count; i++)
				after = unescape(text + 1, end, to);
			from = after;
		} else {
			buffer_byte(to, *from == 'r' ? '\r' : *from == 'n' ? '\n' : *from == 't' ? '\t' : '\0');
		}
	}
	return from;
}

static void describe(char text[200], enum http1_result result, const struct told *told, size_t rest)
{
	int len = snprintf(text, 200, "%s %d %zu", kinds[result], told->status, told->body_bytes);
	if (result == HTTP1_COMPLETE)
		len += snprintf(text + len, 200 - (size_t)len, " %s", reader.keep ? "keep" : "close");
	if (result == HTTP1_COMPLETE && rest)
		snprintf(text + len, 200 - (size_t)len, " rest %zu", rest);
	if (result == HTTP1_MALFORMED)
		snprintf(text + len, 200 - (size_t)len, " at %llu: %s", (unsigned long long)reader.offset, reader.why);
}

static int check_row(const char *name, const char *expected, struct slice response, uint64_t *seed)
{
	struct buffer whole = {0};
	int wrong = 0;
	for (int run = 0; run < 8; run++) {
		static const size_t pieces[] = {SIZE_MAX, 4096, 1, 2};
		struct told told = {0};
		size_t used;
		char text[200];
		if ((run == 2 || run == 3) && response.len > LARGE)
			continue;
		http1_begin(&reader, !strncmp(name, "HEAD", 4));
		enum http1_result result = read_all(&told, response, run < 4 ? pieces[run] : 0, seed, &used);
		describe(text, result, &told, response.len - used);
		if (result == HTTP1_COMPLETE || result == HTTP1_CUT)
			assert_int_equal(reader.offset, used);
		if (run == 0)
			buffer_slice(&whole, buffer_all(&told.text));
		if (strcmp(text, expected) != 0 || !slice_equal(buffer_all(&whole), buffer_all(&told.text))) {
			print_error("%s, run %d:\n  expected %s\n  got      %s\n", name, run, expected, text);
			wrong = 1;
		}
		buffer_release(&told.text);
	}
	buffer_release(&whole);
	return wrong;
}

static void test_table(void **state)
{
	uint64_t seed = test_seed("test_table");
	char path[4096], *line = NULL;
	size_t cap = 0, rows = 0;
	ssize_t len;
	int wrong = 0;
	(void)state;
	snprintf(path, sizeof path, "%s/data/http1_responses.txt", getenv("TESTS") ? getenv("TESTS") : "tests");
	FILE *file = fopen(path, "r");
	assert_non_null(file);
	while ((len = getline(&line, &cap, file)) > 0) {
		struct buffer response = {0};
		char *rest = line;
		if (*line == '#')
			continue;
		line[len - 1] = '\0';
		const char *name = strsep(&rest, "\t"), *expected = strsep(&rest, "\t");
		strsep(&rest, "\t"); /* curl's result */
		assert_non_null(rest);
		unescape(rest, line + len - 1, &response);
		wrong += check_row(name, expected, buffer_all(&response), &seed);
		buffer_release(&response);
		rows++;
	}
	assert_true(rows >= 200);
	assert_int_equal(wrong, 0);
	fclose(file);
	free(line);
	http1_release(&reader);
}

/* ---- cases outside the table ---- */

static void test_the_sink_gets_headers_body_and_trailers(void **state)
{
	static const char response[] =
		"HTTP/1.1 103 Early\r\nLink: </x>\r\n\r\nHTTP/1.1 200 OK\r\nX: \t a b \r\nEmpty:\r\nTransfer-Encoding: "
		"chunked\r\n\r\n3\r\nabc\r\n2;x\r\nde\r\n0\r\nT: z \r\n\r\nHTTP";
	static const char expected[] = "103\nLink=</x>\n200\nX=a b\nEmpty=\nTransfer-Encoding=chunked\nabcdeT=z\n";
	(void)state;
	for (size_t piece = 1; piece <= sizeof response; piece++) {
		struct told told = {0};
		size_t used;
		http1_begin(&reader, false);
		assert_int_equal(read_all(&told, (struct slice){response, sizeof response - 1}, piece, NULL, &used),
		                 HTTP1_COMPLETE);
		assert_string_equal(told.text.data, expected);
		assert_string_equal(response + used, "HTTP");
		assert_int_equal(reader.status, 200);
		assert_true(reader.keep);
		assert_int_equal(reader.line.len, 0);
		buffer_release(&told.text);
	}
	http1_release(&reader);
}

static void test_the_sink_stops_it(void **state)
{
	static const char *const responses[] = {
		"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n123456789",
		"HTTP/1.1 200 OK\r\n\r\n123456789",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n1234\r\n5\r\n56789\r\n0\r\n\r\n",
	};
	(void)state;
	for (size_t i = 0; i < sizeof responses / sizeof *responses; i++) {
		struct told told = {.stop_after = 4};
		size_t used;
		http1_begin(&reader, false);
		assert_int_equal(read_all(&told, slice_of(responses[i]), 1, NULL, &used), HTTP1_STOPPED);
		assert_int_equal(told.body_bytes, 4);
		assert_int_equal(reader.offset, used);
		buffer_release(&told.text);
	}
	http1_release(&reader);
}

/* Each byte in a name: RFC 9110 section 5.6.2. */
static void test_characters_of_names(void **state)
{
	static const char good[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ!#$%&'*+-.^_`|~";
	(void)state;
	for (int c = 0; c < 256; c++) {
		char text[] = "HTTP/1.1 204 None\r\nx?y: 1\r\n\r\n";
		struct told told = {0};
		size_t used;
		if (c == ':' || c == '\n')
			continue;
		*strchr(text, '?') = (char)c;
		http1_begin(&reader, false);
		assert_int_equal(http1_read(&reader, text, sizeof text - 1, &used, &sink, &told),
		                 c && strchr(good, c) ? HTTP1_COMPLETE : HTTP1_MALFORMED);
		buffer_release(&told.text);
	}
}

/* One response after another on a connection, in one piece. */
static void test_several(void **state)
{
	static const char text[] = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\naHTTP/1.1 204 None\r\n\r\n"
							   "HTTP/1.1 500 No\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nbc\r\n0\r\n\r\n";
	struct told told = {0};
	size_t at = 0, used;
	(void)state;
	for (int i = 0; i < 3; i++) {
		http1_begin(&reader, false);
		assert_int_equal(http1_read(&reader, text + at, sizeof text - 1 - at, &used, &sink, &told), HTTP1_COMPLETE);
		assert_true(reader.keep);
		at += used;
	}
	assert_int_equal(at, sizeof text - 1);
	assert_string_equal(told.text.data, "200\nContent-Length=1\na204\n500\nTransfer-Encoding=chunked\nbc");
	assert_int_equal(http1_closed(&reader), HTTP1_COMPLETE);
	http1_begin(&reader, false);
	assert_int_equal(http1_closed(&reader), HTTP1_CUT);
	http1_release(&reader);
	buffer_release(&told.text);
}

/* A body in one piece is not copied: it is where it was. */
static bool same_place(void *data, const char *bytes, size_t len)
{
	const char **expected = data;
	assert_ptr_equal(bytes, *expected);
	assert_int_equal(len, 3);
	return true;
}

static void ignore_status(void *data, int status)
{
	(void)data, (void)status;
}

static void ignore_header(void *data, struct slice name, struct slice value)
{
	(void)data, (void)name, (void)value;
}

static void test_nothing_is_copied(void **state)
{
	static const struct http1_sink here = {ignore_status, ignore_header, same_place, NULL};
	static const char text[] = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n";
	const char *expected = strstr(text, "abc");
	size_t used;
	(void)state;
	http1_begin(&reader, false);
	assert_int_equal(http1_read(&reader, text, sizeof text - 1, &used, &here, &expected), HTTP1_COMPLETE);
	assert_null(reader.line.data);
}

static bool ignore_body(void *data, const char *bytes, size_t len)
{
	(void)data, (void)bytes, (void)len;
	return true;
}

/* ---- requests ---- */

static void on_request(void *data, struct slice method, struct slice target)
{
	struct told *t = data;
	buffer_slice(&t->text, method);
	buffer_byte(&t->text, ' ');
	buffer_slice(&t->text, target);
	buffer_byte(&t->text, '\n');
}

/* Reads one request in pieces of each size up to its length: always the same. */
static void expect_request(const char *text, enum http1_result expected, const char *said, size_t rest)
{
	static const struct http1_sink requests = {on_status, on_header, on_body, on_request};
	const size_t len = strlen(text);
	for (size_t piece = 1; piece <= len; piece++) {
		struct told told = {.status = 0};
		enum http1_result result = HTTP1_MORE;
		size_t at = 0, used;
		http1_begin_request(&reader);
		while (result == HTTP1_MORE && at < len) {
			result = http1_read(&reader, text + at, piece < len - at ? piece : len - at, &used, &requests, &told);
			at += used;
		}
		assert_int_equal(result, expected);
		if (expected == HTTP1_COMPLETE) {
			assert_string_equal(told.text.data, said);
			assert_int_equal(len - at, rest);
		}
		buffer_release(&told.text);
	}
}

static void test_requests_have_a_body_by_length_or_chunks_alone(void **state)
{
	(void)state;
	expect_request("GET /a?b HTTP/1.1\r\nHost: x\r\n\r\nGET", HTTP1_COMPLETE, "GET /a?b\nHost=x\n", 3);
	expect_request("POST /a HTTP/1.1\r\nContent-Length: 3\r\n\r\nabcPOST", HTTP1_COMPLETE,
	               "POST /a\nContent-Length=3\nabc", 4);
	expect_request("POST /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n", HTTP1_COMPLETE,
	               "POST /a\nTransfer-Encoding=chunked\nab", 0);
	expect_request("\r\nDELETE http://h/x HTTP/1.0\r\n\r\n", HTTP1_COMPLETE, "DELETE http://h/x\n", 0);
}

static void test_malformed_requests_are_refused(void **state)
{
	static const char *const texts[] = {"get / HTTP/1.1\r\n\r\n",
	                                    " GET / HTTP/1.1\r\n\r\n",
	                                    "GET /\r\n\r\n",
	                                    "GET / HTTP/2.0\r\n\r\n",
	                                    "GET /a b HTTP/1.1\r\n\r\n",
	                                    "GET /\x01 HTTP/1.1\r\n\r\n",
	                                    "GET / HTTP/1.1\r\nA B: c\r\n\r\n",
	                                    "\x16\x03\x01\x02",
	                                    "THISISNOMETHODOFHTTPATALL / HTTP/1.1\r\n\r\n",
	                                    "POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"};
	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		expect_request(texts[i], HTTP1_MALFORMED, NULL, 0);
}

/* Bytes of a body that were not seen: its end is found if its length is known. */
static void test_lost_bytes_of_a_body_are_passed_over(void **state)
{
	struct told told = {.status = 0};
	static const char head[] = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc";
	static const char chunk[] = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\nabc";
	size_t used;
	(void)state;
	http1_begin(&reader, false);
	assert_int_equal(http1_read(&reader, head, sizeof head - 1, &used, &sink, &told), HTTP1_MORE);
	assert_true(http1_lost(&reader, 4));
	assert_int_equal(http1_read(&reader, "xyzHTTP", 7, &used, &sink, &told), HTTP1_COMPLETE);
	assert_int_equal(used, 3);
	http1_begin(&reader, false);
	http1_read(&reader, head, sizeof head - 1, &used, &sink, &told);
	assert_false(http1_lost(&reader, 8)); /* beyond the body */
	http1_begin(&reader, false);
	assert_int_equal(http1_read(&reader, chunk, sizeof chunk - 1, &used, &sink, &told), HTTP1_MORE);
	assert_true(http1_lost(&reader, 7));
	assert_int_equal(http1_read(&reader, "\r\n0\r\n\r\n", 7, &used, &sink, &told), HTTP1_COMPLETE);
	http1_begin(&reader, false);
	assert_false(http1_lost(&reader, 1)); /* within the head */
	buffer_release(&told.text);
}

static void test_an_upgrade_ends_http(void **state)
{
	struct told told = {.status = 0};
	static const char text[] = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\nrest";
	size_t used;
	(void)state;
	http1_begin(&reader, false);
	reader.may_upgrade = true;
	assert_int_equal(http1_read(&reader, text, sizeof text - 1, &used, &sink, &told), HTTP1_UPGRADED);
	assert_int_equal(sizeof text - 1 - used, 4);
	http1_begin(&reader, false);
	assert_int_equal(http1_read(&reader, text, sizeof text - 1, &used, &sink, &told), HTTP1_MALFORMED);
	buffer_release(&told.text);
}

/* Prints how long the usual pieces take; whoever changes the reader compares. */
static void test_speed(void **state)
{
	enum { TIMES = 100000 };
	static const struct http1_sink nowhere = {ignore_status, ignore_header, ignore_body, NULL};
	static const char head[] = "HTTP/1.1 200 OK\r\nServer: uvicorn\r\nDate: Sun, 22 Nov 2026 20:00:00 GMT\r\n"
							   "Content-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n";
	char event[300] = "bb\r\n";
	struct timespec t[3];
	size_t used;
	(void)state;
	memset(event + 4, 'x', 0xbb);
	memcpy(event + 4 + 0xbb, "\r\n", 2);
	clock_gettime(CLOCK_MONOTONIC, &t[0]);
	for (int i = 0; i < TIMES / 10; i++) {
		http1_begin(&reader, false);
		assert_true(http1_read(&reader, head, sizeof head - 1, &used, &nowhere, NULL) == HTTP1_MORE);
	}
	clock_gettime(CLOCK_MONOTONIC, &t[1]);
	for (int i = 0; i < TIMES; i++)
		assert_true(http1_read(&reader, event, 4 + 0xbb + 2, &used, &nowhere, NULL) == HTTP1_MORE);
	clock_gettime(CLOCK_MONOTONIC, &t[2]);
	double ns[2];
	for (int i = 0; i < 2; i++)
		ns[i] = (double)(t[i + 1].tv_sec - t[i].tv_sec) * 1e9 + (double)(t[i + 1].tv_nsec - t[i].tv_nsec);
	print_message("# a head %.0f ns, a chunk %.0f ns\n", ns[0] / (TIMES / 10), ns[1] / TIMES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_the_sink_gets_headers_body_and_trailers),
		cmocka_unit_test(test_the_sink_stops_it),
		cmocka_unit_test(test_characters_of_names),
		cmocka_unit_test(test_several),
		cmocka_unit_test(test_nothing_is_copied),
		cmocka_unit_test(test_requests_have_a_body_by_length_or_chunks_alone),
		cmocka_unit_test(test_malformed_requests_are_refused),
		cmocka_unit_test(test_lost_bytes_of_a_body_are_passed_over),
		cmocka_unit_test(test_an_upgrade_ends_http),
		cmocka_unit_test(test_speed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
