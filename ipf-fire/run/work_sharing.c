#include "run/work_sharing.h"

#include "absent.h"
#include "clock.h"
#include "dispatch/dispatch.h"
#include "job/event_fd.h"
#include "job/job_list.h"
#include "job/thread_stats.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define HELD_BYTES  (INT64_C(32) << 20) /* bodies fetched and not started, before fetching stops */
#define TAKEOVER_NS (100 * NS_PER_US)   /* how late a thread is before another one takes over */

struct sharing_thread {
	int due_fd, wake_fd;
	struct job_list assigned; /* to be started by this thread */
	atomic_bool has_assigned;
	int64_t armed_ns; /* the time set in due_fd, until it is known to have expired */
};

struct work_sharing {
	struct work_sharing_options o;
	pthread_mutex_t lock;
	struct dispatch *dispatch;
	struct sharing_thread *threads;
	int64_t *in_flight; /* by stage and thread */
	int64_t held_bytes; /* for jobs without parents */
	bool *lane_ended;
	size_t lanes, stages;
	int gate_fd;
	bool gate_told;
	int64_t zero_ns;
	uint64_t to_wake;          /* threads, a bit for each, once the lock is released */
	size_t next_thread;        /* the thread for the next arrival of an open stage */
	atomic_llong wake_ns;      /* when something is due */
	atomic_size_t wake_thread; /* the thread with this timer */
	atomic_llong grace_end_ns;
	atomic_bool over;
	_Atomic(const char *) cancel_reason;
	struct job_list unrendered; /* to be started once their bodies are rendered */
	struct job_list dropped;    /* the feeder may still be rendering them: freed at the end */
	struct work_sharing_result result;
};

/* ---- waking other threads ---- */

static void lock(struct work_sharing *w)
{
	pthread_mutex_lock(&w->lock);
}

_Static_assert(THREADS_MOST <= 64, "a bit for each in to_wake");

/* Wakes the threads after releasing the lock, which they take next. */
static void unlock(struct work_sharing *w, size_t self)
{
	uint64_t wakes = w->to_wake;
	w->to_wake = 0;
	pthread_mutex_unlock(&w->lock);
	for (; wakes; wakes &= wakes - 1) {
		size_t thread = (size_t)__builtin_ctzll(wakes);
		if (thread != self)
			event_fd_notify(w->threads[thread].wake_fd);
	}
}

static void wake_all(struct work_sharing *w)
{
	for (size_t i = 0; i < w->o.threads; i++)
		w->to_wake |= UINT64_C(1) << i;
}

static void assign(struct work_sharing *w, struct job *job)
{
	struct sharing_thread *t = &w->threads[job->thread];
	job_list_put(&t->assigned, job);
	atomic_store_explicit(&t->has_assigned, true, memory_order_relaxed);
	w->to_wake |= UINT64_C(1) << job->thread;
}

/* Sets the timer of the thread starting the next due request. */
static void arm_timer(struct work_sharing *w, size_t self, int64_t now)
{
	int64_t wake = dispatch_wake(w->dispatch);
	int owner = dispatch_wake_thread(w->dispatch);
	size_t thread = owner >= 0 ? (size_t)owner : w->next_thread;
	struct sharing_thread *t = &w->threads[thread];
	atomic_store_explicit(&w->wake_ns, wake, memory_order_relaxed);
	atomic_store_explicit(&w->wake_thread, thread, memory_order_relaxed);
	if (wake == INT64_MAX || wake == t->armed_ns || (thread == self && wake <= now))
		return;
	int64_t at = wake <= now ? 1 : wake + w->zero_ns - w->o.spin_ns;
	struct itimerspec spec = {.it_value = {.tv_sec = at / NS_PER_S, .tv_nsec = at % NS_PER_S}};
	if (timerfd_settime(t->due_fd, TFD_TIMER_ABSTIME, &spec, NULL) == 0)
		t->armed_ns = wake;
}

/* ---- starting ---- */

/* Has the bodies of the next followers rendered while their parents are in flight. */
static void order_upcoming(struct work_sharing *w)
{
	for (struct job *job; (job = dispatch_upcoming(w->dispatch));)
		job->ordered = job->deferred && feeder_order(w->o.feeder, job);
}

static bool stop(struct work_sharing *w, int64_t now)
{
	if (atomic_load(&w->grace_end_ns) != INT64_MAX)
		return false;
	dispatch_stop(w->dispatch);
	atomic_store(&w->grace_end_ns, now + w->o.grace_ns);
	wake_all(w);
	return true;
}

/* The bytes held. Followers do not count: they come after their parents in the schedule, and must not keep those from
 * being fetched. */
static int64_t counted_bytes(const struct job *job)
{
	return job->arrival.after_count ? 0 : job->request_bytes;
}

static void add_job(struct work_sharing *w, struct job *job, int64_t now)
{
	w->held_bytes += counted_bytes(job);
	if (dispatch_add(w->dispatch, &job->arrival, job, &w->result.error) == 0) {
		order_upcoming(w);
		return;
	}
	w->held_bytes -= counted_bytes(job);
	job_free(job);
	stop(w, now);
}

static void fetch(struct work_sharing *w, int64_t now)
{
	for (size_t i = 0; i < w->lanes; i++) {
		int64_t stage = arrival_reader_lane_stage(w->o.arrivals, i);
		while (!w->lane_ended[i] && w->held_bytes < HELD_BYTES && dispatch_wants(w->dispatch, stage, now)) {
			struct job *job = feeder_fetch(w->o.feeder, i, &w->lane_ended[i]);
			if (!job)
				break;
			add_job(w, job, now);
		}
		if (i == 0 && w->lane_ended[0])
			dispatch_finish(w->dispatch);
	}
}

static bool is_closed(const struct work_sharing *w, int64_t stage)
{
	return arrival_reader_schedule(w->o.arrivals)->stages[stage].closed;
}

static int64_t *in_flight_of(struct work_sharing *w, int64_t stage, size_t thread)
{
	return &w->in_flight[(size_t)stage * w->o.threads + thread];
}

/* This thread's share of the slots of a stage. */
static int64_t slot_share(const struct work_sharing *w, int64_t stage, size_t thread)
{
	int64_t slots = arrival_reader_schedule(w->o.arrivals)->stages[stage].slots, threads = (int64_t)w->o.threads;
	return slots == IPF_ABSENT ? INT64_MAX : slots / threads + ((int64_t)thread < slots % threads);
}

static size_t choose_thread(struct work_sharing *w, int64_t stage, int owner, size_t self)
{
	if (owner >= 0)
		return (size_t)owner;
	for (size_t i = 0; is_closed(w, stage) && i < w->o.threads; i++) {
		size_t thread = (self + i) % w->o.threads;
		if (*in_flight_of(w, stage, thread) < slot_share(w, stage, thread))
			return thread;
	}
	w->next_thread = (self + 1) % w->o.threads;
	return self;
}

static void drop_job(struct work_sharing *w, struct job *job)
{
	w->held_bytes -= counted_bytes(job);
	/* a cycle stage always has more ready than it needs */
	w->result.unstarted += !arrival_reader_schedule(w->o.arrivals)->stages[job->arrival.stage].cycle;
	if (job->ordered && !atomic_load(&job->rendered))
		job_list_put(&w->dropped, job);
	else
		job_free(job);
}

/* Assigns jobs whose bodies have been rendered late. */
static void assign_rendered(struct work_sharing *w)
{
	struct job_list waiting = w->unrendered;
	w->unrendered.first = NULL;
	for (struct job *job; (job = job_list_take(&waiting));) {
		job->ordered = job->ordered || feeder_order(w->o.feeder, job);
		if (feeder_rendered(w->o.feeder, job))
			assign(w, job);
		else
			job_list_put(&w->unrendered, job);
	}
}

/* Assigns the dispatcher's next request to a thread. false: nothing starts now. */
static bool start_next(struct work_sharing *w, size_t self, int64_t now)
{
	struct dispatch_start s;
	if (!dispatch_next(w->dispatch, now, &s))
		return false;
	struct job *job = s.data;
	int64_t stage = job->arrival.stage;
	w->held_bytes -= counted_bytes(job);
	job->ticket = s.ticket;
	job->due_ns = s.due_ns;
	job->ready_ns = s.ready_ns;
	job->slot_ns = s.slot_ns;
	job->thread = (int)choose_thread(w, stage, s.thread, self);
	dispatch_set_thread(s.ticket, job->thread);
	++*in_flight_of(w, stage, (size_t)job->thread);
	order_upcoming(w);
	if (!job->deferred || feeder_rendered(w->o.feeder, job)) {
		assign(w, job);
		return true;
	}
	counter_count(&w->o.stats[self]->unrendered, 1);
	job_list_put(&w->unrendered, job);
	return true;
}

/* Updates members depending on the dispatcher. */
static void update(struct work_sharing *w)
{
	for (struct job *job; (job = dispatch_dropped(w->dispatch));)
		drop_job(w, job);
	counter_set(&w->o.counters->in_flight, dispatch_in_flight(w->dispatch));
	counter_set(&w->o.counters->waiting, dispatch_waiting(w->dispatch));
	counter_set(&w->o.counters->due, dispatch_due(w->dispatch));
	bool gate = dispatch_gate(w->dispatch) >= 0;
	if (gate && !w->gate_told)
		event_fd_notify(w->gate_fd);
	w->gate_told = gate;
	if (!atomic_load(&w->over) && dispatch_done(w->dispatch)) {
		atomic_store(&w->over, true);
		wake_all(w);
	}
}

static struct job *take(struct work_sharing *w, size_t thread, int64_t now)
{
	struct sharing_thread *t = &w->threads[thread];
	while (!t->assigned.first && start_next(w, thread, now))
		;
	struct job *job = job_list_take(&t->assigned);
	atomic_store_explicit(&t->has_assigned, t->assigned.first != NULL, memory_order_relaxed);
	return job;
}

struct job *work_sharing_next(struct work_sharing *w, size_t thread, int64_t now)
{
	lock(w);
	if (w->threads[thread].armed_ns <= now)
		w->threads[thread].armed_ns = INT64_MAX;
	assign_rendered(w);
	struct job *job = take(w, thread, now);
	if (!job) {
		/* look ahead only after starting due requests */
		fetch(w, now);
		job = take(w, thread, now);
	}
	/* set the timer then, too, unless other threads may need it */
	if (!job || w->o.threads > 1) {
		update(w);
		arm_timer(w, thread, now);
	}
	unlock(w, thread);
	return job;
}

void work_sharing_ended(struct work_sharing *w, struct job *job)
{
	lock(w);
	--*in_flight_of(w, job->arrival.stage, (size_t)job->thread);
	dispatch_ended(w->dispatch, job->ticket, job->end_ns);
	unlock(w, (size_t)job->thread);
}

bool work_sharing_is_own_wake(const struct work_sharing *w, size_t thread)
{
	return atomic_load_explicit(&w->wake_thread, memory_order_relaxed) == thread;
}

int64_t work_sharing_wake(const struct work_sharing *w, size_t thread)
{
	if (atomic_load_explicit(&w->threads[thread].has_assigned, memory_order_relaxed))
		return INT64_MIN;
	int64_t wake = atomic_load_explicit(&w->wake_ns, memory_order_relaxed);
	return work_sharing_is_own_wake(w, thread) || wake > INT64_MAX - TAKEOVER_NS ? wake : wake + TAKEOVER_NS;
}

bool work_sharing_measured(const struct work_sharing *w, const struct job *job)
{
	return arrival_reader_schedule(w->o.arrivals)->stages[job->arrival.stage].measured;
}

bool work_sharing_over(const struct work_sharing *w)
{
	return atomic_load(&w->over);
}

int work_sharing_due_fd(const struct work_sharing *w, size_t thread)
{
	return w->threads[thread].due_fd;
}

int work_sharing_wake_fd(const struct work_sharing *w, size_t thread)
{
	return w->threads[thread].wake_fd;
}

/* ---- before a stage with a cold cache ---- */

int work_sharing_gate_fd(const struct work_sharing *w)
{
	return w->gate_fd;
}

int64_t work_sharing_gate(struct work_sharing *w)
{
	lock(w);
	int64_t stage = dispatch_gate(w->dispatch);
	unlock(w, THREADS_MOST);
	return stage;
}

void work_sharing_open_gate(struct work_sharing *w, int64_t now)
{
	lock(w);
	if (dispatch_gate(w->dispatch) >= 0)
		dispatch_open_gate(w->dispatch, now);
	w->gate_told = false;
	wake_all(w);
	unlock(w, THREADS_MOST);
}

/* ---- ending early ---- */

bool work_sharing_stop(struct work_sharing *w, int64_t now)
{
	lock(w);
	bool first = stop(w, now);
	unlock(w, THREADS_MOST);
	return first;
}

int64_t work_sharing_grace_end(const struct work_sharing *w)
{
	return atomic_load(&w->cancel_reason) ? INT64_MAX : atomic_load(&w->grace_end_ns);
}

void work_sharing_cancel(struct work_sharing *w, int64_t now, const char *reason)
{
	lock(w);
	stop(w, now);
	if (!atomic_load(&w->cancel_reason))
		atomic_store(&w->cancel_reason, reason);
	wake_all(w);
	unlock(w, THREADS_MOST);
}

const char *work_sharing_cancel_reason(const struct work_sharing *w)
{
	return atomic_load(&w->cancel_reason);
}

/* ---- making and freeing ---- */

static int open_threads(struct work_sharing *w, struct ipf_error *err)
{
	for (size_t i = 0; i < w->o.threads; i++)
		w->threads[i] = (struct sharing_thread){.due_fd = -1, .wake_fd = -1, .armed_ns = INT64_MAX};
	for (size_t i = 0; i < w->o.threads; i++) {
		w->threads[i].due_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
		w->threads[i].wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
		if (w->threads[i].due_fd < 0 || w->threads[i].wake_fd < 0)
			return ipf_error_errno(err, errno, NULL, "cannot set up the event loop");
	}
	return 0;
}

int work_sharing_new(struct work_sharing **sharing, const struct work_sharing_options *options, struct ipf_error *err)
{
	*sharing = NULL;
	struct work_sharing *w = calloc(1, sizeof *w);
	if (!w)
		return ipf_error_memory(err);
	w->o = *options;
	w->lanes = arrival_reader_lanes(options->arrivals);
	w->stages = arrival_reader_schedule(options->arrivals)->count;
	w->gate_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	atomic_init(&w->wake_ns, INT64_MAX);
	atomic_init(&w->grace_end_ns, INT64_MAX);
	pthread_mutexattr_t kind;
	pthread_mutexattr_init(&kind);
	pthread_mutexattr_settype(&kind,
	                          PTHREAD_MUTEX_ADAPTIVE_NP); /* it is released before a waiting thread could sleep */
	pthread_mutex_init(&w->lock, &kind);
	pthread_mutexattr_destroy(&kind);
	w->threads = calloc(options->threads, sizeof *w->threads);
	w->lane_ended = calloc(w->lanes, sizeof *w->lane_ended);
	w->in_flight = calloc((w->stages + 1) * options->threads, sizeof *w->in_flight);
	w->dispatch = dispatch_new(arrival_reader_schedule(options->arrivals));
	if (!w->threads || !w->lane_ended || !w->in_flight || !w->dispatch)
		ipf_error_memory(err);
	else if (w->gate_fd < 0)
		ipf_error_errno(err, errno, NULL, "cannot set up the event loop");
	else if (open_threads(w, err) == 0) {
		*sharing = w;
		return 0;
	}
	work_sharing_free(w);
	return -1;
}

void work_sharing_begin(struct work_sharing *w, int64_t zero_ns, int64_t lead_ns)
{
	if (lead_ns)
		dispatch_lead(w->dispatch, lead_ns);
	w->zero_ns = zero_ns;
}

void work_sharing_finish(struct work_sharing *w, struct work_sharing_result *result)
{
	*result = w->result;
}

int64_t work_sharing_cut_sessions(const struct work_sharing *w)
{
	return dispatch_cut_sessions(w->dispatch);
}

void work_sharing_stage_times(const struct work_sharing *w, int64_t stage, int64_t *begin_ns, int64_t *end_ns)
{
	dispatch_stage_times(w->dispatch, stage, begin_ns, end_ns);
}

void work_sharing_free(struct work_sharing *w)
{
	if (!w)
		return;
	for (struct job *job; (job = job_list_take(&w->dropped));)
		job_free(job);
	dispatch_free(w->dispatch);
	for (size_t i = 0; w->threads && i < w->o.threads; i++) {
		if (w->threads[i].due_fd >= 0)
			close(w->threads[i].due_fd);
		if (w->threads[i].wake_fd >= 0)
			close(w->threads[i].wake_fd);
	}
	if (w->gate_fd >= 0)
		close(w->gate_fd);
	free(w->threads);
	free(w->lane_ended);
	free(w->in_flight);
	pthread_mutex_destroy(&w->lock);
	free(w);
}
