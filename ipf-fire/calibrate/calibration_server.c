#include "calibrate/calibration_server.h"

#include "array.h"
#include "buffer.h"
#include "clock.h"
#include "http/timestamp.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define HEAD "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
/* Numbers have a fixed width, padded with blanks, so all chunks have the same length. */
#define CHUNK                                                                                                                               \
	"data: {\"id\":\"calibration\",\"object\":\"chat.completion.chunk\",\"created\":0,\"model\":\"calibration\",\"choices\":[{\"index\":0," \
	"\"delta\":{\"content\":\" word\"},\"finish_reason\":null}],\"asked_ns\":%19lld,\"sent_ns\":%19lld}\n\n"
#define LAST      "e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n"
#define ASKED     "\"asked_ns\":"
#define SENT      "\"sent_ns\":"
#define NUMBER    19
#define BACKLOG   4096
#define EVENTS    256
#define HEAD_MOST 65536

/* ---- reading the chunks ---- */

int calibration_server_next(const char *body, size_t len, size_t *at, int64_t *asked_ns, int64_t *sent_ns)
{
	const char *from = body + *at, *asked = memmem(from, len - *at, ASKED, strlen(ASKED));
	const char *sent = asked ? memmem(asked, len - (size_t)(asked - body), SENT, strlen(SENT)) : NULL;
	const char *end = sent ? memmem(sent, len - (size_t)(sent - body), "\n\n", 2) : NULL;
	if (!end)
		return 0;
	char number[NUMBER + 1] = "";
	memcpy(number, asked + strlen(ASKED), NUMBER);
	*asked_ns = strtoll(number, NULL, 10);
	memcpy(number, sent + strlen(SENT), NUMBER);
	*sent_ns = strtoll(number, NULL, 10);
	*at = (size_t)(end + 2 - body);
	return 1;
}

/* ---- the server ---- */

struct conn {
	int fd;
	struct socket_times times;
	struct buffer head;                /* the request being received */
	int64_t body_left;                 /* -1: the head is not complete */
	int64_t asked_ns, next_ns, events; /* for the request being answered; events: number sent so far */
	struct conn_list *list;            /* the one it waits in; NULL: it has nothing to send */
	struct conn *previous, *next;
};

/* Ordered by next_ns. No heap is needed: in each of the two lists (connections waiting for their first event, and those
 * waiting for the next) times only increase. */
struct conn_list {
	struct conn *first, *last;
};

struct streaming_server {
	struct stream_shape shape;
	int listen_fd, epoll_fd, timer_fd;
	int64_t armed_ns;
	struct conn **conns; /* by descriptor */
	size_t conns_count;
	struct conn_list waiting, streaming;
	struct thread_stats *stats;
	struct timestamps *timestamps;
	char input[65536], output[1024];
};

static void list_put(struct conn_list *list, struct conn *c)
{
	c->list = list;
	c->next = NULL;
	c->previous = list->last;
	*(list->last ? &list->last->next : &list->first) = c;
	list->last = c;
}

static void list_take(struct conn *c)
{
	struct conn_list *list = c->list;
	if (!list)
		return;
	*(c->previous ? &c->previous->next : &list->first) = c->next;
	*(c->next ? &c->next->previous : &list->last) = c->previous;
	c->list = NULL;
}

static void conn_close(struct streaming_server *s, struct conn *c)
{
	list_take(c);
	s->conns[c->fd] = NULL;
	close(c->fd);
	buffer_release(&c->head);
	free(c);
}

static void conn_open(struct streaming_server *s, int fd)
{
	int on = 1;
	if (!array_reach(s->conns, s->conns_count, fd)) {
		close(fd);
		return;
	}
	struct conn *c = calloc(1, sizeof *c);
	struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
	if (!c || epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0) {
		free(c);
		close(fd);
		return;
	}
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	*c = (struct conn){.fd = fd, .body_left = -1};
	timestamps_watch(s->timestamps, &c->times, fd);
	s->conns[fd] = c;
}

static void send_event(struct streaming_server *s, struct conn *c)
{
	char *to = s->output;
	size_t len = 0, room = sizeof s->output;
	if (!c->events)
		len = (size_t)snprintf(to, room, "%s", HEAD);
	len += (size_t)snprintf(to + len, room - len, "%x\r\n" CHUNK "\r\n",
	                        (unsigned)(sizeof CHUNK - 1 + 2 * (NUMBER - strlen("%19lld"))), (long long)c->asked_ns,
	                        (long long)clock_now());
	bool last = ++c->events == s->shape.events;
	if (last)
		len += (size_t)snprintf(to + len, room - len, "%s", LAST);
	list_take(c);
	/* drop a client reading so slowly that the socket buffer is full */
	if (send(c->fd, to, len, MSG_NOSIGNAL) != (ssize_t)len) {
		conn_close(s, c);
		return;
	}
	if (!last) {
		c->next_ns += s->shape.gap_ns;
		list_put(&s->streaming, c);
	}
}

static struct conn *soonest(const struct streaming_server *s)
{
	struct conn *a = s->waiting.first, *b = s->streaming.first;
	return !a || (b && b->next_ns < a->next_ns) ? b : a;
}

static void send_due(struct streaming_server *s)
{
	for (struct conn *c; (c = soonest(s)) && c->next_ns <= clock_now();)
		send_event(s, c);
}

/* The request is complete. */
static void answer(struct streaming_server *s, struct conn *c, int64_t asked_ns)
{
	c->body_left = -1;
	buffer_clear(&c->head);
	list_take(c);
	c->asked_ns = asked_ns;
	c->next_ns = asked_ns + s->shape.first_ns;
	c->events = 0;
	list_put(&s->waiting, c);
}

/* The length of the body; -1: not a POST request. */
static int64_t body_length(const char *head)
{
	const char *line = strcasestr(head, "\r\ncontent-length:");
	return strncmp(head, "POST ", 5) ? -1 : line ? strtoll(line + strlen("\r\ncontent-length:"), NULL, 10) : 0;
}

/* false: close the connection. */
static bool take(struct streaming_server *s, struct conn *c, const char *data, size_t len, int64_t t_ns)
{
	if (c->body_left < 0) {
		size_t before = c->head.len;
		buffer_append(&c->head, data, len);
		buffer_byte(&c->head, '\0');
		if (c->head.failed)
			return false;
		const char *end = strstr(c->head.data, "\r\n\r\n");
		if (!end) {
			c->head.len--;
			return c->head.len <= HEAD_MOST;
		}
		c->body_left = body_length(c->head.data);
		if (c->body_left < 0)
			return false;
		len -= (size_t)(end + 4 - c->head.data) - before;
	}
	/* no pipelining: ipf-fire waits for the response */
	if ((int64_t)len > c->body_left)
		return false;
	c->body_left -= (int64_t)len;
	if (!c->body_left)
		answer(s, c, t_ns);
	return true;
}

static void on_readable(struct streaming_server *s, struct conn *c)
{
	struct timestamp at;
	ssize_t got = timestamps_recv(s->timestamps, &c->times, c->fd, s->input, sizeof s->input, &at);
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got <= 0 || !take(s, c, s->input, (size_t)got, at.t_ns))
		conn_close(s, c);
}

static void arm(struct streaming_server *s)
{
	const struct conn *c = soonest(s);
	if (!c || c->next_ns == s->armed_ns)
		return;
	struct itimerspec spec = {.it_value = {.tv_sec = c->next_ns / NS_PER_S, .tv_nsec = c->next_ns % NS_PER_S}};
	timerfd_settime(s->timer_fd, TFD_TIMER_ABSTIME, &spec, NULL);
	s->armed_ns = c->next_ns;
}

static void serve(struct streaming_server *s)
{
	struct epoll_event events[EVENTS];
	for (;;) {
		send_due(s);
		arm(s);
		int count = epoll_wait(s->epoll_fd, events, EVENTS, -1);
		for (int i = 0; i < count; i++) {
			int fd = events[i].data.fd;
			uint64_t expired;
			if (fd == s->timer_fd) {
				s->armed_ns = read(fd, &expired, sizeof expired) < 0 ? s->armed_ns : 0;
			} else if (fd == s->listen_fd) {
				for (int new; (new = accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0;)
					conn_open(s, new);
			} else if (s->conns[fd]) {
				on_readable(s, s->conns[fd]);
			}
			send_due(s);
		}
	}
}

/* In the child process: never returns. */
static void run(struct streaming_server *s, pid_t parent)
{
	sigset_t none;
	struct epoll_event listening = {.events = EPOLLIN, .data.fd = s->listen_fd}, timer = {.events = EPOLLIN};
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/* the parent handles the terminal's interrupt */
	signal(SIGINT, SIG_IGN);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	prctl(PR_SET_TIMERSLACK, 1UL);
	s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	s->timer_fd = timer.data.fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	s->stats = thread_stats_new();
	s->timestamps = s->stats ? timestamps_new(s->stats, true) : NULL;
	if (s->timestamps && epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, s->timer_fd, &timer) == 0 &&
	    epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, s->listen_fd, &listening) == 0)
		serve(s);
	_exit(1);
}

int calibration_server_start(struct calibration_server *server, const struct stream_shape *shape, struct ipf_error *err)
{
	static struct streaming_server child; /* used in the child process */
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof a;
	child = (struct streaming_server){.shape = *shape,
	                                  .listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
	server->pid = -1;
	int fd = child.listen_fd;
	if (fd >= 0 && bind(fd, (struct sockaddr *)&a, len) == 0 && listen(fd, BACKLOG) == 0 &&
	    getsockname(fd, (struct sockaddr *)&a, &len) == 0) {
		pid_t parent = getpid();
		server->pid = fork();
		if (server->pid == 0)
			run(&child, parent);
	}
	int why = errno;
	if (fd >= 0)
		close(fd);
	snprintf(server->url, sizeof server->url, "http://127.0.0.1:%d", ntohs(a.sin_port));
	return server->pid < 0 ? ipf_error_errno(err, why, NULL, "cannot start the calibration server") : 0;
}

void calibration_server_stop(struct calibration_server *server)
{
	if (server->pid <= 0)
		return;
	kill(server->pid, SIGKILL);
	while (waitpid(server->pid, NULL, 0) < 0 && errno == EINTR)
		;
	server->pid = -1;
}
