/* A stage while the dispatcher carries it out: its waiting arrivals, its free users, and its times.
 *
 * Schedule time and run time differ by an offset, which each stage without a fixed end changes for those after it.
 */
#ifndef IPF_STAGE_STATE_H
#define IPF_STAGE_STATE_H

#include "dispatch/dispatch_node.h"
#include "stream/schedule.h"

struct stage_state {
	const struct schedule_stage *definition;
	struct node_list held;     /* until the stage's offset is known */
	struct node_list pool;     /* closed: arrivals without a time, in the order of the schedule */
	struct node_list ready;    /* due, without a slot or a user */
	struct node_heap thinking; /* closed: they have a user whose pause has not ended */
	int64_t added, live, unstarted, in_flight;
	int64_t offset_ns; /* run time minus schedule time; valid for the stages the dispatcher knows it of */
	int64_t last_end_ns, last_start_ns;
	int64_t over_ns;                 /* if it holds the schedule's time: when it ended; IPF_ABSENT before */
	struct virtual_user *free_users; /* closed: a ring of `slots` places, the first at `free_first` */
	int64_t free_first, free_count;
	int64_t leaving; /* users of the stage before that have no place in this one and have not come back yet */
	struct user_session *last_session;
	bool over; /* closed: it starts nothing more */
};

/* -1: out of memory. stage_state_release also after that. */
int stage_state_init(struct stage_state *s, const struct schedule_stage *definition);
void stage_state_release(struct stage_state *s);

/* Does it last as long as its requests do? */
bool stage_open_ended(const struct stage_state *s);
/* Does the schedule's time stop until it is over? */
bool stage_holds_time(const struct stage_state *s);
int64_t stage_begin(const struct stage_state *s); /* in run time */
int64_t stage_end(const struct stage_state *s);   /* in run time; INT64_MAX if it is open-ended */
/* Is it a closed stage that is over at due_ns? */
bool stage_ended(const struct stage_state *s, int64_t due_ns);
/* Has it done all its work? `finished`: the schedule has been read to its end. */
bool stage_complete(const struct stage_state *s, bool finished);

/* The free users of a closed stage, first in, first out; there is room for one in each slot. */
void stage_put_user(struct stage_state *s, struct virtual_user user);
struct virtual_user stage_take_user(struct stage_state *s); /* there must be one */

#endif
