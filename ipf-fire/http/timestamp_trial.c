/* Tests before the run, over loopback, whether the kernel's timestamps are available. */
#include "clock.h"
#include "http/timestamp.h"

#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define NO_LOOPBACK          "the test connection over loopback failed"
#define NO_KERNEL_TIMESTAMPS "the kernel does not timestamp packets"

#define TRIES  50 /* the kernel starts a moment after the first request for timestamps */
#define TRY_MS 20

struct trial {
	struct thread_stats *stats;
	struct timestamps *timestamps;
	struct socket_times times;
	int listener, peer, fd;
};

static bool connects(struct trial *t)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct sockaddr *address = (struct sockaddr *)&a;
	socklen_t len = sizeof a;
	t->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	t->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (t->listener < 0 || t->fd < 0 || bind(t->listener, address, len) < 0 || listen(t->listener, 1) < 0 ||
	    getsockname(t->listener, address, &len) < 0 || connect(t->fd, address, len) < 0)
		return false;
	t->peer = accept4(t->listener, NULL, NULL, SOCK_CLOEXEC);
	return t->peer >= 0;
}

/* NULL: a byte came with a timestamp from between the send and the read; else why not. */
static const char *send_one(struct trial *t)
{
	char byte = 'x';
	struct pollfd p = {.fd = t->fd, .events = POLLIN};
	struct timestamp at;
	int64_t stamped = counter_get(&t->stats->stamped), sent = clock_now();
	if (send(t->peer, &byte, 1, MSG_NOSIGNAL) != 1 || poll(&p, 1, TRY_MS) != 1 ||
	    timestamps_recv(t->timestamps, &t->times, t->fd, &byte, 1, &at) != 1)
		return NO_LOOPBACK;
	bool used = counter_get(&t->stats->stamped) > stamped;
	return used && at.t_ns >= sent - NS_PER_MS ? NULL : NO_KERNEL_TIMESTAMPS;
}

static const char *try_it(struct trial *t)
{
	if (!connects(t))
		return NO_LOOPBACK;
	if (!timestamps_watch(t->timestamps, &t->times, t->fd))
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
	const int fds[] = {t.fd, t.peer, t.listener};
	for (size_t i = 0; i < 3; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	timestamps_free(t.timestamps);
	free(t.stats);
	return why;
}
