/* Heads of requests: the texts are those libcurl 7.88.1 sent for the same list, except as the header says. */
#include "http/http1_request.h"

#include "unit.h"

struct head_case {
	struct http1_request q;
	const char *list[8];
	const char *head, *after;
};

#define BASE                                                                                                           \
	.method = "POST", .target = {"/v1/x?y=1", 9}, .host = {"h:8000", 6}, .user_agent = {"ipf-fire/0", 10},             \
	.body_bytes = 132
#define BEGIN "POST /v1/x?y=1 HTTP/1.1\r\nHost: h:8000\r\n"
#define AGENT "User-Agent: ipf-fire/0\r\nAccept: */*\r\n"

static const struct head_case cases[] = {
	{{BASE},
     {"Content-Type: application/json", "Accept-Encoding: identity", "Expect:"},
     BEGIN AGENT "Content-Type: application/json\r\nAccept-Encoding: identity\r\nContent-Length: 132\r\n\r\n",
     ""},
	{{BASE, .authorization = {"Basic dXNlcjpwQHNz", 18}},
     {"Content-Type: application/json"},
     BEGIN "Authorization: Basic dXNlcjpwQHNz\r\n" AGENT
           "Content-Type: application/json\r\nContent-Length: 132\r\n\r\n",
     ""},
	{{BASE, .authorization = {"Basic dTpw", 10}},
     {"authorization: Bearer x", "Content-Length: 3"},
     BEGIN AGENT "authorization: Bearer x\r\nContent-Length: 3\r\n\r\n",
     ""},
	{{BASE, .authorization = {"Basic dTpw", 10}}, {"Authorization:"}, BEGIN AGENT "Content-Length: 132\r\n\r\n", ""},
	{{.method = "POST",
      .target = {"http://model.example/v1/x", 25},
      .host = {"model.example", 13},
      .authorization = {"Basic dTpw", 10},
      .proxy_authorization = {"Basic cHU6cHA=", 14},
      .forwarded = true,
      .user_agent = {"ipf-fire/0", 10},
      .body_bytes = 1},
     {"Connection: close"},
     "POST http://model.example/v1/x HTTP/1.1\r\nHost: model.example\r\nProxy-Authorization: Basic cHU6cHA=\r\n"
     "Authorization: Basic dTpw\r\n" AGENT
     "Proxy-Connection: Keep-Alive\r\nConnection: close\r\nContent-Length: 1\r\n\r\n",
     ""},
	{{BASE, .proxy_authorization = {"Basic cHU6cHA=", 14}, .forwarded = true},
     {"Proxy-Authorization: x", "Proxy-Connection:", "Transfer-Encoding: chunked"},
     BEGIN AGENT "Proxy-Authorization: x\r\nTransfer-Encoding: chunked\r\n\r\n84\r\n",
     "\r\n0\r\n\r\n"},
	{{BASE},
     {"Content-Type:", "Content-Length:", "Accept:", "Accept-Encoding:", "X-Sp:    a b   ",
      "X-Nothing:   ", "TE: gzip"},
     BEGIN "User-Agent: ipf-fire/0\r\nX-Sp:    a b   \r\nTE: gzip\r\n\r\n",
     ""},
	{{BASE},
     {"X-A: 1", "host:  other ", "X-Empty;", "User-Agent: me", "x-a: 2", "X-Not; this", "no header"},
     "POST /v1/x?y=1 HTTP/1.1\r\nHost: other\r\nAccept: */*\r\nX-A: 1\r\nX-Empty:\r\nUser-Agent: me\r\nx-a: 2\r\n"
     "Content-Length: 132\r\n\r\n",
     ""},
	{{BASE},
     {"Host:", "User-Agent;"},
     "POST /v1/x?y=1 HTTP/1.1\r\nAccept: */*\r\nUser-Agent:\r\nContent-Length: 132\r\n\r\n",
     ""},
	{{BASE}, {"Hostage: x", "Accepted: y"}, BEGIN AGENT "Hostage: x\r\nAccepted: y\r\nContent-Length: 132\r\n\r\n", ""},
	{{.method = "POST", .target = {"/", 1}, .host = {"h", 1}},
     {NULL},
     "POST / HTTP/1.1\r\nHost: h\r\nAccept: */*\r\nContent-Length: 0\r\n\r\n",
     ""},
	{{.method = "GET", .target = {"/", 1}, .host = {"h", 1}},
     {NULL},
     "GET / HTTP/1.1\r\nHost: h\r\nAccept: */*\r\n\r\n",
     ""},
	{{.method = "DELETE", .target = {"/", 1}, .host = {"h", 1}, .body_bytes = 3},
     {NULL},
     "DELETE / HTTP/1.1\r\nHost: h\r\nAccept: */*\r\nContent-Length: 3\r\n\r\n",
     ""},
	{{.method = "PUT", .target = {"/", 1}, .host = {"h", 1}},
     {"transfer-encoding:  Chunked "},
     "PUT / HTTP/1.1\r\nHost: h\r\nAccept: */*\r\ntransfer-encoding:  Chunked \r\n\r\n",
     "0\r\n\r\n"},
};

static void test_heads(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct http1_request q = cases[i].q;
		struct curl_slist *list = NULL;
		struct buffer head = {0};
		for (size_t k = 0; k < sizeof cases[i].list / sizeof *cases[i].list && cases[i].list[k]; k++)
			assert_non_null(list = curl_slist_append(list, cases[i].list[k]));
		q.headers = list;
		buffer_text(&head, "before ");
		struct slice after = http1_request_head(&q, &head);
		assert_false(head.failed);
		assert_string_equal(head.data + strlen("before "), cases[i].head);
		assert_true(slice_is(after, cases[i].after));
		buffer_release(&head);
		curl_slist_free_all(list);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_heads)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
