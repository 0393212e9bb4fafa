/* What the files of the dispatcher share: its stages, what waits in them, who gets a slot. Private to the dispatcher. */
#ifndef IPF_DISPATCH_PRIVATE_H
#define IPF_DISPATCH_PRIVATE_H

#include "dispatch.h"
#include "ends.h"
#include "waiting.h"

struct stage {
	const struct schedule_stage *plan;
	struct list held, pool, ready;
	int64_t added, ended, in_flight;
	int64_t offset_ns;     /* run time less schedule time; good below `known` */
	int64_t last_end_ns;
	int64_t over_ns;       /* when it really ended, for a stage without an end of its own; IPF_ABSENT before */
	int64_t *free_since;   /* closed: a ring of when each free slot became so, oldest at `free_first` */
	int64_t free_first, free_count;
	bool over;             /* closed: nothing more is started */
};

struct dispatch {
	struct stage *stages;
	size_t count;
	size_t begun;  /* stages that have begun */
	size_t known;  /* stages whose offset is known */
	struct ends *ends;
	struct heap heap;
	struct list go, dropped;
	struct dispatch_node *upcoming;
	int64_t live, in_flight, waiting;
	int64_t ahead;    /* roots of the stages that do not cycle: added, not due yet */
	int64_t last_due; /* of the last of them; IPF_ABSENT: not known */
	size_t last_stage;
	bool finished, stopped;
};

/* ---- dispatch.c ---- */

/* It will never be started, nor what waits for it. */
void dispatch_drop(struct dispatch *d, struct dispatch_node *node);

/* ---- dispatch_stages.c: when stages begin and end, and how schedule time becomes run time ---- */

bool stage_standing(const struct stage *s);                /* it has no end of its own */
int64_t stage_end(const struct stage *s);                  /* in run time; INT64_MAX: standing */
bool stage_ended(const struct stage *s, int64_t due_ns);   /* closed, and over by then */
/* After a stage whose offset is known all are, up to the next one that has no end. */
void stages_know_offsets(struct dispatch *d, int64_t offset_ns);
/* When the next stage begins; INT64_MAX where that is not known, or it was the last. */
int64_t stages_next_begin(const struct dispatch *d);
void stages_begin(struct dispatch *d, int64_t now_ns);
/* The stage without an end that holds up the schedule's time, where it has begun and ended: true where there was one. */
bool stages_end_standing(struct dispatch *d);

/* ---- dispatch_slots.c: who starts, of those whose time has come ---- */

void slots_ready(struct dispatch *d, struct dispatch_node *node); /* its time has come */
/* Slots that are free go to the requests of a closed stage that have no time. */
void slots_serve_pool(struct dispatch *d, struct stage *s);
void slots_returned(struct dispatch *d, struct stage *s, int64_t t_ns);

#endif
