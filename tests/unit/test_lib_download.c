/* Downloads from servers that send without an end and without the file. */
#include "hub/download.h"

#include "clock.h"
#include "unit.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

/* The first bytes of an answer, and those that are repeated until the client has gone. */
struct endless {
	const char *first, *again;
	int listening;
};

static void *serve(void *data)
{
	const struct endless *e = data;
	char request[2048];
	int fd = accept(e->listening, NULL, NULL);
	if (recv(fd, request, sizeof request, 0) > 0 && send(fd, e->first, strlen(e->first), MSG_NOSIGNAL) > 0)
		while (send(fd, e->again, strlen(e->again), MSG_NOSIGNAL) > 0)
			usleep(20000);
	close(fd);
	return NULL;
}

/* The message of a download with these limits. */
static void ends_with(struct endless e, struct download limits, const char *message)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t len = sizeof at;
	struct ipf_error err = {0};
	pthread_t server;
	char url[64];
	e.listening = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(bind(e.listening, (struct sockaddr *)&at, sizeof at) | listen(e.listening, 1), 0);
	assert_int_equal(getsockname(e.listening, (struct sockaddr *)&at, &len), 0);
	snprintf(url, sizeof url, "http://127.0.0.1:%d/file", ntohs(at.sin_port));
	assert_int_equal(pthread_create(&server, NULL, serve, &e), 0);
	limits.url = url;
	limits.fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	assert_int_equal(download_run(&limits, &err), -1);
	assert_int_equal(err.kind, IPF_SYSTEM);
	assert_non_null(strstr(err.text, message));
	pthread_join(server, NULL);
	close(limits.fd);
	close(e.listening);
}

static void ends_without_bytes_of_the_file(void **state)
{
	(void)state;
	const struct download impatient = {.silence_ns = 200 * NS_PER_MS};
	ends_with((struct endless){.first = "HTTP/1.1 200 OK\r\n", .again = "X: y\r\n"}, impatient,
	          "no byte of the file for 200 ms");
	ends_with((struct endless){.first = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;", .again = "x=y;"},
	          impatient, "no byte of the file for 200 ms");
	ends_with((struct endless){.first = "HTTP/1.1 100 Continue\r\n\r\n", .again = "HTTP/1.1 100 Continue\r\n\r\n"},
	          impatient, "no byte of the file for 200 ms");
}

static void ends_after_too_many_bytes(void **state)
{
	(void)state;
	ends_with((struct endless){.first = "HTTP/1.1 200 OK\r\n\r\n", .again = "0123456789"},
	          (struct download){.limit = 95}, "the file is larger than 95 bytes");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ends_without_bytes_of_the_file),
		cmocka_unit_test(ends_after_too_many_bytes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
