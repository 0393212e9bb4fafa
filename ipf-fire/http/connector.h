/* Connections made by libcurl: through SOCKS proxies, and to names looked up each time (--dns each). The socket coming
 * out is ours; nothing measured on it goes through libcurl.
 *
 * libcurl's sockets are registered with the same epoll as ours, under other tags than those of connections.
 */
#ifndef IPF_CONNECTOR_H
#define IPF_CONNECTOR_H

#include "http/network.h"
#include "http/origin.h"

struct connector;

/* From the beginning. */
struct connector_times {
	int64_t dns_ns;
};

/* A connected socket, or -1 and why not. */
typedef void connector_done(struct connection *c, int fd, const struct connector_times *times, const char *why);

struct connector *connector_new(struct network *network, connector_done *done); /* NULL: out of memory */
void connector_free(struct connector *k);                                       /* NULL is fine */

/* For a connection, of which it needs no more than the address; `done` follows, or connector_forget. -1: out of memory.
 */
int connector_begin(struct connector *k, struct connection *c, const struct origin *to);
void connector_forget(struct connector *k, const struct connection *c);

/* false: not one of its sockets. */
bool connector_event(struct connector *k, uint64_t tag, uint32_t events);
int64_t connector_deadline(const struct connector *k); /* from the run's start; INT64_MAX: none */
void connector_expire(struct connector *k);

#endif
