/* When the kernel got what a socket's reads bring, and when it let go what was sent: right to a few microseconds,
 * however late we come.
 *
 * libcurl reads its sockets, and hands on bytes without times. So that the kernel's stamps come with them, this module
 * has a `recv` of its own, which libcurl's dynamic link finds before the C library's; see timestamp.c. It notes, by the
 * descriptor, when the last read of each socket came:
 *
 *     struct timestamps *s = timestamps_new(meter, true);   // one for each thread that reads
 *     timestamps_watch(s, fd);                          // a new TCP socket
 *     timestamps_attach(s);                             // from here on, what this thread reads is noted in s
 *     curl_multi_socket_action(…);                  // and in its callbacks:
 *         const struct timestamp *read = timestamps_of(s, fd);
 *         if (read) … read->t_ns, read->own_ns      // when the bytes at hand came, and when we had them
 *
 * The kernel stamps on CLOCK_REALTIME. The offset from CLOCK_MONOTONIC only changes when somebody sets the clock; it is
 * looked at again at the first read of every millisecond, so that such a step is noticed, counted, and followed.
 *
 * A stamp that cannot be is not used: one that is later than our own clock at the read, or (the caller's to say, with
 * timestamps_reject) before the request was sent.
 */
#ifndef IPF_TIMESTAMP_H
#define IPF_TIMESTAMP_H

#include "job/thread_stats.h"

#include <stddef.h>

struct timestamps;

/* A read: absolute times on CLOCK_MONOTONIC. Of several packets in one read, the kernel tells the last one's time only.
 */
struct timestamp {
	int64_t t_ns;   /* when the kernel got it */
	int64_t own_ns; /* our clock, right after the read */
};

/* Do stamps come with what libcurl reads? Tried once, with a connection to ourselves over loopback: is our `recv` the
 * one that it calls, and does the kernel stamp? Not before curl_global_init. NULL: they do; else why not. */
const char *timestamps_trial(void);

/* How it goes is told in the meter (borrowed). Without `kernel` no socket is watched, and only our own clock is noted.
 * NULL: out of memory. */
struct timestamps *timestamps_new(struct thread_stats *meter, bool kernel);
void timestamps_free(struct timestamps *s); /* after its thread has ended or attached another; NULL is fine */

/* Knows this socket from now on, and asks the kernel to stamp what comes on it. false: it does not. */
bool timestamps_watch(struct timestamps *s, int fd);
void timestamps_forget(struct timestamps *s, int fd); /* the descriptor was closed */

/* From here on, what the calling thread reads is noted in s; NULL: nowhere. */
void timestamps_attach(struct timestamps *s);

/* Once so many bytes were read of one socket since timestamps_attach, or all that there were, its reads find no more
 * (0, the default: they do), so that what came for each of the streams on it is seen to before the next comes, or the
 * end. The rest waits in the kernel, and epoll tells of it again. Nor do sends tell that the connection broke, before
 * reads do. */
void timestamps_limit(struct timestamps *s, size_t most);

/* The last read of the socket (-1: of any, since timestamps_attach); NULL where the kernel gave it no stamp, or nothing
 * was read. */
const struct timestamp *timestamps_of(const struct timestamps *s, int fd);
/* Our clock right after the last read since timestamps_attach, stamped or not, if that was one of this socket (-1:
 * any); else IPF_ABSENT. */
int64_t timestamps_own(const struct timestamps *s, int fd);
/* The socket of the last read since timestamps_attach; -1: there was none. */
int timestamps_last_read(const struct timestamps *s);
/* The last stamp of this socket cannot be: it counts as rejected. */
void timestamps_reject(struct timestamps *s, int fd);

/* From its next send on, the kernel also stamps what leaves on this (watched) socket. */
void timestamps_watch_sends(struct timestamps *s, int fd);
/* When the last byte left that was sent on the socket (-1: on any, since timestamps_attach); IPF_ABSENT: not known, or
 * not yet. */
int64_t timestamps_sent(const struct timestamps *s, int fd);
/* epoll told of an error on the socket, which may be no more than a stamp that came after the send. What else is left
 * of `events`, of which 0 is nothing at all. */
uint32_t timestamps_late(struct timestamps *s, int fd, uint32_t events);

/* One look at both clocks: the wall clock was read between two readings of the other one. True: it was set since the
 * last look. Done by itself at reads; public for the tests. */
bool timestamps_look(struct timestamps *s, int64_t before_ns, int64_t wall_ns, int64_t after_ns);
/* A read at own_ns whose last packet the kernel stamped with wall_ns, as noted for the socket; likewise. */
void timestamps_note(struct timestamps *s, int fd, int64_t wall_ns, int64_t own_ns);

#endif
