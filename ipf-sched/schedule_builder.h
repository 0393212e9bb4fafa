/* Builds a schedule: lays stages out one after another, and writes the header's stages and a line for each request.
 *
 *     struct schedule_builder builder = {.stages = &stages, .trace = &trace, .seed = 1};
 *     if (schedule_builder_prepare(&builder, &err) < 0) …                      // counts: builder.schedule is complete
 *     if (schedule_builder_write(&builder, writer, &progress, &err) < 0) …     // draws the same arrivals, writes them
 *     schedule_builder_release(&builder);
 *
 * Arrivals are drawn twice, which costs less than keeping them: the memory does not depend on the schedule's length.
 *
 * A shard has every shards-th head (trace_index.h) of the whole schedule, counted across all stages, with the followers
 * of that head. Its lines keep the n and the time they have in the whole; slots and users are divided evenly.
 */
#ifndef IPF_SCHEDULE_BUILDER_H
#define IPF_SCHEDULE_BUILDER_H

#include "cli/progress.h"
#include "inputs/trace_index.h"
#include "search/earlier_runs.h"
#include "stages.h"
#include "stream/schedule.h"

/* More than any run sends: a typing error (rate=5M,for=10d) is reported at once instead of filling a disk. */
#define BUILDER_MOST_ARRIVALS INT64_C(1000000000)
/* How many arrival numbers are reserved for a stage repeating its requests until its time is over (schedule.h). */
#define BUILDER_CYCLE_NUMBERS (INT64_C(1) << 32)

/* Which requests a stage has. */
struct stage_layout {
	int64_t heads;                  /* how many heads it has … */
	int64_t first_head;             /* … beginning with this one, and cycling within … */
	int64_t round_first, round_end; /* … the whole trace, or the part of it that a replay repeats */
	int64_t advance;                /* the next stage begins this many heads further on */
	int64_t middles;                /* for so many first heads it sends the turns from one in their middle on … */
	bool primer;                    /* … or only the turn before that one; */
	bool apart;                     /* as copies of the requests, which are not those of any of the next 63 rounds */
	int64_t idle_max_ns;            /* recorded waits are no longer than this */
	int64_t before;                 /* heads of the stages before it */
	bool picks;                     /* its heads do not follow each other in the trace (stage_kind.h); then … */
	int64_t lines, our_lines;       /* … how many lines they have, and how many of those are this shard's */
	bool alone;                     /* its heads are the first `round_end` of builder->alone, again and again */
	int64_t sent, repeated;         /* lines that are surely sent; of these, with a prompt sent before */
	int64_t lead_ns;                /* from its beginning to its first due time; IPF_ABSENT: it has none */
	int64_t gap_ns, gap_at_ns;      /* the longest time without a due request, and when it begins in the schedule */
	char note[240];                 /* for the user: how its arrivals were made; "" if its spec says it all */
};

struct schedule_builder {
	/* Set by the caller; borrowed. */
	const struct stages *stages;
	const struct trace_index *trace; /* NULL: without a trace */
	uint64_t seed;
	int64_t first_req;               /* the first stage begins at the first head that is this request or a later one */
	const struct sent_prompts *sent; /* by earlier runs; NULL: there are none */
	bool new_prompts;                /* each stage is another copy of its requests */
	int64_t shard, shards;           /* the part to write, from 1, of how many; 0 of 0: the whole schedule */
	/* Set by schedule_builder_prepare. */
	struct schedule schedule;
	struct stage_layout *layouts; /* one for each stage */
	int64_t *alone, alone_count;  /* the heads of stages of kind alone: checked ones that the other stages send */
	int64_t arrivals;             /* lines of all stages */
};

/* Counts the arrivals of every stage and assigns requests and numbers. IPF_USAGE if a stage has no end, does not fit
 * into a schedule or cannot be divided into the shards; IPF_INPUT if the trace does not suit a replay. */
int schedule_builder_prepare(struct schedule_builder *builder, struct ipf_error *err);
/* Writes the lines, after schedule_builder_prepare, and sets `sent`, `repeated`, `lead_ns` and the longest gap of the
 * layouts. How far a closed stage with for= gets in its lines is not known, so its lines are not counted. */
int schedule_builder_write(struct schedule_builder *builder, struct stream_writer *writer, struct progress *progress,
                           struct ipf_error *err);
/* To be called after an error, too. */
void schedule_builder_release(struct schedule_builder *builder);

#endif
