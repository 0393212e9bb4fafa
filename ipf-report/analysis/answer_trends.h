/* Which canaries are wrong: by kind, over time, and against the load. And how early answers to repeated requests begin
 * to differ. The counts of each phase are the verdict's (verdict/answer_health.h). */
#ifndef REPORT_ANSWER_TRENDS_H
#define REPORT_ANSWER_TRENDS_H

#include "figures/server_figures.h"
#include "results/run_data.h"

/* Canaries under load with values from `from` to `to`. */
struct answer_group {
	double from, to;
	int64_t canaries, wrong;
};

/* The canaries in the order of a value, in groups of nearly equal size. */
enum { ANSWER_GROUPS = 4 };
struct answer_trend {
	struct answer_group groups[ANSWER_GROUPS];
	int count; /* 0: the value is not known, or all are equal */
};

struct answer_kind {
	int64_t alone, alone_wrong, load, load_wrong;
};

struct answer_trends {
	bool given; /* some request was checked */
	struct answer_kind kinds[RESULT_CHECK_REPEAT];
	struct answer_trend by_time;      /* s since the start of the run */
	struct answer_trend by_in_flight; /* requests in flight at their start */
	struct answer_trend by_kv_cache;  /* share in use at their end, mean of the servers */
	int64_t checked;                  /* requests of measured stages, … */
	double load_share;                /* … and their share of the tokens of prompts and answers; NAN: not known */
	int64_t differing;                /* answers to repeats under load that differ and have a place … */
	double differs_at_median;         /* … the median of the equal tokens, or characters; NAN: none */
	bool in_tokens;
};

/* -1: out of memory. */
int answer_trends_find(struct answer_trends *a, const struct run_data *run, const struct server_figures *servers,
                       struct ipf_error *err);

#endif
