#include "unit.h"

#include "absent.h"
#include "verdict/failure_tally.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add(struct failure_tally *t, const char *kind, int64_t status, const char *text)
{
	failure_tally_add(t, slice_of(kind), status, slice_of(text));
}

/* Are the two texts one reason, shown as `shown`? NULL: they are not. */
static void pair(const char *a, const char *b, const char *shown)
{
	struct failure_tally *t = calloc(1, sizeof *t);
	add(t, "timeout", IPF_ABSENT, a);
	add(t, "timeout", IPF_ABSENT, b);
	if ((t->count == 1) != (shown != NULL))
		fail_msg("\"%s\" and \"%s\": %d", a, b, t->count);
	if (shown)
		assert_string_equal(t->list[0].text, shown);
	free(t);
}

static void test_texts_that_differ_in_numbers_are_one_reason(void **state)
{
	(void)state;
	pair("same 12", "same 12", "same 12");
	pair("after 8000 milliseconds with 81704 bytes", "after 8001 milliseconds with 4 bytes",
	     "after … milliseconds with … bytes");
	pair("port 127.0.0.1:4123 refused", "port 127.0.0.1:999 refused", "port … refused");
	pair("took 1.5s", "took 2s", "took …");
	pair("request chatcmpl-8f3a9b12c7 failed", "request chatcmpl-1d22ab98e0 failed", "request … failed");
	pair("id 550e8400-e29b-41d4-a716-446655440000.", "id 123e4567-e89b-12d3-a456-426614174000.", "id ….");
	pair("model \"a-3\" does not exist", "model \"b-3\" does not exist", NULL);
	pair("no model llama-3.1-8b", "no model llama-3.2-8b", NULL);
	pair("no model `gpt-4o-2024-08-06`", "no model `gpt-4o-2024-11-20`", NULL);
	pair("one", "other", NULL);
	/* at most two letters of a unit; an id is at least twelve characters with four digits */
	pair("took 12ms", "took 13ms", "took …");
	pair("took 12min", "took 13min", NULL);
	pair("took 1.5min", "took 2.5min", "took …min");
	pair("took 1.5s_", "took 2.5s_", "took …s_");
	pair("took 1.5 s", "took 2.25 s", "took … s");
	pair("part 1.x", "part 2.x", "part ….x");
	pair("part 1,5:6", "part 2", "part …");
	pair("part 12_5", "part 13_5", NULL);
	pair("a12 x", "b12 x", NULL);
	pair("a12", "a13", NULL);
	pair("id abcdefgh1234", "id abcdefgh5678", "id …");
	pair("id abcdefg1234", "id abcdefg5678", NULL);
	pair("id abcdefghi123", "id abcdefghi456", NULL);
	pair("id abcdefghijkl", "id abcdefghijkm", NULL);
	pair("id req_8f3a9b12", "id req_1d22ab98", "id …");
	/* names */
	pair("/12 x", "/13 x", NULL);
	pair("the '12'", "the '13'", NULL);
	pair(".5 s", ".6 s", NULL);
	pair("x.5", "x.6", NULL);
	pair("v1.5", "v1.6", "v1.…");
	pair("12", "13", "…");
	pair("", "x", NULL);
}

static void test_counts_and_bounds(void **state)
{
	struct failure_tally *t = calloc(1, sizeof *t);
	char text[2000], line[300];
	(void)state;
	for (int i = 0; i < 1000; i++) {
		snprintf(text, sizeof text, "word%c%c%c", 'a' + i % 26, 'a' + i / 26 % 26, 'a' + i / 676);
		add(t, "http-status", 500 + i % 3, text);
	}
	for (int i = 0; i < 30; i++)
		add(t, "http-status", 404, "model \x1b[31m\"x\" does not exist");
	memset(text, 'y', sizeof text - 1);
	text[sizeof text - 1] = '\0';
	add(t, "reset", IPF_ABSENT, text);
	for (int i = 0; i < 5000; i++)
		add(t, "http-status", i, "many");
	failure_tally_sort(t);
	int64_t sum = t->others;
	for (int i = 0; i < t->count; i++)
		sum += t->list[i].count;
	assert_int_equal(sum, 6031);
	assert_int_equal(t->all, 6031);
	assert_true(t->count <= FAILURES_MOST);
	for (int i = 1; i < t->count; i++)
		assert_true(t->list[i - 1].count >= t->list[i].count);
	free(t);
	t = calloc(1, sizeof *t);
	add(t, "http-status", 404, "model \x1b[31m\"x\" does not exist");
	assert_string_equal(failure_describe(&t->list[0], line, sizeof line),
	                    "404 ×1: model \\x1b[31m\"x\" does not exist");
	add(t, "timeout", IPF_ABSENT, NULL);
	assert_string_equal(failure_describe(&t->list[1], line, sizeof line), "timeout ×1");
	free(t);
}

/* Texts at the limits of the length kept. */
static void test_long_texts(void **state)
{
	struct failure_tally *t = calloc(1, sizeof *t);
	char text[FAILURE_TEXT + 10];
	(void)state;
	memset(text, 'y', sizeof text);
	text[FAILURE_TEXT - 1] = '\0';
	add(t, "reset", IPF_ABSENT, text);
	assert_string_equal(t->list[0].key, text);
	/* a gap is not begun where it could not end */
	for (int words = 45; words < 50; words++) {
		memset(text, 'y', sizeof text);
		for (int i = 0; i < words; i++)
			memcpy(text + 2 * i, "1 ", 2);
		strcpy(text + 2 * words, "1yyy 1yyy");
		*t = (struct failure_tally){0};
		add(t, "reset", IPF_ABSENT, text);
		const size_t len = strlen(t->list[0].key);
		assert_int_equal(len, words < 48 ? 4 * words + 9 : words < 49 ? 4 * words + 4 : FAILURE_TEXT - 4);
	}
	free(t);
}

static void test_one_entry_for_each_reason(void **state)
{
	struct failure_tally *t = calloc(1, sizeof *t);
	char text[20] = "word aa";
	(void)state;
	add(t, "timeout", IPF_ABSENT, "x");
	add(t, "reset", IPF_ABSENT, "x");
	add(t, "timeout", 200, "x");
	add(t, "timeout", 200, "x");
	assert_int_equal(t->count, 3);
	assert_int_equal(t->list[2].count, 2);
	for (; t->count < 64; text[6]++) {
		text[5] = (char)(text[6] > 'z' ? text[5] + 1 : text[5]);
		text[6] = (char)(text[6] > 'z' ? 'a' : text[6]);
		add(t, "cut", 200, text);
	}
	assert_true(t->list[63].text[0] && t->list[63].count == 1);
	/* from here on by kind and status alone */
	for (int i = 0; i < 3; i++)
		add(t, "cut", 200, i ? "new" : "newer");
	add(t, "timeout", 200, "x");
	assert_int_equal(t->count, 65);
	assert_string_equal(t->list[64].text, "");
	assert_int_equal(t->list[64].count, 3);
	assert_int_equal(t->list[2].count, 3);
	for (int64_t i = 1; i < 70; i++)
		add(t, "http-status", 400 + i, "new");
	assert_int_equal(t->count, FAILURES_MOST);
	assert_int_equal(t->others, 69 - 63);
	add(t, "cut", 200, "newest");
	assert_int_equal(t->list[64].count, 4);
	assert_int_equal(t->others, 6);
	free(t);
}

static void test_order(void **state)
{
	static const struct {
		const char *kind;
		int64_t status;
		const char *text;
		int count;
	} cases[] = {{"reset", 500, "a", 9},          {"timeout", 200, "a", 8}, {"cut", 200, "z", 2},
	             {"in-band", IPF_ABSENT, "z", 2}, {"in-band", 200, "a", 2}, {"in-band", 200, "b", 2},
	             {"in-band", 500, "a", 2},        {"cut", 200, "b", 1}};
	enum { CASES = sizeof cases / sizeof *cases };
	struct failure_tally *t = calloc(1, sizeof *t);
	(void)state;
	assert_null(failure_tally_most(t));
	for (size_t turn = 0; turn < CASES; turn++) { /* whatever came first */
		*t = (struct failure_tally){0};
		for (size_t i = 0; i < CASES; i++)
			for (int k = 0; k < cases[(i * 5 + turn) % CASES].count; k++)
				add(t, cases[(i * 5 + turn) % CASES].kind, cases[(i * 5 + turn) % CASES].status,
				    cases[(i * 5 + turn) % CASES].text);
		assert_string_equal(failure_tally_most(t)->kind, "reset");
		failure_tally_sort(t);
		for (size_t i = 0; i < CASES; i++) {
			assert_string_equal(t->list[i].kind, cases[i].kind);
			assert_string_equal(t->list[i].text, cases[i].text);
			assert_int_equal(t->list[i].status, cases[i].status);
		}
	}
	free(t);
}

static void test_words(void **state)
{
	static const struct {
		const char *kind;
		int64_t status;
		const char *expected;
	} cases[] = {{"in-band", 200, "in-band ×0: x"}, {"in-band", 299, "in-band ×0: x"},
	             {"in-band", 300, "300 ×0: x"},     {"in-band", 199, "199 ×0: x"},
	             {"http-status", 204, "204 ×0: x"}, {"timeout", IPF_ABSENT, "timeout ×0: x"}};
	static const struct {
		int resets, refused, requests;
		const char *expected;
	} sums[] = {
		{0, 0, 5, ""},
		{1, 0, 1, "the 1 request failed (1 reset): reset ×1: a"},
		{2, 0, 2, "all 2 requests failed (2 reset): reset ×2: a"},
		{2, 0, 3, "2 of 3 requests failed (2 reset): reset ×2: a"},
		{2, 3, 6,
	     "5 of 6 requests failed (4 connect, 1 reset): most often connect ×3: refused (check the host and port of --url; "
	     "--wait-ready waits for the server)"},
		{2, 3, 5,
	     "all 5 requests failed (4 connect, 1 reset): connect ×3: refused (check the host and port of --url; "
	     "--wait-ready waits for the server)"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct failure f = {.status = cases[i].status, .text = "x"};
		char text[80];
		snprintf(f.kind, sizeof f.kind, "%s", cases[i].kind);
		assert_string_equal(failure_describe(&f, text, sizeof text), cases[i].expected);
	}
	for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
		struct failure_tally *t = calloc(1, sizeof *t);
		struct buffer out = {0};
		for (int k = 0; k < sums[i].refused; k++)
			add(t, "connect", IPF_ABSENT, "refused");
		for (int k = 0; k < sums[i].resets; k++)
			add(t, k && sums[i].refused ? "connect" : "reset", IPF_ABSENT, "a");
		failure_tally_sum_up(t, sums[i].requests, "failed", &out);
		buffer_byte(&out, '\0');
		assert_string_equal(out.data, sums[i].expected);
		buffer_release(&out);
		free(t);
	}
}

static void test_rows(void **state)
{
	struct failure_tally *t = calloc(1, sizeof *t);
	struct result row = {.status = 503};
	(void)state;
	assert_int_equal(failure_tally_add_row(t, &row), 0);
	row.error_kind = slice_of("\"in-band\"");
	row.error_text = slice_of("\"caf\\u00e9\"");
	assert_int_equal(failure_tally_add_row(t, &row), 0);
	row.error_text = slice_of("\"cut");
	assert_int_equal(failure_tally_add_row(t, &row), 0);
	assert_int_equal(t->count, 3);
	assert_string_equal(t->list[0].kind, "");
	assert_string_equal(t->list[1].kind, "in-band");
	assert_string_equal(t->list[1].text, "café");
	assert_int_equal(t->list[1].status, 503);
	assert_string_equal(t->list[2].text, "");
	free(t);
}

static const struct {
	const char *kind;
	int64_t status;
	const char *text, *part;
} hints[] = {
	{"http-status", 404, "The model `x` does not exist.", "-m"},
	{"http-status", 404, "Not Found", "--url"},
	{"http-status", 401, "", "--key-env"},
	{"http-status", 403, "", "--key-env"},
	{"http-status", 429, "slow down", "lower rate"},
	{"http-status", 503, "Loading model", "--wait-ready"},
	{"http-status", 500, "boom", NULL},
	{"http-status", 400, "the model was not found", "-m"},
	{"http-status", 422, "the model does not exist", "-m"},
	{"http-status", 400, "the model is bad", NULL},
	{"http-status", 400, "the path does not exist", NULL},
	{"http-status", 405, "model", "--url"},
	{"http-status", 413, "", "too long"},
	{"http-status", 502, "starting", "until the model"},
	{"http-status", 504, "Loading", "until the model"},
	{"http-status", 503, "busy", "lower rate"},
	{"http-status", 404, "Model unknown", "-m"},
	{"in-band", 200, "the model does not exist", "-m"},
	{"in-band", 200, "model not found", "-m"},
	{"in-band", 200, "the model is busy", NULL},
	{"in-band", 200, "the path was not found", NULL},
	{"cut", 200, "model not found", NULL},
	{"connect", IPF_ABSENT, "Too many open files", "ulimit"},
	{"connect", IPF_ABSENT, "cannot open a socket", "ulimit"},
	{"connect", IPF_ABSENT, "Could not connect to server", "port"},
	{"connect", IPF_ABSENT, "Network unreachable", NULL},
	{"reset", IPF_ABSENT, "reset by peer", NULL},
	{"timeout", IPF_ABSENT, "no first token in 1 s", "--first-token-timeout"},
	{"timeout", IPF_ABSENT, "in 1 s", "--timeout"},
	{"too-large", 200, "beyond --memory", "--memory"},
	{"tls", IPF_ABSENT, "packet length too long", "http"},
	{"tls", IPF_ABSENT, "SSL connection timeout", "http"},
	{"tls", IPF_ABSENT, "sslv3 alert handshake failure", "--cert and --key"},
	{"tls", IPF_ABSENT, "could not verify", "--cacert"},
	{"tls", IPF_ABSENT, "broken", NULL},
	{"tls", IPF_ABSENT, "SSL certificate problem: self-signed certificate", "--cacert"},
	{"tls", IPF_ABSENT, "SSL certificate problem: unable to get local issuer certificate", "--cacert"},
	{"tls", IPF_ABSENT, "SSL: certificate subject name 'a' does not match target host name 'b'", "--resolve"},
	{"tls", IPF_ABSENT, "SSL: no alternative certificate subject name matches target host name 'b'", "--resolve"},
	{"tls", IPF_ABSENT, "SSL certificate problem: IP address mismatch", "another host"},
	{"tls", IPF_ABSENT, "SSL certificate problem: certificate has expired", "clocks"},
	{"tls", IPF_ABSENT, "SSL certificate problem: certificate is not yet valid", "clocks"},
	{"tls", IPF_ABSENT, "tlsv13 alert certificate required", "--cert and --key"},
	{"tls", IPF_ABSENT, "wrong version number", "http"},
	{"reset", IPF_ABSENT, "the server had closed the kept connection", "--connections fresh"},
	{"connect", IPF_ABSENT, "Failed to connect: Connection refused", "port"},
	{"connect", IPF_ABSENT, "Could not resolve host: x", "host name"},
	{"too-large", 200, "the answer exceeds 1 MB (--max-answer)", NULL},
	{"too-large", 200, "the response's headers exceed 256 KiB", NULL},
};

static void test_hints(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof hints / sizeof *hints; i++) {
		struct failure f = {.status = hints[i].status};
		snprintf(f.kind, sizeof f.kind, "%s", hints[i].kind);
		snprintf(f.text, sizeof f.text, "%s", hints[i].text);
		const char *hint = failure_hint(&f);
		if (!hint != !hints[i].part || (hint && !strstr(hint, hints[i].part)))
			fail_msg("%s %s: %s", hints[i].kind, hints[i].text, hint ? hint : "none");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts_that_differ_in_numbers_are_one_reason),
		cmocka_unit_test(test_counts_and_bounds),
		cmocka_unit_test(test_long_texts),
		cmocka_unit_test(test_one_entry_for_each_reason),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_hints),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
