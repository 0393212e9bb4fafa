/* ipf-report compare: two sides, each of one or more runs, figure by figure.
 *
 *     struct comparison_options options = {.effect = 0.02};
 *     struct comparison c;
 *     comparison_build(&c, (const struct run_data *[]){&base, &new_runs}, &options, &err);
 *     if (c.outcome == OUTCOME_SLOWER) …
 *     comparison_release(&c);
 *
 * Both sides have been read and merged (merge_parts.h). figure_list.h lists the figures; difference.h compares them. p
 * values are adjusted for all figures that could be tested (holm.h).
 */
#ifndef COMPARE_COMPARISON_H
#define COMPARE_COMPARISON_H

#include "compare/compared_answers.h"
#include "compare/fail_if.h"
#include "difference/figure_difference.h"
#include "figures/figures.h"
#include "figures/later_turns.h"
#include "results/run_data.h"
#include "cli/option_table.h"

struct comparison_options {
	double effect;       /* --min-effect: a share */
	double share_effect; /* for a share of requests: a difference */
	const struct figure_options *figures;
	const struct string_list *fail_if; /* --fail-if */
	bool undecided_passes;             /* --undecided pass; else conditions undecided fail */
};

enum { DISTRIBUTION_POINTS = 101, COMPARED_DISTRIBUTIONS = 5 };

/* The percentiles 0 to 100 of a latency of all requests of each side, in milliseconds. */
struct compared_distribution {
	enum metric metric;
	double at[SIDES][DISTRIBUTION_POINTS];
};

struct comparison {
	const struct run_data *runs[SIDES];
	const struct verdict_finding *verdicts[SIDES];
	const struct comparison_options *options;
	int run_count[SIDES];
	int64_t requests[SIDES];     /* in measured stages */
	double output_tokens[SIDES]; /* a successful request's mean; NAN */
	double cached[SIDES];        /* share of their input tokens the server had in its prefix cache; NAN */
	struct later_turns later[SIDES];
	double accepted[SIDES]; /* share of the draft tokens that were accepted: by the server's counters, else by its
	                           answers */
	struct compared_answers answers;
	bool paired;             /* runs of both sides have the same requests at the same times */
	bool replays_capture;    /* each run of one side is observed, each of the other replays its trace */
	bool same_records;       /* a run is on both sides */
	enum noise_source noise; /* the best of any figure */
	double episodes[SIDES];  /* how often the load of a side changed (bursts.h) */
	bool bursty;             /* too rarely to judge: see struct comparison_design */
	size_t family;           /* tested figures */
	struct figure_difference figures[COMPARED_FIGURES];
	size_t count; /* those at least one side has */
	struct compared_distribution distributions[COMPARED_DISTRIBUTIONS];
	size_t distribution_count; /* those both sides have */
	struct fail_if conditions[FAIL_IF_MOST];
	size_t condition_count; /* 0 if the sides are not compared */
	json_t *settings;
	enum outcome outcome;
};

/* -1: out of memory; IPF_USAGE for a condition. */
int comparison_build(struct comparison *c, const struct run_data *const runs[SIDES],
                     const struct comparison_options *options, struct ipf_error *err);
void comparison_release(struct comparison *c);

#endif
