#include "unit.h"

#include "endpoint/endpoint.h"

static struct api *open_api(const char *name)
{
	struct api *api;
	struct ipf_error err = {0};
	if (api_open(&api, name, &err) < 0)
		fail_msg("%s", err.text);
	return api;
}

static const struct string_list no_headers;

static int open_target(struct endpoint *t, const struct api *api, const char *url, const struct string_list *headers,
                       const char *key_env, struct ipf_error *err)
{
	const struct string_list urls = {.items = &url, .count = 1};
	const struct endpoint_options options = {.urls = &urls, .headers = headers, .key_env = key_env, .streamed = true};
	return endpoint_open(t, api, &options, err);
}

static void test_the_path_is_added_once(void **state)
{
	static const struct {
		const char *url, *whole;
	} cases[] = {
		{"http://h", "http://h/v1/chat/completions"},
		{"http://h/", "http://h/v1/chat/completions"},
		{"http://h:8000///", "http://h:8000/v1/chat/completions"},
		{"https://h/v1", "https://h/v1/chat/completions"},
		{"http://h/v1/", "http://h/v1/chat/completions"},
		{"http://h/v1/chat", "http://h/v1/chat/completions"},
		{"http://h/v1/chat/completions", "http://h/v1/chat/completions"},
		{"http://h/v1/chat/completions/", "http://h/v1/chat/completions"},
		{"http://h/gateway/llama", "http://h/gateway/llama/v1/chat/completions"},
		{"http://h/gateway/v1", "http://h/gateway/v1/chat/completions"},
		{"http://h/v", "http://h/v/v1/chat/completions"},
		{"http://h/xv1", "http://h/xv1/v1/chat/completions"},
		{"http://[::1]:80/?key=1#part", "http://[::1]:80/v1/chat/completions?key=1"},
	};
	struct api *api = open_api("openai-chat");
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct endpoint t;
		struct ipf_error err = {0};
		if (open_target(&t, api, cases[i].url, &no_headers, NULL, &err) < 0)
			fail_msg("%s: %s", cases[i].url, err.text);
		assert_string_equal(t.targets[0].url, cases[i].whole);
		endpoint_close(&t);
	}
	api_close(api);
}

static void test_a_path_with_a_query(void **state)
{
	struct endpoint t;
	struct ipf_error err = {0};
	struct api *api = open_api("openai-chat"), *mine;
	json_t *json = json_deep_copy(api_json(api));
	(void)state;
	json_object_set_new(json, "path", json_string("/v1/chat?alt=sse"));
	assert_int_equal(api_from_json(&mine, json, "mine", &err), 0);
	assert_int_equal(open_target(&t, mine, "http://h/v1/", &no_headers, NULL, &err), 0);
	assert_string_equal(t.targets[0].url, "http://h/v1/chat?alt=sse");
	endpoint_close(&t);
	assert_int_equal(open_target(&t, mine, "http://h?key=1", &no_headers, NULL, &err), 0);
	assert_string_equal(t.targets[0].url, "http://h/v1/chat?key=1&alt=sse");
	endpoint_close(&t);
	json_decref(json);
	api_close(mine);
	api_close(api);
}

static void test_secrets_are_not_shown(void **state)
{
	struct endpoint t;
	struct ipf_error err = {0};
	struct api *api = open_api("openai-chat");
	(void)state;
	assert_int_equal(open_target(&t, api, "https://me:secret@h/?key=hidden", &no_headers, NULL, &err), 0);
	assert_string_equal(t.targets[0].shown, "https://h/v1/chat/completions");
	assert_non_null(strstr(t.targets[0].url, "me:secret@"));
	endpoint_close(&t);
	api_close(api);
}

static void test_invalid_urls(void **state)
{
	static const char *const bad[] = {"",        "me:KEY@h",   "/h",      "ftp://h", "http://", "http://h:99999",
	                                  "http:/h", "http://a b", "h:99999", "a b"};
	struct api *api = open_api("openai-chat");
	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct endpoint t;
		struct ipf_error err = {0};
		if (open_target(&t, api, bad[i], &no_headers, NULL, &err) == 0)
			fail_msg("\"%s\" was taken: %s", bad[i], t.targets[0].url);
		assert_int_equal(err.kind, IPF_USAGE);
		assert_non_null(strstr(err.text, "--url"));
		assert_null(t.targets);
	}
	api_close(api);
}

static bool has(const struct endpoint *t, const char *header)
{
	for (const struct curl_slist *h = t->headers; h; h = h->next)
		if (!strcmp(h->data, header))
			return true;
	return false;
}

static size_t count(const struct endpoint *t, const char *name)
{
	size_t n = 0;
	for (const struct curl_slist *h = t->headers; h; h = h->next)
		n += !strncasecmp(h->data, name, strlen(name));
	return n;
}

static void test_headers(void **state)
{
	struct endpoint t;
	struct ipf_error err = {0};
	struct api *api = open_api("openai-chat");
	const char *mine[] = {"content-type: text/x", "X-A: 1", "X-A: 2"};
	(void)state;
	unsetenv("OPENAI_API_KEY");
	assert_int_equal(open_target(&t, api, "http://h", &no_headers, NULL, &err), 0);
	assert_true(has(&t, "Content-Type: application/json"));
	assert_true(has(&t, "Accept-Encoding: identity"));
	assert_int_equal(count(&t, "Authorization"), 0);
	endpoint_close(&t);

	setenv("OPENAI_API_KEY", "k1", 1);
	setenv("OTHER_KEY", "k2", 1);
	struct string_list headers = {.items = mine, .count = 3};
	assert_int_equal(open_target(&t, api, "http://h", &headers, NULL, &err), 0);
	assert_int_equal(count(&t, "Content-Type"), 1);
	assert_true(has(&t, "content-type: text/x"));
	assert_int_equal(count(&t, "X-A"), 2);
	assert_true(has(&t, "Authorization: Bearer k1"));
	endpoint_close(&t);
	assert_int_equal(open_target(&t, api, "http://h", &no_headers, "OTHER_KEY", &err), 0);
	assert_true(has(&t, "Authorization: Bearer k2"));
	endpoint_close(&t);

	assert_int_equal(open_target(&t, api, "http://h", &no_headers, "NO_SUCH_KEY", &err), -1);
	assert_int_equal(err.kind, IPF_USAGE);
	assert_non_null(strstr(err.text, "NO_SUCH_KEY"));
	ipf_error_clear(&err);
	mine[1] = "no colon";
	assert_int_equal(open_target(&t, api, "http://h", &headers, NULL, &err), -1);
	assert_non_null(strstr(err.text, "got 8 bytes without a name"));
	unsetenv("OPENAI_API_KEY");
	api_close(api);
}

/* Headers that differ in each request, and one whose field this request lacks. */
static void test_headers_of_a_request(void **state)
{
	struct endpoint t;
	struct ipf_error err = {0};
	struct curl_slist *headers = NULL;
	struct buffer url = {0};
	struct api *api = open_api("openai-chat");
	const char *mine[] = {"traceparent: $traceparent", "X-Talk: $session"};
	const struct request_variables variables = {.id = slice_of("\"r1\""), .traceparent = slice_of("\"00-ab-cd-01\"")};
	(void)state;
	assert_int_equal(open_target(&t, api, "http://h", &(struct string_list){mine, 2}, NULL, &err), 0);
	assert_true(endpoint_sends(&t, "$traceparent"));
	assert_int_equal(endpoint_address(&t, &variables, &url, &headers, &err), 0);
	assert_string_equal(headers->data, "traceparent: 00-ab-cd-01");
	for (const struct curl_slist *h = headers; h; h = h->next)
		assert_int_not_equal(strncmp(h->data, "X-Talk", 6), 0);
	curl_slist_free_all(headers);
	endpoint_close(&t);
	assert_int_equal(open_target(&t, api, "http://h", &(struct string_list){mine + 1, 1}, NULL, &err), 0);
	assert_false(endpoint_sends(&t, "$traceparent"));
	endpoint_close(&t);
	api_close(api);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_path_is_added_once),
		cmocka_unit_test(test_a_path_with_a_query),
		cmocka_unit_test(test_secrets_are_not_shown),
		cmocka_unit_test(test_invalid_urls),
		cmocka_unit_test(test_headers),
		cmocka_unit_test(test_headers_of_a_request),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
