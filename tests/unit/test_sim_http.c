/* The request parser, fed whole, byte by byte and in random pieces: the outcome has to be the same. */
#include "http.h"

#include "clock.h"

#include "unit.h"

#include <time.h>

#define POST "POST /v1/x?y=1 HTTP/1.1\r\nHost: a\r\n"

struct http_case {
	const char *text;
	int status;       /* 0: a good request */
	const char *body; /* a good one's */
	const char *path;
	bool keep_alive;
	const char *rest; /* the rest for the next request */
};

static const struct http_case cases[] = {
	{"GET / HTTP/1.1\r\nHost: a\r\n\r\n", 0, "", "/", true, ""},
	{"\r\n\r\nGET / HTTP/1.1\nhost:a\n\n", 0, "", "/", true, ""},
	{"GET / HTTP/1.0\r\n\r\n", 0, "", "/", false, ""},
	{"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", 0, "", "/", true, ""},
	{"GET / HTTP/1.1\r\nHost: a\r\nConnection: TE, Close\r\n\r\n", 0, "", "/", false, ""},
	{"GET http://h:80/p/q?z HTTP/1.1\r\nHost: a\r\n\r\n", 0, "", "/p/q", true, ""},
	{POST "Content-Length: 5\r\n\r\nhelloGET", 0, "hello", "/v1/x", true, "GET"},
	{POST "Content-Length: 0\r\n\r\n", 0, "", "/v1/x", true, ""},
	{POST "Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello", 0, "hello", "/v1/x", true, ""},
	{POST "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n00A;x=\"y\"\r\n0123456789\r\n0\r\n\r\nGE", 0, "abc0123456789",
     "/v1/x", true, "GE"},
	{POST "transfer-encoding: Chunked\r\n\r\n1 \r\na\r\n0\r\nTrailer: x\r\nOther: y\r\n\r\n", 0, "a", "/v1/x", true,
     ""},
	{POST "Transfer-Encoding: chunked\n\n2\nab\n0\n\n", 0, "ab", "/v1/x", true, ""},
	{"lorem ipsum\r\n\r\n", 400, NULL, NULL, false, NULL},
	{"GET /\r\n\r\n", 400, NULL, NULL, false, NULL},
	{"GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400, NULL, NULL, false, NULL},
	{"GET / HTTP/2.0\r\nHost: a\r\n\r\n", 400, NULL, NULL, false, NULL},
	{"GET / HTTP/1.11\r\nHost: a\r\n\r\n", 400, NULL, NULL, false, NULL},
	{"G\x01T / HTTP/1.1\r\nHost: a\r\n\r\n", 400, NULL, NULL, false, NULL},
	{"GET x HTTP/1.1\r\nHost: a\r\n\r\n", 400, NULL, NULL, false, NULL},
	{"GET / HTTP/1.1\r\n\r\n", 400, NULL, NULL, false, NULL},
	{"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400, NULL, NULL, false, NULL},
	{"GET / HTTP/1.1\r\nHost: a\r\nno colon\r\n\r\n", 400, NULL, NULL, false, NULL},
	{"GET / HTTP/1.1\r\nHost : a\r\n\r\n", 400, NULL, NULL, false, NULL},
	{"GET / HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n", 400, NULL, NULL, false, NULL},
	{"GET / HTTP/1.1\r\nHost: a\x7f\r\n\r\n", 400, NULL, NULL, false, NULL},
	{POST "Content-Length: -1\r\n\r\n", 400, NULL, NULL, false, NULL},
	{POST "Content-Length: 5x\r\n\r\n", 400, NULL, NULL, false, NULL},
	{POST "Content-Length:\r\n\r\n", 400, NULL, NULL, false, NULL},
	{POST "Content-Length: 99999999999999999999\r\n\r\n", 400, NULL, NULL, false, NULL},
	{POST "Content-Length: 5\r\nContent-Length: 6\r\n\r\n", 400, NULL, NULL, false, NULL},
	{POST "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", 400, NULL, NULL, false, NULL},
	{POST "Content-Length: 101\r\n\r\n", 413, NULL, NULL, false, NULL},
	{POST "Transfer-Encoding: gzip\r\n\r\n", 501, NULL, NULL, false, NULL},
	{POST "Expect: the-unexpected\r\n\r\n", 417, NULL, NULL, false, NULL},
	{POST "Transfer-Encoding: chunked\r\n\r\nx\r\n", 400, NULL, NULL, false, NULL},
	{POST "Transfer-Encoding: chunked\r\n\r\n\r\n", 400, NULL, NULL, false, NULL},
	{POST "Transfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n", 400, NULL, NULL, false, NULL},
	{POST "Transfer-Encoding: chunked\r\n\r\n65\r\n", 413, NULL, NULL, false, NULL},
	{POST "Transfer-Encoding: chunked\r\n\r\n60\r\n"
          "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\r\n5\r\n",
     413, NULL, NULL, false, NULL},
	{POST "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n", 413, NULL, NULL, false, NULL},
};

/* Feeds it in pieces of at most `piece` bytes; 0: of random lengths. Returns how many bytes were used. */
static size_t feed(struct http_request *r, const char *text, size_t piece, uint64_t *seed, enum http_result *result)
{
	size_t at = 0, len = strlen(text);
	*result = HTTP_MORE;
	while (*result == HTTP_MORE && at < len) {
		size_t n = piece ? piece : 1 + test_random(seed) % 20, used;
		n = n < len - at ? n : len - at;
		/* a copy of just this size, so a sanitizer sees who reads past it */
		char *copy = malloc(n);
		memcpy(copy, text + at, n);
		*result = http_feed(r, copy, n, &used);
		free(copy);
		assert_true(used <= n && (*result != HTTP_MORE || used == n));
		at += used;
	}
	return at;
}

static void check(const struct http_case *c, size_t piece, uint64_t *seed)
{
	struct http_request r = {.head_limit = 500, .body_limit = 100};
	enum http_result result;
	size_t used = feed(&r, c->text, piece, seed, &result);
	if (c->status) {
		if (result != HTTP_BAD || r.status != c->status || !r.why)
			fail_msg("\"%s\" by %zu: expected %d, got %d (%d)", c->text, piece, c->status, (int)result, r.status);
	} else {
		if (result != HTTP_WHOLE)
			fail_msg("\"%s\" by %zu: expected a request, got %d %s", c->text, piece, (int)result, r.why ? r.why : "");
		assert_true(slice_is(buffer_all(&r.body), c->body) || (!r.body.data && !*c->body));
		assert_true(slice_is(r.path, c->path));
		assert_int_equal(r.keep_alive, c->keep_alive);
		assert_string_equal(c->text + used, c->rest);
	}
	http_release(&r);
}

static void requests_in_any_pieces(void **state)
{
	uint64_t seed = test_seed("requests_in_any_pieces");
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		check(&cases[i], 1000, &seed);
		check(&cases[i], 1, &seed);
		for (int k = 0; k < 20; k++)
			check(&cases[i], 0, &seed);
	}
}

static void heads_are_limited(void **state)
{
	struct http_request r = {.head_limit = 500, .body_limit = 100};
	enum http_result result;
	char text[2000] = "GET / HTTP/1.1\r\nHost: a\r\nX: ";
	(void)state;
	memset(text + strlen(text), 'x', 1000);
	feed(&r, text, 100, NULL, &result);
	assert_int_equal(result, HTTP_BAD);
	assert_int_equal(r.status, 431);
	http_release(&r);

	struct http_request many = {.head_limit = 5000, .body_limit = 100};
	strcpy(text, "GET / HTTP/1.1\r\nHost: a\r\n");
	for (int i = 0; i < HTTP_MOST_HEADERS; i++)
		strcat(text, "a: b\r\n");
	strcat(text, "\r\n");
	feed(&many, text, 100, NULL, &result);
	assert_int_equal(result, HTTP_BAD);
	http_release(&many);
}

static void several_on_one_connection(void **state)
{
	static const char text[] = POST "Content-Length: 2\r\nX-Sim: cut\r\n\r\nabGET /second HTTP/1.1\r\nHost: a\r\n\r\n";
	struct http_request r = {.head_limit = 500, .body_limit = 100};
	size_t used, more;
	(void)state;
	assert_int_equal(http_feed(&r, text, sizeof text - 1, &used), HTTP_WHOLE);
	assert_true(slice_is(http_header(&r, "x-sim"), "cut"));
	assert_true(slice_is(r.method, "POST"));
	assert_null(http_header(&r, "x-si").data);
	http_next(&r);
	assert_false(http_begun(&r));
	assert_int_equal(http_feed(&r, text + used, sizeof text - 1 - used, &more), HTTP_WHOLE);
	assert_true(slice_is(r.path, "/second"));
	assert_int_equal(r.body.len, 0);
	assert_null(http_header(&r, "x-sim").data);
	assert_int_equal(used + more, sizeof text - 1);
	http_release(&r);
}

static void who_waits_to_continue(void **state)
{
	static const char head[] = POST "Expect: 100-continue\r\nContent-Length: 2\r\n\r\n";
	struct http_request r = {.head_limit = 500, .body_limit = 100};
	size_t used;
	(void)state;
	assert_int_equal(http_feed(&r, head, sizeof head - 1, &used), HTTP_MORE);
	assert_true(http_take_continue(&r));
	assert_false(http_take_continue(&r));
	assert_int_equal(http_feed(&r, "ab", 2, &used), HTTP_WHOLE);
	assert_false(http_take_continue(&r));
	http_next(&r);
	/* with the body at hand nobody has to be told */
	assert_int_equal(http_feed(&r, head, sizeof head - 1, &used), HTTP_MORE);
	assert_int_equal(http_feed(&r, "a", 1, &used), HTTP_MORE);
	assert_false(http_take_continue(&r));
	http_release(&r);
}

static void dates_have_an_offset(void **state)
{
	const int64_t day_ns = 24 * 3600 * NS_PER_S;
	(void)state;
	for (int64_t days = -1000; days <= 1000; days += 37) {
		struct buffer out = {0};
		char expected[64];
		time_t before = (time_t)((clock_wall() + days * day_ns) / NS_PER_S);
		http_write_date(&out, "Date", days * day_ns);
		time_t after = (time_t)((clock_wall() + days * day_ns) / NS_PER_S);
		bool found = false;
		for (time_t t = before; t <= after; t++) {
			strftime(expected, sizeof expected, "Date: %a, %d %b %Y %H:%M:%S GMT\r\n", gmtime(&t));
			found = found || strcmp(out.data, expected) == 0;
		}
		if (!found)
			fail_msg("%s instead of %s", out.data, expected);
		buffer_release(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests_in_any_pieces),    cmocka_unit_test(heads_are_limited),
		cmocka_unit_test(several_on_one_connection), cmocka_unit_test(who_waits_to_continue),
		cmocka_unit_test(dates_have_an_offset),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
