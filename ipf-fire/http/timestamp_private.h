/* What timestamp.c (what comes) and timestamp_sent.c (what goes) share. */
#ifndef IPF_TIMESTAMP_PRIVATE_H
#define IPF_TIMESTAMP_PRIVATE_H

#include "http/timestamp.h"

#include <poll.h>
#include <stddef.h>

struct noted {
	struct timestamp stamp;
	int64_t wall_ns; /* of the stamp, as it came; 0: the last read had none */
	bool watched;
	enum { SENDS_UNASKED, SENDS_WANTED, SENDS_STAMPED } sends;
	uint32_t sent_bytes; /* since its sends are stamped: goes round, as the kernel's own count of them */
	int64_t sent_ns;     /* when the last of them left; 0: not known yet */
	/* while libcurl works at one event, of a socket that is watched or not */
	uint64_t event;    /* which the rest is about */
	size_t read_bytes; /* so far */
	int64_t read_ns;   /* our clock right after the last read */
	bool emptied;      /* the last read took all that there was, or what was sent has had no time for an answer */
};

struct timestamps {
	struct noted *sockets;
	size_t count;
	bool kernel;
	int held_fd; /* see timestamps_new */
	int last_fd,
		last_sent_fd; /* of the last read, watched or not, and of the last send since timestamps_attach; -1: none */
	uint64_t event;   /* counts timestamps_attach */
	size_t most;      /* see timestamps_limit */
	int64_t offset_ns, width_ns;     /* wall clock less ours, as of the look that took `width_ns` */
	int64_t looked_ns;               /* on our clock; INT64_MIN: not yet */
	bool stepped;                    /* at the last look */
	int64_t credit_ns, credit_at_ns; /* how much of its time may go into stamps of sends, as of when */
	struct thread_stats *meter;
};

/* Whose reads and sends are noted. */
extern _Thread_local struct timestamps *timestamps_attached;

static inline struct noted *timestamps_noted(const struct timestamps *s, int fd)
{
	if (fd < 0)
		fd = s->last_fd;
	return fd >= 0 && (size_t)fd < s->count && s->sockets[fd].watched ? &s->sockets[fd] : NULL;
}

/* What is known of the socket's reads within this event; NULL: the socket is not known. */
static inline struct noted *timestamps_within(const struct timestamps *s, int fd)
{
	struct noted *n = fd >= 0 && (size_t)fd < s->count ? &s->sockets[fd] : NULL;
	if (n && n->event != s->event) {
		n->event = s->event;
		n->read_bytes = 0;
		n->emptied = false;
	}
	return n;
}

/* Polls the socket anew until none of the stamps of its sends, which look like errors, are left. false: its sends have
 * none. */
bool timestamps_settle(struct timestamps *s, struct pollfd *p);

/* Looks at the clocks, where that was not just done. */
void timestamps_look_now(struct timestamps *s, int64_t own_ns);

#endif
