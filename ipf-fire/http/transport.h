/* HTTP under an event loop of somebody else's: requests go out, bytes come in, each with the time at which its socket
 * became readable. libcurl does it, behind this interface alone.
 *
 *     transport_start(t, job);                         // at once
 *     if epoll says something of a descriptor that is not yours:
 *         transport_event(t, fd, events, t_ns, own_ns);     // t_ns: when the bytes came, read before anything else
 *     when transport_deadline(t) has passed:
 *         transport_expire(t, now);
 *     while ((job = transport_ended(t))) …                  // after each of these
 *
 * What was read has the time of the read: the kernel's with kernel_timestamps, and our own, right after it. t_ns tells
 * of the rest.
 *
 * libcurl's own limits shape it: looking for a connection and taking one out are linear in the connections of a multi
 * handle, so there are several, of some 256 connections each, and a request goes to one that has an idle connection.
 * All times are from the run's start.
 */
#ifndef IPF_TRANSPORT_H
#define IPF_TRANSPORT_H

#include "endpoint/balance.h"
#include "http/cancel.h"
#include "endpoint/connection_policy.h"
#include "job/job.h"
#include "endpoint/network_path.h"
#include "http/timestamp.h"
#include "endpoint/endpoint.h"

#include <stdatomic.h>

struct transport;

struct transport_options {
	int64_t timeout_ns, connect_timeout_ns; /* 0: none */
	int64_t first_token_ns;                 /* until the first byte of the body; 0: as long as it takes */
	struct cancels cancels;
	struct connection_policy connections;
	struct balance *balance; /* of all sending threads; borrowed */
	const struct network_path *network_path;
	const struct string_list *record_headers; /* names of response headers to keep */
	bool kernel_timestamps;                   /* times of reads by the kernel (timestamp.h) */
	atomic_llong *numbers; /* counts connections, those of all transports, so that each has a number of its own */
	int64_t zero_ns;       /* the run's start on the monotonic clock; may be set later by transport_zero */
};

/* `epoll_fd` is where it registers its sockets, with the descriptor itself as data. Options, endpoint and meter are
 * borrowed. */
int transport_open(struct transport **transport, const struct endpoint *endpoint,
                   const struct transport_options *options, int epoll_fd, struct thread_stats *meter,
                   struct ipf_error *err);
void transport_close(struct transport *t); /* nothing may be in flight; NULL is fine */
void transport_zero(struct transport *t, int64_t zero_ns);

/* Makes handles ready ahead of time, up to `spare` that lie unused; a few at a time (true: there are more to make). */
bool transport_prepare(struct transport *t, size_t spare);

/* Sends job->request. Its times and what comes are noted in the job, which transport_ended gives back. */
void transport_start(struct transport *t, struct job *job);
void transport_event(struct transport *t, int fd, uint32_t events, int64_t t_ns, int64_t own_ns);
int64_t transport_deadline(const struct transport *t); /* INT64_MAX: none */
void transport_expire(struct transport *t, int64_t now_ns);
/* The next one that has ended; NULL. */
struct job *transport_ended(struct transport *t);
/* How many wait for a connection of a pool. */
size_t transport_waiting(const struct transport *t);
/* Ends all that is in flight, as RECORD_CANCELLED. */
void transport_cancel(struct transport *t, int64_t now_ns, const char *why);

#endif
