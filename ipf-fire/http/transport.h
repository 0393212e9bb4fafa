/* HTTP for an event loop its user provides: sends requests, and notes for each byte of a response when it came.
 *
 *     transport_start(t, job);                              // sends at once
 *     if epoll reports an event whose data is none of yours:
 *         transport_event(t, data.u64, events, t_ns);       // t_ns: when the event was reported
 *     when transport_deadline(t) has passed:
 *         transport_expire(t, now);
 *     while ((job = transport_ended(t))) …                  // after each of these
 *
 * Bytes read have the time of the read: the kernel's with kernel_timestamps, and our own, right after it. Everything
 * else has t_ns. All times count from the run's start.
 *
 * An unanswered request is not sent again, but for those the server says it has not looked at (HTTP/2), and once those
 * whose kept connection it had closed. An answered one can be started again after job_attempted; its timeout and its
 * client's patience count from the first start. Nothing is hidden: no redirects, no decompression, no cookies.
 */
#ifndef IPF_TRANSPORT_H
#define IPF_TRANSPORT_H

#include "run/balance.h"
#include "endpoint/connection_policy.h"
#include "endpoint/endpoint.h"
#include "endpoint/network_path.h"
#include "endpoint/session_tokens.h"
#include "run/cancel.h"
#include "http/timestamp.h"
#include "job/run_observer.h"

#include <stdatomic.h>

struct transport;

struct transport_options {
	int64_t timeout_ns, connect_timeout_ns; /* 0: none */
	int64_t first_token_ns;                 /* until the first byte of the body; 0: no limit */
	struct cancels cancels;
	struct connection_policy connections;
	struct balance *balance; /* shared by all sending threads; borrowed */
	const struct network_path *network_path;
	const struct string_list *record_headers; /* names of response headers to record */
	struct session_tokens *session_tokens;    /* shared by all threads; NULL: none go back */
	bool keep_requests;                       /* bodies are kept until the job has ended: it may be started again */
	bool kernel_timestamps;                   /* times of reads by the kernel (timestamp.h) */
	struct memory_use *memory;                /* shared by all threads; NULL: no limits */
	size_t thread;                            /* the number of this thread */
	atomic_llong *numbers;                    /* the next connection's number; shared by all transports */
	const struct run_observer *observer;      /* NULL: none */
	int64_t zero_ns; /* the run's start on the monotonic clock; transport_zero may set it later */
};

/* Registers its sockets with `epoll_fd`; the upper half of their data is not 0. Borrows options, endpoint and stats. */
int transport_open(struct transport **transport, const struct endpoint *endpoint,
                   const struct transport_options *options, int epoll_fd, struct thread_stats *stats,
                   struct ipf_error *err);
/* Opens all connections of the pools before the first request (--open-ahead), and waits for them: before anything else
 * is registered with the transport's epoll. -1: IPF_SYSTEM, one of them cannot be opened. */
int transport_open_ahead(struct transport *t, struct ipf_error *err);
void transport_close(struct transport *t); /* nothing may be in flight; NULL is fine */
void transport_zero(struct transport *t, int64_t zero_ns);

/* When the request's client disconnects, from the start of its first attempt on (cancel.h); INT64_MAX: not. */
int64_t transport_hang_up(const struct transport_options *options, const struct job *job);

/* Sends job->request. Its times and the response are noted in the job, which transport_ended returns. Requests going on
 * the same connection of HTTP/2 are written together by transport_flush, which has to follow before epoll is asked for
 * events: one write costs more than a request. */
void transport_start(struct transport *t, struct job *job);
void transport_flush(struct transport *t);
/* An event will be handled soon: prefetches its memory while earlier ones are handled. Each of the steps, from 0,
 * follows a pointer the one before it has fetched. This costs a single event nothing. */
#define TRANSPORT_FORESEE_STEPS 4
void transport_foresee(const struct transport *t, uint64_t data, int step);
void transport_event(struct transport *t, uint64_t data, uint32_t events, int64_t t_ns);
int64_t transport_deadline(const struct transport *t); /* INT64_MAX: none */
void transport_expire(struct transport *t, int64_t now_ns);
/* The next ended job; NULL: there is none. */
struct job *transport_ended(struct transport *t);
/* How many requests wait for a connection of a pool. */
size_t transport_waiting(const struct transport *t);
/* Cuts the largest answer, here or in another thread, if memory is short. false: it is not, or there is none to cut. */
bool transport_save_memory(struct transport *t, int64_t now_ns);
/* Ends everything in flight as RECORD_CANCELLED. */
void transport_cancel(struct transport *t, int64_t now_ns, const char *why);

#endif
