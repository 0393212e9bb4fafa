#include "http/timestamp.h"

#include "clock.h"

#include <errno.h>
#include <linux/errqueue.h>
#include <linux/net_tstamp.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define SEND_EVERY_NS (NS_PER_MS / 2) /* at most one timestamp of a send per this time: it costs 2 to 3 us … */
#define SEND_BURST    1024            /* … except for this many in a burst */
#define LOOK_NS       NS_PER_MS       /* how long the offset of the clocks is trusted */
/* Asks the kernel for timestamps of input. */
#define RECEIVES (SOF_TIMESTAMPING_RX_SOFTWARE | SOF_TIMESTAMPING_SOFTWARE)
/* Tolerance for a timestamp in the future: the offset is only as accurate as the clocks can be read. */
#define SLACK_NS 1000

struct timestamps {
	bool kernel;
	int held_fd;                     /* see timestamps_new */
	int64_t offset_ns, width_ns;     /* wall clock minus our clock, by a comparison lasting `width_ns` */
	int64_t looked_ns;               /* time of the last comparison, on our clock; INT64_MIN: none yet */
	bool stepped;                    /* the last comparison found the clock was set */
	int64_t credit_ns, credit_at_ns; /* how much time may be spent on timestamps of sends, and as of when */
	struct thread_stats *stats;
};

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
		counter_count(&s->stats->steps, 1);
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

struct timestamp timestamps_note(struct timestamps *s, struct socket_times *times, int64_t wall_ns, int64_t own_ns)
{
	if (!wall_ns) {
		times->wall_ns = 0;
		counter_count(&s->stats->without, 1);
		return times->last = (struct timestamp){own_ns, own_ns};
	}
	if (wall_ns == times->wall_ns)
		return times->last; /* more of the same packet, which was available at the previous read */
	counter_count(&s->stats->stamped, 1);
	times->wall_ns = wall_ns;
	times->last = (struct timestamp){.t_ns = wall_ns - s->offset_ns, .own_ns = own_ns};
	/* it is unknown whether the packet arrived before or after the clock was set */
	if (s->stepped || times->last.t_ns > own_ns + SLACK_NS)
		timestamps_reject(s, times);
	else if (times->last.t_ns > own_ns)
		times->last.t_ns = own_ns;
	delay_histogram_add(&s->stats->delay, own_ns - times->last.t_ns);
	return times->last;
}

void timestamps_reject(struct timestamps *s, struct socket_times *times)
{
	if (!times->receives || !times->wall_ns)
		return;
	times->last.t_ns = times->last.own_ns;
	counter_count(&s->stats->rejected, 1);
	counter_count(&s->stats->stamped, -1);
}

static int64_t timestamp_in(struct msghdr *m)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		struct scm_timestamping t;
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_TIMESTAMPING || c->cmsg_len < CMSG_LEN(sizeof t))
			continue;
		memcpy(&t, CMSG_DATA(c), sizeof t);
		return (int64_t)t.ts[0].tv_sec * NS_PER_S + t.ts[0].tv_nsec;
	}
	return 0;
}

ssize_t timestamps_recv(struct timestamps *s, struct socket_times *times, int fd, void *to, size_t len,
                        struct timestamp *at)
{
	union {
		char bytes[CMSG_SPACE(sizeof(struct scm_timestamping))];
		struct cmsghdr align;
	} control;
	struct iovec part = {.iov_base = to, .iov_len = len};
	struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
	ssize_t got = times->receives ? recvmsg(fd, &m, MSG_DONTWAIT) : recv(fd, to, len, MSG_DONTWAIT);
	if (got <= 0)
		return got;
	int64_t own = clock_now();
	*at = (struct timestamp){own, own};
	if (times->receives) {
		look_now(s, own);
		*at = timestamps_note(s, times, timestamp_in(&m), own);
	}
	return got;
}

/* ---- sends ---- */

void timestamps_watch_sends(struct socket_times *times, int fd)
{
	int what = RECEIVES | SOF_TIMESTAMPING_OPT_ID | SOF_TIMESTAMPING_OPT_TSONLY;
	if (!times->receives)
		return;
	times->sends = setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPING, &what, sizeof what) == 0;
	times->sent_bytes = 0;
}

/* Reads one entry of the error queue: which byte of all sent left, and when, by the wall clock. */
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
static void drain(struct timestamps *s, struct socket_times *times, int fd)
{
	for (;;) {
		char control[512];
		struct msghdr m = {.msg_control = control, .msg_controllen = sizeof control};
		uint32_t byte = 0;
		int64_t wall;
		if (recvmsg(fd, &m, MSG_ERRQUEUE | MSG_DONTWAIT) < 0)
			return;
		if (!read_entry(&m, &byte, &wall) || byte + 1 != times->sent_bytes)
			continue;
		int64_t now = clock_now();
		look_now(s, now);
		times->sent_ns = wall - s->offset_ns;
		if (s->stepped || times->sent_ns > now)
			times->sent_ns = 0;
		return;
	}
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

ssize_t timestamps_send(struct timestamps *s, struct socket_times *times, int fd, struct iovec *parts, size_t count)
{
	union {
		char bytes[CMSG_SPACE(sizeof(uint32_t))];
		struct cmsghdr align;
	} control = {.bytes = {0}};
	struct msghdr m = {.msg_iov = parts, .msg_iovlen = count};
	bool asked = times->sends && may_timestamp(s);
	if (asked) {
		const uint32_t what = SOF_TIMESTAMPING_TX_SOFTWARE;
		m.msg_control = &control;
		m.msg_controllen = sizeof control;
		struct cmsghdr *c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SO_TIMESTAMPING;
		c->cmsg_len = CMSG_LEN(sizeof what);
		memcpy(CMSG_DATA(c), &what, sizeof what);
	}
	/* the kernel takes a single part without a message around it in a quarter of a microsecond less */
	ssize_t sent = asked || count > 1 ? sendmsg(fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL)
	                                  : send(fd, parts->iov_base, parts->iov_len, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (sent <= 0 || !times->sends)
		return sent;
	times->sent_bytes += (uint32_t)sent;
	times->sent_ns = 0;
	if (asked)
		drain(s, times, fd);
	return sent;
}

void timestamps_late(struct timestamps *s, struct socket_times *times, int fd)
{
	if (times->sends)
		drain(s, times, fd);
}

/* ---- sockets ---- */

bool timestamps_watch(const struct timestamps *s, struct socket_times *times, int fd)
{
	int what = RECEIVES, protocol = 0;
	socklen_t len = sizeof protocol;
	*times = (struct socket_times){0};
	/* a Unix socket accepts the option, but has no timestamps */
	if (s->kernel && getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &len) == 0 && protocol == IPPROTO_TCP)
		times->receives = setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPING, &what, sizeof what) == 0;
	return times->receives;
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
	s->held_fd = -1;
	if (!kernel)
		return s;
	/* The kernel timestamps packets while any socket asks for it, and starts a moment after the first one asked. This
	 * socket asks all the time, so no connection is the first. */
	s->held_fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (s->held_fd >= 0)
		setsockopt(s->held_fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on);
	return s;
}

void timestamps_free(struct timestamps *s)
{
	if (!s)
		return;
	if (s->held_fd >= 0)
		close(s->held_fd);
	free(s);
}
