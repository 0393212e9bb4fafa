#include "run/work_sharing.h"

#include "absent.h"
#include "clock.h"
#include "dispatch/dispatch.h"
#include "job/job_list.h"
#include "job/thread_stats.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define HELD_BYTES  (INT64_C(32) << 20) /* of bodies that have been fetched and not been started, before no more are */
#define STAND_IN_NS (100 * NS_PER_US)   /* how late a thread is before another one does its work */

struct desk { /* of a thread */
	int due_fd, call_fd;
	struct job_list given; /* to be started by it */
	atomic_bool some_given;
	bool call;        /* to be called when the lock is given back */
	int64_t armed_ns; /* what due_fd was set to, until it is known to have gone off */
};

struct work_sharing {
	struct work_sharing_options o;
	pthread_mutex_t lock;
	struct dispatch *dispatch;
	struct desk *desks;
	int64_t *in_flight; /* of closed stages, by stage and thread */
	int64_t held_bytes; /* of those that wait for no other */
	bool *lane_ended;
	size_t lanes, stages;
	int64_t zero_ns;
	size_t turn;          /* who starts the next arrival of an open stage */
	atomic_llong wake_ns; /* when something is due */
	atomic_size_t wakes;  /* whose timer it is */
	atomic_llong grace_end_ns;
	atomic_bool over;
	_Atomic(const char *) cut_why;
	struct job_list unrendered; /* to be started, as soon as their bodies are there */
	struct job_list doomed;     /* dropped, but the feeder may be at work on them */
	struct work_sharing_result result;
};

/* ---- telling other threads ---- */

static void lock(struct work_sharing *a)
{
	pthread_mutex_lock(&a->lock);
}

/* The calls go out without it: who is called takes it next. */
static void unlock(struct work_sharing *a, size_t self)
{
	bool calls[THREADS_MOST];
	for (size_t i = 0; i < a->o.threads; i++) {
		calls[i] = a->desks[i].call && i != self;
		a->desks[i].call = false;
	}
	pthread_mutex_unlock(&a->lock);
	uint64_t one = 1;
	for (size_t i = 0; i < a->o.threads; i++)
		while (calls[i] && write(a->desks[i].call_fd, &one, sizeof one) < 0 && errno == EINTR)
			;
}

static void call_all(struct work_sharing *a)
{
	for (size_t i = 0; i < a->o.threads; i++)
		a->desks[i].call = true;
}

static void give(struct work_sharing *a, struct job *job)
{
	struct desk *desk = &a->desks[job->thread];
	job_list_put(&desk->given, job);
	atomic_store(&desk->some_given, true);
	desk->call = true;
}

/* The timer of the thread that is to see to what is due next. */
static void arm(struct work_sharing *a, size_t self, int64_t now)
{
	int64_t wake = dispatch_wake(a->dispatch);
	int owner = dispatch_wake_thread(a->dispatch);
	size_t thread = owner >= 0 ? (size_t)owner : a->turn;
	struct desk *desk = &a->desks[thread];
	atomic_store_explicit(&a->wake_ns, wake, memory_order_relaxed);
	atomic_store_explicit(&a->wakes, thread, memory_order_relaxed);
	if (wake == INT64_MAX || wake == desk->armed_ns || (thread == self && wake <= now))
		return;
	int64_t at = wake <= now ? 1 : wake + a->zero_ns - a->o.spin_ns;
	struct itimerspec spec = {.it_value = {.tv_sec = at / NS_PER_S, .tv_nsec = at % NS_PER_S}};
	if (timerfd_settime(desk->due_fd, TFD_TIMER_ABSTIME, &spec, NULL) == 0)
		desk->armed_ns = wake;
}

/* ---- what is to be started ---- */

/* Followers whose turn comes next, once those before them have ended: their bodies are rendered meanwhile. */
static void order_upcoming(struct work_sharing *a)
{
	for (struct job *job; (job = dispatch_upcoming(a->dispatch));)
		job->ordered = job->deferred && feeder_order(a->o.feeder, job);
}

static bool stop(struct work_sharing *a, int64_t now)
{
	if (atomic_load(&a->grace_end_ns) != INT64_MAX)
		return false;
	dispatch_stop(a->dispatch);
	atomic_store(&a->grace_end_ns, now + a->o.grace_ns);
	call_all(a);
	return true;
}

/* What waits for another comes after one that does not, and must not keep it out. */
static int64_t weight(const struct job *job)
{
	return job->arrival.after_count ? 0 : job->request_bytes;
}

static void add_job(struct work_sharing *a, struct job *job, int64_t now)
{
	a->held_bytes += weight(job);
	if (dispatch_add(a->dispatch, &job->arrival, job, &a->result.error) == 0) {
		order_upcoming(a);
		return;
	}
	a->held_bytes -= weight(job);
	job_free(job);
	stop(a, now);
}

static void fetch(struct work_sharing *a, int64_t now)
{
	for (size_t i = 0; i < a->lanes; i++) {
		int64_t stage = arrival_reader_lane_stage(a->o.plan, i);
		while (!a->lane_ended[i] && a->held_bytes < HELD_BYTES && dispatch_wants(a->dispatch, stage, now)) {
			struct job *job = feeder_fetch(a->o.feeder, i, &a->lane_ended[i]);
			if (!job)
				break;
			add_job(a, job, now);
		}
		if (i == 0 && a->lane_ended[0])
			dispatch_finish(a->dispatch);
	}
}

static bool closed(const struct work_sharing *a, int64_t stage)
{
	return arrival_reader_schedule(a->o.plan)->stages[stage].closed;
}

static int64_t *flying(struct work_sharing *a, int64_t stage, size_t thread)
{
	return &a->in_flight[(size_t)stage * a->o.threads + thread];
}

/* The slots of a closed stage that are this thread's. */
static int64_t share(const struct work_sharing *a, int64_t stage, size_t thread)
{
	int64_t slots = arrival_reader_schedule(a->o.plan)->stages[stage].slots, threads = (int64_t)a->o.threads;
	return slots == IPF_ABSENT ? INT64_MAX : slots / threads + ((int64_t)thread < slots % threads);
}

static size_t choose(struct work_sharing *a, int64_t stage, int owner, size_t self)
{
	if (owner >= 0)
		return (size_t)owner;
	for (size_t i = 0; closed(a, stage) && i < a->o.threads; i++) {
		size_t thread = (self + i) % a->o.threads;
		if (*flying(a, stage, thread) < share(a, stage, thread))
			return thread;
	}
	a->turn = (self + 1) % a->o.threads;
	return self;
}

static void drop_job(struct work_sharing *a, struct job *job)
{
	a->held_bytes -= weight(job);
	/* a stage that goes round had more ready than it came to need */
	a->result.unstarted += !arrival_reader_schedule(a->o.plan)->stages[job->arrival.stage].cycle;
	if (job->ordered && !atomic_load(&job->rendered))
		job_list_put(&a->doomed, job);
	else
		job_free(job);
}

/* Those whose bodies were not there in time. */
static void look_for_rendered(struct work_sharing *a)
{
	struct job_list waiting = a->unrendered;
	a->unrendered.first = NULL;
	for (struct job *job; (job = job_list_take(&waiting));) {
		job->ordered = job->ordered || feeder_order(a->o.feeder, job);
		if (feeder_rendered(a->o.feeder, job))
			give(a, job);
		else
			job_list_put(&a->unrendered, job);
	}
}

/* The next start that the dispatcher says, and whose it is. */
static bool next_start(struct work_sharing *a, size_t self, int64_t now)
{
	struct dispatch_start s;
	if (!dispatch_next(a->dispatch, now, &s))
		return false;
	struct job *job = s.data;
	int64_t stage = job->arrival.stage;
	a->held_bytes -= weight(job);
	job->ticket = s.ticket;
	job->due_ns = s.due_ns;
	job->ready_ns = s.ready_ns;
	job->slot_ns = s.slot_ns;
	job->thread = (int)choose(a, stage, s.thread, self);
	dispatch_set_thread(s.ticket, job->thread);
	++*flying(a, stage, (size_t)job->thread);
	order_upcoming(a);
	if (!job->deferred || feeder_rendered(a->o.feeder, job)) {
		give(a, job);
		return true;
	}
	thread_stats_count(&a->o.meters[self]->unrendered, 1);
	job_list_put(&a->unrendered, job);
	return true;
}

/* What follows from whatever was done. */
static void settle(struct work_sharing *a)
{
	for (struct job *job; (job = dispatch_dropped(a->dispatch));)
		drop_job(a, job);
	counter_set(&a->o.gauges->in_flight, dispatch_in_flight(a->dispatch));
	counter_set(&a->o.gauges->waiting, dispatch_waiting(a->dispatch));
	if (!atomic_load(&a->over) && dispatch_done(a->dispatch)) {
		atomic_store(&a->over, true);
		call_all(a);
	}
}

static struct job *take(struct work_sharing *a, size_t thread, int64_t now)
{
	struct desk *desk = &a->desks[thread];
	while (!desk->given.first && next_start(a, thread, now))
		;
	struct job *job = job_list_take(&desk->given);
	atomic_store(&desk->some_given, desk->given.first != NULL);
	return job;
}

struct job *work_sharing_next(struct work_sharing *a, size_t thread, int64_t now)
{
	lock(a);
	if (a->desks[thread].armed_ns <= now)
		a->desks[thread].armed_ns = INT64_MAX;
	look_for_rendered(a);
	struct job *job = take(a, thread, now);
	if (!job) {
		/* looking ahead can wait until what is due has gone */
		fetch(a, now);
		job = take(a, thread, now);
	}
	/* so can setting the timer, where it is nobody else's */
	if (!job || a->o.threads > 1) {
		settle(a);
		arm(a, thread, now);
	}
	unlock(a, thread);
	return job;
}

void work_sharing_ended(struct work_sharing *a, struct job *job)
{
	lock(a);
	--*flying(a, job->arrival.stage, (size_t)job->thread);
	dispatch_ended(a->dispatch, job->ticket, job->end_ns);
	unlock(a, (size_t)job->thread);
}

bool work_sharing_own(const struct work_sharing *a, size_t thread)
{
	return atomic_load_explicit(&a->wakes, memory_order_relaxed) == thread;
}

int64_t work_sharing_wake(const struct work_sharing *a, size_t thread)
{
	if (atomic_load_explicit(&a->desks[thread].some_given, memory_order_relaxed))
		return INT64_MIN;
	int64_t wake = atomic_load_explicit(&a->wake_ns, memory_order_relaxed);
	return work_sharing_own(a, thread) || wake > INT64_MAX - STAND_IN_NS ? wake : wake + STAND_IN_NS;
}

bool work_sharing_measured(const struct work_sharing *a, const struct job *job)
{
	return arrival_reader_schedule(a->o.plan)->stages[job->arrival.stage].measured;
}

bool work_sharing_over(const struct work_sharing *a)
{
	return atomic_load(&a->over);
}

int work_sharing_due_fd(const struct work_sharing *a, size_t thread)
{
	return a->desks[thread].due_fd;
}

int work_sharing_call_fd(const struct work_sharing *a, size_t thread)
{
	return a->desks[thread].call_fd;
}

/* ---- ending before the time ---- */

bool work_sharing_stop(struct work_sharing *a, int64_t now)
{
	lock(a);
	bool first = stop(a, now);
	unlock(a, THREADS_MOST);
	return first;
}

int64_t work_sharing_grace_end(const struct work_sharing *a)
{
	return atomic_load(&a->cut_why) ? INT64_MAX : atomic_load(&a->grace_end_ns);
}

void work_sharing_cut(struct work_sharing *a, int64_t now, const char *why)
{
	lock(a);
	stop(a, now);
	if (!atomic_load(&a->cut_why))
		atomic_store(&a->cut_why, why);
	call_all(a);
	unlock(a, THREADS_MOST);
}

const char *work_sharing_cut_why(const struct work_sharing *a)
{
	return atomic_load(&a->cut_why);
}

/* ---- making and freeing ---- */

static int open_desks(struct work_sharing *a, struct ipf_error *err)
{
	for (size_t i = 0; i < a->o.threads; i++)
		a->desks[i] = (struct desk){.due_fd = -1, .call_fd = -1, .armed_ns = INT64_MAX};
	for (size_t i = 0; i < a->o.threads; i++) {
		a->desks[i].due_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
		a->desks[i].call_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
		if (a->desks[i].due_fd < 0 || a->desks[i].call_fd < 0)
			return ipf_error_errno(err, errno, NULL, "cannot set up the event loop");
	}
	return 0;
}

int work_sharing_new(struct work_sharing **agenda, const struct work_sharing_options *options, struct ipf_error *err)
{
	*agenda = NULL;
	struct work_sharing *a = calloc(1, sizeof *a);
	if (!a)
		return ipf_error_memory(err);
	a->o = *options;
	a->lanes = arrival_reader_lanes(options->plan);
	a->stages = arrival_reader_schedule(options->plan)->count;
	atomic_init(&a->wake_ns, INT64_MAX);
	atomic_init(&a->grace_end_ns, INT64_MAX);
	pthread_mutexattr_t kind;
	pthread_mutexattr_init(&kind);
	pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ADAPTIVE_NP); /* it is given back sooner than one falls asleep */
	pthread_mutex_init(&a->lock, &kind);
	pthread_mutexattr_destroy(&kind);
	a->desks = calloc(options->threads, sizeof *a->desks);
	a->lane_ended = calloc(a->lanes, sizeof *a->lane_ended);
	a->in_flight = calloc((a->stages + 1) * options->threads, sizeof *a->in_flight);
	a->dispatch = dispatch_new(arrival_reader_schedule(options->plan));
	if (!a->desks || !a->lane_ended || !a->in_flight || !a->dispatch)
		ipf_error_memory(err);
	else if (open_desks(a, err) == 0) {
		*agenda = a;
		return 0;
	}
	work_sharing_free(a);
	return -1;
}

void work_sharing_begin(struct work_sharing *a, int64_t zero_ns, int64_t lead_ns)
{
	if (lead_ns)
		dispatch_lead(a->dispatch, lead_ns);
	a->zero_ns = zero_ns;
}

void work_sharing_finish(struct work_sharing *a, struct work_sharing_result *result)
{
	*result = a->result;
}

void work_sharing_stage_times(const struct work_sharing *a, int64_t stage, int64_t *begin_ns, int64_t *end_ns)
{
	dispatch_stage_times(a->dispatch, stage, begin_ns, end_ns);
}

void work_sharing_free(struct work_sharing *a)
{
	if (!a)
		return;
	for (struct job *job; (job = job_list_take(&a->doomed));)
		job_free(job);
	dispatch_free(a->dispatch);
	for (size_t i = 0; a->desks && i < a->o.threads; i++) {
		if (a->desks[i].due_fd >= 0)
			close(a->desks[i].due_fd);
		if (a->desks[i].call_fd >= 0)
			close(a->desks[i].call_fd);
	}
	free(a->desks);
	free(a->lane_ended);
	free(a->in_flight);
	pthread_mutex_destroy(&a->lock);
	free(a);
}
