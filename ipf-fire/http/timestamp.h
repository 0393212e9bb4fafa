/* Receive and send times of sockets, by the kernel's clock: accurate to a few microseconds, however late the program
 * reads them.
 *
 * libcurl reads its sockets and passes on bytes without times. To get the kernel's timestamps with the bytes, this
 * module defines its own `recv`, which libcurl's dynamic link finds before the C library's; see timestamp.c. It notes
 * for each descriptor when the last read arrived:
 *
 *     struct timestamps *s = timestamps_new(stats, true);   // one for each thread that reads
 *     timestamps_watch(s, fd);                              // a new TCP socket
 *     timestamps_attach(s);                                 // from here on, reads of this thread are noted in s
 *     curl_multi_socket_action(…);                          // and in its callbacks:
 *         const struct timestamp *read = timestamps_of(s, fd);
 *         if (read) … read->t_ns, read->own_ns              // when the bytes arrived, and when they were read
 *
 * The kernel's timestamps are on CLOCK_REALTIME. Its offset from CLOCK_MONOTONIC changes only when the clock is set.
 * The offset is checked at the first read of every millisecond, so that a step is noticed, counted and followed.
 *
 * An impossible timestamp is rejected: one that is later than our own clock at the read, or (the caller decides that,
 * with timestamps_reject) earlier than the request.
 */
#ifndef IPF_TIMESTAMP_H
#define IPF_TIMESTAMP_H

#include "job/thread_stats.h"

#include <stddef.h>

struct timestamps;

/* The time of a read, on CLOCK_MONOTONIC. If one read returns several packets, the kernel reports the time of the last
 * one. */
struct timestamp {
	int64_t t_ns;   /* when the kernel received the bytes */
	int64_t own_ns; /* our clock, right after the read */
};

/* Tests with a connection over loopback whether timestamps are available: does libcurl call our `recv`, and does the
 * kernel timestamp packets? Call it after curl_global_init. NULL: they are available; else the reason why not. */
const char *timestamps_trial(void);

/* Counts go to `stats` (borrowed). Without `kernel` no socket is watched, and only our own clock is noted. NULL: out of
 * memory. */
struct timestamps *timestamps_new(struct thread_stats *stats, bool kernel);
/* Call it after the thread has ended or attached another one. NULL is fine. */
void timestamps_free(struct timestamps *s);

/* Adds a socket, and asks the kernel to timestamp what arrives on it. false: the kernel does not. */
bool timestamps_watch(struct timestamps *s, int fd);
void timestamps_forget(struct timestamps *s, int fd); /* the descriptor was closed */

/* From here on, the reads of the calling thread are noted in s; NULL: nowhere. */
void timestamps_attach(struct timestamps *s);

/* Limits what libcurl can read of one socket after each timestamps_attach: after `most` bytes, or all that was
 * available, further reads find nothing. So each stream of the socket gets its bytes before the next ones, or the end,
 * are read. The rest stays in the kernel, and epoll reports it again. Nor do sends report a broken connection before
 * reads do. 0, the default: no limit. */
void timestamps_limit(struct timestamps *s, size_t most);

/* The last read of the socket (-1: of any, since timestamps_attach). NULL: it had no kernel timestamp, or nothing was
 * read. */
const struct timestamp *timestamps_of(const struct timestamps *s, int fd);
/* Our clock right after the last read since timestamps_attach, with or without a kernel timestamp, if that read was of
 * this socket (-1: any); else IPF_ABSENT. */
int64_t timestamps_own(const struct timestamps *s, int fd);
/* The socket of the last read since timestamps_attach; -1: there was none. */
int timestamps_last_read(const struct timestamps *s);
/* Rejects the last timestamp of this socket as impossible. */
void timestamps_reject(struct timestamps *s, int fd);

/* From its next send on, the kernel also timestamps what leaves on this (watched) socket. */
void timestamps_watch_sends(struct timestamps *s, int fd);
/* When the last byte that was sent on the socket (-1: on any, since timestamps_attach) left; IPF_ABSENT: not known, or
 * not yet. */
int64_t timestamps_sent(const struct timestamps *s, int fd);
/* Call it if epoll reports an error on the socket, which may only be a timestamp that arrived after the send. Returns
 * what is left of `events`; 0: nothing. */
uint32_t timestamps_late(struct timestamps *s, int fd, uint32_t events);

/* Compares both clocks: the wall clock was read between two readings of the other. True: it was set since the last
 * comparison. Done automatically at reads; public for the tests. */
bool timestamps_compare_clocks(struct timestamps *s, int64_t before_ns, int64_t wall_ns, int64_t after_ns);
/* Notes a read of the socket at own_ns whose last packet the kernel timestamped with wall_ns. Likewise public for the
 * tests. */
void timestamps_note(struct timestamps *s, int fd, int64_t wall_ns, int64_t own_ns);

#endif
