#include "calibrate/calibration_server.h"

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
/* Numbers of a fixed width, with blanks before them, so that every chunk is as long as the others. */
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

/* ---- reading what was sent ---- */

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
	struct buffer head;                /* of the request that is coming */
	int64_t body_left;                 /* -1: its head is not there yet */
	int64_t asked_ns, next_ns, events; /* of the one that is being answered; events: sent so far */
	struct conn_list *list;            /* that it waits in; NULL: it has nothing to send */
	struct conn *previous, *next;
};

/* In the order of their next times: since what is put in is later than all that is there, whether it waits for its
 * first event or for the next one, no heap is needed. */
struct conn_list {
	struct conn *first, *last;
};

struct server {
	struct calibration_server_shape shape;
	int listen_fd, epoll_fd, timer_fd;
	int64_t armed_ns;
	struct conn **conns; /* by descriptor */
	size_t conns_count;
	struct conn_list beginning, going_on;
	struct thread_stats *meter;
	struct timestamps *stamps;
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

static void conn_close(struct server *s, struct conn *c)
{
	list_take(c);
	timestamps_forget(s->stamps, c->fd);
	s->conns[c->fd] = NULL;
	close(c->fd);
	buffer_release(&c->head);
	free(c);
}

static void conn_open(struct server *s, int fd)
{
	int on = 1;
	if ((size_t)fd >= s->conns_count) {
		size_t count = 2 * (size_t)fd + 64;
		struct conn **conns = realloc(s->conns, count * sizeof(struct conn *));
		if (!conns) {
			close(fd);
			return;
		}
		memset(conns + s->conns_count, 0, (count - s->conns_count) * sizeof(struct conn *));
		s->conns = conns;
		s->conns_count = count;
	}
	struct conn *c = calloc(1, sizeof *c);
	struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
	if (!c || epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0) {
		free(c);
		close(fd);
		return;
	}
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	timestamps_watch(s->stamps, fd);
	*c = (struct conn){.fd = fd, .body_left = -1};
	s->conns[fd] = c;
}

static void send_event(struct server *s, struct conn *c)
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
	/* a client that lets so much wait is not worth waiting for */
	if (send(c->fd, to, len, MSG_NOSIGNAL) != (ssize_t)len) {
		conn_close(s, c);
		return;
	}
	if (!last) {
		c->next_ns += s->shape.gap_ns;
		list_put(&s->going_on, c);
	}
}

static struct conn *soonest(const struct server *s)
{
	struct conn *a = s->beginning.first, *b = s->going_on.first;
	return !a || (b && b->next_ns < a->next_ns) ? b : a;
}

static void send_due(struct server *s)
{
	for (struct conn *c; (c = soonest(s)) && c->next_ns <= clock_now();)
		send_event(s, c);
}

/* The request is whole. */
static void answer(struct server *s, struct conn *c, int64_t asked_ns)
{
	c->body_left = -1;
	buffer_clear(&c->head);
	list_take(c);
	c->asked_ns = asked_ns;
	c->next_ns = asked_ns + s->shape.first_ns;
	c->events = 0;
	list_put(&s->beginning, c);
}

/* How long its body is; -1: no request that is understood. */
static int64_t body_length(const char *head)
{
	const char *line = strcasestr(head, "\r\ncontent-length:");
	return strncmp(head, "POST ", 5) ? -1 : line ? strtoll(line + strlen("\r\ncontent-length:"), NULL, 10) : 0;
}

/* false: to be closed. */
static bool take(struct server *s, struct conn *c, const char *data, size_t len, int64_t t_ns)
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
	/* a client that does not wait for its answer is none of ours */
	if ((int64_t)len > c->body_left)
		return false;
	c->body_left -= (int64_t)len;
	if (!c->body_left)
		answer(s, c, t_ns);
	return true;
}

static void on_readable(struct server *s, struct conn *c)
{
	timestamps_attach(s->stamps);
	ssize_t got = recv(c->fd, s->input, sizeof s->input, MSG_DONTWAIT);
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	const struct timestamp *stamp = got > 0 ? timestamps_of(s->stamps, c->fd) : NULL;
	if (got <= 0 || !take(s, c, s->input, (size_t)got, stamp ? stamp->t_ns : clock_now()))
		conn_close(s, c);
}

static void arm(struct server *s)
{
	const struct conn *c = soonest(s);
	if (!c || c->next_ns == s->armed_ns)
		return;
	struct itimerspec spec = {.it_value = {.tv_sec = c->next_ns / NS_PER_S, .tv_nsec = c->next_ns % NS_PER_S}};
	timerfd_settime(s->timer_fd, TFD_TIMER_ABSTIME, &spec, NULL);
	s->armed_ns = c->next_ns;
}

static void serve(struct server *s)
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

/* In its own process: never returns. */
static void run(struct server *s, pid_t parent)
{
	sigset_t none;
	struct epoll_event listening = {.events = EPOLLIN, .data.fd = s->listen_fd}, timer = {.events = EPOLLIN};
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/* what interrupts the terminal's programs is the parent's to see */
	signal(SIGINT, SIG_IGN);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	prctl(PR_SET_TIMERSLACK, 1UL);
	s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	s->timer_fd = timer.data.fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	s->meter = thread_stats_new();
	s->stamps = s->meter ? timestamps_new(s->meter, true) : NULL;
	if (s->stamps && epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, s->timer_fd, &timer) == 0 &&
	    epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, s->listen_fd, &listening) == 0)
		serve(s);
	_exit(1);
}

int calibration_server_start(struct calibration_server *l, const struct calibration_server_shape *shape,
                             struct ipf_error *err)
{
	static struct server server; /* the child's copy is what is used */
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof a;
	server = (struct server){.shape = *shape,
	                         .listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
	l->pid = -1;
	int fd = server.listen_fd;
	if (fd >= 0 && bind(fd, (struct sockaddr *)&a, len) == 0 && listen(fd, BACKLOG) == 0 &&
	    getsockname(fd, (struct sockaddr *)&a, &len) == 0) {
		pid_t parent = getpid();
		l->pid = fork();
		if (l->pid == 0)
			run(&server, parent);
	}
	int why = errno;
	if (fd >= 0)
		close(fd);
	snprintf(l->url, sizeof l->url, "http://127.0.0.1:%d", ntohs(a.sin_port));
	return l->pid < 0 ? ipf_error_errno(err, why, NULL, "cannot start a server to calibrate with") : 0;
}

void calibration_server_stop(struct calibration_server *l)
{
	if (l->pid <= 0)
		return;
	kill(l->pid, SIGKILL);
	while (waitpid(l->pid, NULL, 0) < 0 && errno == EINTR)
		;
	l->pid = -1;
}
