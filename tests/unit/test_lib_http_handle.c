/* Common to every request to a server beside the run: limits of time and bytes, no redirects, no proxy for this
 * machine. */
#include "buffer.h"
#include "http/http_handle.h"
#include "http/url_port.h"
#include "unit.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

static int listening = -1, stop[2];
static char base[64];

static void answer(int fd)
{
	static const char *const answers[][2] = {
		{"GET /ok ", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello"},
		{"GET /missing ", "HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno"},
		{"GET /moved ", "HTTP/1.1 302 Found\r\nLocation: /ok\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"},
	};
	char request[2048], big[4096];
	ssize_t len = recv(fd, request, sizeof request - 1, 0);
	request[len > 0 ? len : 0] = '\0';
	for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
		if (strncmp(request, answers[i][0], strlen(answers[i][0])) == 0)
			send(fd, answers[i][1], strlen(answers[i][1]), MSG_NOSIGNAL);
	if (strncmp(request, "GET /endless ", 13) == 0) {
		static const char head[] = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n";
		memset(big, 'x', sizeof big);
		send(fd, head, sizeof head - 1, MSG_NOSIGNAL);
		while (send(fd, big, sizeof big, MSG_NOSIGNAL) > 0)
			;
	}
	struct pollfd wait[] = {{.fd = stop[0], .events = POLLIN}, {.fd = fd, .events = POLLIN}};
	poll(wait, 2, -1); /* /silent: until the client gives up */
	close(fd);
}

static void *serve(void *data)
{
	struct pollfd wait[] = {{.fd = stop[0], .events = POLLIN}, {.fd = listening, .events = POLLIN}};
	(void)data;
	while (poll(wait, 2, -1) > 0 && !wait[0].revents) {
		int fd = accept(listening, NULL, NULL);
		if (fd >= 0)
			answer(fd);
	}
	return NULL;
}

static pthread_t server;

static int start(void **state)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof at;
	(void)state;
	listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (listening < 0 || pipe(stop) < 0 || bind(listening, (struct sockaddr *)&at, sizeof at) < 0 ||
	    listen(listening, 8) < 0 || getsockname(listening, (struct sockaddr *)&at, &len) < 0)
		return -1;
	snprintf(base, sizeof base, "http://127.0.0.1:%d", ntohs(at.sin_port));
	curl_global_init(CURL_GLOBAL_DEFAULT);
	return pthread_create(&server, NULL, serve, NULL);
}

static int end(void **state)
{
	(void)state;
	close(stop[1]);
	pthread_join(server, NULL);
	close(stop[0]);
	close(listening);
	curl_global_cleanup();
	return 0;
}

static struct buffer body;

static size_t take(char *bytes, size_t size, size_t count, void *data)
{
	if (!http_handle_takes(data, size * count))
		return 0;
	buffer_append(&body, bytes, size * count);
	return size * count;
}

/* Asks twice with one handle: the second time is as good as the first. */
static int ask_within(const char *path, int64_t timeout_ns, struct ipf_error *err)
{
	char url[128];
	struct http_handle h = {0};
	snprintf(url, sizeof url, "%s%s", base, path);
	const struct http_settings settings = {.url = url, .timeout_ns = timeout_ns, .most_bytes = 1 << 20};
	assert_int_equal(http_handle_open(&h, &settings, err), 0);
	assert_int_equal(curl_easy_setopt(h.curl, CURLOPT_WRITEFUNCTION, take), CURLE_OK);
	assert_int_equal(curl_easy_setopt(h.curl, CURLOPT_WRITEDATA, &h), CURLE_OK);
	int first = 0, second = 0;
	for (int i = 0; i < 2; i++) {
		buffer_clear(&body);
		ipf_error_clear(err);
		http_handle_begin(&h);
		first = second;
		second = http_handle_judge(&h, curl_easy_perform(h.curl), err);
	}
	assert_int_equal(first, second);
	http_handle_close(&h);
	http_handle_close(&h);
	return second;
}

static int ask(const char *path, struct ipf_error *err)
{
	return ask_within(path, INT64_C(50000000000), err);
}

static void an_answer_is_taken(void **state)
{
	struct ipf_error err = {0};
	(void)state;
	assert_int_equal(ask("/ok", &err), 0);
	assert_string_equal(body.data, "hello");
	assert_int_equal(err.kind, IPF_OK);
}

static void this_machine_needs_no_proxy(void **state)
{
	struct ipf_error err = {0};
	(void)state;
	setenv("http_proxy", "http://127.0.0.1:1/", 1);
	assert_int_equal(ask("/ok", &err), 0);
	unsetenv("http_proxy");
}

static void failures_say_why(void **state)
{
	struct ipf_error err = {0};
	(void)state;
	assert_int_equal(ask("/missing", &err), 1);
	assert_string_equal(err.text, "HTTP status 404");
	assert_int_equal(ask("/moved", &err), 1);
	assert_string_equal(err.text, "HTTP status 302 (redirects are not followed)");
	assert_int_equal(ask("/endless", &err), -1);
	assert_string_equal(err.text, "answer of more than 1 MiB");
	assert_true(body.len <= 1 << 20);
	assert_int_equal(ask_within("/silent", 100000000, &err), -1);
	assert_int_equal(err.kind, IPF_SYSTEM);
	assert_non_null(strstr(err.text, "timed out"));
}

static void ports_of_options(void **state)
{
	(void)state;
	assert_int_equal(url_port("http://10.0.0.7:8000/metrics"), 8000);
	assert_int_equal(url_port("http://host"), 80);
	assert_int_equal(url_port("https://[::1]/v1"), 443);
	assert_int_equal(url_port("decode=http://user:secret@host:9400"), 9400);
	assert_int_equal(url_port("dcgm:https://host:9401/metrics"), 9401);
	assert_int_equal(url_port("remote-write=https://host/api/v1/write"), 443);
	assert_int_equal(url_port("proxy.example:3128"), 3128);
	assert_int_equal(url_port(""), 0);
	assert_int_equal(url_port("http://"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_answer_is_taken),
		cmocka_unit_test(this_machine_needs_no_proxy),
		cmocka_unit_test(failures_say_why),
		cmocka_unit_test(ports_of_options),
	};
	int failures = cmocka_run_group_tests(tests, start, end);
	buffer_release(&body);
	return failures;
}
