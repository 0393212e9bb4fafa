#include "http/timestamp.h"

#include "absent.h"
#include "clock.h"
#include "stream/fields.h"

#include <errno.h>
#include <linux/errqueue.h>
#include <linux/net_tstamp.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#define SEND_EVERY_NS                                                                                                  \
	(NS_PER_MS / 10)         /* a timestamp of a send costs more than a microsecond: at most one per this time … */
#define SEND_BURST 1024      /* … except for this many in a burst */
#define LOOK_NS    NS_PER_MS /* how long the offset of the clocks is trusted */
#define SLACK_NS                                                                                                       \
	1000 /* tolerance for a timestamp in the future, because the offset is only as accurate as the clocks can be read  \
	      */

struct socket_state {
	struct timestamp timestamp;
	int64_t wall_ns; /* the kernel's timestamp, on the wall clock; 0: the last read had none */
	bool watched;
	enum { SENDS_UNASKED, SENDS_WANTED, SENDS_TIMESTAMPED } sends;
	uint32_t sent_bytes; /* sent since sends are timestamped; wraps around, like the kernel's counter */
	int64_t sent_ns;     /* when the last of these bytes left; 0: not known yet */
	/* during one event that libcurl handles; for all sockets, watched or not */
	uint64_t event;    /* the event that the following members belong to */
	size_t read_bytes; /* so far */
	int64_t read_ns;   /* our clock right after the last read */
	bool emptied; /* the last read returned all that was available, or something was just sent, and no response can have
	                 arrived */
};

struct timestamps {
	struct socket_state *sockets;
	size_t count;
	bool kernel;
	int held_fd; /* see timestamps_new */
	int last_fd,
		last_sent_fd;  /* of the last read (watched or not) and the last send since timestamps_attach; -1: none */
	uint64_t event;    /* counts timestamps_attach */
	size_t read_limit; /* see timestamps_limit */
	int64_t offset_ns, width_ns;     /* wall clock minus our clock, as of a comparison that took `width_ns` */
	int64_t looked_ns;               /* time of the last comparison, on our clock; INT64_MIN: none yet */
	bool stepped;                    /* the last comparison found that the clock was set */
	int64_t credit_ns, credit_at_ns; /* how much time may be spent on timestamps of sends, and as of when */
	struct thread_stats *stats;
};

/* Records the reads and sends of the calling thread; NULL: nothing does. */
static _Thread_local struct timestamps *attached;

static struct socket_state *watched_socket(const struct timestamps *s, int fd)
{
	if (fd < 0)
		fd = s->last_fd;
	return fd >= 0 && (size_t)fd < s->count && s->sockets[fd].watched ? &s->sockets[fd] : NULL;
}

/* The state of the socket's reads within this event; NULL: the socket is not known. */
static struct socket_state *socket_in_event(const struct timestamps *s, int fd)
{
	struct socket_state *n = fd >= 0 && (size_t)fd < s->count ? &s->sockets[fd] : NULL;
	if (n && n->event != s->event) {
		n->event = s->event;
		n->read_bytes = 0;
		n->emptied = false;
	}
	return n;
}

/* ---- clocks ---- */

bool timestamps_compare_clocks(struct timestamps *s, int64_t before_ns, int64_t wall_ns, int64_t after_ns)
{
	int64_t width = after_ns - before_ns, offset = wall_ns - before_ns - width / 2;
	bool first = s->looked_ns == INT64_MIN;
	s->looked_ns = after_ns;
	if (!first && llabs(offset - s->offset_ns) <= (width + s->width_ns) / 2 + 1) {
		/* no difference within the accuracy of both comparisons: keep the more accurate one */
		if (width < s->width_ns) {
			s->offset_ns = offset;
			s->width_ns = width;
		}
		return false;
	}
	s->offset_ns = offset;
	s->width_ns = width;
	if (!first)
		thread_stats_count(&s->stats->steps, 1);
	return !first;
}

static void look_now(struct timestamps *s, int64_t own_ns)
{
	s->stepped = false;
	if (own_ns - LOOK_NS < s->looked_ns)
		return;
	int64_t before = clock_now(), wall = clock_wall();
	s->stepped = timestamps_compare_clocks(s, before, wall, clock_now());
}

/* ---- reads ---- */

void timestamps_note(struct timestamps *s, int fd, int64_t wall_ns, int64_t own_ns)
{
	struct socket_state *n = watched_socket(s, fd);
	if (!n)
		return;
	s->last_fd = fd;
	if (!wall_ns) {
		n->wall_ns = 0;
		thread_stats_count(&s->stats->without, 1);
		return;
	}
	if (wall_ns == n->wall_ns)
		return; /* more of the same packet, which was available at the previous read */
	thread_stats_count(&s->stats->stamped, 1);
	n->wall_ns = wall_ns;
	n->timestamp = (struct timestamp){.t_ns = wall_ns - s->offset_ns, .own_ns = own_ns};
	/* it is unknown whether the packet arrived before or after the clock was set */
	if (s->stepped || n->timestamp.t_ns > own_ns + SLACK_NS)
		timestamps_reject(s, fd);
	else if (n->timestamp.t_ns > own_ns)
		n->timestamp.t_ns = own_ns;
	delay_histogram_add(&s->stats->delay, own_ns - n->timestamp.t_ns);
}

void timestamps_reject(struct timestamps *s, int fd)
{
	struct socket_state *n = watched_socket(s, fd);
	if (!n)
		return;
	n->timestamp.t_ns = n->timestamp.own_ns;
	thread_stats_count(&s->stats->rejected, 1);
	thread_stats_count(&s->stats->stamped, -1);
}

static int64_t timestamp_in(struct msghdr *m)
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

/* Replaces the C library's recv, with the same behaviour for the caller. The dynamic linker looks for a library's
 * symbols in the program first. So libcurl, which reads both plain sockets and TLS through recv, calls this function.
 * The timestamps of packets come beside the data, in a control message that only recvmsg returns. That costs 0.3 us per
 * read; the alternative, a peek at the first byte before libcurl reads, costs 0.8 us. Threads that are not attached,
 * such as libcurl's own, get the usual result.
 *
 * If a version of libcurl calls something else, nothing is noted, and timestamps_trial reports it. */
ssize_t timestamped_recv(int fd, void *data, size_t len, int flags) __asm__("recv");

__attribute__((visibility("default"), used)) ssize_t timestamped_recv(int fd, void *data, size_t len, int flags)
{
	struct timestamps *s = attached;
	if (!s || flags & (MSG_PEEK | MSG_ERRQUEUE))
		return recvfrom(fd, data, len, flags, NULL, NULL);
	union {
		char bytes[CMSG_SPACE(sizeof(struct timespec)) + CMSG_SPACE(3 * sizeof(struct timespec))];
		struct cmsghdr align;
	} control;
	struct iovec to = {.iov_base = data, .iov_len = len};
	struct msghdr m = {.msg_iov = &to, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
	struct socket_state *n = socket_in_event(s, fd);
	if (s->read_limit && n && (n->emptied || n->read_bytes >= s->read_limit)) {
		errno = EAGAIN;
		return -1;
	}
	bool watched = fd >= 0 && watched_socket(s, fd);
	ssize_t got = watched ? recvmsg(fd, &m, flags) : recvfrom(fd, data, len, flags, NULL, NULL);
	if (!n)
		return got;
	n->emptied = got > 0 && (size_t)got < len;
	if (got == 0 && len && s->read_limit && n->read_bytes) {
		errno = EAGAIN;
		return -1;
	}
	if (got > 0) {
		s->last_fd = fd;
		n->read_bytes += (size_t)got;
		n->read_ns = clock_now();
	}
	if (got > 0 && watched) {
		look_now(s, n->read_ns);
		timestamps_note(s, fd, timestamp_in(&m), n->read_ns);
	}
	return got;
}

const struct timestamp *timestamps_of(const struct timestamps *s, int fd)
{
	const struct socket_state *n = watched_socket(s, fd);
	return n && n->wall_ns ? &n->timestamp : NULL;
}

void timestamps_limit(struct timestamps *s, size_t most)
{
	s->read_limit = most;
}

int timestamps_last_read(const struct timestamps *s)
{
	return s->last_fd;
}

int64_t timestamps_own(const struct timestamps *s, int fd)
{
	const struct socket_state *n = socket_in_event(s, fd < 0 ? s->last_fd : fd);
	return n && n->read_bytes ? n->read_ns : IPF_ABSENT;
}

/* ---- sends ---- */

void timestamps_watch_sends(struct timestamps *s, int fd)
{
	struct socket_state *n = fd >= 0 ? watched_socket(s, fd) : NULL;
	if (n)
		n->sends = SENDS_WANTED;
}

/* Reads one entry of the error queue: which byte of all that were sent left, and when, by the wall clock. */
static bool read_entry(struct msghdr *m, uint32_t *byte, int64_t *wall_ns)
{
	bool is_send = false;
	*wall_ns = 0;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		struct scm_timestamping timestamps;
		struct sock_extended_err e;
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_TIMESTAMPING &&
		    c->cmsg_len >= CMSG_LEN(sizeof timestamps)) {
			memcpy(&timestamps, CMSG_DATA(c), sizeof timestamps);
			*wall_ns = (int64_t)timestamps.ts[0].tv_sec * NS_PER_S + timestamps.ts[0].tv_nsec;
		} else if (c->cmsg_level != SOL_SOCKET && c->cmsg_len >= CMSG_LEN(sizeof e)) { /* level of IP or IPv6 */
			memcpy(&e, CMSG_DATA(c), sizeof e);
			is_send = e.ee_origin == SO_EE_ORIGIN_TIMESTAMPING && e.ee_info == SCM_TSTAMP_SND;
			*byte = e.ee_data;
		}
	}
	return is_send && *wall_ns;
}

/* Empties the error queue, at least until the last byte's timestamp has been read. Left in the queue, a timestamp would
 * look like a broken socket. */
static bool drain(struct timestamps *s, struct socket_state *n, int fd)
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
		look_now(s, now);
		n->sent_ns = wall - s->offset_ns;
		if (s->stepped || n->sent_ns > now)
			n->sent_ns = 0;
		return some;
	}
}

/* Asks the kernel for timestamps of sends. It identifies them by the number of bytes sent since this call, and refuses
 * the call before the socket is connected. Each send then says whether it is timestamped. */
static void ask(struct socket_state *n, int fd)
{
	int what = SOF_TIMESTAMPING_SOFTWARE | SOF_TIMESTAMPING_OPT_ID | SOF_TIMESTAMPING_OPT_TSONLY;
	n->sends = setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPING, &what, sizeof what) == 0 ? SENDS_TIMESTAMPED : SENDS_UNASKED;
	n->sent_bytes = 0;
}

static bool may_timestamp(struct timestamps *s)
{
	int64_t now = clock_now(), most = SEND_BURST * SEND_EVERY_NS;
	s->credit_ns = now - s->credit_at_ns > most - s->credit_ns ? most : s->credit_ns + now - s->credit_at_ns;
	s->credit_at_ns = now;
	if (s->credit_ns < SEND_EVERY_NS)
		return false;
	s->credit_ns -= SEND_EVERY_NS;
	return true;
}

static ssize_t send_with_timestamp(int fd, const void *data, size_t len, int flags)
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

/* Replaces the C library's send, as timestamped_recv does recv. On most network paths the timestamp is in the error
 * queue when the call returns, and is read before anything polls the socket; timestamps_late handles the others. */
ssize_t timestamped_send(int fd, const void *data, size_t len, int flags) __asm__("send");

__attribute__((visibility("default"), used)) ssize_t timestamped_send(int fd, const void *data, size_t len, int flags)
{
	struct timestamps *s = attached;
	struct socket_state *n = s && fd >= 0 ? watched_socket(s, fd) : NULL;
	if (n && n->sends == SENDS_WANTED)
		ask(n, fd);
	bool stamped = n && n->sends == SENDS_TIMESTAMPED && may_timestamp(s);
	ssize_t sent = stamped ? send_with_timestamp(fd, data, len, flags) : sendto(fd, data, len, flags, NULL, 0);
	if (s && s->read_limit && sent < 0 && (errno == EPIPE || errno == ECONNRESET))
		return (ssize_t)len; /* pretend success: reads report the broken connection, after what the server still sent */
	struct socket_state *within = s && sent > 0 ? socket_in_event(s, fd) : NULL;
	if (within)
		within->emptied = true;
	if (n && n->sends == SENDS_TIMESTAMPED && sent > 0) {
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
	const struct socket_state *n = fd >= 0 ? watched_socket(s, fd) : NULL;
	return n && n->sends == SENDS_TIMESTAMPED && n->sent_ns ? n->sent_ns : IPF_ABSENT;
}

static bool clear_send_timestamps(struct timestamps *s, struct pollfd *p)
{
	struct socket_state *n = p->fd >= 0 ? watched_socket(s, p->fd) : NULL;
	const struct timespec at_once = {0};
	if (!n || n->sends != SENDS_TIMESTAMPED)
		return false;
	/* an error without a timestamp is a real one; what epoll reported may have been read meanwhile */
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
	/* poll and epoll use the same bits; of events that were not requested only errors count */
	return clear_send_timestamps(s, &p) ? (uint32_t)p.revents & (events | POLLERR | POLLHUP) : events;
}

/* ---- poll ---- */

/* Replaces the C library's poll. After each read libcurl polls for more data. If that read returned less than there was
 * room for, there is none, and the answer costs no system call. The same holds right after a send, because no response
 * can have arrived. Both apply only while libcurl handles one event; epoll reports what arrives meanwhile. A timestamp
 * of a send is not reported as an error. */
int timestamped_poll(struct pollfd *fds, nfds_t count, int timeout) __asm__("poll");

__attribute__((visibility("default"), used)) int timestamped_poll(struct pollfd *fds, nfds_t count, int timeout)
{
	const short reading = POLLIN | POLLRDNORM | POLLRDBAND | POLLPRI;
	struct timestamps *s = attached;
	const struct socket_state *n = s && count == 1 && timeout == 0 ? socket_in_event(s, fds->fd) : NULL;
	if (n && n->emptied && !(fds->events & ~reading)) {
		fds->revents = 0;
		return 0;
	}
	struct timespec wait = {.tv_sec = timeout / 1000, .tv_nsec = timeout % 1000 * NS_PER_MS};
	int ready = ppoll(fds, count, timeout < 0 ? NULL : &wait, NULL);
	for (nfds_t i = 0; s && ready > 0 && i < count; i++)
		if (fds[i].revents & POLLERR && clear_send_timestamps(s, &fds[i]) && !fds[i].revents)
			ready--;
	return ready;
}

/* ---- sockets ---- */

static bool make_room(struct timestamps *s, int fd)
{
	size_t count = s->count ? s->count : 256;
	if ((size_t)fd < s->count)
		return true;
	while (count <= (size_t)fd)
		count *= 2;
	struct socket_state *sockets = realloc(s->sockets, count * sizeof *sockets);
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
	/* a Unix socket accepts the option, but has no timestamps */
	if (!make_room(s, fd))
		return false;
	s->sockets[fd] = (struct socket_state){.watched = false};
	if (!s->kernel || getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &len) < 0 || protocol != IPPROTO_TCP)
		return false;
	s->sockets[fd].watched = setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on) == 0;
	return s->sockets[fd].watched;
}

void timestamps_forget(struct timestamps *s, int fd)
{
	if ((size_t)fd < s->count)
		s->sockets[fd] = (struct socket_state){0};
}

void timestamps_attach(struct timestamps *s)
{
	attached = s;
	if (!s)
		return;
	s->event++;
	s->last_fd = s->last_sent_fd = -1;
}

struct timestamps *timestamps_new(struct thread_stats *stats, bool kernel)
{
	struct timestamps *s = calloc(1, sizeof *s);
	int on = 1;
	if (!s)
		return NULL;
	s->stats = stats;
	s->kernel = kernel;
	s->looked_ns = INT64_MIN;
	s->last_fd = s->last_sent_fd = s->held_fd = -1;
	if (!kernel)
		return s;
	/* The kernel timestamps packets while any socket asks for it, and starts a moment after the first one asked. This
	 * socket asks all the time, so that no connection is the first. */
	s->held_fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (s->held_fd >= 0)
		setsockopt(s->held_fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on);
	return s;
}

void timestamps_free(struct timestamps *s)
{
	if (!s)
		return;
	if (attached == s)
		attached = NULL;
	if (s->held_fd >= 0)
		close(s->held_fd);
	free(s->sockets);
	free(s);
}
