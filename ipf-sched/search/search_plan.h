/* Decides on the next stage of a search: which load, and for how long.
 *
 *     struct search_plan plan = {.low = NAN, .high = NAN, .precision = 0.05, .confidence = 0.95,
 *                                .time_ns = 300 * NS_PER_S, .limit_ns = 300 * NS_PER_MS};
 *     search_plan_next(&plan, &tried, spent_ns, &step, &err);
 *
 * With a time for the whole search, it has two phases. Short stages, each at two or four times the load of the one
 * before, find a load missing the goals; a few between it and the highest that met them narrow this bracket. Long
 * stages near the limit follow. Each has as many requests as the percentiles need and lasts long enough for a queue to
 * grow beyond the limit; load_search.h weighs them and chooses their loads.
 *
 * With a fixed length of stages, load_search.h decides alone.
 */
#ifndef IPF_SEARCH_PLAN_H
#define IPF_SEARCH_PLAN_H

#include "search/load_search.h"
#include "search/search_trials.h"

struct search_plan {
	double low, high; /* loads; NAN: no bound */
	bool whole;       /* loads are whole numbers */
	double precision, confidence;
	size_t most;      /* stages */
	int64_t time_ns;  /* for the whole search; IPF_ABSENT: stages have a fixed length … */
	int64_t for_ns;   /* … this one, or longer if the percentiles need more requests; IPF_ABSENT: a fixed number */
	int64_t limit_ns; /* the longest limit of the goals */
};

struct search_step {
	/* Try a load; the answer is as good as it gets; no stage the percentiles need fits into the time. */
	enum { SEARCH_TRY, SEARCH_ANSWER, SEARCH_TOO_SHORT } what;
	bool brief;                       /* the stage belongs to the first phase */
	double load;                      /* the next stage's, in four digits */
	int64_t for_ns, warmup_ns;        /* its measured length, and the time before that; IPF_ABSENT, 0 */
	int64_t left_ns;                  /* the time's; IPF_ABSENT */
	int64_t needed_ns;                /* the time of a stage that can judge the goals … */
	bool by_limit;                    /* … which is long for a queue to exceed the limit, not for its requests */
	struct load_search_answer answer; /* the current answer */
	bool weighed;                     /* the answer is from stages with enough requests */
	bool alone;                       /* requests running alone missed the goals: no load meets them */
};

/* `spent_ns`: the time of the stages so far. Fails only when memory runs out. */
int search_plan_next(const struct search_plan *plan, const struct search_trials *tried, int64_t spent_ns,
                     struct search_step *step, struct ipf_error *err);

/* The highest load below all that missed, and the lowest that missed, among the stages that count; NAN: none. */
struct search_bracket {
	double low, high;
};
struct search_bracket search_plan_bracket(const struct search_plan *plan, const struct search_trials *tried);
/* Did the stage miss the goals, or met them only because it ended before its growing queue exceeded the limit? */
bool search_plan_missed(const struct search_plan *plan, const struct search_trials *tried,
                        const struct search_trial *trial);

#endif
