#include "http/timestamp_private.h"

#include "absent.h"
#include "clock.h"
#include "stream/fields.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#define LOOK_NS NS_PER_MS /* how long the offset of the clocks is trusted */
#define SLACK_NS                                                                                                       \
	1000 /* by which a stamp may seem to lie ahead: the offset is not known better than the clocks can be read */

_Thread_local struct timestamps *timestamps_attached;

/* ---- clocks ---- */

bool timestamps_look(struct timestamps *s, int64_t before_ns, int64_t wall_ns, int64_t after_ns)
{
	int64_t width = after_ns - before_ns, offset = wall_ns - before_ns - width / 2;
	bool first = s->looked_ns == INT64_MIN;
	s->looked_ns = after_ns;
	if (!first && llabs(offset - s->offset_ns) <= (width + s->width_ns) / 2 + 1) {
		/* the same, as far as both looks can tell: the closer one is right */
		if (width < s->width_ns) {
			s->offset_ns = offset;
			s->width_ns = width;
		}
		return false;
	}
	s->offset_ns = offset;
	s->width_ns = width;
	if (!first)
		thread_stats_count(&s->meter->steps, 1);
	return !first;
}

void timestamps_look_now(struct timestamps *s, int64_t own_ns)
{
	s->stepped = false;
	if (own_ns - LOOK_NS < s->looked_ns)
		return;
	int64_t before = clock_now(), wall = clock_wall();
	s->stepped = timestamps_look(s, before, wall, clock_now());
}

/* ---- reads ---- */

void timestamps_note(struct timestamps *s, int fd, int64_t wall_ns, int64_t own_ns)
{
	struct noted *n = timestamps_noted(s, fd);
	if (!n)
		return;
	s->last_fd = fd;
	if (!wall_ns) {
		n->wall_ns = 0;
		thread_stats_count(&s->meter->without, 1);
		return;
	}
	if (wall_ns == n->wall_ns)
		return; /* more of the same packet: we had it when we began to read it */
	thread_stats_count(&s->meter->stamped, 1);
	n->wall_ns = wall_ns;
	n->stamp = (struct timestamp){.t_ns = wall_ns - s->offset_ns, .own_ns = own_ns};
	/* the packet may have come before the clock was set, or after: nobody knows */
	if (s->stepped || n->stamp.t_ns > own_ns + SLACK_NS)
		timestamps_reject(s, fd);
	else if (n->stamp.t_ns > own_ns)
		n->stamp.t_ns = own_ns;
	delay_histogram_add(&s->meter->delay, own_ns - n->stamp.t_ns);
}

void timestamps_reject(struct timestamps *s, int fd)
{
	struct noted *n = timestamps_noted(s, fd);
	if (!n)
		return;
	n->stamp.t_ns = n->stamp.own_ns;
	thread_stats_count(&s->meter->rejected, 1);
	thread_stats_count(&s->meter->stamped, -1);
}

static int64_t stamp_in(struct msghdr *m)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		struct timespec t;
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_TIMESTAMPNS || c->cmsg_len < CMSG_LEN(sizeof t))
			continue;
		memcpy(&t, CMSG_DATA(c), sizeof t);
		return (int64_t)t.tv_sec * NS_PER_S + t.tv_nsec;
	}
	return 0;
}

/* The C library's recv, as far as anyone who calls it can tell. The dynamic linker looks for a library's symbols in the
 * program first, and so libcurl, whose plain sockets and TLS both read through recv, finds this one; the stamps of the
 * packets come out beside the data, in a control message that only recvmsg gives. That costs 0.3 us a read; the clean
 * way, a look at the first byte before libcurl reads, costs 0.8. Threads that are not attached, such as libcurl's own,
 * get what they would have got.
 *
 * Should a libcurl call something else, nothing is noted, and timestamps_trial says so. */
ssize_t stamped_recv(int fd, void *data, size_t len, int flags) __asm__("recv");

__attribute__((visibility("default"), used)) ssize_t stamped_recv(int fd, void *data, size_t len, int flags)
{
	struct timestamps *s = timestamps_attached;
	if (!s || flags & (MSG_PEEK | MSG_ERRQUEUE))
		return recvfrom(fd, data, len, flags, NULL, NULL);
	union {
		char bytes[CMSG_SPACE(sizeof(struct timespec)) + CMSG_SPACE(3 * sizeof(struct timespec))];
		struct cmsghdr align;
	} control;
	struct iovec to = {.iov_base = data, .iov_len = len};
	struct msghdr m = {.msg_iov = &to, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
	struct noted *n = timestamps_within(s, fd);
	if (s->most && n && (n->emptied || n->read_bytes >= s->most)) {
		errno = EAGAIN;
		return -1;
	}
	bool watched = fd >= 0 && timestamps_noted(s, fd);
	ssize_t got = watched ? recvmsg(fd, &m, flags) : recvfrom(fd, data, len, flags, NULL, NULL);
	if (!n)
		return got;
	n->emptied = got > 0 && (size_t)got < len;
	if (got == 0 && len && s->most && n->read_bytes) {
		errno = EAGAIN;
		return -1;
	}
	if (got > 0) {
		s->last_fd = fd;
		n->read_bytes += (size_t)got;
		n->read_ns = clock_now();
	}
	if (got > 0 && watched) {
		timestamps_look_now(s, n->read_ns);
		timestamps_note(s, fd, stamp_in(&m), n->read_ns);
	}
	return got;
}

/* After each read libcurl asks whether there is more. A read that got less than there was room for has said so: that
 * answer costs nothing. Nor is there an answer to what was sent just now. Both hold while libcurl works at one event;
 * what comes in the meantime makes epoll wake us. And a stamp of what was sent is no error. */
int stamped_poll(struct pollfd *fds, nfds_t count, int timeout) __asm__("poll");

__attribute__((visibility("default"), used)) int stamped_poll(struct pollfd *fds, nfds_t count, int timeout)
{
	const short reading = POLLIN | POLLRDNORM | POLLRDBAND | POLLPRI;
	struct timestamps *s = timestamps_attached;
	const struct noted *n = s && count == 1 && timeout == 0 ? timestamps_within(s, fds->fd) : NULL;
	if (n && n->emptied && !(fds->events & ~reading)) {
		fds->revents = 0;
		return 0;
	}
	struct timespec wait = {.tv_sec = timeout / 1000, .tv_nsec = timeout % 1000 * NS_PER_MS};
	int ready = ppoll(fds, count, timeout < 0 ? NULL : &wait, NULL);
	for (nfds_t i = 0; s && ready > 0 && i < count; i++)
		if (fds[i].revents & POLLERR && timestamps_settle(s, &fds[i]) && !fds[i].revents)
			ready--;
	return ready;
}

const struct timestamp *timestamps_of(const struct timestamps *s, int fd)
{
	const struct noted *n = timestamps_noted(s, fd);
	return n && n->wall_ns ? &n->stamp : NULL;
}

void timestamps_limit(struct timestamps *s, size_t most)
{
	s->most = most;
}

int timestamps_last_read(const struct timestamps *s)
{
	return s->last_fd;
}

int64_t timestamps_own(const struct timestamps *s, int fd)
{
	const struct noted *n = timestamps_within(s, fd < 0 ? s->last_fd : fd);
	return n && n->read_bytes ? n->read_ns : IPF_ABSENT;
}

/* ---- sockets ---- */

static bool make_room(struct timestamps *s, int fd)
{
	size_t count = s->count ? s->count : 256;
	if ((size_t)fd < s->count)
		return true;
	while (count <= (size_t)fd)
		count *= 2;
	struct noted *sockets = realloc(s->sockets, count * sizeof *sockets);
	if (!sockets)
		return false;
	memset(sockets + s->count, 0, (count - s->count) * sizeof *sockets);
	s->sockets = sockets;
	s->count = count;
	return true;
}

bool timestamps_watch(struct timestamps *s, int fd)
{
	int on = 1, protocol = 0;
	socklen_t len = sizeof protocol;
	/* a Unix socket takes the option, and has no stamps */
	if (!make_room(s, fd))
		return false;
	s->sockets[fd] = (struct noted){.watched = false};
	if (!s->kernel || getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &len) < 0 || protocol != IPPROTO_TCP)
		return false;
	s->sockets[fd].watched = setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on) == 0;
	return s->sockets[fd].watched;
}

void timestamps_forget(struct timestamps *s, int fd)
{
	if ((size_t)fd < s->count)
		s->sockets[fd] = (struct noted){0};
}

void timestamps_attach(struct timestamps *s)
{
	timestamps_attached = s;
	if (!s)
		return;
	s->event++;
	s->last_fd = s->last_sent_fd = -1;
}

struct timestamps *timestamps_new(struct thread_stats *meter, bool kernel)
{
	struct timestamps *s = calloc(1, sizeof *s);
	int on = 1;
	if (!s)
		return NULL;
	s->meter = meter;
	s->kernel = kernel;
	s->looked_ns = INT64_MIN;
	s->last_fd = s->last_sent_fd = s->held_fd = -1;
	if (!kernel)
		return s;
	/* The kernel stamps packets while any socket asks for it, and begins a moment after the first one did: one that
	 * asks all the time, so that no connection is the first. */
	s->held_fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (s->held_fd >= 0)
		setsockopt(s->held_fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on);
	return s;
}

void timestamps_free(struct timestamps *s)
{
	if (!s)
		return;
	if (timestamps_attached == s)
		timestamps_attached = NULL;
	if (s->held_fd >= 0)
		close(s->held_fd);
	free(s->sockets);
	free(s);
}
