#include "engine.h"

#include "clock.h"
#include "dispatch.h"
#include "interrupt.h"
#include "job.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define EVENTS 256
#define SPARES 64   /* handles ready ahead */
#define SPARES_MOST 1024

struct engine {
	struct engine_options o;
	struct dispatch *dispatch;
	struct transport *transport;
	int epoll_fd, timer_fd, wake_fd, done_fd;
	int64_t zero_ns, armed_ns;
	bool *lane_ended;
	size_t lanes, spares;
	bool cut;
	int64_t grace_end_ns;            /* INT64_MAX: not stopping */
	struct job *backlog, *backlog_last; /* the recorder's queue was full */
	struct job *unrendered;          /* to be started, as soon as their bodies are there */
	struct job *doomed;              /* dropped, but the feeder may be at work on them */
	struct engine_result result;
	pthread_t thread;
	bool running;
};

static int64_t now_of(const struct engine *e)
{
	return clock_now() - e->zero_ns;
}

static void empty(int fd)
{
	uint64_t count;
	while (read(fd, &count, sizeof count) < 0 && errno == EINTR)
		;
}

static void note_lag(struct engine *e, int64_t lag)
{
	spread_add(&e->o.meter->loop, lag);
}

/* ---- what has ended ---- */

static void drain_backlog(struct engine *e)
{
	while (e->backlog) {
		struct job *next = e->backlog->next; /* once put, it is the recorder's */
		if (!queue_put(e->o.records, e->backlog))
			return;
		e->backlog = next;
	}
}

static void put_record(struct engine *e, struct job *job)
{
	struct gauges *g = e->o.gauges;
	gauge_add(&g->unrecorded, 1);
	gauge_add(&g->unrecorded_bytes, (int64_t)job_bytes(job));
	drain_backlog(e);
	if (!e->backlog && queue_put(e->o.records, job))
		return;
	job->next = NULL;
	*(e->backlog ? &e->backlog_last->next : &e->backlog) = job;
	e->backlog_last = job;
}

static void stop(struct engine *e, int64_t now)
{
	if (e->grace_end_ns != INT64_MAX)
		return;
	dispatch_stop(e->dispatch);
	e->grace_end_ns = now + e->o.grace_ns;
}

static void end_job(struct engine *e, struct job *job)
{
	struct gauges *g = e->o.gauges;
	gauge_add(&g->done, 1);
	gauge_add(&g->failed, job->error != RECORD_HUNG_UP && (job->error != RECORD_OK || job->status < 200 || job->status > 299));
	gauge_add(&g->bytes, (int64_t)job->body.len);
	gauge_add(&g->reads, (int64_t)job->reads_count);
	dispatch_ended(e->dispatch, job->ticket, job->end_ns);
	feeder_answered(e->o.feeder, job);
	put_record(e, job);
}

static bool take_ended(struct engine *e)
{
	bool some = false;
	for (struct job *job; (job = transport_ended(e->transport)); some = true)
		end_job(e, job);
	if (some && e->o.memory_bytes && gauge_get(&e->o.gauges->unrecorded_bytes) > e->o.memory_bytes) {
		e->result.memory_full = true;
		stop(e, now_of(e));
	}
	return some;
}

/* ---- what is to be started ---- */

/* Followers whose turn comes next, once those before them have ended: their bodies are rendered meanwhile. */
static void order_upcoming(struct engine *e)
{
	for (struct job *job; (job = dispatch_upcoming(e->dispatch));)
		job->ordered = job->deferred && feeder_order(e->o.feeder, job);
}

static void add_job(struct engine *e, struct job *job, int64_t now)
{
	if (dispatch_add(e->dispatch, &job->arrival, job, &e->result.error) == 0) {
		order_upcoming(e);
		return;
	}
	job_free(job);
	stop(e, now);
}

static void fetch(struct engine *e, int64_t now)
{
	for (size_t i = 0; i < e->lanes; i++) {
		int64_t stage = plan_lane_stage(e->o.plan, i);
		while (!e->lane_ended[i] && dispatch_wants(e->dispatch, stage, now)) {
			struct job *job = feeder_fetch(e->o.feeder, i, &e->lane_ended[i]);
			if (!job)
				break;
			add_job(e, job, now);
		}
		if (i == 0 && e->lane_ended[0])
			dispatch_finish(e->dispatch);
	}
}

static void send_job(struct engine *e, struct job *job, int64_t now)
{
	gauge_add(&e->o.gauges->started, 1);
	if (!e->cut) {
		transport_start(e->transport, job);
		/* it may have ended by now, but is not gone; one that waits for a connection of a pool is not late by us */
		if (job->start_ns != IPF_ABSENT)
			spread_add(&e->o.meter->lag, job->start_ns - (job->slot_ns != IPF_ABSENT ? job->slot_ns : job->ready_ns));
		return;
	}
	job->start_ns = job->end_ns = now;
	job->error = RECORD_CANCELLED;
	snprintf(job->error_text, sizeof job->error_text, "cut before it was sent");
	end_job(e, job);
}

/* Those whose bodies were not there in time. */
static void start_rendered(struct engine *e)
{
	for (struct job **at = &e->unrendered, *job; (job = *at);) {
		job->ordered = job->ordered || feeder_order(e->o.feeder, job);
		if (!feeder_rendered(e->o.feeder, job)) {
			at = &job->next;
			continue;
		}
		*at = job->next;
		send_job(e, job, now_of(e));
	}
}

static void start(struct engine *e, struct job *job, int64_t now)
{
	if (!job->deferred || feeder_rendered(e->o.feeder, job)) {
		send_job(e, job, now);
		return;
	}
	meter_count(&e->o.meter->unrendered, 1);
	job->next = e->unrendered;
	e->unrendered = job;
}

static void drop_job(struct engine *e, struct job *job)
{
	/* a stage that goes round had more ready than it came to need */
	e->result.unstarted += !plan_schedule(e->o.plan)->stages[job->arrival.stage].cycle;
	if (job->ordered && !atomic_load(&job->rendered)) {
		job->next = e->doomed;
		e->doomed = job;
	} else {
		job_free(job);
	}
}

static void start_due(struct engine *e, int64_t now)
{
	struct dispatch_start s;
	bool some = false;
	do {
		while (dispatch_next(e->dispatch, now, &s)) {
			struct job *job = s.data;
			job->ticket = s.ticket;
			job->due_ns = s.due_ns;
			job->ready_ns = s.ready_ns;
			job->slot_ns = s.slot_ns;
			note_lag(e, now - (s.slot_ns != IPF_ABSENT ? s.slot_ns : s.ready_ns));
			order_upcoming(e);
			start(e, job, now);
			some = true;
			now = now_of(e);
		}
	} while (take_ended(e)); /* one that fails at once frees a slot */
	for (struct job *job; (job = dispatch_dropped(e->dispatch));)
		drop_job(e, job);
	if (some)
		fetch(e, now);
	gauge_set(&e->o.gauges->in_flight, dispatch_in_flight(e->dispatch));
	gauge_set(&e->o.gauges->waiting, dispatch_waiting(e->dispatch) + (int64_t)transport_waiting(e->transport));
}

/* ---- events ---- */

static void cut(struct engine *e, const char *why)
{
	e->cut = true;
	stop(e, now_of(e));
	transport_cancel(e->transport, now_of(e), why);
}

static void on_signal(struct engine *e)
{
	struct signalfd_siginfo info;
	while (read(e->o.signal_fd, &info, sizeof info) == (ssize_t)sizeof info) {
		if (!interrupt_counts((int)info.ssi_signo))
			continue;
		if (e->result.signals++ == 0)
			stop(e, now_of(e));
		else
			cut(e, "cut at the second signal");
	}
}

static void on_event(struct engine *e, const struct epoll_event *event, int64_t t)
{
	int fd = event->data.fd;
	if (fd == e->timer_fd) {
		empty(fd);
		e->armed_ns = INT64_MAX;
	} else if (fd == e->o.signal_fd) {
		on_signal(e);
	} else if (fd == e->wake_fd) {
		empty(fd);
		if (atomic_load(&e->o.gauges->output_gone))
			cut(e, "nobody takes the records");
	} else if (fd == feeder_wake_fd(e->o.feeder)) {
		empty(fd);
		start_rendered(e);
		fetch(e, t);
	} else {
		transport_event(e->transport, fd, event->events, t, t);
	}
}

/* The timer is told only what is new. */
static void arm(struct engine *e, int64_t wake)
{
	if (wake == e->armed_ns || wake == INT64_MAX)
		return;
	int64_t at = wake + e->zero_ns;
	struct itimerspec spec = {.it_value = {.tv_sec = at / NS_PER_S, .tv_nsec = at % NS_PER_S}};
	if (timerfd_settime(e->timer_fd, TFD_TIMER_ABSTIME, &spec, NULL) == 0)
		e->armed_ns = wake;
}

static int64_t next_wake(const struct engine *e)
{
	int64_t wake = dispatch_wake(e->dispatch), deadline = transport_deadline(e->transport);
	if (deadline < wake)
		wake = deadline;
	if (!e->cut && e->grace_end_ns < wake)
		wake = e->grace_end_ns;
	if (e->backlog && now_of(e) + 5 * NS_PER_MS < wake)
		wake = now_of(e) + 5 * NS_PER_MS;
	return wake;
}

/* One round: wait, then everything that became ready. */
static void wait_and_handle(struct engine *e)
{
	struct epoll_event events[EVENTS];
	int64_t wake = next_wake(e), now = now_of(e);
	/* in the time left before the next deadline */
	bool more = wake > now + NS_PER_MS && transport_prepare(e->transport, e->spares);
	if (wake > now)
		arm(e, wake);
	int count = epoll_wait(e->epoll_fd, events, EVENTS, wake <= now || more ? 0 : -1);
	int64_t woken = now_of(e);
	meter_woke(e->o.meter, count);
	for (int i = 0; i < count; i++) {
		int64_t t = now_of(e);
		note_lag(e, t - woken);
		on_event(e, &events[i], t);
		if (take_ended(e) || t >= wake) {
			start_due(e, now_of(e));
			wake = dispatch_wake(e->dispatch);
		}
	}
}

static void *engine_run(void *data)
{
	struct engine *e = data;
	prctl(PR_SET_TIMERSLACK, 1UL);
	/* before others where processors are short and we may; it is no matter if not */
	int64_t thread = thread_number();
	gauge_set(&e->o.meter->thread, thread);
	setpriority(PRIO_PROCESS, (id_t)thread, -10);
	while (!dispatch_done(e->dispatch) || e->backlog) {
		int64_t now = now_of(e);
		drain_backlog(e);
		start_rendered(e);
		fetch(e, now);
		start_due(e, now);
		if (transport_deadline(e->transport) <= now) {
			transport_expire(e->transport, now);
			if (take_ended(e))
				continue;
		}
		if (now >= e->grace_end_ns && !e->cut)
			cut(e, "cut at the end of the time of grace");
		if (take_ended(e) || (dispatch_done(e->dispatch) && !e->backlog))
			continue;
		wait_and_handle(e);
	}
	gauge_set(&e->o.meter->cpu_ns, clock_cpu_thread());
	uint64_t one = 1;
	while (write(e->done_fd, &one, sizeof one) < 0 && errno == EINTR)
		;
	return NULL;
}

/* ---- opening and closing ---- */

static int listen_to(struct engine *e, int fd)
{
	struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
	return fd < 0 ? -1 : epoll_ctl(e->epoll_fd, EPOLL_CTL_ADD, fd, &event);
}

int engine_open(struct engine **engine, const struct engine_options *options, struct ipf_error *err)
{
	*engine = NULL;
	struct engine *e = calloc(1, sizeof *e);
	if (!e)
		return ipf_error_set(err, IPF_SYSTEM, "out of memory");
	*e = (struct engine){.o = *options, .armed_ns = INT64_MAX, .grace_end_ns = INT64_MAX, .lanes = plan_lanes(options->plan),
	                     .spares = SPARES};
	const struct schedule *schedule = plan_schedule(options->plan);
	for (size_t i = 0; i < schedule->count; i++)
		if (schedule->stages[i].closed && schedule->stages[i].slots > (int64_t)e->spares)
			e->spares = schedule->stages[i].slots < SPARES_MOST ? (size_t)schedule->stages[i].slots : SPARES_MOST;
	e->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	e->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	e->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	e->done_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (e->epoll_fd < 0 || e->done_fd < 0 || listen_to(e, e->timer_fd) < 0 || listen_to(e, e->wake_fd) < 0 ||
	    listen_to(e, options->signal_fd) < 0 || listen_to(e, feeder_wake_fd(options->feeder)) < 0) {
		ipf_error_errno(err, errno, NULL, "cannot set up the event loop");
		goto out;
	}
	e->lane_ended = calloc(e->lanes, sizeof *e->lane_ended);
	e->dispatch = dispatch_new(schedule);
	if (!e->dispatch || !e->lane_ended) {
		ipf_error_set(err, IPF_SYSTEM, "out of memory");
		goto out;
	}
	if (transport_open(&e->transport, options->target, &e->o.transport, e->epoll_fd, e->o.meter, err) < 0)
		goto out;
	while (transport_prepare(e->transport, e->spares))
		;
	*engine = e;
	return 0;
out:
	engine_close(e);
	return -1;
}

int engine_begin(struct engine *e, int64_t zero_ns, struct ipf_error *err)
{
	e->zero_ns = zero_ns;
	transport_zero(e->transport, zero_ns);
	int why = pthread_create(&e->thread, NULL, engine_run, e);
	if (why)
		return ipf_error_errno(err, why, NULL, "cannot start the sending thread");
	e->running = true;
	return 0;
}

pthread_t engine_thread(const struct engine *e)
{
	return e->thread;
}

int engine_wake_fd(const struct engine *e)
{
	return e->wake_fd;
}

int engine_done_fd(const struct engine *e)
{
	return e->done_fd;
}

static void stage_times(struct engine *e)
{
	size_t count = plan_schedule(e->o.plan)->count;
	struct engine_result *r = &e->result;
	r->stage_begin_ns = calloc(count + 1, sizeof *r->stage_begin_ns);
	r->stage_end_ns = calloc(count + 1, sizeof *r->stage_end_ns);
	for (size_t i = 0; r->stage_begin_ns && r->stage_end_ns && i < count; i++)
		dispatch_stage_times(e->dispatch, (int64_t)i, &r->stage_begin_ns[i], &r->stage_end_ns[i]);
}

void engine_finish(struct engine *e, struct engine_result *result)
{
	pthread_join(e->thread, NULL);
	e->running = false;
	stage_times(e);
	e->result.starved = gauge_get(&e->o.meter->starved);
	*result = e->result;
}

void engine_close(struct engine *e)
{
	if (!e)
		return;
	transport_close(e->transport);
	dispatch_free(e->dispatch);
	for (struct job *job = e->doomed, *next; job; job = next) {
		next = job->next;
		job_free(job);
	}
	free(e->lane_ended);
	const int fds[] = {e->epoll_fd, e->timer_fd, e->wake_fd, e->done_fd};
	for (size_t i = 0; i < 4; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	free(e);
}
