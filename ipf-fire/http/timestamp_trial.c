/* Tests before the run, with libcurl over loopback, whether the kernel's timestamps are available. */
#include "clock.h"
#include "http/timestamp.h"

#include <curl/curl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define NO_LOOPBACK          "the test connection over loopback failed"
#define NO_KERNEL_TIMESTAMPS "the kernel does not timestamp packets"

#define TRIES      50 /* the kernel starts a moment after the first request for timestamps */
#define TRY_MS     20
#define TIMEOUT_MS 1000L

struct trial {
	struct thread_stats *stats;
	struct timestamps *timestamps;
	CURL *easy;
	int listener, peer, fd;
	char url[64];
};

static bool listens(struct trial *t)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof a;
	t->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (t->listener < 0 || bind(t->listener, (struct sockaddr *)&a, sizeof a) < 0 || listen(t->listener, 1) < 0 ||
	    getsockname(t->listener, (struct sockaddr *)&a, &len) < 0)
		return false;
	snprintf(t->url, sizeof t->url, "http://127.0.0.1:%d", ntohs(a.sin_port));
	return true;
}

static bool connects(struct trial *t)
{
	curl_socket_t fd = -1;
	t->easy = curl_easy_init();
	if (!t->easy)
		return false;
	curl_easy_setopt(t->easy, CURLOPT_URL, t->url);
	curl_easy_setopt(t->easy, CURLOPT_PROXY, "");
	curl_easy_setopt(t->easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(t->easy, CURLOPT_CONNECT_ONLY, 1L);
	curl_easy_setopt(t->easy, CURLOPT_TIMEOUT_MS, TIMEOUT_MS);
	if (curl_easy_perform(t->easy) != CURLE_OK || curl_easy_getinfo(t->easy, CURLINFO_ACTIVESOCKET, &fd) != CURLE_OK ||
	    fd < 0)
		return false;
	t->fd = fd;
	t->peer = accept4(t->listener, NULL, NULL, SOCK_CLOEXEC);
	return t->peer >= 0;
}

/* NULL: a byte came with a timestamp from between the send and the read; else why not. */
static const char *send_one(struct trial *t)
{
	char byte = 'x';
	size_t got = 0;
	struct pollfd p = {.fd = t->fd, .events = POLLIN};
	int64_t stamped = counter_get(&t->stats->stamped), rejected = counter_get(&t->stats->rejected),
			without = counter_get(&t->stats->without);
	int64_t sent = clock_now();
	if (send(t->peer, &byte, 1, MSG_NOSIGNAL) != 1 || poll(&p, 1, TRY_MS) != 1)
		return NO_LOOPBACK;
	timestamps_attach(t->timestamps);
	CURLcode code = curl_easy_recv(t->easy, &byte, 1, &got);
	timestamps_attach(NULL);
	if (code != CURLE_OK || got != 1)
		return NO_LOOPBACK;
	bool used = counter_get(&t->stats->stamped) > stamped;
	if (!used && counter_get(&t->stats->without) == without && counter_get(&t->stats->rejected) == rejected)
		return "this libcurl reads sockets in an unexpected way";
	const struct timestamp *read = timestamps_of(t->timestamps, t->fd);
	return read && used && read->t_ns >= sent - NS_PER_MS ? NULL : NO_KERNEL_TIMESTAMPS;
}

static const char *try_it(struct trial *t)
{
	if (!listens(t) || !connects(t))
		return NO_LOOPBACK;
	if (!timestamps_watch(t->timestamps, t->fd))
		return NO_KERNEL_TIMESTAMPS;
	const char *why = NULL;
	for (int i = 0; i < TRIES && (why = send_one(t)); i++)
		poll(NULL, 0, 1);
	return why;
}

const char *timestamps_trial(void)
{
	struct trial t = {.stats = thread_stats_new(), .listener = -1, .peer = -1, .fd = -1};
	t.timestamps = t.stats ? timestamps_new(t.stats, true) : NULL;
	const char *why = t.timestamps ? try_it(&t) : "out of memory";
	curl_easy_cleanup(t.easy);
	if (t.peer >= 0)
		close(t.peer);
	if (t.listener >= 0)
		close(t.listener);
	timestamps_free(t.timestamps);
	free(t.stats);
	return why;
}
