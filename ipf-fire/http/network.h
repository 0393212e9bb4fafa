/* Shared by the connections of a sending thread: options, the TLS contexts, who connects through libcurl, the clock. It
 * is opened and closed by connection.h.
 */
#ifndef IPF_NETWORK_H
#define IPF_NETWORK_H

#include "clock.h"
#include "endpoint/network_path.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct connection;
struct connection_owner;
struct connector;
struct thread_stats;
struct timestamps;
struct tls_context;

struct network_options {
	const struct network_path *path;
	const struct connection_owner *owner;
	bool kernel_timestamps;
	bool h2, only_h2; /* offered by ALPN */
	bool no_resumption;
	size_t origins;        /* how many there are */
	atomic_llong *numbers; /* the next connection's number; shared by all threads */
	struct thread_stats *stats;
	int epoll_fd;
	void *data; /* the owner's */
};

struct network {
	struct network_options o;
	struct timestamps *timestamps;
	struct tls_context *tls, *proxy_tls; /* NULL: not needed (yet) */
	struct connector *connector;         /* libcurl's; NULL: not needed (yet) */
	struct connection **by_fd;
	size_t by_fd_count;
	struct connection *closed, *spare;
	size_t sources;   /* local addresses used so far, in turn */
	int64_t zero_ns;  /* the run's start */
	int64_t event_ns; /* the report of the current event */
	char *buffer;     /* for reads */
};

/* From the run's start. */
static inline int64_t network_now(const struct network *n)
{
	return clock_now() - n->zero_ns;
}

#endif
