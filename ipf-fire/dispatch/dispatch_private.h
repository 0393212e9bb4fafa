/* What the files of the dispatcher share: its stages, what waits in them, who gets a slot. Private to the dispatcher.
 */
#ifndef IPF_DISPATCH_PRIVATE_H
#define IPF_DISPATCH_PRIVATE_H

#include "dispatch/dispatch.h"
#include "dispatch/arrival_ends.h"
#include "dispatch/waiting.h"

struct stage {
	const struct schedule_stage *plan;
	struct list held, pool, ready;
	struct heap thinking; /* closed: they have a user, whose time has not come */
	int64_t added, live, unstarted, in_flight;
	int64_t offset_ns; /* run time less schedule time; good below `known` */
	int64_t last_end_ns, last_start_ns;
	int64_t over_ns;   /* when it really ended, for one that holds up the schedule's time; IPF_ABSENT before */
	struct user *free; /* closed: a ring of the users that have nothing to do, the first at `free_first` */
	int64_t free_first, free_count;
	int64_t leaving; /* users of the stage before that this one has no room for, and that are not back yet */
	struct session *last_session;
	bool over; /* closed: nothing more is started */
};

struct dispatch {
	struct stage *stages;
	size_t count;
	size_t begun; /* stages that have begun */
	size_t known; /* stages whose offset is known */
	struct arrival_ends *ends;
	struct heap heap;
	struct list go, dropped;
	struct dispatch_node *upcoming;
	int64_t live, in_flight, waiting;
	int64_t ahead;    /* roots of the stages that do not cycle: added, not due yet */
	int64_t last_due; /* of the last of them; IPF_ABSENT: not known */
	size_t last_stage;
	int64_t part, parts; /* of a schedule for one of several clients: which, from 0, of how many */
	bool lead;           /* the first stage goes before the run's start */
	bool finished, stopped;
};

/* ---- dispatch.c ---- */

/* It will never be started, nor what waits for it. */
void dispatch_drop(struct dispatch *d, struct dispatch_node *node);

/* ---- dispatch_stages.c: when stages begin and end, and how schedule time becomes run time ---- */

int64_t stage_begin(const struct stage *s);              /* in run time */
int64_t stage_end(const struct stage *s);                /* in run time; INT64_MAX: it has no end of its own */
bool stage_ended(const struct stage *s, int64_t due_ns); /* closed, and over by then */
/* After a stage whose offset is known all are, up to the next one that holds up the schedule's time. */
void stages_know_offsets(struct dispatch *d, int64_t offset_ns);
/* Begins and ends those whose time has come. */
void stages_pass(struct dispatch *d, int64_t now_ns);
/* Drops what a closed stage has not started. */
void stages_over(struct dispatch *d, struct stage *s);
/* When a stage begins or ends unless something else happens before; INT64_MAX. */
int64_t stages_wake(const struct dispatch *d);

/* ---- dispatch_slots.c: who starts, of those whose time has come ---- */

void slots_ready(struct dispatch *d, struct dispatch_node *node, int64_t now_ns); /* its time has come */
/* A closed stage's users who are free take what waits for one, and those who have thought send. */
void slots_serve(struct dispatch *d, struct stage *s, int64_t now_ns);
/* A request that had been let go has ended, or is not started after all (then t_ns is IPF_ABSENT). */
void slots_returned(struct dispatch *d, struct dispatch_node *node, int64_t t_ns);
/* The first users of a closed stage: those of the closed stage before it, and new ones. */
void slots_begin(struct dispatch *d, struct stage *s, struct stage *before);
/* Those who had something to send in a stage that is over are free again. */
void slots_over(struct dispatch *d, struct stage *s);
/* The session of a request that was added. -1: out of memory. */
int slots_join_session(struct dispatch *d, struct dispatch_node *node);
/* One request of the session less. */
void slots_leave_session(struct dispatch *d, struct dispatch_node *node);
void slots_forget_session(struct stage *s); /* before everything is freed */

#endif
