#include "run/sender.h"

#include "absent.h"
#include "clock.h"
#include "http/curl_memory.h"
#include "cli/interrupt.h"
#include "job/job.h"
#include "run/thread_priority.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define GLANCE 4 /* starts in a row, before a look at the sockets */
#define EVENTS 256

struct sender {
	struct sender_options o;
	struct transport *transport;
	int epoll_fd, timer_fd, due_fd, call_fd, signal_fd, feeder_fd;
	int64_t zero_ns;
	int64_t armed_ns; /* what timer_fd was set to; INT64_MAX: nothing */
	bool look;        /* the agenda may have something */
	bool cut;
	int64_t waiting;                    /* what it last said of its pool */
	struct job *backlog, *backlog_last; /* the recorder's queue was full */
	struct sender_result result;
	void (*done)(void *);
	void *done_data;
	pthread_t thread;
};

static int64_t now_of(const struct sender *s)
{
	return clock_now() - s->zero_ns;
}

static void empty(int fd)
{
	uint64_t count;
	while (read(fd, &count, sizeof count) < 0 && errno == EINTR)
		;
}

static void note_lag(struct sender *s, int64_t lag)
{
	delay_histogram_add(&s->o.meter->loop, lag);
}

/* ---- what has ended ---- */

static void drain_backlog(struct sender *s)
{
	while (s->backlog) {
		struct job *next = s->backlog->next; /* once put, it is the recorder's */
		if (!queue_put(s->o.records, s->backlog))
			return;
		s->backlog = next;
	}
}

static void put_record(struct sender *s, struct job *job)
{
	struct run_counters *g = s->o.gauges;
	gauge_add(&g->unrecorded, 1);
	gauge_add(&g->unrecorded_bytes, (int64_t)job_bytes(job));
	drain_backlog(s);
	if (!s->backlog && queue_put(s->o.records, job))
		return;
	job->next = NULL;
	*(s->backlog ? &s->backlog_last->next : &s->backlog) = job;
	s->backlog_last = job;
}

static void end_job(struct sender *s, struct job *job)
{
	struct run_counters *g = s->o.gauges;
	bool failed = job->error != RECORD_HUNG_UP && (job->error != RECORD_OK || job->status < 200 || job->status > 299);
	if (!work_sharing_measured(s->o.agenda, job)) {
		gauge_add(&g->unmeasured_done, 1);
		gauge_add(&g->unmeasured_failed, failed);
	}
	gauge_add(&g->done, 1);
	gauge_add(&g->failed, failed);
	gauge_add(&g->bytes, (int64_t)job->body.len);
	gauge_add(&g->reads, (int64_t)job->reads_count);
	job_sent(job);
	work_sharing_ended(s->o.agenda, job);
	feeder_answered(s->o.feeder, job);
	put_record(s, job);
}

static void take_ended(struct sender *s)
{
	bool some = false;
	for (struct job *job; (job = transport_ended(s->transport)); some = true)
		end_job(s, job);
	s->look |= some;
	if (some && s->o.memory_bytes && gauge_get(&s->o.gauges->unrecorded_bytes) > s->o.memory_bytes) {
		s->result.memory_full = true;
		work_sharing_stop(s->o.agenda, now_of(s));
	}
}

/* ---- what is to be started ---- */

static void send_job(struct sender *s, struct job *job, int64_t now)
{
	gauge_add(&s->o.gauges->started, 1);
	if (!s->cut) {
		transport_start(s->transport, job);
		/* it may have ended by now, but is not gone; one that waits for a connection of a pool is not late by us */
		if (job->start_ns != IPF_ABSENT)
			delay_histogram_add(&s->o.meter->lag,
			                    job->start_ns - (job->slot_ns != IPF_ABSENT ? job->slot_ns : job->ready_ns));
		return;
	}
	job->start_ns = job->end_ns = now;
	job->error = RECORD_CANCELLED;
	snprintf(job->error_text, sizeof job->error_text, "cut before it was sent");
	end_job(s, job);
}

/* ---- events ---- */

static void cut(struct sender *s, const char *why)
{
	work_sharing_cut(s->o.agenda, now_of(s), why);
}

static void on_signal(struct sender *s)
{
	struct signalfd_siginfo info;
	while (read(s->signal_fd, &info, sizeof info) == (ssize_t)sizeof info) {
		if (!interrupt_is_new())
			continue;
		if (s->result.signals++ == 0)
			work_sharing_stop(s->o.agenda, now_of(s));
		else
			cut(s, "cut at the second signal");
	}
}

/* Somebody else has changed what the agenda says. */
static void on_call(struct sender *s)
{
	s->look = true;
	if (!s->o.index && atomic_load(&s->o.gauges->output_gone))
		cut(s, "nobody takes the records");
	const char *why = work_sharing_cut_why(s->o.agenda);
	if (!why)
		return;
	s->cut = true;
	transport_cancel(s->transport, now_of(s), why);
}

static void on_event(struct sender *s, const struct epoll_event *event, int64_t t)
{
	int fd = event->data.fd;
	if (fd != s->timer_fd && fd != s->due_fd && fd != s->call_fd && fd != s->feeder_fd && fd != s->signal_fd) {
		transport_event(s->transport, fd, event->events, t, t);
	} else if (fd == s->signal_fd) {
		on_signal(s);
	} else {
		empty(fd);
		if (fd == s->timer_fd)
			s->armed_ns = INT64_MAX;
		else if (fd == s->call_fd)
			on_call(s);
		else
			s->look = true;
	}
}

/* One that was ready when we woke; when its turn came. */
static int64_t handle(struct sender *s, const struct epoll_event *event, int64_t woken)
{
	int64_t t = now_of(s);
	note_lag(s, t - woken);
	on_event(s, event, t);
	take_ended(s);
	return t;
}

/* Of many that start at once, the first must not wait until the last has: they have connections to go on with, and
 * answers to be noted. That a later one starts later for it is seen, and counts as our lateness; what waits on a socket
 * would count as the server's. */
static void glance(struct sender *s)
{
	struct epoll_event events[EVENTS];
	int count = epoll_wait(s->epoll_fd, events, EVENTS, 0);
	int64_t woken = count > 0 ? now_of(s) : 0;
	thread_stats_woke(s->o.meter, count);
	for (int i = 0; i < count; i++)
		handle(s, &events[i], woken);
}

static void start_due(struct sender *s)
{
	do {
		s->look = false;
		int64_t now = now_of(s);
		unsigned started = 0;
		for (struct job *job; (job = work_sharing_next(s->o.agenda, s->o.index, now));) {
			note_lag(s, now - (job->slot_ns != IPF_ABSENT ? job->slot_ns : job->ready_ns));
			send_job(s, job, now);
			if (++started % GLANCE == 0)
				glance(s);
			now = now_of(s);
		}
		take_ended(s); /* one that fails at once frees a slot */
	} while (s->look);
}

/* The timer may go off too early, then it is set again; so it is not set for what has become later. */
static void arm(struct sender *s, int64_t wake)
{
	if (wake >= s->armed_ns)
		return;
	int64_t at = wake + s->zero_ns;
	struct itimerspec spec = {.it_value = {.tv_sec = at / NS_PER_S, .tv_nsec = at % NS_PER_S}};
	if (timerfd_settime(s->timer_fd, TFD_TIMER_ABSTIME, &spec, NULL) == 0)
		s->armed_ns = wake;
}

/* When there is something to do, due requests apart. */
static int64_t next_wake(const struct sender *s)
{
	int64_t wake = transport_deadline(s->transport), grace_end = work_sharing_grace_end(s->o.agenda);
	if (grace_end < wake)
		wake = grace_end;
	if (s->backlog && now_of(s) + 5 * NS_PER_MS < wake)
		wake = now_of(s) + 5 * NS_PER_MS;
	return wake;
}

/* Waits, but does not sleep where a deadline is near. */
static int wait(struct sender *s, struct epoll_event *events)
{
	int64_t wake = next_wake(s), due = work_sharing_wake(s->o.agenda, s->o.index), now = now_of(s);
	/* in the time left before the next deadline */
	bool more = due > now + NS_PER_MS && transport_prepare(s->transport, s->o.spares);
	if (wake <= now || due <= now || more)
		return epoll_wait(s->epoll_fd, events, EVENTS, 0);
	arm(s, wake);
	if (due - s->o.spin_ns > now || !work_sharing_own(s->o.agenda, s->o.index))
		return epoll_wait(s->epoll_fd, events, EVENTS, -1);
	int count;
	while ((count = epoll_wait(s->epoll_fd, events, EVENTS, 0)) == 0 && now_of(s) < due)
		;
	return count;
}

/* One round: wait, then everything that became ready. */
static void wait_and_handle(struct sender *s)
{
	struct epoll_event events[EVENTS];
	int count = wait(s, events);
	int64_t woken = now_of(s);
	thread_stats_woke(s->o.meter, count);
	for (int i = 0; i < count; i++) {
		int64_t t = handle(s, &events[i], woken);
		if (s->look || t >= work_sharing_wake(s->o.agenda, s->o.index))
			start_due(s);
	}
}

static void tell_waiting(struct sender *s)
{
	int64_t waiting = (int64_t)transport_waiting(s->transport);
	if (waiting != s->waiting)
		gauge_add(&s->o.gauges->pool_waiting, waiting - s->waiting);
	s->waiting = waiting;
}

static void *sender_run(void *data)
{
	struct sender *s = data;
	prctl(PR_SET_TIMERSLACK, 1UL);
	int64_t thread = thread_number();
	gauge_set(&s->o.meter->thread, thread);
	thread_priority_take(thread, THREAD_PRIORITY_SEND);
	s->look = true;
	while (!work_sharing_over(s->o.agenda) || s->backlog) {
		drain_backlog(s);
		int64_t now = now_of(s);
		if (s->look || now >= work_sharing_wake(s->o.agenda, s->o.index))
			start_due(s);
		if (transport_deadline(s->transport) <= now) {
			transport_expire(s->transport, now);
			take_ended(s);
		}
		if (now >= work_sharing_grace_end(s->o.agenda))
			cut(s, "cut at the end of the time of grace");
		tell_waiting(s);
		if (!s->look && (!work_sharing_over(s->o.agenda) || s->backlog))
			wait_and_handle(s);
	}
	gauge_set(&s->o.meter->cpu_ns, clock_cpu_thread());
	curl_memory_drain();
	s->done(s->done_data);
	return NULL;
}

/* ---- opening and closing ---- */

static int listen_to(struct sender *s, int fd)
{
	struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
	return fd < 0 ? -1 : epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, fd, &event);
}

int sender_open(struct sender **sender, const struct sender_options *options, struct ipf_error *err)
{
	*sender = NULL;
	struct sender *s = calloc(1, sizeof *s);
	if (!s)
		return ipf_error_memory(err);
	bool first = !options->index;
	*s = (struct sender){.o = *options,
	                     .armed_ns = INT64_MAX,
	                     .due_fd = work_sharing_due_fd(options->agenda, options->index),
	                     .call_fd = work_sharing_call_fd(options->agenda, options->index),
	                     .signal_fd = first ? options->signal_fd : -1,
	                     .feeder_fd = first ? feeder_wake_fd(options->feeder) : -1};
	s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	s->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (s->epoll_fd < 0 || listen_to(s, s->timer_fd) < 0 || listen_to(s, s->due_fd) < 0 ||
	    listen_to(s, s->call_fd) < 0 || (first && (listen_to(s, s->signal_fd) < 0 || listen_to(s, s->feeder_fd) < 0))) {
		ipf_error_errno(err, errno, NULL, "cannot set up the event loop");
		goto out;
	}
	if (transport_open(&s->transport, options->target, options->transport, s->epoll_fd, options->meter, err) < 0)
		goto out;
	while (transport_prepare(s->transport, s->o.spares))
		;
	*sender = s;
	return 0;
out:
	sender_close(s);
	return -1;
}

int sender_begin(struct sender *s, int64_t zero_ns, void (*done)(void *), void *data, struct ipf_error *err)
{
	s->zero_ns = zero_ns;
	s->done = done;
	s->done_data = data;
	transport_zero(s->transport, zero_ns);
	int why = pthread_create(&s->thread, NULL, sender_run, s);
	return why ? ipf_error_errno(err, why, NULL, "cannot start the sending thread") : 0;
}

pthread_t sender_thread(const struct sender *s)
{
	return s->thread;
}

void sender_finish(struct sender *s, struct sender_result *result)
{
	pthread_join(s->thread, NULL);
	*result = s->result;
}

void sender_close(struct sender *s)
{
	if (!s)
		return;
	transport_close(s->transport);
	const int fds[] = {s->epoll_fd, s->timer_fd};
	for (size_t i = 0; i < 2; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	free(s);
}
