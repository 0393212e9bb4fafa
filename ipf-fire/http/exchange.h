/* A request and its response in flight: the bytes to send, the bytes received, the end. The transport makes them, for
 * jobs; connections and protocols report events to them.
 */
#ifndef IPF_EXCHANGE_H
#define IPF_EXCHANGE_H

#include "http/http1_reader.h"
#include "http/http2_session.h"
#include "http/pool.h"
#include "http_date.h"
#include "job/job.h"

/* A request an HTTP/2 server has refused this often fails. */
#define REFUSALS_MAX 100

struct transport;

struct exchange {
	struct transport *transport;
	struct job *job;               /* NULL: unused */
	struct connection *connection; /* NULL: it waits for one … */
	const char *cancelled;         /* why we end it; NULL */
	enum record_error cancelled_as;
	bool no_memory, held;
	int32_t stream;
	struct shelf *shelf;
	struct connection *opening;             /* … which is being opened for it; NULL */
	int64_t connection_from;                /* only on connections whose id is at least this */
	struct exchange *next, *previous;       /* in flight, or unused */
	struct exchange *on_next, *on_previous; /* on the same connection */
	struct exchange *held_next, *held_previous;
	struct exchange *leaving_next;
	uint64_t serial; /* different for each request */
	size_t target;
};

/* Begins: its connection has room for it. The request is sent as far as the socket takes it. */
void exchange_send(struct exchange *x, struct connection *c);
/* The whole request has been written, just now. */
void exchange_sent(struct exchange *x);
/* It has bytes of the answer; `at` of the connection says when they came. */
void exchange_answered(struct exchange *x);

/* The events of the readers of HTTP/1.1 and HTTP/2: the first argument is the exchange. */
void exchange_status(void *exchange, int status);
void exchange_header(void *exchange, struct slice name, struct slice value);
bool exchange_body(void *exchange, const char *bytes, size_t len);

/* Notes how it ended; `at_ns` is when. The job is then complete. */
void exchange_end(struct exchange *x, enum record_error kind, const char *why, int64_t at_ns);
/* Had the server closed the kept connection before it saw the request, so it can be sent again? No more than once. */
bool exchange_unseen(const struct exchange *x, int64_t at_ns);
/* Its connection ended, with `why`: the kind and the text of its error. */
enum record_error exchange_broken(struct exchange *x, enum connection_end how, const char *why, int64_t at_ns,
                                  char text[256]);

#endif
