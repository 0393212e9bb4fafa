/* Is a figure of one side different from the other's, by how much, and how many runs would it take to know?
 *
 *     struct difference d = difference_of(&base, &new_side, &design);
 *     printf("%+.1f %% [%+.1f, %+.1f]\n", 100 * d.change, 100 * d.low, 100 * d.high);
 *     double p[] = {d.p, …};
 *     holm_adjust(p, count);
 *     d.adjusted = p[0];
 *     difference_judge(&d, &(struct difference_limits){.effect = 0.02, .family = count});
 *
 * Noise. Requests share queues with their neighbours, so each of them has little information of its own. Blocks of a
 * run (block_noise.h) are independent, and runs. If both sides executed the same schedule, a block of one is compared
 * with the same block of the other, and the load's change from block to block does not count. With several runs of a
 * side, the variance between runs is measured as well, and the greater of both estimates counts: with its own few
 * degrees of freedom if it is visibly greater (F test, 50 %), else with those of both.
 *
 * Interval. Differences are those of logarithms, so they are relative, and of shares, as they are. A percentile's own
 * interval is where its level could be (its error in logits), read off the values; those of both sides are combined
 * with their correlation as by G. Y. Zou and A. Donner, "Construction of confidence limits about effect measures: a
 * general approach", Statistics in Medicine 27(10), 2008 (MOVER), except that an error which both sides share moves
 * both limits of one in the same direction. The p value is the level at which the interval just reaches no difference.
 *
 * Pure; the same bits on every machine.
 */
#ifndef DIFFERENCE_H
#define DIFFERENCE_H

#include "difference/influence.h"

enum compared_side { SIDE_BASE, SIDE_NEW, SIDES };

/* The two compared sides. */
struct comparison_design {
	struct run_blocks blocks[SIDES];
	const int *partner;         /* for each run of the base: the other side's with the same requests; -1: none */
	const int *schedule[SIDES]; /* for each run: a number common to runs of the same requests */
	bool bursty; /* each side has its own load, whose bursts a run has not seen often enough (bursts.h) */
};

enum finding {
	FINDING_NONE, /* one side, or both, do not have the figure, or no noise is known */
	FINDING_SAME,
	FINDING_LOWER,
	FINDING_HIGHER,
	FINDING_FEW_RUNS,
};

enum noise_source { NOISE_UNKNOWN, NOISE_BLOCKS, NOISE_RUNS };

/* Why no noise is known. */
enum noise_missing {
	NOISE_KNOWN,
	NOISE_STATED, /* figures without requests, as another tool states them; or no figure */
	NOISE_FEW,    /* too few requests, or too few independent ones */
	NOISE_BURSTY, /* the run is too short for the bursts of its load */
};

struct difference {
	double base, value;    /* the sides'; NAN */
	bool relative;         /* the following are shares of the base; else differences */
	double change;         /* NAN: not known */
	double low, high;      /* 95 % interval; infinite: more values would be needed to know; NAN: not known */
	double error, degrees; /* standard error of the change (of its logarithm, if relative) */
	enum noise_source noise;
	enum noise_missing missing;
	double between; /* standard deviation between runs of a side, as `error`; NAN: not measured */
	double within;  /* the expected error by blocks; NAN: not known */
	double p, adjusted;
	int runs[SIDES];
	/* by difference_judge: */
	enum finding finding;
	double visible;      /* a change as large would be significant in 80 of 100 such comparisons; NAN */
	int64_t runs_needed; /* each side's, for the least effect to be so; IPF_ABSENT: not known, or above RUNS_MOST */
};

#define RUNS_MOST 100000
/* An end of an interval beyond these says nothing: a hundred times the base, half of all requests. */
#define DIFFERENCE_BOUND       99.0
#define DIFFERENCE_SHARE_BOUND 0.5
/* Noise within runs is known from so many independent blocks of each side, and of a percentile from so many beyond it.
 */
#define DIFFERENCE_INDEPENDENT 20.0
#define DIFFERENCE_BEYOND      2.0
/* A difference counts as one if p, adjusted for the number of figures, is below this … */
#define DIFFERENCE_ALPHA 0.05
/* … and is found with this probability if it is as large as `visible`. */
#define DIFFERENCE_POWER 0.80
/* Smaller relative changes do not count, unless another limit is given. */
#define DIFFERENCE_EFFECT 0.02

struct difference_limits {
	double effect;       /* the least relative change to count, above 0 */
	double share_effect; /* the least change of a share */
	size_t family;       /* how many figures are tested */
};

/* Either influence may have no parts: the difference then has no interval. */
struct difference difference_of(const struct influence *base, const struct influence *value,
                                const struct comparison_design *design);
/* Sets the finding, after `adjusted` has been set. Lower or higher: significant, and the change is at least the least
 * effect. Same: the interval is within plus and minus the least effect. Few runs: otherwise. */
void difference_judge(struct difference *d, const struct difference_limits *limits);

/* Does the interval end below, or above? */
bool difference_has_low(const struct difference *d);
bool difference_has_high(const struct difference *d);
/* `visible`; NAN also if it is beyond the bounds. */
double difference_visible(const struct difference *d);
/* How many runs of each side, like these, would show a change of `effect` with the power above; IPF_ABSENT: not known,
 * or above RUNS_MOST. */
int64_t difference_runs_for(const struct difference *d, double effect, size_t family);

#endif
