/* Reads and sends of sockets with the times at which the kernel received and sent the bytes: accurate to a few
 * microseconds, however late the program is.
 *
 *     struct timestamps *s = timestamps_new(stats, true);      // one for each thread that reads
 *     struct socket_times times = {0};
 *     timestamps_watch(s, &times, fd);                         // a new TCP socket
 *     got = timestamps_recv(s, &times, fd, to, len, &at);      // at.t_ns: when the bytes came
 *     timestamps_watch_sends(s, &times, fd);                   // once it is connected
 *     sent = timestamps_send(s, &times, fd, parts, count);
 *     times.sent_ns                                            // when its last byte left, if known by now
 *
 * The kernel's timestamps are on CLOCK_REALTIME. Its offset from CLOCK_MONOTONIC changes only when the clock is set.
 * The offset is checked at the first read of every millisecond, so a step is noticed, counted and followed.
 *
 * An impossible timestamp is rejected: one later than our own clock at the read, or (the caller decides, with
 * timestamps_reject) earlier than the request.
 */
#ifndef IPF_TIMESTAMP_H
#define IPF_TIMESTAMP_H

#include "job/thread_stats.h"

#include <stddef.h>
#include <sys/types.h>
#include <sys/uio.h>

struct timestamps;

/* The time of a read, on CLOCK_MONOTONIC. If one read returns several packets, the kernel reports the time of the last
 * one. */
struct timestamp {
	int64_t t_ns;   /* when the kernel received the bytes; without its timestamp our clock */
	int64_t own_ns; /* our clock, right after the read */
};

/* The timestamps of a socket. All zero: nothing is asked of the kernel. */
struct socket_times {
	struct timestamp last; /* the packet read last */
	int64_t wall_ns;       /* its timestamp on the wall clock; 0: it had none */
	int64_t sent_ns;       /* when the last byte sent left; 0: not known (yet) */
	uint32_t sent_bytes;   /* since sends are timestamped; wraps around, like the kernel's counter */
	bool receives, sends;  /* the kernel timestamps them */
};

/* Tests with a connection over loopback whether the kernel timestamps packets. NULL: it does; else the reason why not.
 */
const char *timestamps_trial(void);

/* Counts go to `stats` (borrowed). Without `kernel` no socket is watched, and only our own clock is noted. NULL: out of
 * memory. */
struct timestamps *timestamps_new(struct thread_stats *stats, bool kernel);
void timestamps_free(struct timestamps *s); /* NULL is fine */

/* Asks the kernel to timestamp packets received on a socket. false: it does not, as with Unix sockets. */
bool timestamps_watch(const struct timestamps *s, struct socket_times *times, int fd);
/* Asks it to timestamp packets sent on a watched socket, which is connected: it refuses others. Each send then says
 * whether it is timestamped, as this costs more than a microsecond: there are at most two thousand a second. */
void timestamps_watch_sends(struct socket_times *times, int fd);

/* As recv, without flags, and when the bytes came. */
ssize_t timestamps_recv(struct timestamps *s, struct socket_times *times, int fd, void *to, size_t len,
                        struct timestamp *at);
/* Rejects the socket's last timestamp as impossible: from here on it is our own clock's. */
void timestamps_reject(struct timestamps *s, struct socket_times *times);

/* As writev, without SIGPIPE. On most network paths the timestamp is there when the call returns. */
ssize_t timestamps_send(struct timestamps *s, struct socket_times *times, int fd, struct iovec *parts, size_t count);
/* Call it if epoll reports an error on the socket: this may only be a timestamp coming after the send, and is then
 * read. */
void timestamps_late(struct timestamps *s, struct socket_times *times, int fd);

/* Compares both clocks: the wall clock was read between two readings of the other. True: it was set since the last
 * comparison. Done automatically at reads; public for the tests. */
bool timestamps_compare_clocks(struct timestamps *s, int64_t before_ns, int64_t wall_ns, int64_t after_ns);
/* Notes a read at own_ns whose last packet the kernel timestamped with wall_ns (0: not at all). Likewise public for the
 * tests. */
struct timestamp timestamps_note(struct timestamps *s, struct socket_times *times, int64_t wall_ns, int64_t own_ns);

#endif
