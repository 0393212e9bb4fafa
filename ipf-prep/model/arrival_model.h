/* Arrivals of a model: how many there are in each window of the recorded time, and how unevenly a window divides into
 * halves, those into halves, and so on.
 *
 *     struct arrival_fit fit = {0};
 *     arrival_fit_add(&fit, at_ns, &err);             // for each arrival, in order
 *     arrival_fit_end(&fit, &model);
 *
 *     struct arrival_draw draw;
 *     arrival_draw_init(&draw, &model, scale, seed, index);
 *     int64_t at_ns = arrival_draw_next(&draw);       // in order, without an end
 *
 * A window of n arrivals gives its first half a binomial number of them, whose probability is itself random: beta with
 * mean 1/2, so two arrivals of a window are in the same half with probability (1 + c) / 2. The correlation c of each
 * width is estimated by moments, from the squared differences of halves: then the expected variance of counts, and with
 * it the index of dispersion, is the data's at every width (a conservative cascade: Riedi, Crouse, Ribeiro and
 * Baraniuk, "A multifractal wavelet model with application to network traffic", 1999). A negative correlation divides
 * more evenly than chance, by the same share of it whatever the number of arrivals.
 *
 * Arrivals at a distance are no cascade: halves of halves know nothing of each other, so windows across their borders
 * vary too much. Where gaps are as even as counts are at every width, a window is filled with gaps of a gamma
 * distribution instead, as of a renewal process of which the number in the window is given.
 *
 * Widths are a day divided by powers of two, so windows of a trace of several days are at the same times each day. For
 * data with a coarse clock they are ticks of this clock, multiplied by powers of two. Memory is constant.
 */
#ifndef PREP_ARRIVAL_MODEL_H
#define PREP_ARRIVAL_MODEL_H

#include "model/model_json.h"
#include "stats/rng.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	ARRIVAL_WINDOWS = 256, /* at most */
	ARRIVAL_WIDEST = 8,    /* level 0 is 2^8 days */
	ARRIVAL_LEVELS = 35,   /* the last is 1.3 ms */
	ARRIVAL_WHOLE = 24,    /* 2^-16 days, the narrowest whole number of nanoseconds; or a tick */
	ARRIVAL_PROBE = 4096,  /* arrivals by which a coarse clock is recognised */
};

struct arrival_model {
	int64_t starts; /* in the data; 0: arrivals are not known */
	double span_s;  /* after which the windows begin again, unless there is more than a day of them */
	double tick_s;  /* arrivals were recorded by a clock of this resolution, many at each tick; 0: they were not */
	int level;      /* the windows' */
	int windows;
	double counts[ARRIVAL_WINDOWS];
	double splits[ARRIVAL_LEVELS]; /* the correlation within a window of each level */
	double gap_cv; /* standard deviation / mean of the gaps of even arrivals, which fill windows; 0: by `splits` */
};

struct arrival_fit {
	int64_t first_ns, last_ns, count;
	double gap_sum, gap_squares;  /* seconds */
	int64_t probe[ARRIVAL_PROBE]; /* the first arrivals, until it is known how coarse the clock is */
	int probed;
	bool probing_ended;
	int64_t tick_ns;
	int64_t last_cell;
	struct arrival_cell {
		int64_t index, count, left;
	} cells[ARRIVAL_LEVELS];
	struct arrival_sums {
		double count, pairs, squares;
	} sums[ARRIVAL_LEVELS];
	int level; /* the windows' so far */
	int64_t windows;
	double counts[ARRIVAL_WINDOWS];
};

/* -1: IPF_INPUT, it is before the one before it. */
int arrival_fit_add(struct arrival_fit *fit, int64_t at_ns, struct ipf_error *err);
void arrival_fit_end(struct arrival_fit *fit, struct arrival_model *model);

/* A new object; NULL: out of memory. */
json_t *arrival_model_json(const struct arrival_model *model);
int arrival_model_read(struct arrival_model *model, const json_t *map, struct ipf_error *err);
double arrival_model_rate(const struct arrival_model *model); /* per second */

struct arrival_draw {
	const struct arrival_model *model;
	double scale;
	double others[ARRIVAL_LEVELS]; /* an arrival's, in its cell of each level: how many more there are on average */
	struct rng rng;
	int window;
	int64_t begin_ns, last_ns; /* the window's; the last arrival's */
	int depth;
	struct arrival_node {
		int64_t count;
		double at_ns, width_ns; /* within the window */
		int level;
	} nodes[128];
	double left_ns; /* gap_cv: after the last arrival of the window, up to the part of a gap ending it */
};

/* `scale` times as many arrivals. */
void arrival_draw_init(struct arrival_draw *draw, const struct arrival_model *model, double scale, uint64_t seed,
                       uint64_t index);
/* The next arrival in nanoseconds; IPF_ABSENT: it would be too late for a trace (in the year 2043 of one that begins in
 * 1970). */
int64_t arrival_draw_next(struct arrival_draw *draw);

#endif
