/* What to start next, and when: the schedule carried out, without a socket and without a clock of its own.
 *
 *     dispatch_add(d, &arrival, job, &err);              // as the schedule is read, in its order
 *     while (dispatch_next(d, now, &start)) {            // send start.data now; it is in flight from here on
 *         while ((data = dispatch_upcoming(d))) …        // these come after it: prepare them
 *     }
 *     dispatch_ended(d, start.ticket, t);                // its slot is free, its followers may come
 *     sleep_until(dispatch_wake(d));
 *
 * All times are nanoseconds from the run's start. Schedule time and run time differ by what the stages without an end
 * took (schedule.h): an arrival's due is its at_ns plus the length of those before its stage, known once they have
 * ended.
 *
 * An arrival is due at its at_ns; a follower when its parents have ended and its waiting time is over, and not before
 * its at_ns where it has one. When due it takes a slot of its stage, or waits for one first come, first served. A
 * closed stage's arrivals without a time stand back behind those: they take what slots are free between the stage's
 * beginning and its end, in the order of the schedule, and are due at no time. What a closed stage has not started at
 * its end is dropped; its followers too.
 */
#ifndef IPF_DISPATCH_H
#define IPF_DISPATCH_H

#include "error.h"
#include "stream/schedule.h"

#include <stdbool.h>

struct dispatch;
struct dispatch_node;

/* What is to be started. Times as in record.h, IPF_ABSENT where there is none. */
struct dispatch_start {
	void *data;
	struct dispatch_node *ticket; /* for dispatch_ended */
	int64_t due_ns, ready_ns, slot_ns;
	int thread; /* which started the last of those that it waited for (dispatch_give); -1: none did */
};

/* `plan` is borrowed and has to outlive it. NULL: out of memory. */
struct dispatch *dispatch_new(const struct schedule *plan);
/* The first stage, which lasts as long as its requests do, begins so long before the run's start, and the next one at
 * that: the time that it takes does not count. Before anything is added. */
void dispatch_lead(struct dispatch *d, int64_t lead_ns);
/* NULL is fine. What was started has to have ended; the data of what was not is forgotten. */
void dispatch_free(struct dispatch *d);

/* One more arrival, in the order of n (each cycle stage in an order of its own). `after` is copied. -1: memory, or
 * IPF_INPUT where it waits for one that was never added or does not fit the stages. */
int dispatch_add(struct dispatch *d, const struct schedule_arrival *arrival, void *data, struct ipf_error *err);
/* The last arrival was added (those of cycle stages apart, which end with their stage). */
void dispatch_finish(struct dispatch *d);
/* Starts nothing any more; what is in flight still ends. */
void dispatch_stop(struct dispatch *d);

bool dispatch_next(struct dispatch *d, int64_t now_ns, struct dispatch_start *start);
/* Says which of several threads sends it, from 0: so do those that come after it. */
void dispatch_give(struct dispatch_node *ticket, int thread);
/* The data of a follower that comes nearer: all that it waits for have started, or wait for such only. There is at
 * least the length of one request to prepare it in. NULL: no more. To be asked after every dispatch_add and
 * dispatch_next, before anything else. */
void *dispatch_upcoming(struct dispatch *d);
void dispatch_ended(struct dispatch *d, struct dispatch_node *ticket, int64_t t_ns);
/* The data of the next arrival that will never be started (stage over, or stopped); NULL: none. */
void *dispatch_dropped(struct dispatch *d);
/* Nothing happens before this time unless something is added or ends; INT64_MAX: nothing at all. */
int64_t dispatch_wake(const struct dispatch *d);
/* The thread of what is due first; -1: any. */
int dispatch_wake_thread(const struct dispatch *d);
/* Nothing is in flight, and nothing will be. */
bool dispatch_done(const struct dispatch *d);

/* Should more be added? `stage` is a cycle stage, or -1 for all the others. Looks a second ahead, and some hundred
 * requests. */
bool dispatch_wants(const struct dispatch *d, int64_t stage, int64_t now_ns);
bool dispatch_stage_over(const struct dispatch *d, int64_t stage);

int64_t dispatch_in_flight(const struct dispatch *d);
int64_t dispatch_waiting(const struct dispatch *d); /* due, and without a slot */
/* When the stage began and ended in run time; IPF_ABSENT where it has not (an end is known for every stage that began,
 * but one that lasts as long as its requests do). */
void dispatch_stage_times(const struct dispatch *d, int64_t stage, int64_t *begin_ns, int64_t *end_ns);

#endif
