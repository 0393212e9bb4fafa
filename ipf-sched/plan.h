/* The plan: stages one after another, each with its requests, as the header of a schedule and then as its lines.
 *
 *     struct plan plan = {.stages = &stages, .requests = &requests, .seed = 1};
 *     if (plan_make(&plan, &err) < 0) …                      // counts: plan.schedule is ready for the header
 *     if (plan_write(&plan, writer, &progress, &err) < 0) …  // draws the same arrivals again and writes them
 *     plan_release(&plan);
 *
 * Drawing twice costs less than keeping: a schedule of any length takes no memory.
 *
 * A shard has every shards-th head of the whole, counted through all stages, with its followers. Lines keep the n and
 * the time that they have in the whole; slots and users are dealt out evenly.
 */
#ifndef IPF_PLAN_H
#define IPF_PLAN_H

#include "cli/progress.h"
#include "requests.h"
#include "stream/schedule.h"
#include "stage.h"

/* More than anybody fires; a slip of the keyboard (rate=5M,for=10d) is told at once instead of filling a disk. */
#define PLAN_MOST_ARRIVALS INT64_C(10000000000)
/* A stage that goes round its requests until its time is over leaves this many numbers (schedule.h). */
#define PLAN_CYCLE_NUMBERS (INT64_C(1) << 32)

struct plan_part {
	int64_t heads;                  /* how many the stage takes … */
	int64_t first_head;             /* … from this one on, going round these: … */
	int64_t round_first, round_end; /* … the whole trace, or the part of it that a replay goes round */
	int64_t advance;                /* so many heads further the next stage begins */
	int64_t before;                 /* heads of the stages before it */
	bool picks; /* its heads are not one after another, see kind.h; how many lines they have, and this shard's: */
	int64_t lines, our_lines;
	char note[240]; /* what there is to say of how its arrivals were made; "" */
};

struct plan {
	/* the caller's; borrowed */
	const struct stages *stages;
	const struct requests *requests; /* NULL without a trace */
	uint64_t seed;
	int64_t first_req;     /* the first stage begins at the first head from this request on */
	int64_t shard, shards; /* which of how many parts of the schedule this one is, from 1; 0 of 0: the whole */
	/* filled by plan_make */
	struct schedule schedule;
	struct plan_part *parts; /* one a stage */
	int64_t arrivals;        /* lines of all stages */
};

int plan_make(struct plan *plan, struct ipf_error *err);
int plan_write(const struct plan *plan, struct stream_writer *writer, struct progress *progress, struct ipf_error *err);
void plan_release(struct plan *plan);

#endif
