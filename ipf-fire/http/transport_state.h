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

/* A socket. transport.sockets is indexed by descriptor. */
struct socket {
	struct multi_handle *multi;
	int64_t id;      /* of the connection; -1: not one of ours */
	uint32_t events; /* as registered with epoll; 0: not registered */
	bool open, idle;
	bool used;                   /* a request has been sent on it */
	bool ready;                  /* requests can be sent on it */
	bool retiring;               /* libcurl sends nothing more on it, and closes it after its current requests */
	struct transfer *connecting; /* the transfer that it is being opened for; NULL */
	int64_t round_trip_ns;       /* how long connecting took; 0: unknown */
	uint32_t streams;            /* requests on it now */
	uint64_t key;                /* of the session that owns it; 0: none */
};

/* A multi handle of libcurl with its own connections. */
struct multi_handle {
	struct transport *transport;
	CURLM *handle;
	size_t target;          /* index in endpoint.targets, the same for all its connections */
	int64_t deadline;       /* of libcurl's timer */
	size_t open;            /* connections */
	size_t busy;            /* requests in flight */
	size_t max_connections; /* its share of a pool; 0: no limit */
	size_t session_cell;    /* which sessions' connections it has */
	size_t ready;           /* open connections that requests can be sent on */
	size_t closed;          /* connections closed so far */
	size_t opening;         /* requests for which a connection is being opened */
	size_t retiring;        /* requests on connections that libcurl closes after them, which `ready` does not count */
	int64_t healthy_id;     /* the last connection that was closed although the server had not closed it; -1 */
	bool soon;              /* libcurl has more to do immediately */
	bool pinned;            /* it knows the address */
};

/* The requests to a target. */
struct target_queue {
	size_t busy;
	struct job_list waiting; /* for a connection of a pool */
	struct job_list held;    /* started, but waiting for a connection to share */
	size_t held_count;
	struct transfer *openers; /* those for which a connection is being opened */
	size_t opening;           /* their number */
	size_t unplanned;         /* of these, the ones that should have found a connection */
	bool http1_only;          /* the server agreed only to HTTP/1.1 */
	uint32_t max_streams;     /* per connection, by the server's settings; 0: not known */
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
	int64_t soonest; /* no multi handle has an earlier deadline; it may be outdated if a deadline was moved on */
	struct socket *sockets;
	size_t sockets_count;
	size_t next_source;
	struct thread_stats *stats;
	struct target_queue *queues;   /* by target */
	struct session_scopes *scopes; /* with CONNECTION_POLICY_SESSION; else NULL */
	size_t waiting, held;
	struct deadlines *deadlines; /* kind 0: the first token; then one kind for each of the cancels */
	char no_token_text[80], too_large_text[80], no_room_text[80];
	bool cut;               /* answers in flight were cut, and are to be ended */
	bool grown_in_need;     /* this call of libcurl let an answer grow for which there is no room */
	struct transfer *spare; /* unused, ready */
	size_t spare_count;
	struct transfer *in_flight; /* doubly linked */
	struct job_list ended;
};

#endif
