#include "server.h"

#include "clock.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define BACKLOG 4096
#define EVENTS  256
#define ACCEPTS 64 /* in one turn of the loop */

/* ---- opening ---- */

static int listen_on(struct server *s, int port, bool all_addresses, struct ipf_error *err)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
	                              .sin_port = htons((uint16_t)port),
	                              .sin_addr.s_addr = htonl(all_addresses ? INADDR_ANY : INADDR_LOOPBACK)};
	int on = 1;
	s->listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (s->listen_fd < 0)
		return ipf_error_errno(err, errno, NULL, "socket");
	setsockopt(s->listen_fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (bind(s->listen_fd, (struct sockaddr *)&address, sizeof address) < 0)
		return ipf_error_errno(err, errno, NULL, "port %d", port);
	if (listen(s->listen_fd, BACKLOG) < 0)
		return ipf_error_errno(err, errno, NULL, "listen");
	return 0;
}

/* The descriptors of the server itself are told from connections by the address of where they stand. */
static int watch(struct server *s, int *fd, uint32_t events, struct ipf_error *err)
{
	struct epoll_event event = {.events = events, .data.ptr = fd};
	if (*fd < 0 || epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, *fd, &event) < 0)
		return ipf_error_errno(err, errno, NULL, "epoll");
	return 0;
}

static int open_signals(struct server *s)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	s->signal_fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	return s->signal_fd;
}

static void time_is_over(struct timer *timer, void *data)
{
	struct server *s = data;
	(void)timer;
	s->stop = true;
}

/* The loop looks at everything when it wakes. */
static void wake_up(struct timer *timer, void *data)
{
	(void)timer;
	(void)data;
}

static void accept_again(struct timer *timer, void *data)
{
	struct server *s = data;
	struct ipf_error err = {0};
	(void)timer;
	if (watch(s, &s->listen_fd, EPOLLIN, &err) < 0)
		s->stop = true;
}

static void step_begins(const struct batching_step *step, void *data)
{
	struct server *s = data;
	if (s->gpus)
		gpus_step(s->gpus, step, step->replicas);
}

int server_open(struct server **server, const struct server_options *options, struct ipf_error *err)
{
	struct server *s = calloc(1, sizeof *s);
	*server = NULL;
	if (!s)
		return ipf_error_errno(err, ENOMEM, NULL, "server");
	s->options = options;
	s->dirty_end = &s->dirty;
	s->begin_ns = clock_now();
	s->limit = options->limit;
	s->begin_wall_ns = clock_wall();
	metrics_init(&s->metrics, options->model_len);
	s->listen_fd = s->signal_fd = s->timer_fd = -1;
	s->end = (struct timer){.fire = time_is_over, .data = s};
	s->scale = (struct timer){.fire = wake_up, .data = s};
	s->again = (struct timer){.fire = accept_again, .data = s};
	s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	s->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	open_signals(s);
	if (batching_open(&s->engine, &options->engine, err) < 0 ||
	    listen_on(s, options->port, options->all_addresses, err) < 0 || watch(s, &s->listen_fd, EPOLLIN, err) < 0 ||
	    watch(s, &s->timer_fd, EPOLLIN, err) < 0 || watch(s, &s->signal_fd, EPOLLIN, err) < 0) {
		server_close(s);
		return -1;
	}
	if (options->gpu.count && !(s->gpus = gpus_new(&options->gpu, options->replicas.most, s->begin_ns))) {
		server_close(s);
		return ipf_error_errno(err, ENOMEM, NULL, "devices");
	}
	batching_watch(s->engine, step_begins, s);
	replicas_init(&s->replicas, &options->replicas);
	batching_set_replicas(s->engine, s->replicas.ready);
	if (options->max_time_ns)
		timers_set(&s->timers, &s->end, s->begin_ns + options->max_time_ns);
	*server = s;
	return 0;
}

int server_port(const struct server *s)
{
	struct sockaddr_in address;
	socklen_t len = sizeof address;
	return getsockname(s->listen_fd, (struct sockaddr *)&address, &len) < 0 ? -1 : ntohs(address.sin_port);
}

/* ---- running ---- */

static void adopt(struct server *s, int fd)
{
	int on = 1;
	struct conn *c = conn_open(s, fd);
	if (!c) {
		close(fd);
		return;
	}
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	s->totals.connections++;
	struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.ptr = c};
	/* Without an event for it, its idle timer closes it. */
	epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, fd, &event);
}

static void accept_some(struct server *s)
{
	for (int i = 0; i < ACCEPTS; i++) {
		int fd = accept4(s->listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd >= 0) {
			adopt(s, fd);
			continue;
		}
		if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
			/* Let the others wait in the backlog for a moment, rather than spin. */
			epoll_ctl(s->epoll_fd, EPOLL_CTL_DEL, s->listen_fd, NULL);
			timers_set(&s->timers, &s->again, clock_now() + 50 * NS_PER_MS);
			s->totals.starved++;
		}
		if (errno != EINTR && errno != ECONNABORTED)
			return;
	}
}

static void handle(struct server *s, const struct epoll_event *event)
{
	uint64_t ticks;
	if (event->data.ptr == &s->listen_fd)
		accept_some(s);
	else if (event->data.ptr == &s->signal_fd)
		s->stop = true;
	else if (event->data.ptr == &s->timer_fd)
		(void)!read(s->timer_fd, &ticks, sizeof ticks);
	else
		conn_event(event->data.ptr, event->events);
}

static void flush_all(struct server *s)
{
	while (s->dirty) {
		struct conn *c = s->dirty;
		s->dirty = c->next_dirty;
		if (!s->dirty)
			s->dirty_end = &s->dirty;
		c->dirty = false;
		if (!c->dead)
			conn_flush(c);
	}
}

static void bury_dead(struct server *s)
{
	while (s->dead) {
		struct conn *c = s->dead;
		s->dead = c->next_dead;
		conn_free(c);
	}
}

static void set_alarm(struct server *s, int64_t *set_ns)
{
	int64_t next_ns = timers_next(&s->timers), step_ns = batching_deadline(s->engine);
	if (step_ns < next_ns)
		next_ns = step_ns;
	if (next_ns == *set_ns)
		return;
	*set_ns = next_ns;
	struct itimerspec when = {0};
	if (next_ns < INT64_MAX) {
		when.it_value.tv_sec = next_ns / NS_PER_S;
		when.it_value.tv_nsec = next_ns % NS_PER_S;
	}
	timerfd_settime(s->timer_fd, TFD_TIMER_ABSTIME, &when, NULL);
}

/* Ends the step whose time has come. */
static bool finish_step(struct server *s, int64_t now_ns)
{
	struct batching_counts before = batching_counts(s->engine);
	if (!batching_finish(s->engine, now_ns, job_token, s))
		return false;
	struct batching_counts after = batching_counts(s->engine);
	int64_t tokens = after.prompt_tokens - before.prompt_tokens + after.output_tokens - before.output_tokens;
	if (tokens)
		metrics_add(&s->metrics, &s->metrics.iteration, (double)tokens);
	jobs_left(s, false);
	return true;
}

/* The autoscaler sees the load as it is now. */
static void scale(struct server *s, int64_t now_ns)
{
	if (s->options->replicas.least == s->options->replicas.most)
		return;
	struct batching_counts counts = batching_counts(s->engine);
	if (replicas_update(&s->replicas, counts.running, counts.waiting, now_ns))
		batching_set_replicas(s->engine, s->replicas.ready);
	int64_t next_ns = replicas_deadline(&s->replicas);
	if (next_ns == INT64_MAX)
		timers_stop(&s->timers, &s->scale);
	else if (!s->scale.place || s->scale.at_ns != next_ns)
		timers_set(&s->timers, &s->scale, next_ns);
}

void server_catch_up(struct server *s, int64_t now_ns)
{
	while (finish_step(s, now_ns))
		;
	scale(s, now_ns);
}

struct adapter_names {
	const struct server_options *options;
	struct buffer *running, *waiting;
};

static bool has_name(const struct buffer *list, const char *name)
{
	size_t len = strlen(name);
	for (const char *at = list->len ? list->data : NULL; at; at = strchr(at, ',')) {
		at += *at == ',';
		if (strncmp(at, name, len) == 0 && (at[len] == ',' || at[len] == '\0'))
			return true;
	}
	return false;
}

static void note_adapter(const struct sequence *sequence, void *data)
{
	struct adapter_names *names = data;
	const char *model = job_model(sequence);
	struct buffer *list = sequence->state == SEQUENCE_RUNNING ? names->running : names->waiting;
	for (size_t i = 0; i < names->options->adapter_count; i++)
		if (strcmp(names->options->adapters[i], model) == 0 && !has_name(list, model))
			buffer_format(list, list->len ? ",%s" : "%s", model);
}

struct metrics_view server_metrics(struct server *s, struct buffer *running, struct buffer *waiting)
{
	server_catch_up(s, clock_now());
	struct adapter_names names = {s->options, running, waiting};
	if (s->options->adapter_count)
		batching_visit(s->engine, note_adapter, &names);
	struct metrics_view view = {.metrics = &s->metrics,
	                            .counts = batching_counts(s->engine),
	                            .model = server_model(s->options, 0),
	                            .replicas = s->replicas.ready,
	                            .max_batch = s->options->engine.max_batch * s->replicas.ready,
	                            .kv_blocks = s->options->engine.kv_blocks * s->replicas.ready,
	                            .begin_unix_s = (double)s->begin_wall_ns / (double)NS_PER_S,
	                            .now_unix_s = (double)clock_wall() / (double)NS_PER_S,
	                            .tiers = batching_has_tiers(&s->options->engine),
	                            .spec_tokens = s->options->engine.spec.tokens,
	                            .adapters = (int64_t)s->options->adapter_count,
	                            .running_adapters = running->len ? running->data : "",
	                            .waiting_adapters = waiting->len ? waiting->data : ""};
	view.step = batching_current_step(s->engine, &view.stepping);
	return view;
}

int server_run(struct server *s, struct ipf_error *err)
{
	struct epoll_event events[EVENTS];
	int64_t alarm_ns = INT64_MAX;
	while (!s->stop) {
		set_alarm(s, &alarm_ns);
		int n = epoll_wait(s->epoll_fd, events, EVENTS, -1);
		if (n < 0 && errno != EINTR)
			return ipf_error_errno(err, errno, NULL, "epoll_wait");
		for (int i = 0; i < n; i++)
			handle(s, &events[i]);
		int64_t now_ns = clock_now();
		if (alarm_ns <= now_ns)
			alarm_ns = INT64_MIN; /* it went off, or will: it has to be set anew */
		timers_run(&s->timers, now_ns);
		finish_step(s, now_ns);
		scale(s, now_ns);
		batching_start(s->engine, now_ns);
		flush_all(s);
		bury_dead(s);
	}
	return s->log_errno ? ipf_error_errno(err, s->log_errno, NULL, "the log") : 0;
}

void server_close(struct server *s)
{
	if (!s)
		return;
	while (s->conns)
		conn_close(s->conns);
	bury_dead(s);
	jobs_left(s, true);
	const int fds[] = {s->epoll_fd, s->listen_fd, s->timer_fd, s->signal_fd};
	for (size_t i = 0; i < sizeof fds / sizeof *fds; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	timers_release(&s->timers);
	batching_close(s->engine);
	gpus_free(s->gpus);
	free(s);
}
