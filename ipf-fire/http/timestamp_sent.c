/* When what was sent left for the network. */
#include "absent.h"
#include "clock.h"
#include "stream/fields.h"
#include "http/timestamp_private.h"

#include <errno.h>
#include <linux/errqueue.h>
#include <linux/net_tstamp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <time.h>

/* A stamp costs more than a microsecond: there is no more than one for each so many nanoseconds, but a number of them
 * in a burst. */
#define EVERY_NS (NS_PER_MS / 10)
#define AT_ONCE  1024

void timestamps_watch_sends(struct timestamps *s, int fd)
{
	struct noted *n = fd >= 0 ? timestamps_noted(s, fd) : NULL;
	if (n)
		n->sends = SENDS_WANTED;
}

/* One entry of the error queue: which byte of all that was sent left, and when by the wall clock. */
static bool read_entry(struct msghdr *m, uint32_t *byte, int64_t *wall_ns)
{
	bool is_send = false;
	*wall_ns = 0;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		struct scm_timestamping stamps;
		struct sock_extended_err e;
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_TIMESTAMPING && c->cmsg_len >= CMSG_LEN(sizeof stamps)) {
			memcpy(&stamps, CMSG_DATA(c), sizeof stamps);
			*wall_ns = (int64_t)stamps.ts[0].tv_sec * NS_PER_S + stamps.ts[0].tv_nsec;
		} else if (c->cmsg_level != SOL_SOCKET && c->cmsg_len >= CMSG_LEN(sizeof e)) { /* IP's or IPv6's */
			memcpy(&e, CMSG_DATA(c), sizeof e);
			is_send = e.ee_origin == SO_EE_ORIGIN_TIMESTAMPING && e.ee_info == SCM_TSTAMP_SND;
			*byte = e.ee_data;
		}
	}
	return is_send && *wall_ns;
}

/* Empties the error queue, at least until the last byte's stamp was in it. Left there, it would look like a broken
 * socket. */
static bool drain(struct timestamps *s, struct noted *n, int fd)
{
	bool some = false;
	for (;;) {
		char control[512];
		struct msghdr m = {.msg_control = control, .msg_controllen = sizeof control};
		uint32_t byte = 0;
		int64_t wall;
		if (recvmsg(fd, &m, MSG_ERRQUEUE | MSG_DONTWAIT) < 0)
			return some;
		some = true;
		if (!read_entry(&m, &byte, &wall) || byte + 1 != n->sent_bytes)
			continue;
		int64_t now = clock_now();
		timestamps_look_now(s, now);
		n->sent_ns = wall - s->offset_ns;
		if (s->stepped || n->sent_ns > now)
			n->sent_ns = 0;
		return some;
	}
}

/* The kernel numbers what is stamped by the bytes sent since it was asked to, and refuses to be asked before there is a
 * connection. Which sends are stamped each of them says. */
static void ask(struct noted *n, int fd)
{
	int what = SOF_TIMESTAMPING_SOFTWARE | SOF_TIMESTAMPING_OPT_ID | SOF_TIMESTAMPING_OPT_TSONLY;
	n->sends = setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPING, &what, sizeof what) == 0 ? SENDS_STAMPED : SENDS_UNASKED;
	n->sent_bytes = 0;
}

static bool may_stamp(struct timestamps *s)
{
	int64_t now = clock_now(), most = AT_ONCE * EVERY_NS;
	s->credit_ns = now - s->credit_at_ns > most - s->credit_ns ? most : s->credit_ns + now - s->credit_at_ns;
	s->credit_at_ns = now;
	if (s->credit_ns < EVERY_NS)
		return false;
	s->credit_ns -= EVERY_NS;
	return true;
}

static ssize_t send_with_stamp(int fd, const void *data, size_t len, int flags)
{
	union {
		char bytes[CMSG_SPACE(sizeof(uint32_t))];
		struct cmsghdr align;
	} control = {.bytes = {0}};
	const uint32_t what = SOF_TIMESTAMPING_TX_SOFTWARE;
	struct iovec from = {.iov_base = (void *)(uintptr_t)data, .iov_len = len};
	struct msghdr m = {.msg_iov = &from, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SO_TIMESTAMPING;
	c->cmsg_len = CMSG_LEN(sizeof what);
	memcpy(CMSG_DATA(c), &what, sizeof what);
	return sendmsg(fd, &m, flags);
}

/* As timestamp.c does with recv. On most ways the stamp lies in the error queue when the call comes back, and is taken
 * out before anybody polls the socket; timestamps_late sees to the others. */
ssize_t stamped_send(int fd, const void *data, size_t len, int flags) __asm__("send");

__attribute__((visibility("default"), used)) ssize_t stamped_send(int fd, const void *data, size_t len, int flags)
{
	struct timestamps *s = timestamps_attached;
	struct noted *n = s && fd >= 0 ? timestamps_noted(s, fd) : NULL;
	if (n && n->sends == SENDS_WANTED)
		ask(n, fd);
	bool stamped = n && n->sends == SENDS_STAMPED && may_stamp(s);
	ssize_t sent = stamped ? send_with_stamp(fd, data, len, flags) : sendto(fd, data, len, flags, NULL, 0);
	if (s && s->most && sent < 0 && (errno == EPIPE || errno == ECONNRESET))
		return (
			ssize_t)len; /* that nobody reads any more is to be heard by reading, behind what they still had to say */
	struct noted *within = s && sent > 0 ? timestamps_within(s, fd) : NULL;
	if (within)
		within->emptied = true;
	if (n && n->sends == SENDS_STAMPED && sent > 0) {
		int kept = errno;
		n->sent_bytes += (uint32_t)sent;
		n->sent_ns = 0;
		s->last_sent_fd = fd;
		if (stamped)
			drain(s, n, fd);
		errno = kept;
	}
	return sent;
}

int64_t timestamps_sent(const struct timestamps *s, int fd)
{
	if (fd < 0)
		fd = s->last_sent_fd;
	const struct noted *n = fd >= 0 ? timestamps_noted(s, fd) : NULL;
	return n && n->sends == SENDS_STAMPED && n->sent_ns ? n->sent_ns : IPF_ABSENT;
}

bool timestamps_settle(struct timestamps *s, struct pollfd *p)
{
	struct noted *n = p->fd >= 0 ? timestamps_noted(s, p->fd) : NULL;
	const struct timespec at_once = {0};
	if (!n || n->sends != SENDS_STAMPED)
		return false;
	/* an error that is there while no stamp is, is one; what epoll told of a while ago may have been taken out since */
	do {
		p->revents = 0;
		if (ppoll(p, 1, &at_once, NULL) < 0)
			return false;
	} while (p->revents & POLLERR && drain(s, n, p->fd));
	return true;
}

uint32_t timestamps_late(struct timestamps *s, int fd, uint32_t events)
{
	struct pollfd p = {.fd = fd, .events = POLLIN | POLLOUT};
	/* poll's bits are epoll's; of what was not asked for only errors count */
	return timestamps_settle(s, &p) ? (uint32_t)p.revents & (events | POLLERR | POLLHUP) : events;
}
