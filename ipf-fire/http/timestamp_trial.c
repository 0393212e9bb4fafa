/* Whether stamps come: with libcurl, over loopback, before the run. */
#include "clock.h"
#include "http/timestamp.h"

#include <curl/curl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define TRIES      50 /* the kernel begins to stamp a moment after it was first asked to */
#define TRY_MS     20
#define TIMEOUT_MS 1000L

struct trial {
	struct thread_stats *meter;
	struct timestamps *stamps;
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

/* NULL: a byte came with a stamp from between the sending and the reading. */
static const char *send_one(struct trial *t)
{
	char byte = 'x';
	size_t got = 0;
	struct pollfd p = {.fd = t->fd, .events = POLLIN};
	int64_t stamped = counter_get(&t->meter->stamped), rejected = counter_get(&t->meter->rejected),
			without = counter_get(&t->meter->without);
	int64_t sent = clock_now();
	if (send(t->peer, &byte, 1, MSG_NOSIGNAL) != 1 || poll(&p, 1, TRY_MS) != 1)
		return "no connection over loopback to try them with";
	timestamps_attach(t->stamps);
	CURLcode code = curl_easy_recv(t->easy, &byte, 1, &got);
	timestamps_attach(NULL);
	if (code != CURLE_OK || got != 1)
		return "no connection over loopback to try them with";
	bool used = counter_get(&t->meter->stamped) > stamped;
	if (!used && counter_get(&t->meter->without) == without && counter_get(&t->meter->rejected) == rejected)
		return "this libcurl does not read as is known";
	const struct timestamp *read = timestamps_of(t->stamps, t->fd);
	return read && used && read->t_ns >= sent - NS_PER_MS ? NULL : "the kernel does not stamp";
}

static const char *try_it(struct trial *t)
{
	if (!listens(t) || !connects(t))
		return "no connection over loopback to try them with";
	if (!timestamps_watch(t->stamps, t->fd))
		return "the kernel does not stamp";
	const char *why = NULL;
	for (int i = 0; i < TRIES && (why = send_one(t)); i++)
		poll(NULL, 0, 1);
	return why;
}

const char *timestamps_trial(void)
{
	struct trial t = {.meter = thread_stats_new(), .listener = -1, .peer = -1, .fd = -1};
	t.stamps = t.meter ? timestamps_new(t.meter, true) : NULL;
	const char *why = t.stamps ? try_it(&t) : "out of memory";
	curl_easy_cleanup(t.easy);
	if (t.peer >= 0)
		close(t.peer);
	if (t.listener >= 0)
		close(t.listener);
	timestamps_free(t.stamps);
	free(t.meter);
	return why;
}
