#include "http/connection.h"

#include "absent.h"
#include "array.h"
#include "clock.h"
#include "http/connector.h"
#include "http/tunnel.h"
#include "memory.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#define READ_SIZE    ((size_t)64 << 10)
#define READS_MOST   16                 /* at once from a socket: the others have their turn */
#define SYN_AGAIN_NS (NS_PER_S / 2)     /* less than the kernel's first time-out of a SYN */
#define PIECE        ((size_t)64 << 10) /* copied at most before a write */
#define PIECES_MOST  16                 /* pieces at once from a file's body, in the same way */

/* ---- sockets and epoll ---- */

static bool make_room(struct network *n, int fd)
{
	return array_reach(n->by_fd, n->by_fd_count, fd);
}

static uint64_t tag_of(const struct connection *c)
{
	return (uint64_t)c->generation << 32 | (uint32_t)c->fd;
}

struct connection *network_find(const struct network *n, uint64_t tag)
{
	size_t fd = (uint32_t)tag;
	struct connection *c = fd < n->by_fd_count ? n->by_fd[fd] : NULL;
	return c && c->generation == tag >> 32 ? c : NULL;
}

void network_prefetch(const struct network *n, uint64_t tag)
{
	const size_t fd = (uint32_t)tag;
	const struct connection *c = fd < n->by_fd_count ? n->by_fd[fd] : NULL;
	for (size_t at = 0; c && at < offsetof(struct connection, origin); at += 64)
		__builtin_prefetch((const char *)c + at, 1);
}

/* 0, or an errno. */
static int watch(struct connection *c, uint32_t events)
{
	struct epoll_event e = {.events = events, .data.u64 = tag_of(c)};
	if (c->events == events)
		return 0;
	if (epoll_ctl(c->network->o.epoll_fd, c->events ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, c->fd, &e) < 0) {
		memory_note_errno(errno); /* none of the server's failures */
		return errno;
	}
	c->events = events;
	return 0;
}

/* Takes over a socket. 0, or an errno; the socket is then closed. */
static int adopt(struct connection *c, int fd)
{
	struct network *n = c->network;
	int on = 1;
	if (!make_room(n, fd)) {
		close(fd);
		return ENOMEM;
	}
	c->fd = fd;
	c->events = 0;
	n->by_fd[fd] = c;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on); /* has no meaning for a Unix socket */
	timestamps_watch(n->timestamps, &c->times, fd);
	return 0;
}

static void drop_socket(struct connection *c)
{
	if (c->fd < 0)
		return;
	c->network->by_fd[c->fd] = NULL;
	close(c->fd); /* removes it from epoll as well */
	c->fd = -1;
	c->events = 0;
}

/* ---- reading and writing below TLS ---- */

static ssize_t raw_read(void *data, void *to, size_t len)
{
	struct connection *c = data;
	struct network *n = c->network;
	if (c->emptied) {
		errno = EAGAIN;
		return -1;
	}
	ssize_t got = timestamps_recv(n->timestamps, &c->times, c->fd, to, len, &c->at);
	if (got > 0) {
		c->at.t_ns -= n->zero_ns;
		c->at.own_ns -= n->zero_ns;
	}
	/* the end is reported after a short read as well, and then there is more to read */
	c->emptied = got > 0 && (size_t)got < len && !c->finished;
	return got;
}

static ssize_t raw_write(void *data, const void *from, size_t len)
{
	struct connection *c = data;
	struct iovec part = {.iov_base = (void *)(uintptr_t)from, .iov_len = len};
	return timestamps_send(c->network->timestamps, &c->times, c->fd, &part, 1);
}

static ssize_t as_errno(enum tls_result result, size_t bytes)
{
	if (result == TLS_DONE)
		return (ssize_t)bytes;
	if (result == TLS_CLOSED || result == TLS_CUT)
		return 0;
	if (result != TLS_BROKEN)
		errno = result == TLS_FAILED ? EPROTO : EAGAIN;
	return -1;
}

static ssize_t proxy_read(void *data, void *to, size_t len)
{
	struct connection *c = data;
	size_t got = 0;
	enum tls_result result = tls_read(c->proxy_tls, to, len, &got);
	return as_errno(result, got);
}

static ssize_t proxy_write(void *data, const void *from, size_t len)
{
	struct connection *c = data;
	size_t put = 0;
	enum tls_result result = tls_write(c->proxy_tls, from, len, &put);
	return as_errno(result, put);
}

static const struct tls_io raw_io = {raw_read, raw_write}, proxy_io = {proxy_read, proxy_write};

/* The current TLS: the server's, or the proxy's; NULL: none. */
static struct tls *outer_tls(const struct connection *c)
{
	return c->tls && c->step >= STEP_TLS ? c->tls : c->proxy_tls;
}

static enum tls_result layer_read(struct connection *c, char *to, size_t len, size_t *got)
{
	struct tls *tls = outer_tls(c);
	if (tls)
		return tls_read(tls, to, len, got);
	ssize_t n = raw_read(c, to, len);
	*got = n > 0 ? (size_t)n : 0;
	if (n > 0)
		return TLS_DONE;
	if (n == 0)
		return TLS_CLOSED;
	return errno == EAGAIN || errno == EINTR ? TLS_WANT_READ : TLS_BROKEN;
}

/* ---- the end ---- */

void connection_close(struct connection *c, bool politely)
{
	struct network *n = c->network;
	if (c->step == STEP_CLOSED)
		return;
	if (politely && c->step == STEP_OPEN && outer_tls(c))
		tls_bye(outer_tls(c));
	if (c->step == STEP_CONNECT && c->origin->by_libcurl)
		connector_forget(n->connector, c);
	tls_free(c->tls);
	tls_free(c->proxy_tls);
	drop_socket(c);
	buffer_release(&c->out);
	http1_release(&c->reader);
	c->step = STEP_CLOSED;
	c->next = n->closed;
	n->closed = c;
}

static void fail(struct connection *c, enum record_error kind, const char *why)
{
	char text[256];
	snprintf(text, sizeof text, "%s", why); /* it may be about to be freed */
	c->network->o.owner->failed(c, kind, text);
	connection_close(c, false);
}

static void fail_tls(struct connection *c, enum tls_result result, bool to_proxy)
{
	char why[160], text[240];
	int broken = errno;
	if (result == TLS_FAILED)
		tls_why(outer_tls(c), why, sizeof why);
	else
		snprintf(why, sizeof why, "%s", result == TLS_BROKEN ? strerror(broken) : "the connection was closed");
	snprintf(text, sizeof text, "TLS handshake%s: %s", to_proxy ? " with the proxy" : "", why);
	fail(c, to_proxy ? RECORD_CONNECT : RECORD_TLS, text);
}

static void end(struct connection *c, enum tls_result result)
{
	char why[160] = "the server closed the connection";
	enum connection_end how = CONNECTION_FINISHED;
	if (result == TLS_BROKEN || (result != TLS_FAILED && c->broken)) {
		how = CONNECTION_BROKEN;
		snprintf(why, sizeof why, "%s", strerror(c->broken ? c->broken : errno));
	} else if (result == TLS_CUT) {
		how = CONNECTION_CUT;
		snprintf(why, sizeof why, "the connection was closed without TLS's close_notify");
	} else if (result == TLS_FAILED) {
		how = CONNECTION_TLS;
		tls_why(outer_tls(c), why, sizeof why);
	}
	c->network->o.owner->ended(c, how, why);
	connection_close(c, true);
}

enum record_error connection_late(const struct connection *c)
{
	return c->step == STEP_TLS ? RECORD_TLS : RECORD_CONNECT;
}

/* ---- writing ---- */

bool connection_is_drained(const struct connection *c)
{
	return c->out_done == c->out.len && !unsent_len(&c->body);
}

/* Later reads return the bytes sent before the close, and then the close. Where it has not closed, as with ENOBUFS or
 * with EPERM of a packet filter, the server would wait for the rest, and we for the server: they end, too.
 */
static void write_failed(struct connection *c, int why)
{
	c->broken = why;
	if (why != EPIPE && why != ECONNRESET)
		shutdown(c->fd, SHUT_RDWR);
	buffer_clear(&c->out);
	c->out_done = 0;
	c->body = (struct unsent){0};
}

/* Drops the written part of the waiting bytes. */
static void written(struct connection *c, size_t bytes)
{
	size_t waiting = c->out.len - c->out_done, first = bytes < waiting ? bytes : waiting;
	c->out_done += first;
	if (c->out_done == c->out.len) {
		buffer_release(&c->out);
		c->out_done = 0;
	}
	if (bytes > first)
		unsent_advance(&c->body, bytes - first);
}

/* Copies the waiting bytes and those after them, as far as there is room. */
static ssize_t take_piece(const struct connection *c, char *piece, size_t size)
{
	size_t waiting = c->out.len - c->out_done, head = waiting < size ? waiting : size;
	if (head)
		memcpy(piece, c->out.data + c->out_done, head);
	ssize_t body = unsent_read(&c->body, piece + head, size - head);
	return body < 0 ? -1 : (ssize_t)head + body;
}

/* Through TLS: a call takes as much as it can of both, so they leave together. */
static ssize_t write_tls(struct connection *c, struct tls *tls)
{
	char piece[PIECE];
	size_t put = 0;
	ssize_t len = take_piece(c, piece, sizeof piece);
	if (len < 0)
		return -1;
	enum tls_result result = tls_write(tls, piece, (size_t)len, &put);
	if (result == TLS_CLOSED || result == TLS_CUT || result == TLS_FAILED) {
		errno = EPIPE;
		return -1;
	}
	return as_errno(result, put);
}

/* A body read from a file. */
static ssize_t write_piece(struct connection *c)
{
	char piece[PIECE];
	ssize_t len = take_piece(c, piece, sizeof piece);
	struct iovec part = {piece, (size_t)len};
	return len < 0 ? -1 : timestamps_send(c->network->timestamps, &c->times, c->fd, &part, 1);
}

static ssize_t write_raw(struct connection *c)
{
	struct iovec parts[2];
	size_t count = 0;
	if (c->body.mixed)
		return write_piece(c);
	if (c->out.len > c->out_done)
		parts[count++] = (struct iovec){c->out.data + c->out_done, c->out.len - c->out_done};
	if (c->body.text.len)
		parts[count++] = (struct iovec){(void *)(uintptr_t)c->body.text.data, c->body.text.len};
	return timestamps_send(c->network->timestamps, &c->times, c->fd, parts, count);
}

/* Writes the waiting bytes, as far as the socket takes them; of a file only a part, to give the others their turn. */
static void flush(struct connection *c)
{
	struct tls *tls = outer_tls(c);
	for (size_t i = 0; !connection_is_drained(c) && !c->broken && !(c->body.mixed && i == PIECES_MOST); i++) {
		ssize_t n = tls ? write_tls(c, tls) : write_raw(c);
		if (n > 0)
			written(c, (size_t)n);
		else if (n < 0 && errno == EINTR)
			continue;
		else if (n < 0 && errno == EAGAIN)
			break;
		else if (n < 0)
			write_failed(c, errno);
	}
	watch(c, EPOLLIN | (connection_is_drained(c) ? 0u : EPOLLOUT));
}

bool connection_write(struct connection *c, const char *head, size_t len, struct unsent body)
{
	if (c->broken || c->step == STEP_CLOSED)
		return false;
	if (connection_is_drained(c) && !outer_tls(c) && !body.mixed) {
		/* nearly always the socket takes both at once */
		struct iovec parts[2] = {{(void *)(uintptr_t)head, len}, {(void *)(uintptr_t)body.text.data, body.text.len}};
		ssize_t n = timestamps_send(c->network->timestamps, &c->times, c->fd, parts, body.text.len ? 2 : 1);
		if (n < 0 && errno != EAGAIN && errno != EINTR) {
			write_failed(c, errno);
			return false;
		}
		size_t put = n > 0 ? (size_t)n : 0, first = put < len ? put : len;
		if (put == len + body.text.len)
			return true;
		head += first;
		len -= first;
		if (put > first)
			unsent_advance(&body, put - first);
	}
	buffer_append(&c->out, head, len);
	c->body = body;
	if (c->out.failed)
		write_failed(c, ENOMEM);
	flush(c);
	return connection_is_drained(c) && !c->broken;
}

/* ---- reading ---- */

static void read_input(struct connection *c)
{
	struct network *n = c->network;
	for (int reads = 0; c->step == STEP_OPEN; reads++) {
		size_t got = 0;
		enum tls_result result = layer_read(c, n->buffer, READ_SIZE, &got);
		if (result == TLS_WANT_READ || result == TLS_WANT_WRITE)
			return;
		if (result != TLS_DONE) {
			end(c, result);
			return;
		}
		n->o.owner->input(c, n->buffer, got);
		if (c->step != STEP_OPEN)
			return;
		/* the socket does not report bytes already decrypted by TLS again */
		struct tls *tls = outer_tls(c);
		bool more = tls && tls_has_more(tls);
		if (!more && (c->emptied || reads >= READS_MOST))
			return;
		if (reads >= READS_MOST)
			c->emptied = true;
	}
}

/* ---- the steps to an open connection ---- */

static void advance(struct connection *c);

static int begin_tls(struct connection *c, bool to_proxy)
{
	struct network *n = c->network;
	const struct origin *o = c->origin;
	if (to_proxy)
		return tls_open(&c->proxy_tls, n->proxy_tls, n->o.path->proxy_host, 0, &raw_io, c);
	return tls_open(&c->tls, n->tls, o->host, c->target, c->proxy_tls ? &proxy_io : &raw_io, c);
}

static void next_step(struct connection *c)
{
	const struct origin *o = c->origin;
	bool proxy = o->route != ROUTE_DIRECT;
	if (c->step < STEP_PROXY_TLS && proxy && c->network->o.path->proxy_tls)
		c->step = STEP_PROXY_TLS;
	else if (c->step < STEP_TUNNEL && o->route == ROUTE_TUNNEL)
		c->step = STEP_TUNNEL;
	else if (c->step < STEP_TLS && o->tls)
		c->step = STEP_TLS;
	else
		c->step = STEP_OPEN;
}

/* Does the current step, as far as it goes without waiting. */
static void begin_step(struct connection *c)
{
	next_step(c);
	if ((c->step == STEP_PROXY_TLS || c->step == STEP_TLS) && begin_tls(c, c->step == STEP_PROXY_TLS) < 0) {
		fail(c, RECORD_CANCELLED, "out of memory");
		return;
	}
	if (c->step == STEP_TUNNEL) {
		struct buffer request = {0};
		tunnel_request(&request, c->origin);
		http1_begin(&c->reader, true);
		connection_write(c, request.data ? request.data : "", request.len, (struct unsent){0});
		buffer_release(&request);
	}
	if (c->step == STEP_OPEN)
		c->network->o.owner->opened(c);
	else
		advance(c);
}

static void handshake(struct connection *c)
{
	bool to_proxy = c->step == STEP_PROXY_TLS;
	enum tls_result result = tls_handshake(to_proxy ? c->proxy_tls : c->tls);
	if (result == TLS_WANT_READ || result == TLS_WANT_WRITE) {
		watch(c, EPOLLIN | (result == TLS_WANT_WRITE ? EPOLLOUT : 0u));
	} else if (result != TLS_DONE) {
		fail_tls(c, result, to_proxy);
	} else {
		watch(c, EPOLLIN);
		if (!to_proxy)
			c->tls_ns = network_now(c->network);
		begin_step(c);
	}
}

static void ask_proxy(struct connection *c)
{
	char bytes[1024], why[200];
	size_t got = 0;
	if (!connection_is_drained(c))
		flush(c);
	for (;;) {
		/* no byte beyond the answer: the next ones are the server's */
		enum tls_result result = layer_read(c, bytes, 1, &got);
		if (result == TLS_WANT_READ || result == TLS_WANT_WRITE)
			return;
		if (result != TLS_DONE || c->broken) {
			fail(c, RECORD_CONNECT, "the proxy closed the connection");
			return;
		}
		int done = tunnel_answer(&c->reader, bytes, got, why, sizeof why);
		if (done < 0) {
			fail(c, RECORD_CONNECT, why);
			return;
		}
		if (done)
			break;
	}
	http1_release(&c->reader);
	begin_step(c);
}

static void advance(struct connection *c)
{
	if (c->step == STEP_PROXY_TLS || c->step == STEP_TLS)
		handshake(c);
	else if (c->step == STEP_TUNNEL)
		ask_proxy(c);
}

/* Only a connection taking long can be one, and is asked about it: the first SYN is sent again after a second. */
static void note_syn_retransmit(const struct connection *c)
{
	struct tcp_info info;
	socklen_t len = sizeof info;
	if (c->connect_ns - c->begin_ns >= SYN_AGAIN_NS && getsockopt(c->fd, IPPROTO_TCP, TCP_INFO, &info, &len) == 0 &&
	    len >= offsetof(struct tcp_info, tcpi_total_retrans) + sizeof info.tcpi_total_retrans)
		counter_count(&c->network->o.stats->syn_retransmits, info.tcpi_total_retrans > 0);
}

static void connected(struct connection *c)
{
	c->connect_ns = network_now(c->network);
	note_syn_retransmit(c);
	timestamps_watch_sends(&c->times, c->fd);
	int why = watch(c, EPOLLIN);
	if (why)
		fail(c, RECORD_CONNECT, strerror(why));
	else
		begin_step(c);
}

/* Is the connection established? A kernel that connects at once, as over loopback, need not be waited for. */
static bool is_connected(int fd)
{
	struct sockaddr_storage peer;
	socklen_t len = sizeof peer;
	return getpeername(fd, (struct sockaddr *)&peer, &len) == 0;
}

/* Begins to connect to c->address. 0, or an errno. */
static int connect_to(struct connection *c)
{
	struct network *n = c->network;
	const struct addrinfo *a = c->address;
	int fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0) {
		counter_count(&n->o.stats->starved, errno == EMFILE || errno == ENFILE);
		return errno;
	}
	int why = network_path_bind(n->o.path, n->sources++, fd, a->ai_family);
	if (why) {
		close(fd);
		return why;
	}
	if ((why = adopt(c, fd)) != 0)
		return why;
	if (connect(fd, a->ai_addr, a->ai_addrlen) < 0 && errno != EINPROGRESS)
		return errno;
	return 0;
}

/* Tries the remaining addresses. */
static void try_addresses(struct connection *c, int why)
{
	char text[128];
	for (; c->address; c->address = c->address->ai_next) {
		drop_socket(c);
		if ((why = connect_to(c)) != 0) {
			memory_note_errno(why);
			continue;
		}
		if (is_connected(c->fd)) {
			connected(c);
			return;
		}
		if ((why = watch(c, EPOLLOUT)) == 0)
			return;
	}
	snprintf(text, sizeof text, "%s: %s", c->fd < 0 ? "cannot open a socket" : "cannot connect", strerror(why));
	fail(c, RECORD_CONNECT, text);
}

static void on_connect_event(struct connection *c)
{
	int why = 0;
	socklen_t len = sizeof why;
	if (getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &why, &len) < 0)
		why = errno;
	if (!why && is_connected(c->fd)) {
		connected(c);
	} else if (why) {
		c->address = c->address->ai_next;
		try_addresses(c, why);
	}
}

/* libcurl has connected, or has not. */
static void on_connector(struct connection *c, int fd, const struct connector_times *times, const char *why)
{
	if (fd < 0) {
		fail(c, RECORD_CONNECT, why);
		return;
	}
	int failed = adopt(c, fd);
	if (failed) {
		fail(c, RECORD_CONNECT, strerror(failed));
		return;
	}
	if (c->network->o.path->o.dns_each)
		c->dns_ns = c->begin_ns + times->dns_ns;
	connected(c);
}

static void begin_connecting(struct connection *c)
{
	struct network *n = c->network;
	if (!c->origin->by_libcurl) {
		c->address = c->origin->addresses;
		try_addresses(c, EADDRNOTAVAIL);
		return;
	}
	if (!n->connector)
		n->connector = connector_new(n, on_connector);
	if (!n->connector || connector_begin(n->connector, c, c->origin) < 0)
		fail(c, RECORD_CANCELLED, "out of memory");
}

struct connection *connection_open(struct network *n, const struct origin *origin, size_t target,
                                   void (*prepare)(struct connection *c, void *data), void *data)
{
	struct connection *c = n->spare;
	if (c)
		n->spare = c->next;
	else if (!(c = calloc(1, sizeof *c)))
		return NULL;
	*c = (struct connection){.network = n,
	                         .origin = origin,
	                         .target = target,
	                         .fd = -1,
	                         .generation = c->generation % (UINT32_MAX - 1) + 1,
	                         .step = STEP_CONNECT,
	                         .id = atomic_fetch_add(n->o.numbers, 1),
	                         .begin_ns = network_now(n),
	                         .dns_ns = IPF_ABSENT,
	                         .connect_ns = IPF_ABSENT,
	                         .tls_ns = IPF_ABSENT,
	                         .keep_alive = KEEP_ALIVE_UNKNOWN};
	prepare(c, data);
	begin_connecting(c);
	return c;
}

void connection_event(struct connection *c, uint32_t events, int64_t t_ns)
{
	c->network->event_ns = t_ns;
	c->emptied = false;
	c->finished = events & (EPOLLHUP | EPOLLERR);
	if (c->step == STEP_CONNECT) {
		on_connect_event(c);
		return;
	}
	if (events & EPOLLERR)
		timestamps_late(c->network->timestamps, &c->times, c->fd);
	if (c->step != STEP_OPEN) {
		advance(c);
		/* the last read of a handshake may have brought more, which the socket does not report again */
		if (c->step == STEP_OPEN && outer_tls(c))
			read_input(c);
		return;
	}
	if (events & EPOLLOUT && !connection_is_drained(c)) {
		flush(c);
		if (connection_is_drained(c) && !c->broken)
			c->network->o.owner->drained(c);
	}
	if (c->step == STEP_OPEN && (events & ~(uint32_t)EPOLLOUT || c->broken))
		read_input(c);
}

/* ---- shared parts ---- */

bool network_event(struct network *n, uint64_t tag, uint32_t events)
{
	return n->connector && connector_event(n->connector, tag, events);
}

int64_t network_deadline(const struct network *n)
{
	return n->connector ? connector_deadline(n->connector) : INT64_MAX;
}

void network_expire(struct network *n, int64_t now_ns)
{
	if (n->connector && connector_deadline(n->connector) <= now_ns)
		connector_expire(n->connector);
}

void network_reap(struct network *n)
{
	while (n->closed) {
		struct connection *c = n->closed;
		n->closed = c->next;
		c->next = n->spare;
		n->spare = c;
	}
}

int network_open(struct network *n, const struct network_options *options, const struct origin *origins,
                 struct ipf_error *err)
{
	const struct network_path_options *p = &options->path->o;
	struct tls_options tls = {.insecure = p->insecure,
	                          .cacert = p->cacert,
	                          .cert = p->cert,
	                          .key = p->key,
	                          .h2 = options->h2,
	                          .only_h2 = options->only_h2,
	                          .no_resumption = options->no_resumption,
	                          .keys = options->origins};
	bool any = false;
	*n = (struct network){.o = *options};
	for (size_t i = 0; i < options->origins; i++)
		any |= origins[i].tls;
	if (any && tls_context_open(&n->tls, &tls, err) < 0)
		return -1;
	tls = (struct tls_options){.insecure = p->insecure, .cacert = p->cacert, .keys = 1};
	if (options->path->proxy_tls && tls_context_open(&n->proxy_tls, &tls, err) < 0)
		return -1;
	n->timestamps = timestamps_new(options->stats, options->kernel_timestamps);
	n->buffer = malloc(READ_SIZE);
	return n->timestamps && n->buffer ? 0 : ipf_error_memory(err);
}

void network_close(struct network *n)
{
	network_reap(n);
	for (struct connection *c = n->spare, *next; c; c = next) {
		next = c->next;
		free(c);
	}
	connector_free(n->connector);
	tls_context_free(n->tls);
	tls_context_free(n->proxy_tls);
	timestamps_free(n->timestamps);
	free(n->by_fd);
	free(n->buffer);
}
