#include "transport.h"

#include "clock.h"
#include "exchange.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define CONNECTIONS 256 /* of a multi handle, before another one is made */

/* A socket, by its descriptor. */
struct socket {
	struct multi *multi;
	int64_t id;       /* of the connection; -1: not one of ours */
	uint32_t events;  /* as registered with epoll; 0: not registered */
	bool open, idle;
	bool used;        /* a request has been sent on it */
	struct exchange *connecting; /* whose connection it is to be; NULL */
	int64_t trip_ns;  /* how long it took to connect: a round trip; 0: unknown */
};

/* A multi handle with connections of its own. */
struct multi {
	struct transport *transport;
	CURLM *handle;
	size_t place;      /* of the target: where its connections go */
	int64_t deadline;  /* of libcurl's timer */
	size_t open, busy; /* connections; requests under way */
	bool pinned;       /* it knows the address */
};

struct transport {
	struct exchange_setup setup;
	const struct transport_options *options;
	const struct target *target;
	struct balance *balance;
	int epoll_fd;
	struct multi **multis;
	size_t count;
	struct socket *sockets;
	size_t sockets_count;
	int64_t connections, starved;
	struct exchange *spare;             /* unused, ready */
	size_t spare_count;
	struct exchange *under_way;         /* doubly linked */
	struct job *ended, *ended_last;
};

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
	if (epoll_ctl(t->epoll_fd, !events ? EPOLL_CTL_DEL : s->events ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &e) == 0 || !events)
		s->events = events;
}

static curl_socket_t on_open(void *data, curlsocktype purpose, struct curl_sockaddr *address)
{
	struct exchange *x = data;
	struct multi *m = x->multi;
	(void)purpose;
	/* a second attempt behind our back: the kept connection broke */
	if (x->attempts > 0) {
		exchange_again(x);
		return CURL_SOCKET_BAD;
	}
	if (x->only_kept) {
		x->anew = true;
		return CURL_SOCKET_BAD;
	}
	int fd = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
	struct socket *s = fd < 0 ? NULL : socket_of(m->transport, fd);
	if (!s) {
		exchange_no_socket(x, fd < 0 ? errno : ENOMEM);
		m->transport->starved += fd < 0 && (errno == EMFILE || errno == ENFILE);
		if (fd >= 0)
			close(fd);
		return CURL_SOCKET_BAD;
	}
	*s = (struct socket){.multi = m, .id = m->transport->connections++, .open = true, .connecting = x};
	m->open++;
	if (m->transport->setup.stamps)
		stamps_watch(m->transport->setup.stamps, fd);
	return fd;
}

static int on_close(void *data, curl_socket_t fd)
{
	struct transport *t = data;
	struct socket *s = socket_of(t, fd);
	if (t->setup.stamps)
		stamps_forget(t->setup.stamps, fd);
	if (s && s->open) {
		s->multi->open--;
		*s = (struct socket){.id = -1};
	}
	return close(fd);
}

static void note_connection(struct exchange *x, int fd, struct socket *s)
{
	struct job *job = x->job;
	if (!s || !s->open || job->connection == s->id)
		return;
	job->connection = s->id;
	job->reused = s->used;
	s->used = true;
	x->fd = fd;
	x->trip_ns = s->trip_ns;
}

/* libcurl says what it wants to hear of a socket. Taking it out when a request ends and putting it back with the next one would cost two
 * system calls a request: it stays registered until something happens on it while it is idle. */
static int on_socket(CURL *easy, curl_socket_t fd, int what, void *data, void *unused)
{
	struct multi *m = data;
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
	struct exchange *x = NULL;
	curl_easy_getinfo(easy, CURLINFO_PRIVATE, (char **)&x);
	if (x && x->job)
		note_connection(x, fd, s);
	watch(t, fd, s, (what & CURL_POLL_IN ? EPOLLIN : 0u) | (what & CURL_POLL_OUT ? EPOLLOUT : 0u));
	return 0;
}

static int on_timer(CURLM *handle, long ms, void *data)
{
	struct multi *m = data;
	(void)handle;
	m->deadline = ms < 0 ? INT64_MAX : clock_now() - m->transport->setup.zero_ns + (int64_t)ms * NS_PER_MS;
	return 0;
}

/* ---- multi handles ---- */

static struct multi *multi_new(struct transport *t, size_t place)
{
	struct multi **multis = realloc(t->multis, (t->count + 1) * sizeof(struct multi *));
	if (!multis)
		return NULL;
	t->multis = multis;
	struct multi *m = calloc(1, sizeof *m);
	if (!m)
		return NULL;
	*m = (struct multi){.transport = t, .place = place, .handle = curl_multi_init(), .deadline = INT64_MAX};
	if (!m->handle) {
		free(m);
		return NULL;
	}
	curl_multi_setopt(m->handle, CURLMOPT_SOCKETFUNCTION, on_socket);
	curl_multi_setopt(m->handle, CURLMOPT_SOCKETDATA, m);
	curl_multi_setopt(m->handle, CURLMOPT_TIMERFUNCTION, on_timer);
	curl_multi_setopt(m->handle, CURLMOPT_TIMERDATA, m);
	curl_multi_setopt(m->handle, CURLMOPT_PIPELINING, CURLPIPE_NOTHING);
	curl_multi_setopt(m->handle, CURLMOPT_MAXCONNECTS, 1L << 20);
	return t->multis[t->count++] = m;
}

/* One that has an idle connection; else one with room for another; else a new one. */
static struct multi *choose_multi(struct transport *t, size_t place)
{
	struct multi *room = NULL;
	for (size_t i = 0; i < t->count; i++) {
		struct multi *m = t->multis[i];
		if (m->place != place)
			continue;
		if (m->open > m->busy && !t->options->fresh)
			return m;
		if (!room && m->busy < CONNECTIONS)
			room = m;
	}
	return room ? room : multi_new(t, place);
}

/* ---- opening and closing ---- */

int transport_open(struct transport **transport, const struct target *target, const struct transport_options *options, int epoll_fd,
                   struct ipf_error *err)
{
	struct transport *t = calloc(1, sizeof *t);
	*transport = t;
	if (!t)
		return ipf_error_set(err, IPF_SYSTEM, "out of memory");
	t->balance = balance_new(options->balance, target->count);
	if (!t->balance)
		return ipf_error_set(err, IPF_SYSTEM, "out of memory");
	t->options = options;
	t->target = target;
	t->epoll_fd = epoll_fd;
	t->setup = (struct exchange_setup){.target = target, .options = options, .open_socket = on_open, .close_socket = on_close,
	                                   .close_data = t};
	if (options->kernel_stamps && !(t->setup.stamps = stamps_new()))
		return ipf_error_set(err, IPF_SYSTEM, "out of memory");
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
	for (struct exchange *x = t->spare, *next; x; x = next) {
		next = x->next;
		exchange_free(x);
	}
	for (size_t i = 0; i < t->count; i++) {
		curl_multi_cleanup(t->multis[i]->handle);
		free(t->multis[i]);
	}
	balance_free(t->balance);
	free(t->multis);
	free(t->sockets);
	stamps_free(t->setup.stamps);
	free(t);
}

bool transport_prepare(struct transport *t, size_t spare)
{
	for (int i = 0; i < 4 && t->spare_count < spare; i++) {
		struct exchange *x = exchange_new(&t->setup);
		if (!x)
			return false;
		x->next = t->spare;
		t->spare = x;
		t->spare_count++;
	}
	return t->spare_count < spare;
}

/* ---- requests ---- */

static void put_ended(struct transport *t, struct job *job)
{
	job->next = NULL;
	*(t->ended ? &t->ended_last->next : &t->ended) = job;
	t->ended_last = job;
}

struct job *transport_ended(struct transport *t)
{
	struct job *job = t->ended;
	if (job)
		t->ended = job->next;
	return job;
}

static void refuse(struct transport *t, struct job *job, int64_t now, const char *why)
{
	job->start_ns = job->end_ns = now;
	job->error = RECORD_CANCELLED;
	strncpy(job->error_text, why, sizeof job->error_text - 1);
	put_ended(t, job);
}

/* Takes it off the multi handle and gives the job back. */
static void finish(struct transport *t, struct exchange *x, CURLcode code, int64_t t_ns)
{
	struct job *job = x->job;
	curl_socket_t fd = -1;
	if (job->connection == IPF_ABSENT && !curl_easy_getinfo(x->easy, CURLINFO_ACTIVESOCKET, &fd) && fd >= 0)
		note_connection(x, fd, socket_of(t, fd));
	exchange_end(x, code, t_ns);
	struct socket *s = x->fd < 0 ? NULL : socket_of(t, x->fd);
	if (s && s->open && s->id == job->connection && job->connect_ns != IPF_ABSENT)
		s->trip_ns = job->connect_ns - job->start_ns;
	curl_multi_remove_handle(x->multi->handle, x->easy);
	x->multi->busy--;
	balance_ended(t->balance, x->multi->place);
	*(x->previous ? &x->previous->next : &t->under_way) = x->next;
	if (x->next)
		x->next->previous = x->previous;
	x->next = t->spare;
	t->spare = x;
	t->spare_count++;
	put_ended(t, job);
}

static void look_for_ended(struct transport *t, const struct multi *m)
{
	int left;
	for (CURLMsg *message; (message = curl_multi_info_read(m->handle, &left));) {
		struct exchange *x = NULL;
		if (message->msg != CURLMSG_DONE)
			continue;
		curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&x);
		if (x->anew) {
			curl_multi_remove_handle(m->handle, x->easy);
			exchange_anew(x);
			curl_multi_add_handle(m->handle, x->easy);
			continue;
		}
		finish(t, x, message->data.result, t->setup.t_ns);
	}
}

/* Lets libcurl work, on a socket or its timers; what it hands over meanwhile came at t_ns, where the kernel does not know better. */
static void work(struct multi *m, curl_socket_t fd, int bits, int64_t t_ns, int64_t own_ns)
{
	struct transport *t = m->transport;
	int running;
	t->setup.t_ns = t_ns;
	t->setup.own_ns = own_ns;
	stamps_attach(t->setup.stamps);
	curl_multi_socket_action(m->handle, fd, bits, &running);
	look_for_ended(t, m);
}

void transport_start(struct transport *t, struct job *job, int64_t now)
{
	size_t place = balance_choose(t->balance, job->session);
	struct multi *m = choose_multi(t, place);
	if (t->target->count > 1)
		job->target = (int64_t)place;
	if (m && !t->spare)
		transport_prepare(t, 1);
	struct exchange *x = t->spare;
	if (!m || !x || job->request.failed) {
		refuse(t, job, now, "out of memory");
		balance_ended(t->balance, place);
		return;
	}
	t->spare = x->next;
	t->spare_count--;
	x->multi = m;
	x->previous = NULL;
	x->next = t->under_way;
	if (x->next)
		x->next->previous = x;
	t->under_way = x;
	exchange_begin(x, job, place, !m->pinned, m->open > m->busy);
	m->busy++;
	m->pinned = true;
	job->start_ns = clock_now() - t->setup.zero_ns;
	curl_multi_add_handle(m->handle, x->easy);
	work(m, CURL_SOCKET_TIMEOUT, 0, job->start_ns, job->start_ns);
}

/* Whatever an unused connection says is no answer to a request that comes later: a "408 Request Timeout" before the server closes it, or
 * bytes beyond an answer's length. libcurl would take it for one. (In TLS it may also be a session ticket, in HTTP/2 settings or a ping, and is left alone.) */
static void end_speaker(const struct transport *t, int fd, size_t place)
{
	char said[4096];
	const char *url = t->target->places[place].url;
	if (strncmp(url, "http:", 5) != 0 || target_http_version(t->target, url) != CURL_HTTP_VERSION_1_1 || recv(fd, said, sizeof said, MSG_DONTWAIT) <= 0)
		return;
	shutdown(fd, SHUT_RDWR);
	while (recv(fd, said, sizeof said, MSG_DONTWAIT) > 0)
		; /* so that libcurl reads the end */
}

void transport_event(struct transport *t, int fd, uint32_t events, int64_t t_ns, int64_t own_ns)
{
	struct socket *s = socket_of(t, fd);
	if (!s || !s->multi) {
		epoll_ctl(t->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
		return;
	}
	if (s->idle) {
		/* the server has closed it, or speaks unasked: libcurl sees the end before it uses it again */
		end_speaker(t, fd, s->multi->place);
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
}

int64_t transport_deadline(const struct transport *t)
{
	int64_t deadline = INT64_MAX;
	for (size_t i = 0; i < t->count; i++)
		if (t->multis[i]->deadline < deadline)
			deadline = t->multis[i]->deadline;
	return deadline;
}

void transport_expire(struct transport *t, int64_t now)
{
	for (size_t i = 0; i < t->count; i++) {
		struct multi *m = t->multis[i];
		if (m->deadline > now)
			continue;
		m->deadline = INT64_MAX;
		work(m, CURL_SOCKET_TIMEOUT, 0, now, now);
		/* a timer that it thinks it has told already is not told again */
		long ms = -1;
		if (m->deadline == INT64_MAX && curl_multi_timeout(m->handle, &ms) == CURLM_OK && ms >= 0)
			m->deadline = now + (ms ? ms : 1) * NS_PER_MS;
	}
}

void transport_cancel(struct transport *t, int64_t now, const char *why)
{
	while (t->under_way) {
		struct exchange *x = t->under_way;
		x->cancelled = why;
		finish(t, x, CURLE_ABORTED_BY_CALLBACK, now);
	}
}

struct stamp_counts transport_stamps(const struct transport *t)
{
	return t->setup.stamps ? stamps_counts(t->setup.stamps) : (struct stamp_counts){0};
}

int64_t transport_starved(const struct transport *t)
{
	return t->starved;
}
