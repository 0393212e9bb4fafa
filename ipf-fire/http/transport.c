#include "http/transport.h"

#include "absent.h"
#include "cli/units.h"
#include "clock.h"
#include "http/answer_limit.h"
#include "http/curl_clock.h"
#include "http/h2_goaway.h"
#include "http/h2_sharing.h"
#include "http/multi_handles.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define MAX_TIMER_ROUNDS 1024 /* streams that one read may have data for */

/* ---- sockets ---- */

static struct socket *socket_of(struct transport *t, int fd)
{
	if ((size_t)fd >= t->sockets_count) {
		size_t count = t->sockets_count ? t->sockets_count : 256;
		while (count <= (size_t)fd)
			count *= 2;
		struct socket *sockets = realloc(t->sockets, count * sizeof *sockets);
		if (!sockets)
			return NULL;
		memset(sockets + t->sockets_count, 0, (count - t->sockets_count) * sizeof *sockets);
		t->sockets = sockets;
		t->sockets_count = count;
	}
	return &t->sockets[fd];
}

static void watch(struct transport *t, int fd, struct socket *s, uint32_t events)
{
	if (s->events == events)
		return;
	struct epoll_event e = {.events = events, .data.fd = fd};
	if (epoll_ctl(t->epoll_fd,
	              !events     ? EPOLL_CTL_DEL
	              : s->events ? EPOLL_CTL_MOD
	                          : EPOLL_CTL_ADD,
	              fd, &e) == 0 ||
	    !events)
		s->events = events;
}

static curl_socket_t on_open(void *data, curlsocktype purpose, struct curl_sockaddr *address)
{
	struct transfer *x = data;
	struct multi_handle *m = x->multi;
	(void)purpose;
	/* libcurl retries by itself: the kept connection broke, or the server refused the request */
	if (x->attempts > 0) {
		x->refused = transfer_may_retry(x);
		return CURL_SOCKET_BAD;
	}
	if (x->only_kept) {
		x->restart = true;
		return CURL_SOCKET_BAD;
	}
	int fd = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
	struct socket *s = fd < 0 ? NULL : socket_of(m->transport, fd);
	if (!s) {
		transfer_no_socket(x, fd < 0 ? errno : ENOMEM);
		thread_stats_count(&m->transport->stats->starved, fd < 0 && (errno == EMFILE || errno == ENFILE));
		if (fd >= 0)
			close(fd);
		return CURL_SOCKET_BAD;
	}
	int why = network_path_bind(m->transport->options->network_path, m->transport->next_source++, fd, address->family);
	if (why) {
		transfer_no_socket(x, why);
		close(fd);
		return CURL_SOCKET_BAD;
	}
	*s = (struct socket){.multi = m,
	                     .id = atomic_fetch_add(m->transport->options->numbers, 1),
	                     .key = x->key,
	                     .open = true,
	                     .connecting = x};
	if (s->key)
		session_scopes_take(m->transport->scopes, s->key);
	m->open++;
	x->opened_fd = fd;
	h2_sharing_opening(x, false);
	if (timestamps_watch(m->transport->setup.timestamps, fd))
		timestamps_watch_sends(m->transport->setup.timestamps, fd);
	return fd;
}

static int on_close(void *data, curl_socket_t fd)
{
	struct transport *t = data;
	struct socket *s = socket_of(t, fd);
	timestamps_forget(t->setup.timestamps, fd);
	if (s && s->open) {
		s->multi->open--;
		s->multi->closed++;
		h2_sharing_closed(s, fd);
		if (s->key)
			session_scopes_leave(t->scopes, s->key);
		*s = (struct socket){.id = -1};
	}
	return close(fd);
}

/* The connection that the transfer is on, if it is open; else NULL. */
static struct socket *socket_under(const struct transfer *x)
{
	struct socket *s = x->fd < 0 ? NULL : socket_of(x->multi->transport, x->fd);
	return s && s->open && s->id == x->job->connection ? s : NULL;
}

static void note_connection(struct transfer *x, int fd)
{
	struct job *job = x->job;
	struct socket *s = socket_of(x->multi->transport, fd);
	if (!s || !s->open || job->connection == s->id)
		return;
	h2_sharing_left(x, socket_under(x));
	job->connection = s->id;
	job->reused = s->used;
	s->used = true;
	x->fd = fd;
	x->round_trip_ns = s->round_trip_ns;
	h2_sharing_joined(x, s);
}

static void on_refused(struct transfer *x)
{
	struct socket *s = socket_under(x);
	h2_sharing_left(x, s);
	h2_sharing_retire(s);
}

static void on_connected(struct transfer *x, int fd)
{
	if (fd < 0 && x->fd < 0 && x->opening)
		fd = x->opened_fd; /* the socket that was opened for this transfer */
	if (fd >= 0)
		note_connection(x, fd);
	struct socket *s = x->fd < 0 ? NULL : socket_of(x->multi->transport, x->fd);
	if (s && s->open && !s->ready) {
		s->ready = true;
		x->multi->ready++;
		h2_sharing_negotiated(x);
	}
	h2_sharing_opened(x);
}

/* Is the transfer's connection still open? If libcurl has not reported the connection yet, as with a shared one:
 * nothing has been sent, and no connection has been closed. */
static bool alive(const struct transfer *x)
{
	if (x->fd < 0)
		return x->multi->closed == x->closed;
	return socket_under(x) || x->multi->healthy_id == x->job->connection;
}

/* libcurl reports which events of a socket it waits for. Removing the socket when a request ends and adding it again
 * for the next one would cost two system calls per request. So it stays registered until something happens on it while
 * it is idle. */
static int on_socket(CURL *easy, curl_socket_t fd, int what, void *data, void *unused)
{
	struct multi_handle *m = data;
	struct transport *t = m->transport;
	struct socket *s = socket_of(t, fd);
	(void)unused;
	if (!s)
		return -1;
	if (!s->multi)
		*s = (struct socket){.multi = m, .id = -1};
	if (what == CURL_POLL_REMOVE) {
		s->idle = true;
		s->connecting = NULL;
		if (!s->open || s->events & EPOLLOUT)
			watch(t, fd, s, s->open ? EPOLLIN : 0);
		if (!s->open)
			*s = (struct socket){.id = -1};
		return 0;
	}
	s->idle = false;
	struct transfer *x = NULL;
	curl_easy_getinfo(easy, CURLINFO_PRIVATE, (char **)&x);
	if (x && x->job)
		note_connection(x, fd);
	watch(t, fd, s, (what & CURL_POLL_IN ? EPOLLIN : 0u) | (what & CURL_POLL_OUT ? EPOLLOUT : 0u));
	return 0;
}

static int on_timer(CURLM *handle, long ms, void *data)
{
	struct multi_handle *m = data;
	(void)handle;
	m->soon = ms == 0;
	m->deadline = ms < 0 ? INT64_MAX : clock_now() - m->transport->setup.zero_ns + (int64_t)ms * NS_PER_MS;
	return 0;
}

/* ---- opening and closing ---- */

int transport_open(struct transport **transport, const struct endpoint *endpoint,
                   const struct transport_options *options, int epoll_fd, struct thread_stats *stats,
                   struct ipf_error *err)
{
	struct transport *t = calloc(1, sizeof *t);
	*transport = t;
	if (!t)
		return ipf_error_memory(err);
	t->balance = options->balance;
	t->options = options;
	t->endpoint = endpoint;
	t->epoll_fd = epoll_fd;
	t->soonest = INT64_MAX;
	t->stats = stats;
	t->setup = (struct transfer_setup){.endpoint = endpoint,
	                                   .options = options,
	                                   .open_socket = on_open,
	                                   .close_socket = on_close,
	                                   .close_data = t,
	                                   .connected = on_connected,
	                                   .room = answer_limit_room,
	                                   .grown = answer_limit_grown,
	                                   .header = answer_limit_header,
	                                   .alive = alive,
	                                   .refused = on_refused};
	t->on_socket = on_socket;
	t->on_timer = on_timer;
	t->queues = calloc(endpoint->count, sizeof *t->queues);
	/* handles that share nothing could not resume each other's TLS sessions */
	if (!options->connections.no_resumption && (t->setup.share = curl_share_init()))
		curl_share_setopt(t->setup.share, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION);
	if (!t->queues || (!t->setup.share && !options->connections.no_resumption))
		return ipf_error_memory(err);
	if (options->connections.kind == CONNECTION_POLICY_SESSION && !(t->scopes = session_scopes_new()))
		return ipf_error_memory(err);
	char text[32];
	t->deadlines = deadlines_new(1 + options->cancels.count);
	snprintf(t->no_token_text, sizeof t->no_token_text, "no first token within %s",
	         format_duration(options->first_token_ns, text));
	answer_limit_init(t);
	if (!t->deadlines)
		return ipf_error_memory(err);
	if (!(t->setup.timestamps = timestamps_new(stats, options->kernel_timestamps)))
		return ipf_error_memory(err);
	timestamps_limit(t->setup.timestamps, options->connections.http != HTTP_1_1 ? SHARED_READ : 0);
	return 0;
}

void transport_zero(struct transport *t, int64_t zero_ns)
{
	t->setup.zero_ns = zero_ns;
}

void transport_close(struct transport *t)
{
	if (!t)
		return;
	for (struct transfer *x = t->spare, *next; x; x = next) {
		next = x->next;
		transfer_free(x);
	}
	for (size_t i = 0; i < t->count; i++) {
		curl_multi_cleanup(t->multi_handles[i]->handle);
		free(t->multi_handles[i]);
	}
	curl_share_cleanup(t->setup.share);
	session_scopes_free(t->scopes);
	free(t->queues);
	deadlines_free(t->deadlines);
	free(t->multi_handles);
	free(t->sockets);
	timestamps_free(t->setup.timestamps);
	free(t);
}

bool transport_prepare(struct transport *t, size_t spare)
{
	for (int i = 0; i < 4 && t->spare_count < spare; i++) {
		struct transfer *x = transfer_new(&t->setup);
		if (!x)
			return false;
		x->next = t->spare;
		t->spare = x;
		t->spare_count++;
	}
	return t->spare_count < spare;
}

/* ---- deadlines of requests: the first token, simulated disconnects ---- */

/* Has the request that the deadline was set for ended, or its first byte come? */
static bool deadline_over(const struct deadline *deadline, size_t kind)
{
	const struct transfer *x = deadline->owner;
	return !x->job || x->serial != deadline->serial || (kind == 0 && x->job->reads_count);
}

/* Without memory for a deadline the request is not aborted in time, and ends by itself. */
static void set_deadlines(struct transport *t, struct transfer *x)
{
	const struct transport_options *o = t->options;
	int cancel = cancels_find(&o->cancels, x->job->arrival.n);
	struct deadline deadline = {.at_ns = x->job->start_ns + o->first_token_ns, .owner = x, .serial = x->serial};
	if (o->first_token_ns)
		deadlines_set(t->deadlines, 0, deadline);
	/* so that the event loop does not wake up for deadlines of requests that have ended */
	for (size_t i = 0; i <= o->cancels.count; i++)
		for (const struct deadline *first; (first = deadlines_first(t->deadlines, i)) && deadline_over(first, i);)
			deadlines_drop_first(t->deadlines, i);
	if (cancel < 0)
		return;
	deadline.at_ns = x->job->start_ns + o->cancels.list[cancel].after_ns;
	deadlines_set(t->deadlines, 1 + (size_t)cancel, deadline);
}

/* ---- requests ---- */

struct job *transport_ended(struct transport *t)
{
	return job_list_take(&t->ended);
}

static void refuse(struct transport *t, struct job *job, int64_t now, const char *why)
{
	if (job->start_ns == IPF_ABSENT)
		job->start_ns = now;
	job->end_ns = now;
	job->error = RECORD_CANCELLED;
	strncpy(job->error_text, why, sizeof job->error_text - 1);
	job_list_put(&t->ended, job);
}

static void leave(struct transport *t, size_t target)
{
	t->queues[target].busy--;
	balance_ended(t->balance, target);
}

static void detach(struct transport *t, struct transfer *x)
{
	curl_multi_remove_handle(x->multi->handle, x->easy);
	transfer_reset(x);
	if (x->key)
		session_scopes_leave(t->scopes, x->key);
	x->multi->busy--;
	*(x->previous ? &x->previous->next : &t->in_flight) = x->next;
	if (x->next)
		x->next->previous = x->previous;
	x->next = t->spare;
	t->spare = x;
	t->spare_count++;
}

/* Sends a request again that a connection without a free stream refused. It waits with those that have not been sent,
 * so that all connections they need are opened at once. */
static void send_again(struct transport *t, struct transfer *x)
{
	struct target_queue *q = &t->queues[x->multi->target];
	h2_sharing_opened(x);
	detach(t, x);
	job_list_put(&q->held, x->job);
	q->held_count++;
	t->held++;
	x->job = NULL;
}

/* Ends a transfer: removes it from the multi handle and returns the job. */
static void finish(struct transport *t, struct transfer *x, CURLcode code, int64_t t_ns)
{
	struct job *job = x->job;
	curl_socket_t fd = -1;
	if (job->connection == IPF_ABSENT && !curl_easy_getinfo(x->easy, CURLINFO_ACTIVESOCKET, &fd) && fd >= 0)
		note_connection(x, fd);
	h2_sharing_opened(x);
	struct socket *s = socket_under(x);
	h2_sharing_left(x, s);
	transfer_end(x, code, t_ns);
	answer_limit_ended(x, job);
	if (s && s->id == job->connection && job->connect_ns != IPF_ABSENT)
		s->round_trip_ns = job->connect_ns - job->start_ns;
	detach(t, x);
	leave(t, x->multi->target);
	job_list_put(&t->ended, job);
}

static void finish_cut(struct transport *t, struct transfer *x, int64_t now)
{
	finish(t, x, CURLE_ABORTED_BY_CALLBACK, now);
}

static void collect_ended(struct transport *t, const struct multi_handle *m)
{
	int left;
	for (CURLMsg *message; (message = curl_multi_info_read(m->handle, &left));) {
		struct transfer *x = NULL;
		if (message->msg != CURLMSG_DONE)
			continue;
		curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&x);
		if (x->refused || transfer_must_resend(x, message->data.result)) {
			send_again(t, x);
		} else if (x->restart) {
			curl_multi_remove_handle(m->handle, x->easy);
			transfer_restart(x);
			curl_multi_add_handle(m->handle, x->easy);
		} else {
			finish(t, x, message->data.result, t->setup.t_ns);
		}
	}
}

/* Lets libcurl handle a socket or its timers. The bytes that it passes on arrived at t_ns, unless the kernel has a
 * timestamp. */
static void work(struct multi_handle *m, curl_socket_t fd, int bits, int64_t t_ns, int64_t own_ns)
{
	struct transport *t = m->transport;
	int running;
	t->setup.t_ns = t_ns;
	t->setup.own_ns = own_ns;
	timestamps_attach(t->setup.timestamps);
	h2_goaway_attach(t);
	if (!m->opening)
		curl_clock_stop(); /* libcurl measures how long connecting takes, and needs a running clock */
	curl_multi_socket_action(m->handle, fd, bits, &running);
	/* one read may contain data for several streams, which libcurl handles one after another */
	for (int i = 0; m->soon && t->options->connections.http != HTTP_1_1 && i < MAX_TIMER_ROUNDS; i++) {
		m->soon = false;
		m->deadline = INT64_MAX;
		curl_multi_socket_action(m->handle, CURL_SOCKET_TIMEOUT, 0, &running);
	}
	curl_clock_go();
	h2_sharing_read_settings(m);
	collect_ended(t, m);
	answer_limit_end_cut(t, t_ns, finish_cut);
	if (m->deadline < t->soonest)
		t->soonest = m->deadline;
}

/* Passes the request to libcurl. */
static void send_on(struct transport *t, struct multi_handle *m, struct job *job, size_t target)
{
	if (m && !t->spare)
		transport_prepare(t, 1);
	struct transfer *x = t->spare;
	uint64_t key = h2_sharing_session_key(t, job);
	uint32_t scope = key ? session_scopes_take(t->scopes, key) : 0;
	if (!m || !x || job->request.failed || (key && !scope)) {
		if (scope)
			session_scopes_leave(t->scopes, key);
		refuse(t, job, clock_now() - t->setup.zero_ns, "out of memory");
		leave(t, target);
		return;
	}
	t->spare = x->next;
	t->spare_count--;
	x->multi = m;
	x->key = key;
	x->scope = scope;
	x->closed = m->closed;
	x->opened_fd = -1;
	x->previous = NULL;
	x->next = t->in_flight;
	if (x->next)
		x->next->previous = x;
	t->in_flight = x;
	bool kept = h2_sharing_room(t, m) || t->queues[target].http1_only;
	m->busy++;
	transfer_begin(x, job, target, !m->pinned, kept);
	if (!kept)
		h2_sharing_opening(x, true);
	m->pinned = true;
	int64_t now = clock_now() - t->setup.zero_ns;
	x->begin_ns = now;
	if (job->start_ns == IPF_ABSENT)
		job->start_ns = now;
	set_deadlines(t, x);
	curl_multi_add_handle(m->handle, x->easy);
	work(m, CURL_SOCKET_TIMEOUT, 0, now, now);
}

static void begin(struct transport *t, struct job *job, size_t target)
{
	struct target_queue *q = &t->queues[target];
	uint64_t key = h2_sharing_session_key(t, job);
	q->busy++;
	if (!h2_sharing_must_wait(t, target, key, q->held_count)) {
		send_on(t, multi_handle_choose(t, target, key), job, target);
		return;
	}
	job->start_ns = clock_now() - t->setup.zero_ns;
	job_list_put(&q->held, job);
	q->held_count++;
	t->held++;
}

/* Starts waiting requests as far as there is room. */
static void admit(struct transport *t)
{
	for (size_t target = 0; t->waiting + t->held && target < t->endpoint->count; target++) {
		struct target_queue *q = &t->queues[target];
		while (q->held.first &&
		       !h2_sharing_must_wait(t, target, h2_sharing_session_key(t, q->held.first), q->held_count - 1)) {
			struct job *job = job_list_take(&q->held);
			q->held_count--;
			t->held--;
			send_on(t, multi_handle_choose(t, target, h2_sharing_session_key(t, job)), job, target);
		}
		for (; q->waiting.first && !h2_sharing_pool_full(t, target); t->waiting--) {
			q->waiting.first->pool_ns = clock_now() - t->setup.zero_ns;
			begin(t, job_list_take(&q->waiting), target);
		}
	}
}

void transport_start(struct transport *t, struct job *job)
{
	size_t target = balance_choose(t->balance, job->session);
	if (t->endpoint->count > 1)
		job->target = (int64_t)target;
	if (!h2_sharing_pool_full(t, target)) {
		begin(t, job, target);
	} else {
		job_list_put(&t->queues[target].waiting, job);
		t->waiting++;
	}
	admit(t);
}

size_t transport_waiting(const struct transport *t)
{
	return t->waiting;
}

/* Discards what arrives on an idle connection: a "408 Request Timeout" before the server closes it, or bytes beyond a
 * response's length. libcurl would treat it as the response to the next request. With TLS it may be a session ticket,
 * with HTTP/2 a frame that belongs to no response; these are left alone. */
static void discard_unsolicited(const struct transport *t, int fd, size_t target)
{
	char said[4096];
	bool plain = !strncmp(t->endpoint->targets[target].url, "http:", 5) && !t->options->network_path->proxy_tls;
	if (!plain || t->options->connections.http != HTTP_1_1 || recv(fd, said, sizeof said, MSG_DONTWAIT) <= 0)
		return;
	shutdown(fd, SHUT_RDWR);
	while (recv(fd, said, sizeof said, MSG_DONTWAIT) > 0)
		; /* so that libcurl's next read finds the end */
}

void transport_event(struct transport *t, int fd, uint32_t events, int64_t t_ns, int64_t own_ns)
{
	struct socket *s = socket_of(t, fd);
	/* closed since the event was reported: its number may now be that of another thread's file */
	if (!s || !s->multi)
		return;
	if (events & EPOLLERR && !(events = timestamps_late(t->setup.timestamps, fd, events)))
		return;
	if (s->idle) {
		/* the server has closed it, or sends unsolicited data: libcurl notices before it uses the connection again */
		discard_unsolicited(t, fd, s->multi->target);
		watch(t, fd, s, 0);
		return;
	}
	int bits = (events & EPOLLIN ? CURL_CSELECT_IN : 0) | (events & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
	           (events & (EPOLLERR | EPOLLHUP) ? CURL_CSELECT_ERR : 0);
	if (s->connecting && !(events & (EPOLLERR | EPOLLHUP))) {
		s->connecting->established = true;
		s->connecting = NULL;
	}
	work(s->multi, fd, bits, t_ns, own_ns);
	admit(t);
}

int64_t transport_deadline(const struct transport *t)
{
	int64_t next_ns = t->soonest;
	for (size_t i = 0; i <= t->options->cancels.count; i++) {
		const struct deadline *first = deadlines_first(t->deadlines, i);
		if (first && first->at_ns < next_ns)
			next_ns = first->at_ns;
	}
	return next_ns;
}

static void end_now(struct transport *t, struct transfer *x, enum record_error as, const char *why, int64_t now)
{
	x->cancelled = why;
	x->cancelled_as = as;
	finish(t, x, CURLE_ABORTED_BY_CALLBACK, now);
}

static void expire_deadlines(struct transport *t, int64_t now)
{
	for (size_t i = 0; i <= t->options->cancels.count; i++)
		for (const struct deadline *deadline; (deadline = deadlines_first(t->deadlines, i)) && deadline->at_ns <= now;
		     deadlines_drop_first(t->deadlines, i)) {
			if (!deadline_over(deadline, i))
				end_now(t, deadline->owner, i ? RECORD_HUNG_UP : RECORD_TIMEOUT,
				        i ? "simulated client disconnect (--cancel)" : t->no_token_text, now);
		}
}

static void expire(struct multi_handle *m, int64_t now)
{
	long ms = -1;
	if (m->deadline > now)
		return;
	m->deadline = INT64_MAX;
	work(m, CURL_SOCKET_TIMEOUT, 0, now, now);
	/* libcurl does not report a timer again that it has reported before */
	if (m->deadline == INT64_MAX && curl_multi_timeout(m->handle, &ms) == CURLM_OK && ms >= 0)
		m->deadline = now + (ms ? ms : 1) * NS_PER_MS;
}

void transport_expire(struct transport *t, int64_t now)
{
	expire_deadlines(t, now);
	if (t->soonest <= now) {
		t->soonest = INT64_MAX;
		for (size_t i = 0; i < t->count; i++) {
			expire(t->multi_handles[i], now);
			if (t->multi_handles[i]->deadline < t->soonest)
				t->soonest = t->multi_handles[i]->deadline;
		}
	}
	admit(t);
}

bool transport_save_memory(struct transport *t, int64_t now)
{
	bool saved = answer_limit_cut_largest(t, now, finish_cut);
	admit(t);
	return saved;
}

void transport_cancel(struct transport *t, int64_t now, const char *why)
{
	for (size_t target = 0; target < t->endpoint->count; target++) {
		struct target_queue *q = &t->queues[target];
		for (; q->waiting.first; t->waiting--) {
			balance_ended(t->balance, target);
			refuse(t, job_list_take(&q->waiting), now, why);
		}
		for (; q->held.first; t->held--, q->held_count--) {
			leave(t, target);
			refuse(t, job_list_take(&q->held), now, why);
		}
	}
	while (t->in_flight)
		end_now(t, t->in_flight, RECORD_CANCELLED, why, now);
}
