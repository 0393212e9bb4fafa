/* A connection: a socket from its opening to its end, whatever lies between us and the server: TCP or a Unix socket,
 * proxies, TLS. It moves bytes and times them; their meaning is its owner's matter.
 *
 *     c = connection_open(network, origin, index, owner);      // begins; owner->opened or owner->failed follows
 *     connection_write(c, head, body);                         // once it is open
 *     connection_event(c, events, t_ns);                       // epoll reported something: calls owner->input …
 *     connection_close(c);                                     // at any time, also in the owner's functions
 *
 * A closed connection is not used again before network_reap, so whoever is called back may close any of them.
 */
#ifndef IPF_CONNECTION_H
#define IPF_CONNECTION_H

#include "http/http1_reader.h"
#include "http/keep_alive.h"
#include "http/network.h"
#include "http/origin.h"
#include "http/timestamp.h"
#include "http/tls.h"
#include "job/request_body.h"
#include "stream/record.h"

#include <stdatomic.h>

struct connection;

enum connection_step {
	STEP_CLOSED,
	STEP_CONNECT,
	STEP_PROXY_TLS, /* TLS to the proxy */
	STEP_TUNNEL,    /* the proxy is asked to connect */
	STEP_TLS,       /* to the server */
	STEP_OPEN,
};

/* How an open connection ended. */
enum connection_end {
	CONNECTION_FINISHED, /* the server closed it in good order */
	CONNECTION_CUT,      /* under TLS, without saying so */
	CONNECTION_BROKEN,   /* reset, or another error of the network */
	CONNECTION_TLS,      /* TLS failed */
};

/* The events for its owner. After `failed` and `ended` it is closed. */
struct connection_owner {
	void (*opened)(struct connection *c);
	/* It could not be opened: RECORD_CONNECT or RECORD_TLS, and why. */
	void (*failed)(struct connection *c, enum record_error kind, const char *why);
	void (*input)(struct connection *c, const char *bytes, size_t len); /* c->at has the time */
	void (*drained)(struct connection *c); /* the bytes left by connection_write have been written */
	void (*ended)(struct connection *c, enum connection_end how, const char *why);
};

struct connection {
	/* Members of each event come first. */
	struct network *network;
	int fd; /* -1: none yet */
	uint32_t generation;
	struct exchange *exchanges; /* on it now */
	struct tls *tls, *proxy_tls;
	struct http2_session *h2; /* NULL: HTTP/1.1 */
	int broken;               /* errno of a failed write; reads still return earlier bytes. 0: none */
	uint32_t events;
	uint8_t step;
	bool existed;  /* before the request using it now */
	bool kept;     /* the requests on it now found it idle, and none of them has been answered */
	bool emptied;  /* all waiting bytes have been read, in this event */
	bool finished; /* the socket has reported its end */
	bool within;   /* its session of HTTP/2 is at work, and must not be freed */
	struct socket_times times;
	struct timestamp at; /* the last read, from the run's start */
	struct http1_reader reader;

	const struct origin *origin;
	size_t target; /* the origin's number */
	int64_t id;
	int64_t begin_ns, dns_ns, connect_ns, tls_ns; /* from the run's start; IPF_ABSENT */
	struct addrinfo *address;                     /* the one being tried */
	struct buffer out;                            /* bytes waiting to be written … */
	size_t out_done;
	struct unsent body;           /* … and after it, borrowed */
	struct keep_alive keep_alive; /* the server's announcement */
	int64_t idle_ns;              /* since when it has carried no request; only if it is idle */

	/* The pool's and the exchanges'. */
	struct shelf *shelf;
	struct exchange *opener;               /* for which it is being opened; NULL */
	struct exchange *leaving;              /* whose last byte waits to be written */
	uint32_t streams;                      /* requests on it now */
	bool opening, has_room, retired, idle; /* as the shelf counts it; in the shelf's list; takes no new requests; in
	                                          the list of idle ones */
	bool unwritten;                        /* requests of its session wait in the transport's list, to be written … */
	struct connection *unwritten_next;     /* … together */
	struct connection *next, *previous, *idle_next, *idle_previous;
};

int network_open(struct network *n, const struct network_options *options, const struct origin *origins,
                 struct ipf_error *err);
void network_close(struct network *n); /* after all of its connections */
/* Makes closed connections available again: when no function of the owner is on the stack. */
void network_reap(struct network *n);
/* The connection an event of epoll belongs to; NULL: none any more. `tag` is the event's data. */
struct connection *network_find(const struct network *n, uint64_t tag);
/* An event of it will be handled soon: prefetches the connection's members for it. */
void network_prefetch(const struct network *n, uint64_t tag);
/* An event of a socket of libcurl? Then it has been handled. */
bool network_event(struct network *n, uint64_t tag, uint32_t events);
int64_t network_deadline(const struct network *n); /* libcurl's timer, from the run's start; INT64_MAX: none */
void network_expire(struct network *n, int64_t now_ns);

/* Begins to open one. It may be open, and have told so, when this returns. `prepare` sets the members that are the
 * owner's before anything is reported. NULL: out of memory. */
struct connection *connection_open(struct network *n, const struct origin *origin, size_t target,
                                   void (*prepare)(struct connection *c, void *data), void *data);
/* Closes it, without a word to its owner. `politely`: TLS is told. */
void connection_close(struct connection *c, bool politely);
void connection_event(struct connection *c, uint32_t events, int64_t t_ns);

/* Writes head and body, after the waiting bytes. true: all has been written; false: the rest is, later
 * (owner->drained). The body is borrowed until then. Errors of the connection are reported later. */
bool connection_write(struct connection *c, const char *head, size_t len, struct unsent body);
bool connection_is_drained(const struct connection *c);
/* The kind of error if it is not open in time. */
enum record_error connection_late(const struct connection *c);

#endif
