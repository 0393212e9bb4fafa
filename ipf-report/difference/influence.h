/* The addition of each block of a run to the error of a figure. A figure of a side is the same over all of its runs
 * together; how well it is known follows from how much these parts differ from block to block, and from run to run.
 *
 *     struct run_blocks blocks = {.runs = 2, .stages = 1, .begin = (size_t[]){0, 48}};
 *     struct influence mean = {0};
 *     influence_of_ratio(&mean, &blocks, sums, counts, &err);       // sums[run * 48 + block]
 *     influence_release(&mean);
 *
 * A block is a part of a stage: either successive requests of the schedule, or a part of its time. A part is the
 * block's term of the linear expansion of the figure (its influence function, summed over the block): the parts of all
 * blocks add up to 0, and a change of the figure is the sum of changes of its parts.
 *
 *   mean, rate   relative to the figure: (sum - figure * count) / (figure * total count)
 *   share        as it is: (sum - share * count) / total count
 *   percentile   the share of values at or below it, less p: the quantile function turns it into a change of the value
 */
#ifndef DIFFERENCE_INFLUENCE_H
#define DIFFERENCE_INFLUENCE_H

#include "error.h"
#include "stats/samples.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The blocks of a side. */
struct run_blocks {
	int runs;
	size_t stages;
	const size_t *begin; /* each stage's blocks in those of a run, and their end: stages + 1 numbers; borrowed */
};

/* The blocks of a run, and where those of `run` begin in an array for all runs. */
static inline size_t run_blocks_each(const struct run_blocks *blocks)
{
	return blocks->begin[blocks->stages];
}

/* A value of a request, and the block it is in, of all runs; of a block below 0: of none, which no noise covers.
 */
struct placed_values {
	struct samples values;
	int32_t *cells;
	size_t cap;
};

enum influence_scale { INFLUENCE_RELATIVE, INFLUENCE_SHARE, INFLUENCE_LEVEL };

struct influence {
	double value; /* the side's; NAN: it has none */
	enum influence_scale scale;
	double size;            /* the number under its mean: requests, seconds, …; 0: not known */
	double cases;           /* INFLUENCE_SHARE: requests it is a share of; NAN: not known */
	double level;           /* INFLUENCE_LEVEL: the share of the values at or below `value` */
	struct samples *sorted; /* INFLUENCE_LEVEL: all values, sorted; borrowed */
	double *parts;          /* for each block of each run; NULL: not known */
	double *of_runs;        /* the figure of each run; NAN; NULL: not known */
};

int placed_values_add(struct placed_values *placed, double value, int32_t cell, struct ipf_error *err);
void placed_values_release(struct placed_values *placed);

/* The sum of `over` / the sum of `under`. -1: out of memory. */
int influence_of_ratio(struct influence *i, const struct run_blocks *blocks, const double *over, const double *under,
                       enum influence_scale scale, struct ipf_error *err);
int influence_of_mean(struct influence *i, const struct run_blocks *blocks, const struct placed_values *placed,
                      struct ipf_error *err);
/* `sorted` has the same values; p in 0 … 100. It must outlive the influence. */
int influence_of_percentile(struct influence *i, const struct run_blocks *blocks, const struct placed_values *placed,
                            struct samples *sorted, double p, struct ipf_error *err);
void influence_release(struct influence *i);

/* INFLUENCE_LEVEL: the natural logarithm of the value at the level that is `steps` standard errors of the level away
 * from the percentile's, in logits, so it stays within 0 and 1. -INFINITY or INFINITY where there are no values so far
 * out. */
double influence_log_at(const struct influence *i, double error, double steps);

#endif
