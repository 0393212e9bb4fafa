/* The stages of earlier runs a search tried, and whether each met the goals.
 *
 *     struct search_trials tried = {0};
 *     search_trials_judge(&tried, &of, &runs, &err);
 *     tried.list[0].load, tried.list[0].met …
 *     search_trials_release(&tried);
 */
#ifndef IPF_SEARCH_TRIALS_H
#define IPF_SEARCH_TRIALS_H

#include "search/earlier_runs.h"
#include "search/search_goal.h"

/* The stages that count, and the goals. */
struct search_of {
	const char *kind;        /* the stages', such as "poisson" or "closed" */
	bool users, concurrency; /* loads are users or requests in flight of a closed loop; otherwise requests per second */
	const struct search_goals *goals;
};

struct search_trial {
	const struct earlier_stage *stage;
	double load;
	double met; /* the probability the stage met all goals, from 0 to 1; 0.5: it does not count */
	/* Why a stage does not count: it missed the goals only because the client was late, or met them with prompts the
	 * server had in its cache. */
	enum { TRIAL_COUNTS, TRIAL_LATE, TRIAL_WARM } left_out;
	bool missed;   /* a percentile was beyond its limit, or of few requests too many; also if it does not count */
	bool enough;   /* it has as many requests as the percentiles of the goals need */
	double excess; /* how much faster than time the requests became slower, if they did: 0.1 at 10 % too much load */
	bool failing;  /* it counts and missed the goals because of failures */
	int goal;      /* the goal it was least likely to meet */
	double latency_ns; /* for the goal's percentile, among the answered requests; NAN */
};

struct search_trials {
	struct search_trial *list; /* in the order of the runs */
	size_t count;
	size_t needed; /* requests the percentiles of all goals need */
};

/* Judges the stages measured, of the kind, and have requests. A stage of responses in one piece is IPF_INPUT for a goal
 * that only streams have; so are an incomplete run, and runs without a stage of the kind. */
int search_trials_judge(struct search_trials *tried, const struct search_of *of, const struct earlier_runs *runs,
                        struct ipf_error *err);
void search_trials_release(struct search_trials *tried);

/* The trial missing the goals at the lowest load because of failures; NULL. */
const struct search_trial *search_trials_failing(const struct search_trials *tried);
/* Did failures decide at the lowest load? Then the server may fail at every load. */
bool search_trials_fail_at_lowest(const struct search_trials *tried);

#endif
