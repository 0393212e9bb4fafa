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

static void test_what_is_one_reason(void **state)
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

static void test_hints(void **state)
{
	static const struct {
		const char *kind;
		int64_t status;
		const char *text, *part;
	} cases[] = {
		{"http-status", 404, "The model `x` does not exist.", "-m"},
		{"http-status", 404, "Not Found", "--url"},
		{"http-status", 401, "", "--key-env"},
		{"http-status", 403, "", "--key-env"},
		{"http-status", 429, "slow down", "lower rate"},
		{"http-status", 503, "Loading model", "--wait-ready"},
		{"http-status", 500, "boom", NULL},
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
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct failure f = {.status = cases[i].status};
		snprintf(f.kind, sizeof f.kind, "%s", cases[i].kind);
		snprintf(f.text, sizeof f.text, "%s", cases[i].text);
		const char *hint = failure_hint(&f);
		if (!hint != !cases[i].part || (hint && !strstr(hint, cases[i].part)))
			fail_msg("%s %s: %s", cases[i].kind, cases[i].text, hint ? hint : "none");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_one_reason),
		cmocka_unit_test(test_counts_and_bounds),
		cmocka_unit_test(test_hints),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
