#include "run/sender.h"

#include "absent.h"
#include "clock.h"
#include "cli/interrupt.h"
#include "job/event_fd.h"
#include "job/job_list.h"
#include "run/retries.h"
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

#define STARTS_IN_ROW 4 /* before the sockets are polled */
#define EVENTS        256

struct sender {
	struct sender_options o;
	struct sender_counters *counters; /* its own */
	struct transport *transport;
	struct retries retries;
	int epoll_fd, timer_fd, due_fd, wake_fd, signal_fd, feeder_fd;
	int64_t zero_ns;
	int64_t armed_ns; /* the time set in timer_fd; INT64_MAX: none */
	bool ask;         /* there may be something to start */
	bool cancelled;
	int64_t waiting;         /* as last counted in pool_waiting */
	struct job_list backlog; /* while the recorder's queue is full */
	struct sender_result result;
	void (*done)(void *);
	void *done_data;
	pthread_t thread;
};

static int64_t now_of(const struct sender *s)
{
	return clock_now() - s->zero_ns;
}

static void note_loop_lag(struct sender *s, int64_t lag)
{
	delay_histogram_add(&s->o.stats->loop, lag);
}

/* ---- ended requests ---- */

static void drain_backlog(struct sender *s)
{
	while (s->backlog.first && !queue_full(s->o.records))
		queue_put(s->o.records, job_list_take(&s->backlog));
}

static void put_record(struct sender *s, struct job *job)
{
	counter_count(&s->counters->handed_over, 1);
	job_count_memory(job, s->o.transport->memory, s->o.index);
	counter_count(&s->counters->handed_over_bytes, (int64_t)job_bytes(job));
	drain_backlog(s);
	if (s->backlog.first || !queue_put(s->o.records, job))
		job_list_put(&s->backlog, job);
}

static void end_job(struct sender *s, struct job *job)
{
	job_attempts_end(job);
	struct sender_counters *g = s->counters;
	bool failed = job->error != RECORD_HUNG_UP && (job->error != RECORD_OK || job->status < 200 || job->status > 299);
	failed &= !job_broke_within_answer(job); /* the recorder judges it */
	job->unmeasured = !work_sharing_measured(s->o.sharing, job);
	if (job->unmeasured) {
		counter_count(&g->unmeasured_done, 1);
		counter_count(&g->unmeasured_failed, failed);
	}
	counter_count(&g->done, 1);
	counter_count(&g->failed, failed);
	if (job->first && !job_broke_within_answer(job))
		counter_add(failed ? &s->o.counters->first_failed : &s->o.counters->first_other, 1);
	if (job->error < RUN_ERRORS)
		counter_count(&g->failed_by[job->error], failed);
	counter_count(&g->bytes, (int64_t)job->body.len);
	counter_count(&g->reads, (int64_t)job->reads_count);
	job_sent(job, true);
	work_sharing_ended(s->o.sharing, job);
	feeder_answered(s->o.feeder, job);
	put_record(s, job);
}

static bool end_jobs(struct sender *s)
{
	bool some = false;
	for (struct job *job; (job = transport_ended(s->transport)); some = true) {
		if (!s->cancelled && retries_keep(&s->retries, job))
			job_count_memory(job, s->o.transport->memory, s->o.index);
		else
			end_job(s, job);
	}
	s->ask |= some;
	return some;
}

/* The run ends when there is too much in memory, and no answer in flight whose cutting would help. */
static void take_ended(struct sender *s)
{
	struct memory_use *m = s->o.transport->memory;
	while (end_jobs(s)) {
		bool over = m->most && memory_use_staying(m) > m->most;
		if (!atomic_load(&m->full) && (!over || transport_save_memory(s->transport, now_of(s))))
			continue;
		s->result.memory_full = true;
		work_sharing_stop(s->o.sharing, now_of(s));
	}
}

/* ---- starting ---- */

static void send_job(struct sender *s, struct job *job, int64_t now)
{
	counter_count(&s->counters->started, 1);
	job->first = counter_get(&s->o.counters->first_left) > 0 && atomic_fetch_sub(&s->o.counters->first_left, 1) > 0;
	job_count_memory(job, s->o.transport->memory, s->o.index);
	if (!s->cancelled) {
		transport_start(s->transport, job);
		/* it may have ended by now, but is still ours; if it waits for a connection of a pool, we are not late */
		if (job->start_ns != IPF_ABSENT)
			delay_histogram_add(&s->o.stats->lag,
			                    job->start_ns - (job->slot_ns != IPF_ABSENT ? job->slot_ns : job->ready_ns));
		return;
	}
	job->start_ns = job->end_ns = now;
	job_fail(job, RECORD_CANCELLED, "cancelled before it was sent");
	end_job(s, job);
}

/* Flushes jobs after their wait. */
static void start_again(struct sender *s, int64_t now)
{
	for (struct job *job; (job = retries_due(&s->retries, now));) {
		if (job->error == RECORD_OK)
			transport_start(s->transport, job);
		else
			end_job(s, job);
	}
	transport_flush(s->transport);
	take_ended(s);
	s->ask = true;
}

/* ---- events ---- */

static void cancel(struct sender *s, const char *reason)
{
	work_sharing_cancel(s->o.sharing, now_of(s), reason);
}

static void on_signal(struct sender *s)
{
	struct signalfd_siginfo info;
	while (read(s->signal_fd, &info, sizeof info) == (ssize_t)sizeof info) {
		if (!interrupt_is_new())
			continue;
		if (s->result.signals++ == 0)
			work_sharing_stop(s->o.sharing, now_of(s));
		else
			cancel(s, "cancelled: second signal");
	}
}

/* Another thread has changed shared state. */
static void on_wake(struct sender *s)
{
	s->ask = true;
	transport_save_memory(s->transport, now_of(s));
	if (!s->o.index && atomic_load(&s->o.counters->output_gone))
		cancel(s, "record output was closed");
	const char *reason = work_sharing_cancel_reason(s->o.sharing);
	if (!reason)
		return;
	s->cancelled = true;
	transport_cancel(s->transport, now_of(s), reason);
	for (struct job *job; (job = retries_cancel(&s->retries, now_of(s), reason));)
		end_job(s, job);
}

static void on_event(struct sender *s, const struct epoll_event *event, int64_t t)
{
	int fd = (int)(uint32_t)event->data.u64;
	if (event->data.u64 >> 32) {
		transport_event(s->transport, event->data.u64, event->events, t);
	} else if (fd == s->signal_fd) {
		on_signal(s);
	} else {
		event_fd_clear(fd);
		if (fd == s->timer_fd)
			s->armed_ns = INT64_MAX;
		else if (fd == s->wake_fd)
			on_wake(s);
		else
			s->ask = true;
	}
}

/* Before the event `i` is handled, and for i = 1 - TRANSPORT_FORESEE_STEPS up to -1 before the first is. */
static void foresee(struct sender *s, const struct epoll_event *events, int count, int i)
{
	for (int step = 0, at; step < TRANSPORT_FORESEE_STEPS; step++)
		if ((at = i + TRANSPORT_FORESEE_STEPS - 1 - step) >= 0 && at < count && events[at].data.u64 >> 32)
			transport_foresee(s->transport, events[at].data.u64, step);
}

/* Handles an event ready at `woken`, from `t` on. */
static void handle(struct sender *s, const struct epoll_event *event, int64_t woken, int64_t t)
{
	note_loop_lag(s, t - woken);
	on_event(s, event, t);
	transport_flush(s->transport);
	take_ended(s);
}

/* If many requests start at once, the first must not wait for the last: their connections proceed, and their responses
 * must be timed. A request starting later for it is counted as our lateness; a byte waiting on a socket would count as
 * the server's latency. */
static void poll_between_starts(struct sender *s)
{
	struct epoll_event events[EVENTS];
	transport_flush(s->transport);
	int count = epoll_wait(s->epoll_fd, events, EVENTS, 0);
	int64_t woken = count > 0 ? now_of(s) : 0;
	thread_stats_woke(s->o.stats, count);
	for (int i = 0; i < count; i++)
		handle(s, &events[i], woken, i ? now_of(s) : woken);
}

static void start_due(struct sender *s)
{
	do {
		s->ask = false;
		int64_t now = now_of(s);
		unsigned started = 0;
		for (struct job *job; (job = work_sharing_next(s->o.sharing, s->o.index, now));) {
			note_loop_lag(s, now - (job->slot_ns != IPF_ABSENT ? job->slot_ns : job->ready_ns));
			send_job(s, job, now);
			if (++started % STARTS_IN_ROW == 0)
				poll_between_starts(s);
			now = now_of(s);
		}
		transport_flush(s->transport);
		take_ended(s); /* one failing at once frees a slot */
	} while (s->ask);
}

/* Does not move the timer later: if it expires too early, it is set again. */
static void arm_timer(struct sender *s, int64_t wake)
{
	if (wake >= s->armed_ns)
		return;
	int64_t at = wake + s->zero_ns;
	struct itimerspec spec = {.it_value = {.tv_sec = at / NS_PER_S, .tv_nsec = at % NS_PER_S}};
	if (timerfd_settime(s->timer_fd, TFD_TIMER_ABSTIME, &spec, NULL) == 0)
		s->armed_ns = wake;
}

/* When there is something to do, apart from due requests. */
static int64_t next_wake(const struct sender *s)
{
	int64_t wake = transport_deadline(s->transport), grace_end = work_sharing_grace_end(s->o.sharing);
	if (grace_end < wake)
		wake = grace_end;
	if (retries_wake(&s->retries) < wake)
		wake = retries_wake(&s->retries);
	if (s->backlog.first && now_of(s) + 5 * NS_PER_MS < wake)
		wake = now_of(s) + 5 * NS_PER_MS;
	return wake;
}

/* Waits, but does not sleep if a deadline was near a moment ago: later timers expire at once.
 */
static int wait(struct sender *s, struct epoll_event *events, int64_t now)
{
	int64_t wake = next_wake(s), due = work_sharing_wake(s->o.sharing, s->o.index);
	if (wake <= now || due <= now)
		return epoll_wait(s->epoll_fd, events, EVENTS, 0);
	arm_timer(s, wake);
	if (due - s->o.spin_ns > now || !work_sharing_is_own_wake(s->o.sharing, s->o.index))
		return epoll_wait(s->epoll_fd, events, EVENTS, -1);
	int count;
	while ((count = epoll_wait(s->epoll_fd, events, EVENTS, 0)) == 0 && now_of(s) < due)
		;
	return count;
}

/* One round: waits, then handles all ready events. */
static void wait_and_handle(struct sender *s, int64_t now)
{
	struct epoll_event events[EVENTS];
	int count = wait(s, events, now);
	int64_t woken = now_of(s);
	thread_stats_woke(s->o.stats, count);
	for (int i = count > 1 ? 1 - TRANSPORT_FORESEE_STEPS : 0; i < count; i++) {
		foresee(s, events, count, i);
		if (i < 0)
			continue;
		int64_t t = i ? now_of(s) : woken;
		handle(s, &events[i], woken, t);
		if (s->ask || t >= work_sharing_wake(s->o.sharing, s->o.index))
			start_due(s);
	}
}

static void count_waiting(struct sender *s)
{
	int64_t waiting = (int64_t)transport_waiting(s->transport);
	if (waiting != s->waiting)
		counter_set(&s->counters->pool_waiting, waiting);
	s->waiting = waiting;
}

static void *sender_run(void *data)
{
	struct sender *s = data;
	prctl(PR_SET_TIMERSLACK, 1UL);
	int64_t thread = thread_number();
	counter_set(&s->o.stats->thread, thread);
	thread_priority_set(THREAD_PRIORITY_SEND);
	s->ask = true;
	while (!work_sharing_over(s->o.sharing) || s->backlog.first) {
		drain_backlog(s);
		int64_t now = now_of(s);
		if (s->ask || now >= work_sharing_wake(s->o.sharing, s->o.index))
			start_due(s);
		if (transport_deadline(s->transport) <= now) {
			transport_expire(s->transport, now);
			take_ended(s);
		}
		if (retries_wake(&s->retries) <= now)
			start_again(s, now);
		if (now >= work_sharing_grace_end(s->o.sharing))
			cancel(s, "cancelled: grace period expired");
		count_waiting(s);
		transport_flush(s->transport);
		take_ended(s);
		if (!s->ask && (!work_sharing_over(s->o.sharing) || s->backlog.first))
			wait_and_handle(s, now);
	}
	counter_set(&s->o.stats->cpu_ns, clock_cpu_thread());
	s->done(s->done_data);
	return NULL;
}

/* ---- opening and closing ---- */

static int listen_to(struct sender *s, int fd)
{
	struct epoll_event event = {.events = EPOLLIN, .data.u64 = (uint32_t)fd};
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
	                     .counters = &options->counters->senders[options->index],
	                     .retries = {.rule = options->retry, .transport = options->transport},
	                     .armed_ns = INT64_MAX,
	                     .due_fd = work_sharing_due_fd(options->sharing, options->index),
	                     .wake_fd = work_sharing_wake_fd(options->sharing, options->index),
	                     .signal_fd = first ? options->signal_fd : -1,
	                     .feeder_fd = first ? feeder_wake_fd(options->feeder) : -1};
	s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	s->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (s->epoll_fd < 0) {
		ipf_error_errno(err, errno, NULL, "cannot set up the event loop");
		goto out;
	}
	s->o.transport->memory->wake_fd[s->o.index] = s->wake_fd;
	if (transport_open(&s->transport, options->endpoint, options->transport, s->epoll_fd, options->stats, err) < 0 ||
	    (options->transport->connections.open_ahead && transport_open_ahead(s->transport, err) < 0))
		goto out;
	if (listen_to(s, s->timer_fd) < 0 || listen_to(s, s->due_fd) < 0 || listen_to(s, s->wake_fd) < 0 ||
	    (first && (listen_to(s, s->signal_fd) < 0 || listen_to(s, s->feeder_fd) < 0))) {
		ipf_error_errno(err, errno, NULL, "cannot set up the event loop");
		goto out;
	}
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
	retries_release(&s->retries);
	const int fds[] = {s->epoll_fd, s->timer_fd};
	for (size_t i = 0; i < 2; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	free(s);
}
