/* Decides which arrival to start next, and when: carries out a schedule, without sockets and without a clock.
 *
 *     dispatch_add(d, &arrival, job, &err);              // as the schedule is read, in its order
 *     while (dispatch_next(d, now, &start)) {            // send start.data now; it is in flight from here on
 *         while ((data = dispatch_upcoming(d))) …        // these come after it: prepare them
 *     }
 *     dispatch_ended(d, start.ticket, t);                // its slot is free, its followers may start
 *     sleep_until(dispatch_wake(d));
 *
 * All times are nanoseconds from the run's start. Schedule time and run time differ by the duration of the stages
 * without a fixed end (schedule.h): an arrival is due at its at_ns plus the duration of those before its stage, which
 * is known once they have ended.
 *
 * An arrival without parents is due at its at_ns. A follower is due when its parents have ended and its wait_ns has
 * passed, and not before its at_ns if it has one. A due arrival takes a slot of its stage, or waits for one, first
 * come, first served. Arrivals of a closed stage without time come after those with one: they take the slots that are
 * free between the stage's beginning and its end, in the order of the schedule, and have no due time. Arrivals that a
 * closed stage has not started at its end are dropped, with their followers.
 *
 * Before a stage with a cold cache, everything before it ends, and the caller resets the cache (dispatch_gate).
 *
 * The parts: dispatch_node.h (an arrival that has not ended), dependencies.h (which arrival waits for which),
 * stage_state.h (the waiting arrivals of a stage).
 */
#ifndef IPF_DISPATCH_H
#define IPF_DISPATCH_H

#include "error.h"
#include "stream/schedule.h"

#include <stdbool.h>

struct dispatch;
struct dispatch_node;

/* An arrival to start. Times as in record.h; IPF_ABSENT if it has none. */
struct dispatch_start {
	void *data;
	struct dispatch_node *ticket; /* for dispatch_ended and dispatch_set_thread */
	int64_t due_ns, ready_ns, slot_ns;
	int thread; /* that of the parent ending last (dispatch_set_thread); -1: it has none */
};

/* `schedule` is borrowed and must outlive it. NULL: out of memory. */
struct dispatch *dispatch_new(const struct schedule *schedule);
/* Lets the first stage, which must last as long as its requests do, begin lead_ns before the run's start, and the next
 * one at the run's start. To be called before anything is added. */
void dispatch_lead(struct dispatch *d, int64_t lead_ns);
/* Started arrivals must have ended; the data of the others is forgotten. NULL is fine. */
void dispatch_free(struct dispatch *d);

/* Adds an arrival, in the order of n (each cycle stage has its own order). `after` is copied. -1: out of memory, or
 * IPF_INPUT if it waits for an arrival never added or does not fit the stages. */
int dispatch_add(struct dispatch *d, const struct schedule_arrival *arrival, void *data, struct ipf_error *err);
/* The last arrival has been added, except for those of cycle stages, which end with their stage. */
void dispatch_finish(struct dispatch *d);
/* Starts no more; arrivals in flight still end. */
void dispatch_stop(struct dispatch *d);

/* The next arrival to start at now_ns. false: none. */
bool dispatch_next(struct dispatch *d, int64_t now_ns, struct dispatch_start *start);
/* Notes which of several threads, from 0, sends it: the same one is proposed for its followers. */
void dispatch_set_thread(struct dispatch_node *ticket, int thread);
/* The data of a follower coming near its start: all its parents have started, or wait only for started ones. At least
 * the duration of one request is left to prepare it. NULL: no more. To be called after every dispatch_add and
 * dispatch_next, before any other call. */
void *dispatch_upcoming(struct dispatch *d);
void dispatch_ended(struct dispatch *d, struct dispatch_node *ticket, int64_t t_ns);
/* The data of the next arrival that will never be started, because its stage is over or dispatch_stop was called.
 * NULL: none. */
void *dispatch_dropped(struct dispatch *d);
/* Nothing happens before this time unless something is added or ends. INT64_MAX: nothing at any time. */
int64_t dispatch_wake(const struct dispatch *d);
/* The thread proposed for the first due arrival; -1: any. */
int dispatch_wake_thread(const struct dispatch *d);
/* Nothing is in flight, and nothing more will be. */
bool dispatch_done(const struct dispatch *d);

/* Should more be added? `stage` is a cycle stage, or -1 for all others. Looks one second and some hundred requests
 * ahead. */
bool dispatch_wants(const struct dispatch *d, int64_t stage, int64_t now_ns);

int64_t dispatch_in_flight(const struct dispatch *d);
int64_t dispatch_waiting(const struct dispatch *d); /* due, without a slot */
int64_t dispatch_due(const struct dispatch *d); /* became due so far: started, waiting, or dropped while they waited */
/* For stages whose users take whole sessions: those in progress with a request that was not started any more. */
int64_t dispatch_cut_sessions(const struct dispatch *d);
/* The stage before which the caller has something to do while nothing is in flight (schedule_stage.cold), but for the
 * first one; -1: none. The schedule's time stops until dispatch_open_gate. */
int64_t dispatch_gate(const struct dispatch *d);
void dispatch_open_gate(struct dispatch *d, int64_t now_ns);
/* When the stage began and ended in run time; IPF_ABSENT if it has not. A stage with a fixed end has one from its
 * beginning; any other once its requests have ended. */
void dispatch_stage_times(const struct dispatch *d, int64_t stage, int64_t *begin_ns, int64_t *end_ns);

#endif
