/* The cost of a client doing nothing but HTTP: one thread, epoll, a state machine counting the chunks of an answer. The
 * baseline of fire.sh and lag.sh, against the raw server.
 *
 *     bareclient --port 8000 -c 64 --for 3s                 # closed loop: 64 connections, one request after another on
 * each bareclient --port 8000 --rate 1k --for 10s            # open loop, Poisson: connections are opened as they are
 * needed
 *
 * Prints one line of JSON. lag_us: how late requests started (open loop); delay_us: from an event's sent_ns, which the
 * raw server puts into it, to our clock when its bytes had been read. Events coming in one read share the time. wire_us
 * (--wire): from a request's start to the kernel's timestamp of its packet, with --tls to the return of its call; in a
 * closed loop the first request of each connection starts at the same instant, at which the connections are opened, or
 * with --ahead are open. */
#include "clock.h"
#include "stats/histogram.h"
#include "cli/options.h"
#include "stats/rng.h"
#include "rawtls.h"

#include <errno.h>
#include <linux/errqueue.h>
#include <linux/net_tstamp.h>
#include <math.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define EVENTS    256
#define READ_ROOM (64 * 1024)
#define SENT      "\"sent_ns\":\"" /* and 19 digits */

enum state { HEAD, SIZE, DATA, DATA_END, LAST }; /* LAST: after the chunk of size 0 */

struct conn {
	int fd;
	struct ssl_st *tls; /* NULL: plain */
	bool connecting;
	bool unsent; /* its request waits for the handshake */
	enum state state;
	int matched;       /* bytes of the head's end seen so far */
	size_t size;       /* the rest of the chunk; while it is read: so far */
	int64_t start_ns;  /* the request's */
	struct conn *next; /* idle, or waiting to connect */
};

struct options {
	struct common_options common;
	int64_t port, connections, requests, for_ns;
	double rate;
	const char *path;
	bool wire, ahead, tls;
};

struct client {
	const struct options *options;
	int epoll_fd, timer_fd;
	struct ssl_ctx_st *tls; /* NULL: plain */
	struct conn *idle;
	int64_t opening; /* ahead, and not open yet */
	char *request;
	size_t request_len;
	int64_t wanted, started, done, failed, connections, reads, chunks, bytes;
	int64_t begin_ns, end_ns; /* end: nothing starts after it */
	int64_t due_ns;           /* the next request's; INT64_MAX: closed loop, or none */
	ptrdiff_t sent_at;        /* where sent_ns stands in a chunk; -1: not known */
	struct rng gaps;
	struct histogram *lag, *delay, *wire;
	struct ipf_error *err;
	char input[READ_ROOM];
};

static void conn_start(struct client *c, struct conn *k);

/* ---- answers ---- */

/* A chunk of which nothing was cut off: how long was it under way? */
static void note_delay(struct client *c, const char *data, size_t len, int64_t wall_ns)
{
	if (c->sent_at < 0) {
		const char *found = memmem(data, len, SENT, sizeof SENT - 1);
		if (!found)
			return;
		c->sent_at = found - data;
	}
	const char *digit = data + c->sent_at + sizeof SENT - 1;
	if ((size_t)c->sent_at + sizeof SENT + 19 > len || memcmp(data + c->sent_at, SENT, sizeof SENT - 1) != 0)
		return;
	int64_t sent_ns = 0;
	for (int i = 0; i < 19; i++)
		sent_ns = sent_ns * 10 + (digit[i] - '0');
	histogram_add(c->delay, wall_ns - sent_ns, 1);
}

/* The head's end is an empty line. */
static const char *skip_head(struct conn *k, const char *at, const char *end)
{
	static const char mark[] = "\r\n\r\n";
	while (at < end && k->matched < 4) {
		k->matched = *at == mark[k->matched] ? k->matched + 1 : *at == '\r';
		at++;
	}
	if (k->matched == 4) {
		k->state = SIZE;
		k->size = 0;
	}
	return at;
}

static const char *read_size(struct conn *k, const char *at, const char *end)
{
	for (; at < end; at++) {
		if (*at == '\n') {
			k->state = k->size ? DATA : LAST;
			k->matched = 0;
			return at + 1;
		}
		if (*at != '\r')
			k->size = k->size * 16 + (size_t)(*at <= '9' ? *at - '0' : (*at | 32) - 'a' + 10);
	}
	return at;
}

/* True: the answer is complete. */
static bool parse(struct client *c, struct conn *k, const char *at, size_t len, int64_t wall_ns)
{
	const char *end = at + len;
	bool whole = false; /* the chunk began in these bytes */
	while (at < end)
		switch (k->state) {
		case HEAD:
			at = skip_head(k, at, end);
			break;
		case SIZE:
			at = read_size(k, at, end);
			whole = true;
			break;
		case DATA: {
			size_t n = (size_t)(end - at) < k->size ? (size_t)(end - at) : k->size;
			if (whole && n == k->size)
				note_delay(c, at, n, wall_ns);
			k->size -= n;
			at += n;
			whole = false;
			if (!k->size) {
				k->state = DATA_END;
				c->chunks++;
			}
			break;
		}
		case DATA_END:
			if (*at++ == '\n')
				k->state = SIZE;
			break;
		case LAST:
			if (*at++ == '\n')
				return true;
			break;
		}
	return false;
}

/* ---- connections ---- */

static void conn_failed(struct client *c, struct conn *k, const char *what)
{
	if (!c->failed++)
		ipf_error_errno(c->err, errno, NULL, "%s", what);
	rawtls_end(k->tls);
	close(k->fd);
	free(k);
	c->done++;
}

static struct conn *conn_open(struct client *c)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
	                              .sin_port = htons((uint16_t)c->options->port),
	                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct conn *k = calloc(1, sizeof *k);
	struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.ptr = k};
	int on = 1, stamps = SOF_TIMESTAMPING_TX_SOFTWARE | SOF_TIMESTAMPING_SOFTWARE | SOF_TIMESTAMPING_OPT_TSONLY;
	if (!k || (k->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) < 0) {
		ipf_error_errno(c->err, errno, NULL, "socket");
		c->failed++;
		c->done++;
		free(k);
		return NULL;
	}
	k->connecting = true;
	k->start_ns = c->begin_ns;
	setsockopt(k->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	if (c->options->wire)
		setsockopt(k->fd, SOL_SOCKET, SO_TIMESTAMPING, &stamps, sizeof stamps);
	epoll_ctl(c->epoll_fd, EPOLL_CTL_ADD, k->fd, &event);
	c->connections++;
	if (connect(k->fd, (struct sockaddr *)&address, sizeof address) < 0 && errno != EINPROGRESS) {
		conn_failed(c, k, "connect");
		return NULL;
	}
	if (c->tls && !(k->tls = rawtls_connect(c->tls, k->fd))) {
		errno = ENOMEM;
		conn_failed(c, k, "TLS");
		return NULL;
	}
	return k;
}

/* Over loopback the timestamp is there once the call has returned. */
static void note_wire(struct client *c, const struct conn *k)
{
	char control[256];
	struct msghdr m = {.msg_control = control, .msg_controllen = sizeof control};
	if (recvmsg(k->fd, &m, MSG_ERRQUEUE) < 0)
		return;
	int64_t before = clock_now(), wall = clock_wall(), offset = wall - before - (clock_now() - before) / 2;
	for (struct cmsghdr *h = CMSG_FIRSTHDR(&m); h; h = CMSG_NXTHDR(&m, h)) {
		struct scm_timestamping t;
		if (h->cmsg_level != SOL_SOCKET || h->cmsg_type != SCM_TIMESTAMPING)
			continue;
		memcpy(&t, CMSG_DATA(h), sizeof t);
		histogram_add(c->wire, t.ts[0].tv_sec * NS_PER_S + t.ts[0].tv_nsec - offset - k->start_ns, 1);
	}
}

/* Within TLS the handshake is done by the first of these calls, as far as the socket lets them. */
static void conn_send(struct client *c, struct conn *k)
{
	k->state = HEAD;
	k->matched = 0;
	ssize_t sent = k->tls ? rawtls_send(k->tls, c->request, c->request_len)
	                      : send(k->fd, c->request, c->request_len, MSG_NOSIGNAL);
	k->unsent = k->tls && sent < 0 && errno == EAGAIN;
	if (k->unsent)
		return;
	if (sent != (ssize_t)c->request_len)
		conn_failed(c, k, "send");
	else if (c->options->wire && k->tls)
		histogram_add(c->wire, clock_now() - k->start_ns, 1);
	else if (c->options->wire)
		note_wire(c, k);
}

static void conn_start(struct client *c, struct conn *k)
{
	c->started++;
	if (c->options->wire)
		k->start_ns = clock_now();
	if (!k->connecting)
		conn_send(c, k);
}

static void answered(struct client *c, struct conn *k)
{
	c->done++;
	if (clock_now() >= c->end_ns)
		c->wanted = c->started;
	if (c->due_ns == INT64_MAX && c->started < c->wanted) {
		conn_start(c, k);
	} else {
		k->next = c->idle;
		c->idle = k;
	}
}

static void on_event(struct client *c, const struct epoll_event *event)
{
	struct conn *k = event->data.ptr;
	if (k->connecting) {
		int error = 0;
		socklen_t len = sizeof error;
		if (!(event->events & (EPOLLOUT | EPOLLERR | EPOLLHUP)))
			return;
		getsockopt(k->fd, SOL_SOCKET, SO_ERROR, &error, &len);
		k->connecting = false;
		errno = error;
		if (error) {
			conn_failed(c, k, "connect");
		} else if (c->opening) {
			c->opening--;
			k->next = c->idle;
			c->idle = k;
		} else {
			conn_send(c, k);
		}
		return;
	}
	if (k->unsent) {
		conn_send(c, k);
		return; /* the answer is another event */
	}
	if (!(event->events & ~(uint32_t)EPOLLOUT))
		return;
	for (;;) {
		ssize_t n = k->tls ? rawtls_recv(k->tls, c->input, sizeof c->input) : recv(k->fd, c->input, sizeof c->input, 0);
		if (n < 0 && errno == EAGAIN)
			return;
		if (n <= 0) {
			conn_failed(c, k, "recv");
			return;
		}
		c->reads++;
		c->bytes += n;
		if (parse(c, k, c->input, (size_t)n, clock_wall())) {
			answered(c, k);
			return;
		}
		if (n < (ssize_t)sizeof c->input && !k->tls)
			return;
	}
}

/* ---- the loop ---- */

/* Starts due requests. */
static void start_due(struct client *c)
{
	int64_t now;
	while (c->due_ns <= (now = clock_now())) {
		histogram_add(c->lag, now - c->due_ns, 1);
		struct conn *k = c->idle;
		if (k)
			c->idle = k->next;
		else
			k = conn_open(c);
		if (k)
			conn_start(c, k);
		else
			c->started++;
		c->due_ns += (int64_t)llround(rng_exponential(&c->gaps) * 1e9 / c->options->rate);
		if (c->due_ns >= c->end_ns)
			c->wanted = c->started;
		if (c->started == c->wanted)
			c->due_ns = INT64_MAX;
	}
}

/* Opens the connections of a closed loop; then its first requests start. */
static void open_ahead(struct client *c)
{
	struct epoll_event events[EVENTS];
	c->opening = c->options->connections;
	for (int64_t i = 0; i < c->options->connections && !c->failed; i++)
		conn_open(c);
	while (c->opening && !c->failed)
		for (int i = 0, n = epoll_wait(c->epoll_fd, events, EVENTS, -1); i < n; i++)
			if (events[i].data.ptr)
				on_event(c, &events[i]);
	c->begin_ns = clock_now();
	while (c->idle && c->started < c->wanted) {
		struct conn *k = c->idle;
		c->idle = k->next;
		c->started++;
		k->start_ns = c->begin_ns;
		conn_send(c, k);
	}
}

static void run(struct client *c)
{
	struct epoll_event events[EVENTS];
	int64_t set = INT64_MAX;
	if (c->options->ahead)
		open_ahead(c);
	else if (c->due_ns == INT64_MAX)
		for (int64_t i = 0; i < c->options->connections && c->started < c->wanted; i++) {
			struct conn *k = conn_open(c);
			c->started++;
			if (!k)
				break;
		}
	while (c->done < c->wanted) {
		if (c->due_ns != set && c->due_ns != INT64_MAX) {
			struct itimerspec when = {.it_value = {.tv_sec = c->due_ns / NS_PER_S, .tv_nsec = c->due_ns % NS_PER_S}};
			timerfd_settime(c->timer_fd, TFD_TIMER_ABSTIME, &when, NULL);
			set = c->due_ns;
		}
		int n = epoll_wait(c->epoll_fd, events, EVENTS, -1);
		start_due(c);
		for (int i = 0; i < n; i++) {
			if (!events[i].data.ptr)
				continue; /* the timer */
			on_event(c, &events[i]);
			if (c->due_ns != INT64_MAX)
				start_due(c);
		}
	}
}

static void print_times(const char *name, const struct histogram *h)
{
	if (histogram_count(h))
		printf(",\"%s\":{\"p50\":%.1f,\"p99\":%.1f,\"p99.9\":%.1f,\"max\":%.1f,\"mean\":%.1f}", name,
		       histogram_percentile(h, 50) / 1e3, histogram_percentile(h, 99) / 1e3,
		       histogram_percentile(h, 99.9) / 1e3, (double)histogram_max(h) / 1e3, histogram_mean(h) / 1e3);
}

static void print_run(const struct client *c)
{
	struct rusage used;
	double seconds = (double)(clock_now() - c->begin_ns) / 1e9;
	double answers = (double)(c->done - c->failed);
	double events = (double)c->chunks - answers; /* the last chunk of each answer holds none */
	getrusage(RUSAGE_SELF, &used);
	double cpu = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
	             (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
	printf(
		"{\"requests\":%lld,\"failed\":%lld,\"connections\":%lld,\"events\":%.0f,\"reads\":%lld,\"bytes\":%lld,\"seconds\":%.4f,\"requests_s\":%.1f,"
		"\"events_s\":%.1f,\"cpu_s\":%.4f,\"cpu_us_request\":%.3f,\"cpu_us_event\":%.3f,\"rss_kib\":%ld",
		(long long)c->done, (long long)c->failed, (long long)c->connections, events, (long long)c->reads,
		(long long)c->bytes, seconds, answers / seconds, events / seconds, cpu, cpu / answers * 1e6, cpu / events * 1e6,
		used.ru_maxrss);
	print_times("lag_us", c->lag);
	print_times("delay_us", c->delay);
	print_times("wire_us", c->wire);
	puts("}");
}

#define ROW(kind_, letter_, name_, argument_, member_, help_)                                                          \
	OPTION(kind_, letter_, name_, argument_, struct options, member_, help_)

static const struct option_spec specs[] = {
	ROW(OPTION_COUNT, 'p', "port", "PORT", port, "where the server listens on 127.0.0.1"),
	ROW(OPTION_COUNT, 'c', "connections", "N", connections, "closed loop: how many at once (default: 1)"),
	ROW(OPTION_COUNT, 'n', "requests", "N", requests, "how many in all (default: as many as there is time for)"),
	ROW(OPTION_RATE, 0, "rate", "RATE", rate, "open loop: Poisson arrivals, so many a second"),
	ROW(OPTION_DURATION, 0, "for", "TIME", for_ns, "start requests for so long (default: 10s)"),
	ROW(OPTION_TEXT, 0, "path", "PATH", path, "what to POST to (default: /v1/chat/completions)"),
	ROW(OPTION_FLAG, 0, "wire", NULL, wire, "from a request's start to the kernel's timestamp of its packet"),
	ROW(OPTION_FLAG, 0, "ahead", NULL, ahead, "closed loop: open the connections before the first request"),
	ROW(OPTION_FLAG, 0, "tls", NULL, tls, "over TLS, with a handshake in full for each connection"),
	OPTION(OPTION_SEED, 0, "seed", "N", struct options, common, "seed of the arrivals (default: 1)"),
	{.kind = OPTION_HELP, .letter = 'h', .name = "help", .help = "show this help"},
};

static const struct program program = {
	.name = "bareclient",
	.summary = "a client that does nothing but HTTP, to measure others against",
	.manual = "tests/bench/README.md",
	.specs = specs,
	.count = sizeof specs / sizeof *specs,
};

static int measure(struct client *c, const struct options *o, struct ipf_error *err)
{
	static const char body[] =
		"{\"model\":\"raw\",\"messages\":[{\"role\":\"user\",\"content\":\"Tell me.\"}],\"max_tokens\":1,\"stream\":true}";
	struct epoll_event event = {.events = EPOLLIN | EPOLLET};
	struct rlimit files;
	int len = asprintf(
		&c->request,
		"POST %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
		o->path, (int)o->port, sizeof body - 1, body);
	c->lag = histogram_new();
	c->delay = histogram_new();
	c->wire = histogram_new();
	if (len < 0 || !c->lag || !c->delay || !c->wire)
		return ipf_error_errno(err, ENOMEM, NULL, "memory");
	c->request_len = (size_t)len;
	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	c->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	c->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (c->epoll_fd < 0 || c->timer_fd < 0 || epoll_ctl(c->epoll_fd, EPOLL_CTL_ADD, c->timer_fd, &event) < 0)
		return ipf_error_errno(err, errno, NULL, "epoll");
	if (o->tls && rawtls_open_client(&c->tls, err) < 0)
		return -1;
	c->options = o;
	c->err = err;
	c->sent_at = -1;
	c->wanted = o->requests;
	rng_init(&c->gaps, o->common.seed, "gaps", 0);
	c->begin_ns = clock_now();
	c->end_ns = c->begin_ns + o->for_ns;
	c->due_ns = o->rate > 0 ? c->begin_ns : INT64_MAX;
	run(c);
	print_run(c);
	return c->failed ? -1 : 0;
}

int main(int argc, char **argv)
{
	static struct client client; /* large */
	struct options options = {.common = COMMON_DEFAULTS,
	                          .connections = 1,
	                          .requests = INT64_MAX,
	                          .for_ns = 10 * NS_PER_S,
	                          .path = "/v1/chat/completions"};
	struct operands operands;
	struct ipf_error err = {0};
	int status;
	if (!program_start(&program, argc, argv, &options, &operands, &status))
		return status;
	if (options.port < 1 || options.port > 65535 || options.requests < 1 || options.connections < 1 ||
	    (options.ahead && options.rate > 0)) {
		ipf_error_set(&err, IPF_USAGE,
		              "expected a port, at least one request and connection, and no --ahead with --rate");
		return program_misuse(&program, &err);
	}
	prctl(PR_SET_TIMERSLACK, 1);
	setpriority(PRIO_PROCESS, 0, -10); /* where allowed, as ipf-fire does */
	measure(&client, &options, &err);
	if (fflush(stdout) != 0)
		ipf_error_errno(&err, errno, NULL, "standard output");
	return ipf_error_report(&err, stderr, program.name);
}
