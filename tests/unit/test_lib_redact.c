/* Secrets are left out of headers, parameters, URLs, messages and headers of streams; harmless parts stay. */
#include "unit.h"

#include "api/api.h"
#include "redact.h"

typedef void redactor(const char *text, struct buffer *out);

struct redaction {
	const char *text, *expected; /* NULL: unchanged */
};

static void expect(redactor *redact, const struct redaction *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct buffer once = {0}, twice = {0};
		redact(cases[i].text, &once);
		assert_string_equal(once.data ? once.data : "", cases[i].expected ? cases[i].expected : cases[i].text);
		redact(once.data ? once.data : "", &twice);
		assert_string_equal(twice.data ? twice.data : "", once.data ? once.data : "");
		buffer_release(&once);
		buffer_release(&twice);
	}
}

#define EXPECT(redact, cases) expect(redact, cases, sizeof(cases) / sizeof *(cases))

static void test_headers(void **state)
{
	static const char long_name[] =
		"X-A-Name-That-Is-Longer-Than-Sixty-Three-Bytes-Because-Somebody-Wanted-It-So-Token: abc";
	static const struct redaction cases[] = {
		{"Content-Type: application/json", NULL},
		{"CONTENT-type:text/plain", NULL},
		{"X-Request-Id: 17", NULL},
		{"X-Session: $session", NULL},
		{"X-Parent: $traceparent", NULL},
		{"Accept:", NULL},
		{"X-JWT: abc", "X-JWT: [redacted]"},
		{"x-csrf:abc", "x-csrf: [redacted]"},
		{"Bearer: abc", "Bearer: [redacted]"},
		{"X-OTP: 123456", "X-OTP: [redacted]"},
		{"Content-Type : abc", "Content-Type : [redacted]"},
		{"Content-Type-Token: abc", "Content-Type-Token: [redacted]"},
		{"X-Session: $sessions", "X-Session: [redacted]"},
		{"User-Agent: at http://me:abc@h/?k=abc", "User-Agent: at http://h/?[redacted]"},
		{"no colon at all", "[redacted]"},
		{long_name, "X-A-Name-That-Is-Longer-Than-Sixty-Three-Bytes-Because-Somebody-Wanted-It-So-Token: [redacted]"},
	};
	(void)state;
	EXPECT(redact_header, cases);
}

static void test_params(void **state)
{
	static const struct redaction cases[] = {
		{"temperature=0.5", NULL},
		{"stop=[\"a:b\", \"c=d\"]", NULL},
		{"/parameters/top_p=0.5", NULL},
		{"chat_template_kwargs={\"enable_thinking\": false}", NULL},
		{"api_key=\"abc\"", "api_key=[redacted]"},
		{"otp=123456", "otp=[redacted]"},
		{"Temperature=\"abc\"", "Temperature=[redacted]"},
		{"/parameters/password=\"abc\"", "/parameters/password=[redacted]"},
		{"/password/temperature=\"abc\"", "/password/temperature=[redacted]"},
		{"extra_body={\"temperature\":1,\"token\":\"abc\",\"n\":[{\"pin\":1}]}",
	     "extra_body={\"temperature\":1,\"token\":\"[redacted]\",\"n\":[{\"pin\":\"[redacted]\"}]}"},
		{"stop=[\"http://me:abc@h/\"]", "stop=[\"http://h/\"]"},
		{"temperature=abc", "temperature=[redacted]"},
		{"abc", "[redacted]"},
	};
	(void)state;
	EXPECT(redact_param, cases);
}

#define TEN "0123456789"

static void test_urls(void **state)
{
	static const struct redaction cases[] = {
		{"http://h:8000/v1", NULL},
		{"https://[::1]:80/x@001:rawPredict", NULL},
		{"hf://datasets/OWNER/NAME@REVISION/a/b.json", NULL},
		{"5%@2s", NULL},
		{"https://h/a.json?X-Amz-Signature=abc&b=/c", "https://h/a.json?[redacted]"},
		{"https://h/a.json#abc", "https://h/a.json"},
		{"https://h#abc?def", "https://h"},
		{"https://h?abc#def", "https://h?[redacted]"},
		{"http://me:abc@h:80/x", "http://h:80/x"},
		{"http://abc@h", "http://h"},
		{"http://me:a@b@c@h/", "http://h/"},
		{"http://me:ab/c@h/", "http://h/"},
		{"http://me:ab?c@h/", "http://h/"},
		{"http://me:ab#c@h/?k", "http://h/?[redacted]"},
		{"http://h:abc/x", "http://h:[redacted]/x"},
		{"http://p/http://me:abc@h/?k=1", "http://p/http://h/?[redacted]"},
		{"sweep:from=ftp://me:abc@h/x", "sweep:from=ftp://h/x"},
		{"http://me:a b c@h/", "http://h/"},
		{"http:///me:abc@h/x", "http:///h/x"},
		/* the host is behind the user: its port is judged, and without one a path does not take its place */
		{"http://me:ab/c@h:x/", "http://h:[redacted]/"},
		{"http://me:abc@/me@:8/x", "http://[redacted]/me@:8/x"},
		/* before the slash of such a password there can be a text like a host with a port, or with none */
		{"http://me:abc b:/c@/x", "http://[redacted]/x"},
		{"http://me:abc b:/c@h/x", "http://h/x"},
		{"http://me:abc:80/c@h/x", "http://h/x"},
		{"http://me:[abc]:/c@h/x", "http://h/x"},
		{"http://:80/abc@h/x", "http://h/x"},
		{"http://:/abc@h/x", "http://h/x"},
		{"http://abc e:80/c@h/x", "http://h/x"},
		{"http://me:abc b:/x", "http://me:[redacted]/x"},
		{"http://[::1]:80/x@y", NULL},
		{"http://h:80,http://i:81/x", NULL},
		{"http://h,http://me:abc@i:81", "http://h,http://i:81"},
		{"http://h:80,http://me:abc b:/c@i:81", "http://h:80,http://i:81"},
		{"file:///me/data.json", "file:///me/data.json"},
		{"hf://datasets/me:abc@o/n", "hf://datasets/[redacted]@o/n"},
		{"https://h/models/claude@2024:predict", "https://h/models/claude@2024:predict"},
		{"https://h/models/gemini:generate", "https://h/models/gemini:generate"},
		{"hf://o/n@refs/pr/1", "hf://o/n@refs/pr/1"},
	};
	/* 118 bytes and ":[redacted]" are more than a host can have */
	static const struct redaction long_hosts[] = {
		{"http://" TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN "0123456:x/",
	     "http://" TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN "0123456:[redacted]/"},
		{"http://" TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN "01234567:x/", "http://[redacted]/"},
	};
	static const struct redaction without_scheme[] = {
		{"me:abc@h:80", "[redacted]@h:80"},
		{"http:/me:abc@h/?k", "[redacted]@h/?[redacted]"},
		{"h:8000/x", NULL},
		{"h/x?k=abc", "h/x?[redacted]"},
	};
	(void)state;
	EXPECT(redact_value, cases);
	EXPECT(redact_value, long_hosts);
	EXPECT(redact_url, without_scheme);
}

static void test_messages(void **state)
{
	static const struct {
		const char *text, *expected;
	} cases[] = {
		{"cannot open: No such file", "cannot open: No such file"},
		{"got \"http://me:abc@h/?k=abc\": use https", "got \"http://h/?[redacted]\": use https"},
		{"got \"me:abc@h:80\", not a file", "got [redacted], not a file"},
		{"got \"http://me:a b abc@h/\"", "got \"http://h/\""},
		{"http://me:a b:/abc@u:abc f:/m", "http://u:[redacted] f:/m"},
		{"http://me:a b:/abc@/u:de", "http://[redacted]/u:de"},
		{"http://h:80, http://h:81: cannot connect", "http://h:80, http://h:81: cannot connect"},
		{"http://h:80: no such user: me@h", "http://h:80: no such user: me@h"},
		{"http://me:abc:80/c@h/: bad", "http://h/: bad"},
		{"expected 5%@2s, or hf://datasets/O/N@R/x", "expected 5%@2s, or hf://datasets/O/N@R/x"},
		{"12:00: expected a time such as @1763662800", "12:00: expected a time such as @1763662800"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char text[128];
		snprintf(text, sizeof text, "%s", cases[i].text);
		redact_message(text, sizeof text);
		if (i != 2)
			assert_string_equal(text, cases[i].expected);
		assert_null(strstr(text, "abc"));
	}
	char cut[32] = "http://me:abc@h/?k=abcdefghij";
	redact_message(cut, 20);
	assert_string_equal(cut, "http://h/?[redacted");
}

/* The header an older version wrote, in the header of a stream made from it. */
static void test_the_header_of_a_stream(void **state)
{
	json_error_t why;
	json_t *header = json_loads(
		"{\"ipf\": \"results\", \"argv\": [\"-H\", \"X-Jwt: abc\", \"--hea=X-Jwt: abc\", \"-HX-Jwt: abc\", \"--par\","
		" \"pin=\\\"abc\\\"\", \"--param=n=1\", 5, \"--\", \"-Hx\", \"https://h/?abc\"],"
		" \"params\": {\"pin\": \"abc\", \"n\": 1}, \"proxy\": \"http://me:abc@p:1\","
		" \"targets\": [\"http://abc@h\"], \"api\": {\"path\": \"/x?key=abc\", \"request\":"
		" {\"headers\": {\"X-Jwt\": \"abc\"}, \"body\": {\"keys\": [\"abc\", \"$model\"], \"$if\": {\"pin\": \"abc\"}}}},"
		" \"from\": [{\"argv\": [\"--header\", \"X-Jwt: abc\"], \"from\": [{\"url\": \"https://h/?abc\"}]}]}",
		0, &why);
	(void)state;
	assert_non_null(header);
	assert_int_equal(redact_stream_header(header), 0);
	char *text = json_dumps(header, JSON_COMPACT);
	assert_null(strstr(text, "abc"));
	assert_non_null(
		strstr(text, "[\"-H\",\"X-Jwt: [redacted]\",\"--hea=X-Jwt: [redacted]\",\"-HX-Jwt: [redacted]\",\"--par\","
	                 "\"pin=[redacted]\",\"--param=n=1\",5,\"--\",\"-Hx\",\"https://h/?[redacted]\"]"));
	free(text);
	json_decref(header);
	assert_int_equal(redact_stream_header(NULL), 0);
}

/* The built-in APIs send no secret, and the records say it in full. */
static void test_the_built_in_apis_stay(void **state)
{
	const char *about, *name;
	(void)state;
	for (size_t i = 0; (name = api_builtin(i, &about)); i++) {
		struct api *api;
		struct ipf_error err = {0};
		assert_int_equal(api_open(&api, name, &err), 0);
		json_t *copy = json_deep_copy(api_json(api));
		assert_int_equal(redact_api(copy), 0);
		if (!json_equal(copy, api_json(api)))
			fail_msg("%s: redacted to %s", name, json_dumps(json_object_get(copy, "request"), 0));
		json_decref(copy);
		api_close(api);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_headers),
		cmocka_unit_test(test_params),
		cmocka_unit_test(test_urls),
		cmocka_unit_test(test_messages),
		cmocka_unit_test(test_the_header_of_a_stream),
		cmocka_unit_test(test_the_built_in_apis_stay),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
