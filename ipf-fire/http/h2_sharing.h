/* Connections that carry several requests at once (HTTP/2): which requests wait for a connection that is being opened,
 * and which have another one opened. libcurl, given all of them at once, would open one for each, or fail. With
 * HTTP/1.1 the same functions count one request per connection.
 */
#ifndef IPF_H2_SHARING_H
#define IPF_H2_SHARING_H

#include "http/transport_state.h"

/* The key of the session whose connections the request may use, as for multi_handle_choose; 0: it makes no difference.
 */
uint64_t h2_sharing_session_key(const struct transport *t, const struct job *job);
/* How many requests a connection to this target carries at once, as far as is known. */
size_t h2_sharing_streams(const struct transport *t, size_t target);
/* How many more requests fit on the open connections of the multi handle. */
size_t h2_sharing_room(const struct transport *t, const struct multi_handle *m);
/* Is the pool of connections full? false if there is no pool. */
bool h2_sharing_pool_full(const struct transport *t, size_t target);
/* Must a request wait for a connection that is being opened, if `ahead` requests wait already? Otherwise it is sent on
 * an open connection, or another one is opened. */
bool h2_sharing_must_wait(const struct transport *t, size_t target, uint64_t key, size_t ahead);
/* A connection is being opened for the transfer. `planned`: because there was none for it. */
void h2_sharing_opening(struct transfer *x, bool planned);
/* That connection is open, or has failed. */
void h2_sharing_opened(struct transfer *x);
/* The request is on this connection now. */
void h2_sharing_joined(struct transfer *x, struct socket *s);
/* The request is no longer on this connection (NULL is fine). */
void h2_sharing_left(struct transfer *x, struct socket *s);
/* libcurl will close the connection after the requests that are on it (NULL is fine). */
void h2_sharing_retire(struct socket *s);
/* The connection is about to be closed. */
void h2_sharing_closed(const struct socket *s, int fd);
/* Reads how many streams the server accepts, if libcurl has just received its settings on this multi handle. */
void h2_sharing_read_settings(struct multi_handle *m);
/* A connection is open: notes which protocol was negotiated. */
void h2_sharing_negotiated(struct transfer *x);

#endif
