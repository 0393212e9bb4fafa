/* The transport's inside, for its own files: transport.c sends and hears, multi_handles.c keeps the multi handles,
 * h2_sharing.c knows the connections that several requests are sent on at once, transfer_timing.c when a request is to
 * be given up. */
#ifndef IPF_TRANSPORT_PRIVATE_H
#define IPF_TRANSPORT_PRIVATE_H

#include "http/deadlines.h"
#include "http/transfer.h"
#include "http/session_scopes.h"
#include "job/job_list.h"

/* A socket, by its descriptor. */
struct socket {
	struct multi *multi;
	int64_t id;      /* of the connection; -1: not one of ours */
	uint32_t events; /* as registered with epoll; 0: not registered */
	bool open, idle;
	bool used;                   /* a request has been sent on it */
	bool ready;                  /* requests can be sent on it */
	bool parting;                /* libcurl sends no more on it, and closes it after those that are on it */
	struct transfer *connecting; /* whose connection it is to be; NULL */
	int64_t trip_ns;             /* how long it took to connect: a round trip; 0: unknown */
	uint32_t streams;            /* requests that are on it now */
	uint64_t key;                /* of the session whose it is; 0: nobody's */
};

/* A multi handle with connections of its own. */
struct multi {
	struct transport *transport;
	CURLM *handle;
	size_t target;     /* of the endpoint: where its connections go */
	int64_t deadline;  /* of libcurl's timer */
	size_t open, busy; /* connections; requests under way */
	size_t most;       /* connections of a pool; 0: no limit */
	size_t cell;       /* the sessions whose connections it has */
	size_t ready;      /* connections that are made */
	size_t closed;     /* how many have been closed so far */
	size_t opening;    /* requests for which one is being made */
	size_t parting;    /* requests on connections that libcurl closes after them; these are not among the ready ones */
	int64_t sound;     /* the last connection that was closed while its server had not; -1 */
	bool soon;         /* libcurl has more to do at once */
	bool pinned;       /* it knows the address */
};

/* What goes to a target. */
struct queueing {
	size_t busy;
	struct job_list waiting; /* for a connection of a pool */
	struct job_list held;    /* started, until a connection that they may share is there */
	size_t held_count;
	struct transfer *openers;  /* those for which a connection is being made */
	size_t opening, unplanned; /* how many; of them, those that were to find one */
	bool single;               /* the server agreed to HTTP/1.1 only */
	uint32_t taken;            /* streams that the server takes on a connection, by its settings; 0: not known */
};

struct transport {
	struct transfer_setup setup;
	const struct transport_options *options;
	const struct endpoint *endpoint;
	struct balance *balance;
	int epoll_fd;
	struct multi **multis;
	size_t count;
	int64_t soonest; /* no deadline of a multi handle is earlier; that it has been moved on may not be known yet */
	struct socket *sockets;
	size_t sockets_count;
	size_t next_source;
	struct thread_stats *meter;
	struct queueing *queues;       /* by target */
	struct session_scopes *scopes; /* of sessions with connections of their own; NULL */
	size_t waiting, held;
	struct deadlines *alarms; /* kind 0: the first token; then the cancels */
	char no_token[80];
	struct transfer *spare; /* unused, ready */
	size_t spare_count;
	struct transfer *under_way; /* doubly linked */
	struct job_list ended;
};

/* libcurl's callbacks, in transport.c. */
int transport_on_socket(CURL *easy, curl_socket_t fd, int what, void *multi, void *unused);
int transport_on_timer(CURLM *handle, long ms, void *multi);

/* Where a request to this target goes: a multi handle that has an idle connection; else one with room for another; else
 * a new one. `key`: of the session whose connections it may take; 0: none's. NULL: out of memory. */
struct multi *multis_choose(struct transport *t, size_t target, uint64_t key);

/* Sets the alarms of a request that begins. */
void timing_begin(struct transport *t, struct transfer *x);
/* Is what an alarm of this kind was set for over? */
bool timing_over(const struct alarm *alarm, size_t kind);

/* Which connections it may take, as for multis_choose: 0 where it makes no difference. */
uint64_t sharing_key(const struct transport *t, const struct job *job);
/* How many requests a connection to this target carries at once, as far as is known. */
size_t sharing_streams(const struct transport *t, size_t target);
/* How many more fit on its connections that are made. */
size_t sharing_free(const struct transport *t, const struct multi *m);
/* Has a pool no more room for another request? false where there is no pool. */
bool sharing_pool_full(const struct transport *t, size_t target);
/* Does it wait for a connection that is being made, where `ahead` wait already? Else it is sent on one that is made, or
 * another one is made. */
bool sharing_has_to_wait(const struct transport *t, size_t target, uint64_t key, size_t ahead);
/* A connection is being made for it. `planned`: since there was none for it. */
void sharing_opening(struct transfer *x, bool planned);
/* It is made, or failed. */
void sharing_opened(struct transfer *x);
/* A request is on this connection now; or no more (NULL is fine). */
void sharing_joined(struct transfer *x, struct socket *s);
void sharing_left(struct transfer *x, struct socket *s);
/* It will be closed after those that are on it (NULL is fine); it is about to be. */
void sharing_parts(struct socket *s);
void sharing_closed(const struct socket *s, int fd);
/* Has libcurl, while it worked for this handle, read how many streams the server takes? */
void sharing_learn(struct multi *m);
/* A connection is made: which protocol does it speak? */
void sharing_agreed(struct transfer *x);

#endif
