/* HTTP/1.1 and HTTP/2 on connections: the choice between them, input, output, and the connection after a request.
 */
#ifndef IPF_PROTOCOLS_H
#define IPF_PROTOCOLS_H

#include "http/exchange.h"

/* The owner of a transport's connections: network_options.data is the transport. */
extern const struct connection_owner protocols_owner;

/* Ends an exchange: its job is passed on, and its place on the connection is free, which is closed if the request is
 * still under way on it. */
void protocols_end(struct transport *t, struct exchange *x, enum record_error kind, const char *why, int64_t at_ns);
/* Lets a started request wait for room in its shelf. */
void protocols_hold(struct transport *t, struct exchange *x);
/* There may be room in the shelf for those it holds: it is looked at once no connection is at work. */
void protocols_resend(struct transport *t, struct shelf *s);

/* Sends a request on a connection counting it already. It may have ended when this returns. In HTTP/2 it is written by
 * protocols_flush, or with whatever else the connection has to say before. */
void protocols_send(struct exchange *x, struct connection *c);
/* Writes the requests sent on connections of HTTP/2: those of each in as few calls as possible. */
void protocols_flush(struct transport *t);
/* A request has ended, or goes elsewhere: it leaves its connection, if it has one. The connection is closed if it
 * carries nothing else, and if it is of no use for others; `whole`: the response was complete. */
void protocols_leave(struct exchange *x, bool whole);
/* A connection not opened in time: its requests end so. */
void protocols_failed(struct connection *c, enum record_error kind, const char *why);
/* Closes a connection without requests. */
void protocols_close(struct connection *c);
void protocols_close_all(struct transport *t);

#endif
