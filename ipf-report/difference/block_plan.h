/* Divides each measured stage of a run into blocks of successive requests of its schedule, and places requests in them.
 *
 *     struct block_plan plan;
 *     block_plan_make(&plan, &base, &err);
 *     block_plan_place(&plan, &base, cells, &err);        // cells[i] of rows[i]: run * blocks + block
 *     block_plan_place(&plan, &other, cells_of_other, &err);     // of the same schedule: the same blocks
 *     block_plan_release(&plan);
 *
 * Requests are in the order of their numbers in the schedule, which is the same in every run of it, whatever was late.
 * A session is in the block of its first request as a whole, since its turns depend on each other.
 */
#ifndef DIFFERENCE_BLOCK_PLAN_H
#define DIFFERENCE_BLOCK_PLAN_H

#include "difference/influence.h"
#include "results/run_data.h"

/* Blocks of a run: as many as requests, at most BLOCKS_PARTS_MOST; block_noise.h joins them. Fewer requests than 40 are
 * one block, which shows no noise: only several runs do. */
enum { PLAN_REQUESTS_FEWEST = 40 };

struct block_plan {
	size_t stages;     /* measured ones with requests */
	int32_t *position; /* for each stage of the schedule: among those; -1 */
	size_t positions;
	size_t *begin;    /* the blocks of each; stages + 1 */
	int64_t *first_n; /* each block's: its requests are numbered from here on */
};

/* How many runs a side has: its parts, or one if these are shards of it. */
int block_plan_runs(const struct run_data *run);
/* -1: out of memory. */
int block_plan_make(struct block_plan *plan, const struct run_data *run, struct ipf_error *err);
void block_plan_release(struct block_plan *plan);
/* Sets cells[i] for each row; -1 for those in no block. -1: out of memory. */
int block_plan_place(const struct block_plan *plan, const struct run_data *run, int32_t *cells, struct ipf_error *err);

#endif
