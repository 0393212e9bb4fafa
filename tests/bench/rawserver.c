/* A model server that costs next to nothing, to measure clients against: one thread, answers written in advance, each
 * event sent at its absolute time or as fast as the socket takes it, and a log of when each was really sent. See
 * README.md.
 *
 *     rawserver --events 100 --first 50ms --gap 10ms --log sends     # prints `listening on http://127.0.0.1:PORT`
 *
 * Any POST is answered with a stream of chat completion chunks; a query changes its shape: POST
 * /v1/chat/completions?events=5&first=1s&gap=2ms&batch=1. A GET gets a list of models; there is nothing to tokenize
 * with. It waits for nothing but the request: model, prompt and parameters are not looked at. */
#include "rawanswer.h"
#include "rawtls.h"
#include "sendlog.h"
#include "timers.h"

#include "buffer.h"
#include "clock.h"
#include "cli/options.h"
#include "cli/units.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define BACKLOG   4096
#define EVENTS    256
#define TURN      256 /* pieces sent at full speed before the sockets are looked at again */
#define READ_ROOM (256 * 1024)
#define HEAD_MOST (16 * 1024) /* a longer request head is refused */

/* The form of an answer. */
struct shape {
	int64_t events, batch;    /* how many, and how many of them in each piece */
	int64_t first_ns, gap_ns; /* from the request's arrival to the first piece, from each piece to the next; gap 0: as
	                             fast as it goes */
};

struct conn {
	int fd;
	struct ssl_st *tls;     /* NULL: none */
	uint32_t port;          /* the client's */
	bool readable, blocked; /* there may be more to read; the socket's buffer is full */
	bool answering, last;   /* last: the client asked for the connection to be closed */
	struct buffer head;     /* the part of a request's head so far */
	int64_t body_left;      /* the rest of the request's body; -1: its head is not there yet */
	bool post, tokenize;    /* the request's kind */
	struct shape shape;     /* the answer's */
	uint32_t request;
	int64_t arrived_ns;               /* the request, on the monotonic clock */
	int64_t next;                     /* event to be sent */
	int64_t stamp_ns;                 /* sent_ns of the piece that is half sent */
	size_t sent;                      /* bytes of that piece that have gone */
	struct timer timer;               /* the next piece's */
	struct conn *run_prev, *run_next; /* in the ring of those that send as fast as they can; NULL: not in it */
	struct conn *dead_next;
};

struct rawserver {
	struct shape shape;
	int epoll_fd, listen_fd, timer_fd, signal_fd;
	int64_t timer_at; /* the time set in timer_fd; INT64_MAX: none */
	struct timers timers;
	struct conn *ring, *dead; /* dead: closed in this turn of the loop, which may hold events for them */
	struct sendlog *log;
	struct ssl_ctx_st *tls;
	uint32_t requests;
	int64_t events, connections;
	bool awake; /* it never sleeps */
	bool stop;
	char input[READ_ROOM], output[RAWANSWER_ROOM];
};

/* ---- connections ---- */

static void ring_add(struct rawserver *s, struct conn *c)
{
	if (c->run_next)
		return;
	struct conn *at = s->ring ? s->ring : c;
	c->run_next = at;
	c->run_prev = s->ring ? at->run_prev : c;
	c->run_prev->run_next = c;
	at->run_prev = c;
	s->ring = at;
}

static void ring_remove(struct rawserver *s, struct conn *c)
{
	if (!c->run_next)
		return;
	if (s->ring == c)
		s->ring = c->run_next == c ? NULL : c->run_next;
	c->run_prev->run_next = c->run_next;
	c->run_next->run_prev = c->run_prev;
	c->run_prev = c->run_next = NULL;
}

static void conn_close(struct rawserver *s, struct conn *c)
{
	if (c->fd < 0)
		return;
	ring_remove(s, c);
	timers_stop(&s->timers, &c->timer);
	buffer_release(&c->head);
	rawtls_end(c->tls);
	close(c->fd);
	c->fd = -1;
	c->dead_next = s->dead;
	s->dead = c;
}

static ssize_t conn_send(struct conn *c, const char *from, size_t len)
{
	return c->tls ? rawtls_send(c->tls, from, len) : send(c->fd, from, len, MSG_NOSIGNAL);
}

/* How many events the next piece has. */
static int64_t piece_of(const struct conn *c)
{
	int64_t left = c->shape.events - c->next;
	return left < c->shape.batch ? left : c->shape.batch;
}

/* 1 sent whole, 0 the socket took less, -1 broken. */
static int send_piece(struct rawserver *s, struct conn *c)
{
	int64_t count = piece_of(c), real_ns = clock_wall();
	if (c->sent) /* the same bytes again */
		real_ns = c->stamp_ns;
	size_t len = rawanswer_write(s->output, c->request, c->next, count, c->shape.events, real_ns);
	int64_t mono_ns = s->log ? clock_now() : 0;
	ssize_t n = conn_send(c, s->output + c->sent, len - c->sent);
	if (n < 0)
		return errno == EAGAIN ? 0 : -1;
	if (!c->sent && s->log)
		sendlog_add(s->log, &(struct send_entry){.mono_ns = mono_ns,
		                                         .real_ns = real_ns,
		                                         .request = c->request,
		                                         .event = (int32_t)c->next,
		                                         .count = (uint32_t)count,
		                                         .bytes = (uint32_t)n,
		                                         .took_ns = (uint32_t)(clock_wall() - real_ns),
		                                         .port = c->port});
	c->stamp_ns = real_ns;
	c->sent += (size_t)n;
	if (c->sent < len)
		return 0;
	c->sent = 0;
	c->next += count;
	s->events += count;
	return 1;
}

static void set_timer(struct rawserver *s, struct conn *c)
{
	if (timers_set(&s->timers, &c->timer,
	               c->arrived_ns + c->shape.first_ns + c->next / c->shape.batch * c->shape.gap_ns) < 0)
		conn_close(s, c);
}

static void read_some(struct rawserver *s, struct conn *c);

/* Sends the piece whose time it is. */
static void go_on(struct rawserver *s, struct conn *c)
{
	int result = send_piece(s, c);
	if (result < 0) {
		conn_close(s, c);
	} else if (result == 0) {
		c->blocked = true;
		ring_remove(s, c);
	} else if (c->next == c->shape.events) {
		c->answering = false;
		ring_remove(s, c);
		if (c->last)
			conn_close(s, c);
		else if (c->readable)
			read_some(s, c);
	} else if (c->shape.gap_ns) {
		set_timer(s, c);
	} else {
		ring_add(s, c);
	}
}

static void on_timer(struct timer *timer, void *data)
{
	struct rawserver *s = data;
	go_on(s, (struct conn *)((char *)timer - offsetof(struct conn, timer)));
}

/* ---- requests ---- */

static bool number_of(const char *text, const char *key, int64_t *value,
                      int (*parse)(const char *, int64_t *, struct ipf_error *))
{
	char copy[32];
	const char *at = strstr(text, key);
	if (!at || (at[-1] != '?' && at[-1] != '&'))
		return true;
	at += strlen(key);
	snprintf(copy, sizeof copy, "%.*s", (int)strcspn(at, "& "), at);
	return parse(copy, value, &(struct ipf_error){0}) == 0;
}

static bool shape_is_good(const struct shape *shape)
{
	return shape->events >= 1 && shape->events < 100000 && shape->batch >= 1 && shape->batch <= RAWANSWER_BATCH;
}

static bool read_query(const char *line, struct shape *shape)
{
	const char *query = strchr(line, '?');
	return !query || (number_of(query, "events=", &shape->events, parse_count) &&
	                  number_of(query, "batch=", &shape->batch, parse_count) &&
	                  number_of(query, "first=", &shape->first_ns, parse_duration) &&
	                  number_of(query, "gap=", &shape->gap_ns, parse_duration) && shape_is_good(shape));
}

/* A request's head, which ends in an empty line and a NUL. NULL, or why it is refused. */
static const char *read_head(struct rawserver *s, struct conn *c, char *head)
{
	char *end = strchr(head, '\r');
	c->post = strncmp(head, "POST ", 5) == 0;
	c->shape = s->shape;
	c->body_left = 0;
	c->last = false;
	*end = '\0';
	c->tokenize = strstr(head, "/tokenize ") != NULL;
	if (!strstr(head, " HTTP/1.1") || !read_query(head, &c->shape))
		return "not a request for this server";
	for (char *line = end + 2; *line && *line != '\r'; line = strchr(line, '\n') + 1) {
		if (strncasecmp(line, "content-length:", 15) == 0)
			c->body_left = strtol(line + 15, NULL, 10);
		else if (strncasecmp(line, "transfer-encoding:", 18) == 0)
			return "a body without a length";
		else if (strncasecmp(line, "connection: close", 17) == 0)
			c->last = true;
		else if (strncasecmp(line, "expect: 100", 11) == 0)
			conn_send(c, "HTTP/1.1 100 Continue\r\n\r\n", 25);
	}
	return c->body_left < 0 ? "a body without a length" : NULL;
}

static void whole_answer(struct rawserver *s, struct conn *c, size_t len)
{
	if (conn_send(c, s->output, len) != (ssize_t)len || c->last)
		conn_close(s, c);
}

/* The request is here. */
static void begin_answer(struct rawserver *s, struct conn *c, int64_t stamp_ns)
{
	c->body_left = -1;
	if (!c->post || c->tokenize) {
		whole_answer(s, c, c->post ? rawanswer_refusal(s->output, 404, "no such thing") : rawanswer_models(s->output));
		return;
	}
	int64_t wall_ns = clock_wall();
	int64_t real_ns = stamp_ns ? stamp_ns : wall_ns;
	c->request = s->requests++;
	c->arrived_ns = clock_now() - (wall_ns - real_ns);
	c->next = 0;
	c->sent = 0;
	c->answering = true;
	sendlog_add(s->log, &(struct send_entry){.mono_ns = c->arrived_ns,
	                                         .real_ns = real_ns,
	                                         .request = c->request,
	                                         .event = SENDLOG_ARRIVAL,
	                                         .port = c->port});
	if (c->shape.first_ns)
		set_timer(s, c);
	else
		go_on(s, c);
}

static void refuse(struct rawserver *s, struct conn *c, const char *why)
{
	c->last = true;
	whole_answer(s, c, rawanswer_refusal(s->output, 400, why));
}

/* Returns how many of the bytes belong to the request's head. */
static size_t take_head(struct rawserver *s, struct conn *c, char *data, size_t len)
{
	size_t before = c->head.len;
	if (before) { /* it came in parts */
		buffer_append(&c->head, data, len);
		data = c->head.data;
	}
	char *end = c->head.failed ? NULL : memmem(data, before + len, "\r\n\r\n", 4);
	if (!end) {
		if (!before)
			buffer_append(&c->head, data, len);
		if (c->head.failed || c->head.len > HEAD_MOST)
			refuse(s, c, "a head that is too long");
		return len;
	}
	size_t used = (size_t)(end + 4 - data) - before;
	end[2] = '\0'; /* in place of the last line's end */
	const char *why = read_head(s, c, data);
	buffer_release(&c->head);
	if (why)
		refuse(s, c, why);
	return used;
}

static void take(struct rawserver *s, struct conn *c, char *data, size_t len, int64_t stamp_ns)
{
	while (len && c->fd >= 0) {
		size_t used = len;
		if (c->answering) {
			conn_close(s, c); /* a request before the last one's answer */
			return;
		}
		if (c->body_left < 0) {
			used = take_head(s, c, data, len);
		} else {
			used = (size_t)c->body_left < len ? (size_t)c->body_left : len;
			c->body_left -= (int64_t)used;
		}
		data += used;
		len -= used;
		if (c->fd >= 0 && c->body_left == 0)
			begin_answer(s, c, stamp_ns);
	}
}

/* The kernel's time of the last bytes in a message; 0: it gives none. */
static int64_t stamp_of(struct msghdr *message)
{
	for (struct cmsghdr *m = CMSG_FIRSTHDR(message); m; m = CMSG_NXTHDR(message, m))
		if (m->cmsg_level == SOL_SOCKET && m->cmsg_type == SCM_TIMESTAMPNS) {
			struct timespec t;
			memcpy(&t, CMSG_DATA(m), sizeof t);
			return t.tv_sec * NS_PER_S + t.tv_nsec;
		}
	return 0;
}

static void read_some(struct rawserver *s, struct conn *c)
{
	while (c->fd >= 0 && c->readable && !c->answering) {
		char control[64];
		struct iovec room = {s->input, sizeof s->input};
		struct msghdr message = {
			.msg_iov = &room, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
		ssize_t n = c->tls ? rawtls_recv(c->tls, s->input, sizeof s->input) : recvmsg(c->fd, &message, 0);
		if (n == 0 || (n < 0 && errno != EAGAIN)) {
			conn_close(s, c);
			return;
		}
		c->readable = c->tls ? n > 0 : n == (ssize_t)sizeof s->input;
		if (n > 0)
			take(s, c, s->input, (size_t)n, c->tls ? 0 : stamp_of(&message));
	}
}

/* ---- the loop ---- */

static void accept_all(struct rawserver *s)
{
	struct sockaddr_in from;
	socklen_t from_len = sizeof from;
	int fd, on = 1;
	while ((fd = accept4(s->listen_fd, (struct sockaddr *)&from, &from_len, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
		struct conn *c = calloc(1, sizeof *c);
		struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.ptr = c};
		if (c && s->tls)
			c->tls = rawtls_accept(s->tls, fd);
		if (!c || (s->tls && !c->tls) || epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0) {
			if (c)
				rawtls_end(c->tls);
			free(c);
			close(fd);
			continue;
		}
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
		c->fd = fd;
		c->port = ntohs(from.sin_port);
		c->body_left = -1;
		c->timer = (struct timer){.fire = on_timer, .data = s};
		s->connections++;
	}
}

static void handle(struct rawserver *s, const struct epoll_event *event)
{
	struct conn *c = event->data.ptr;
	if (event->data.ptr == &s->listen_fd) {
		accept_all(s);
	} else if (event->data.ptr == &s->signal_fd) {
		s->stop = true;
	} else if (event->data.ptr != &s->timer_fd && c->fd >= 0) {
		c->readable |= (event->events & EPOLLIN) != 0;
		if (event->events & (EPOLLERR | EPOLLHUP)) {
			conn_close(s, c);
			return;
		}
		if (c->blocked && event->events & EPOLLOUT) {
			c->blocked = false;
			go_on(s, c);
		}
		if (c->fd >= 0 && event->events & EPOLLRDHUP && c->answering)
			conn_close(s, c);
		read_some(s, c);
	}
}

/* Pieces of answers that go as fast as they can, one of each in turn. */
static void run_ring(struct rawserver *s)
{
	for (int i = 0; i < TURN && s->ring; i++) {
		struct conn *c = s->ring;
		s->ring = c->run_next;
		go_on(s, c);
	}
}

static void bury(struct rawserver *s)
{
	for (struct conn *c; (c = s->dead);) {
		s->dead = c->dead_next;
		free(c);
	}
}

static void wait_until(struct rawserver *s, int64_t at_ns)
{
	struct itimerspec when = {.it_value = {.tv_sec = at_ns / NS_PER_S, .tv_nsec = at_ns % NS_PER_S}};
	if (at_ns == s->timer_at || at_ns == INT64_MAX)
		return;
	timerfd_settime(s->timer_fd, TFD_TIMER_ABSTIME, &when, NULL);
	s->timer_at = at_ns;
}

static void run(struct rawserver *s)
{
	struct epoll_event events[EVENTS];
	while (!s->stop) {
		int64_t next = timers_next(&s->timers);
		bool busy = s->ring || next <= clock_now();
		if (!busy)
			wait_until(s, next);
		int n = epoll_wait(s->epoll_fd, events, EVENTS, busy || s->awake ? 0 : -1);
		for (int i = 0; i < n; i++) {
			handle(s, &events[i]);
			if (s->timers.count)
				timers_run(&s->timers, clock_now());
		}
		timers_run(&s->timers, clock_now());
		run_ring(s);
		bury(s);
	}
}

/* ---- opening ---- */

static int watch(struct rawserver *s, int *fd, struct ipf_error *err)
{
	struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.ptr = fd};
	if (*fd < 0 || epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, *fd, &event) < 0)
		return ipf_error_errno(err, errno, NULL, "epoll");
	return 0;
}

static int open_server(struct rawserver *s, int port, bool share, struct ipf_error *err)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof address;
	sigset_t set;
	int on = 1;
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	s->timer_at = INT64_MAX;
	s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	s->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	s->signal_fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	s->listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (s->listen_fd < 0 || setsockopt(s->listen_fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) < 0 ||
	    (share && setsockopt(s->listen_fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) < 0) ||
	    setsockopt(s->listen_fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on) < 0 ||
	    bind(s->listen_fd, (struct sockaddr *)&address, len) < 0 || listen(s->listen_fd, BACKLOG) < 0 ||
	    getsockname(s->listen_fd, (struct sockaddr *)&address, &len) < 0)
		return ipf_error_errno(err, errno, NULL, "port %d", port);
	if (watch(s, &s->listen_fd, err) < 0 || watch(s, &s->timer_fd, err) < 0 || watch(s, &s->signal_fd, err) < 0)
		return -1;
	if (printf("listening on http%s://127.0.0.1:%d\n", s->tls ? "s" : "", ntohs(address.sin_port)) < 0 ||
	    fflush(stdout) != 0)
		return ipf_error_errno(err, errno, NULL, "standard output");
	return 0;
}

struct options {
	struct common_options common;
	struct shape shape;
	int64_t port;
	bool share, awake;
	const char *log, *show, *sum, *cert, *key;
};

#define ROW(kind_, letter_, name_, argument_, member_, help_)                                                          \
	OPTION(kind_, letter_, name_, argument_, struct options, member_, help_)

static const struct option_spec specs[] = {
	ROW(OPTION_COUNT, 'p', "port", "PORT", port, "listen on this port of 127.0.0.1 (default: 0, a free one)"),
	ROW(OPTION_FLAG, 0, "share", NULL, share,
        "share the port with other servers that do: each gets some of the connections"),
	ROW(OPTION_COUNT, 0, "events", "N", shape.events, "events of an answer (default: 1)"),
	ROW(OPTION_DURATION, 0, "first", "TIME", shape.first_ns,
        "from a request's arrival to its first event (default: 0)"),
	ROW(OPTION_DURATION, 0, "gap", "TIME", shape.gap_ns,
        "from event to event (default: 0, as fast as the socket takes them)"),
	ROW(OPTION_COUNT, 0, "batch", "N", shape.batch, "events in one send (default: 1)"),
	ROW(OPTION_FLAG, 0, "awake", NULL, awake, "ask for what is new without end, so that nobody pays for waking it up"),
	ROW(OPTION_FILE, 0, "cert", "FILE", cert, "serve TLS with this certificate"),
	ROW(OPTION_FILE, 0, "key", "FILE", key, "… and its key"),
	ROW(OPTION_FILE, 0, "log", "FILE", log, "write down when each request came and each send was made"),
	ROW(OPTION_FILE, 0, "show", "FILE", show, "print such a log as lines of JSON, and end"),
	ROW(OPTION_FILE, 0, "sum", "FILE", sum, "print what such a log comes to, and end"),
	ROW(OPTION_COUNTER, 'v', "verbose", NULL, common.verbose, "say at the end what was served"),
	{.kind = OPTION_HELP, .letter = 'h', .name = "help", .help = "show this help"},
};

static const struct program program = {
	.name = "rawserver",
	.summary = "a model server that costs next to nothing, to measure clients against",
	.details = "Prints one line, `listening on http[s]://127.0.0.1:PORT`, once it does. SIGTERM\n"
			   "and SIGINT end it, and so does the end of the process that started it.\n",
	.manual = "tests/bench/README.md",
	.specs = specs,
	.count = sizeof specs / sizeof *specs,
};

static void raise_file_limit(void)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

static int serve(struct rawserver *s, const struct options *o, struct ipf_error *err)
{
	struct rusage used;
	if ((!o->log || sendlog_open(&s->log, o->log, err) == 0) &&
	    (!o->cert || rawtls_open(&s->tls, o->cert, o->key, err) == 0) &&
	    open_server(s, (int)o->port, o->share, err) == 0)
		run(s);
	if (o->common.verbose && getrusage(RUSAGE_SELF, &used) == 0)
		fprintf(stderr, "rawserver: %lld connections, %u requests, %lld events, %.3f s of CPU time\n",
		        (long long)s->connections, s->requests, (long long)s->events,
		        (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
		            (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6);
	rawtls_close(s->tls);
	return sendlog_close(s->log, err);
}

int main(int argc, char **argv)
{
	static struct rawserver server; /* large */
	struct options options = {.common = COMMON_DEFAULTS, .shape = {.events = 1, .batch = 1}};
	struct operands operands;
	struct ipf_error err = {0};
	int status;
	if (!program_start(&program, argc, argv, &options, &operands, &status))
		return status;
	if (!shape_is_good(&options.shape) || options.port > 65535 || !options.cert != !options.key) {
		ipf_error_set(&err, IPF_USAGE,
		              "expected 1 to 99,999 events, a batch of 1 to %d, a port below 65,536, a certificate with a key",
		              RAWANSWER_BATCH);
		return program_misuse(&program, &err);
	}
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	prctl(PR_SET_TIMERSLACK, 1);
	setpriority(PRIO_PROCESS, 0, -10); /* where that is allowed: its times are the truth */
	raise_file_limit();
	rawanswer_init();
	server.shape = options.shape;
	server.awake = options.awake;
	if (options.show)
		sendlog_show(options.show, stdout, &err);
	else if (options.sum)
		sendlog_sum(options.sum, stdout, &err);
	else
		serve(&server, &options, &err);
	if ((options.show || options.sum) && fflush(stdout) != 0)
		ipf_error_errno(&err, errno, NULL, "standard output");
	return ipf_error_report(&err, stderr, program.name);
}
