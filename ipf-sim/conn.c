#include "server.h"

#include "answer.h"
#include "clock.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define LINGER_NS   (2 * NS_PER_S)
#define LATER_LIMIT (1 << 20)

/* Its memory is freed when this turn of the loop ends: events for it may still be at hand. */
static void conn_die(struct conn *c, bool reset)
{
	struct server *s = c->server;
	if (c->dead)
		return;
	c->dead = true;
	if (c->job)
		job_close(c);
	timers_stop(&s->timers, &c->hold);
	timers_stop(&s->timers, &c->idle);
	if (reset)
		setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &(struct linger){.l_onoff = 1}, sizeof(struct linger));
	close(c->fd);
	c->fd = -1;
	if (c->before)
		c->before->after = c->after;
	else
		s->conns = c->after;
	if (c->after)
		c->after->before = c->before;
	s->open--;
	c->next_dead = s->dead;
	s->dead = c;
}

static void hold_is_over(struct timer *timer, void *data)
{
	struct conn *c = data;
	(void)timer;
	c->holding = false;
	conn_dirty(c);
}

static void idle_is_over(struct timer *timer, void *data)
{
	struct conn *c = data;
	char head[96];
	(void)timer;
	if (c->idle_code && !c->answering) {
		int len = snprintf(head, sizeof head, "HTTP/1.1 %d Idle\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
		                   (int)c->idle_code);
		(void)!send(c->fd, head, (size_t)len, MSG_NOSIGNAL | MSG_DONTWAIT);
	}
	conn_die(c, false);
}

static void begin_idle(struct conn *c)
{
	if (timers_set(&c->server->timers, &c->idle, clock_now() + c->idle_ns) < 0)
		conn_die(c, true);
}

struct conn *conn_open(struct server *s, int fd)
{
	struct conn *c = calloc(1, sizeof *c);
	if (!c)
		return NULL;
	c->server = s;
	c->fd = fd;
	c->request.head_limit = 32768;
	c->request.body_limit = (size_t)s->options->body_limit;
	c->hold = (struct timer){.fire = hold_is_over, .data = c};
	c->idle = (struct timer){.fire = idle_is_over, .data = c};
	c->idle_ns = s->options->keep_alive_ns;
	c->out.date_offset_ns = s->options->date ? &s->options->date_offset_ns : NULL;
	c->after = s->conns;
	if (c->after)
		c->after->before = c;
	s->conns = c;
	s->open++;
	begin_idle(c);
	return c;
}

void conn_free(struct conn *c)
{
	http_release(&c->request);
	buffer_release(&c->later);
	outbox_release(&c->out);
	free(c);
}

void conn_close(struct conn *c)
{
	conn_die(c, false);
}

void conn_dirty(struct conn *c)
{
	if (c->dirty || c->dead)
		return;
	c->dirty = true;
	c->next_dirty = NULL;
	*c->server->dirty_end = c;
	c->server->dirty_end = &c->next_dirty;
}

void conn_answered(struct conn *c)
{
	c->answered = true;
	conn_dirty(c);
}

/* ---- requests ---- */

static void refuse(struct conn *c)
{
	answer_error(&c->out, c->request.status, NULL, c->request.why, NULL, false);
	c->server->totals.refused++;
	c->answering = true;
	c->then = CONN_CLOSE;
	conn_answered(c);
}

/* Bytes from the other side, or that waited. Returns how many are left because a request is under way. */
static size_t feed(struct conn *c, const char *data, size_t len)
{
	while (len && !c->answering && !c->dead) {
		size_t used;
		enum http_result result = http_feed(&c->request, data, len, &used);
		data += used;
		len -= used;
		if (http_begun(&c->request))
			timers_stop(&c->server->timers, &c->idle);
		if (result == HTTP_MORE)
			continue;
		if (result == HTTP_BAD) {
			refuse(c);
			return 0;
		}
		c->answering = true;
		c->arrival_ns = clock_now();
		c->server->totals.requests++;
		c->then = c->request.keep_alive ? CONN_STAY : CONN_CLOSE;
		route(c);
	}
	return c->dead ? 0 : len;
}

static void take(struct conn *c, const char *data, size_t len)
{
	size_t left = feed(c, data, len);
	if (left)
		buffer_append(&c->later, data + len - left, left);
	if (c->later.failed || c->later.len > LATER_LIMIT + (size_t)c->server->options->body_limit) {
		conn_die(c, true);
		return;
	}
	if (http_take_continue(&c->request)) {
		buffer_text(&c->out.bytes, "HTTP/1.1 100 Continue\r\n\r\n");
		conn_dirty(c);
	}
}

static void begin_next(struct conn *c)
{
	struct buffer later = c->later;
	http_next(&c->request);
	c->answering = c->answered = c->unbounded = false;
	c->out.first_content = c->out.last_content = 0;
	c->later = (struct buffer){0};
	begin_idle(c);
	c->idle_ns = c->server->options->keep_alive_ns;
	if (later.len && !c->dead)
		take(c, later.data, later.len);
	buffer_release(&later);
}

static void begin_linger(struct conn *c)
{
	/* A close with unread bytes would be a reset, which could overtake the answer: wait for the other side to close. */
	c->lingering = true;
	shutdown(c->fd, SHUT_WR);
	if (c->eof)
		conn_die(c, false);
	else if (timers_set(&c->server->timers, &c->idle, clock_now() + LINGER_NS) < 0)
		conn_die(c, true);
}

/* Whoever closes while tokens are made for him wants no more of them, as model servers see it; an answer that is ready
 * is sent. */
static void end_of_input(struct conn *c, bool orderly)
{
	if (!orderly || !c->answered || c->lingering) {
		conn_die(c, false);
		return;
	}
	c->eof = true;
	c->then = c->then == CONN_STAY ? CONN_CLOSE : c->then;
	conn_dirty(c);
}

static void read_all(struct conn *c, uint32_t events)
{
	struct server *s = c->server;
	while (!c->dead) {
		ssize_t n = recv(c->fd, s->scratch, sizeof s->scratch, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return;
		if (n <= 0) {
			end_of_input(c, n == 0);
			return;
		}
		if (!c->lingering)
			take(c, s->scratch, (size_t)n);
		/* A short read emptied the socket; the edge comes again, except for an end coming along. */
		if ((size_t)n < sizeof s->scratch && !(events & EPOLLRDHUP))
			return;
	}
}

void conn_event(struct conn *c, uint32_t events)
{
	if (c->dead)
		return;
	if (events & EPOLLOUT && c->blocked) {
		c->blocked = false;
		conn_dirty(c);
	}
	if (events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR))
		read_all(c, events & (EPOLLHUP | EPOLLERR) ? events | EPOLLRDHUP : events);
}

/* ---- sending ---- */

static void all_sent(struct conn *c)
{
	if (!c->answered || c->lingering)
		return;
	if (c->job)
		job_close(c);
	if (c->then == CONN_STAY)
		begin_next(c);
	else if (c->then == CONN_CLOSE)
		begin_linger(c);
	else
		conn_die(c, true);
}

/* False: the socket takes no more for now, or the connection is gone. */
static bool send_some(struct conn *c, struct slice ready, size_t *sent, int64_t *at_ns)
{
	*at_ns = clock_now();
	ssize_t n = send(c->fd, ready.data, ready.len, MSG_NOSIGNAL | MSG_DONTWAIT);
	*sent = n > 0 ? (size_t)n : 0;
	if (n < 0 && errno != EINTR) {
		c->blocked = errno == EAGAIN || errno == EWOULDBLOCK;
		if (!c->blocked)
			conn_die(c, true);
		return false;
	}
	return true;
}

void conn_flush(struct conn *c)
{
	struct outbox *o = &c->out;
	if (o->bytes.failed)
		conn_die(c, true);
	while (!c->dead && !o->corked && !c->holding && !outbox_empty(o)) {
		struct slice ready = outbox_ready(o);
		size_t sent = 0;
		int64_t at_ns = 0;
		if (c->blocked || (ready.len && !send_some(c, ready, &sent, &at_ns)))
			break;
		int64_t wait_ns = outbox_advance(o, sent);
		if (sent && c->job)
			job_sent(c, at_ns);
		if (wait_ns > 0) {
			c->holding = true;
			if (timers_set(&c->server->timers, &c->hold, clock_now() + wait_ns) < 0)
				conn_die(c, true);
		}
	}
	if (!c->dead && c->blocked && !c->unbounded && o->bytes.len - o->sent > (size_t)c->server->options->out_limit) {
		c->server->totals.overrun++;
		conn_die(c, true);
	}
	if (!c->dead && outbox_empty(o) && !c->holding && !o->corked)
		all_sent(c);
}
