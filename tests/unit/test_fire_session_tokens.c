#include "unit.h"

#include "endpoint/session_tokens.h"

#include <string.h>

static struct memory_use memory;

static void note(struct session_tokens *t, const char *session, const char *name, const char *value)
{
	session_tokens_note(t, slice_of(session), slice_of(name), slice_of(value));
}

static void goes_back(struct session_tokens *t, const char *session, const char *line)
{
	struct buffer out = {0};
	bool found = session_tokens_line(t, slice_of(session), &out);
	assert_int_equal(found, line != NULL);
	if (line)
		assert_string_equal(out.data, line);
	buffer_release(&out);
}

static void values_by_session(void **state)
{
	struct session_tokens *t = session_tokens_new("X-Replica", &memory);
	struct buffer longest = {0};
	(void)state;
	goes_back(t, "\"a\"", NULL);
	note(t, "\"a\"", "x-replica", "1");
	note(t, "\"b\"", "X-REPLICA", "2");
	note(t, "\"a\"", "X-Other", "3");
	session_tokens_note(t, (struct slice){0}, slice_of("X-Replica"), slice_of("4")); /* no session's */
	goes_back(t, "\"a\"", "X-Replica: 1");
	goes_back(t, "\"b\"", "X-Replica: 2");
	goes_back(t, "\"c\"", NULL);
	note(t, "\"a\"", "X-Replica", "5");
	note(t, "\"a\"", "X-Replica", "");
	note(t, "\"a\"", "X-Replica", "x\x01y");
	for (int i = 0; i < SESSION_TOKEN_MOST; i++)
		buffer_byte(&longest, 'x');
	note(t, "\"a\"", "X-Replica", longest.data);
	goes_back(t, "\"a\"", "X-Replica: 5");
	struct session_tokens_counts counts = session_tokens_counts(t);
	assert_int_equal(counts.sessions, 2);
	assert_int_equal(counts.given, 3);
	assert_int_equal(counts.returned, 3);
	buffer_release(&longest);
	session_tokens_free(t);
	session_tokens_free(NULL);
}

static void many_sessions(void **state)
{
	struct session_tokens *t = session_tokens_new("X-Replica", &memory);
	(void)state;
	for (int round = 0; round < 2; round++)
		for (int i = 0; i < 5000; i++) {
			char session[32], value[32], line[64];
			snprintf(session, sizeof session, "\"%d\"", i);
			snprintf(value, sizeof value, "v%d", i);
			snprintf(line, sizeof line, "X-Replica: v%d", i);
			if (!round)
				note(t, session, "X-Replica", value);
			else
				goes_back(t, session, line);
		}
	session_tokens_free(t);
}

static void cookies_by_name(void **state)
{
	struct session_tokens *t = session_tokens_new("set-cookie", &memory);
	(void)state;
	note(t, "\"a\"", "Set-Cookie", "route=1; Path=/; HttpOnly");
	goes_back(t, "\"a\"", "Cookie: route=1");
	note(t, "\"a\"", "Set-Cookie", "r=x");
	note(t, "\"a\"", "Set-Cookie", "seen=7;Max-Age=60");
	goes_back(t, "\"a\"", "Cookie: route=1; r=x; seen=7");
	note(t, "\"a\"", "Set-Cookie", "route=2; Path=/");
	goes_back(t, "\"a\"", "Cookie: r=x; seen=7; route=2");
	note(t, "\"a\"", "Set-Cookie", "; odd");
	goes_back(t, "\"a\"", "Cookie: r=x; seen=7; route=2");
	session_tokens_free(t);
}

static void headers_that_may_go_back(void **state)
{
	static const char *const bad[] = {"", "a b", "Content-Length", "transfer-encoding", "Host", "authorization"};
	struct ipf_error err = {0};
	(void)state;
	assert_int_equal(session_tokens_check("x-session-token", &err), 0);
	assert_int_equal(session_tokens_check("SET-Cookie", &err), 0);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		err = (struct ipf_error){0};
		assert_int_equal(session_tokens_check(bad[i], &err), -1);
		assert_int_equal(err.kind, IPF_USAGE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_by_session),
		cmocka_unit_test(many_sessions),
		cmocka_unit_test(cookies_by_name),
		cmocka_unit_test(headers_that_may_go_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
