/* The state of a transport: its sockets, its multi handles, and what waits for each target. Shared by the modules that
 * a transport consists of: transport.c sends and receives, multi_handles.c chooses a multi handle, h2_sharing.c decides
 * which requests share a connection, h2_goaway.c keeps a session open until its last streams have ended.
 */
#ifndef IPF_TRANSPORT_STATE_H
#define IPF_TRANSPORT_STATE_H

#include "http/deadlines.h"
#include "http/session_scopes.h"
#include "http/transfer.h"
#include "job/job_list.h"

/* A socket, by its descriptor. */
struct socket {
	struct multi_handle *multi;
	int64_t id;      /* of the connection; -1: not one of ours */
	uint32_t events; /* as registered with epoll; 0: not registered */
	bool open, idle;
	bool used;                   /* a request has been sent on it */
	bool ready;                  /* requests can be sent on it */
	bool retiring;               /* libcurl sends no more on it, and closes it after those that are on it */
	struct transfer *connecting; /* whose connection it is to be; NULL */
	int64_t round_trip_ns;       /* how long it took to connect: a round trip; 0: unknown */
	uint32_t streams;            /* requests that are on it now */
	uint64_t key;                /* of the session whose it is; 0: nobody's */
};

/* A multi handle with connections of its own. */
struct multi_handle {
	struct transport *transport;
	CURLM *handle;
	size_t target;       /* of the endpoint: where its connections go */
	int64_t deadline;    /* of libcurl's timer */
	size_t open, busy;   /* connections; requests under way */
	size_t most;         /* connections of a pool; 0: no limit */
	size_t session_cell; /* the sessions whose connections it has */
	size_t ready;        /* connections that are made */
	size_t closed;       /* how many have been closed so far */
	size_t opening;      /* requests for which one is being made */
	size_t retiring;    /* requests on connections that libcurl closes after them; these are not among the ready ones */
	int64_t healthy_id; /* the last connection that was closed while its server had not; -1 */
	bool soon;          /* libcurl has more to do at once */
	bool pinned;        /* it knows the address */
};

/* What goes to a target. */
struct target_queue {
	size_t busy;
	struct job_list waiting; /* for a connection of a pool */
	struct job_list held;    /* started, until a connection that they may share is there */
	size_t held_count;
	struct transfer *openers;  /* those for which a connection is being made */
	size_t opening, unplanned; /* how many; of them, those that were to find one */
	bool http1_only;           /* the server agreed to HTTP/1.1 only */
	uint32_t max_streams;      /* streams that the server takes on a connection, by its settings; 0: not known */
};

struct transport {
	struct transfer_setup setup;
	const struct transport_options *options;
	const struct endpoint *endpoint;
	struct balance *balance;
	int epoll_fd;
	curl_socket_callback on_socket; /* of the multi handles */
	curl_multi_timer_callback on_timer;
	struct multi_handle **multi_handles;
	size_t count;
	int64_t soonest; /* no deadline of a multi handle is earlier; that it has been moved on may not be known yet */
	struct socket *sockets;
	size_t sockets_count;
	size_t next_source;
	struct thread_stats *stats;
	struct target_queue *queues;   /* by target */
	struct session_scopes *scopes; /* of sessions with connections of their own; NULL */
	size_t waiting, held;
	struct deadlines *deadlines; /* kind 0: the first token; then the cancels */
	char no_token_text[80];
	struct transfer *spare; /* unused, ready */
	size_t spare_count;
	struct transfer *in_flight; /* doubly linked */
	struct job_list ended;
};

#endif
