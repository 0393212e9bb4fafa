/* The sentences of a search: its answer on one line, the result of each stage, the next step. */
#ifndef IPF_SEARCH_ANSWER_H
#define IPF_SEARCH_ANSWER_H

#include "buffer.h"
#include "search/search_plan.h"

/* A search for people. */
struct search_texts {
	const struct search_of *of;
	const struct search_plan *plan;
	const struct search_trials *tried;
	const struct earlier_runs *runs;
};

/* "28.8 requests/s meet p99 TTFT < 300 ms (between 27.5 and 30.1, 95 %); 39.4/s do not (304 ms)", then whatever makes
 * the answer doubtful: stages that do not count, failures, prompts sent again, a stopped search. */
void search_answer_write(const struct search_texts *t, const struct search_step *step, struct buffer *out);

/* The plan of the search, before its first stage. */
void search_answer_plan(const struct search_texts *t, const struct search_step *step, struct buffer *out);

/* "40 requests/s missed p99 TTFT < 300 ms (512 ms); next 28.3/s for 32 s, 3 min 20 s left". */
void search_answer_next(const struct search_texts *t, const struct search_step *step, struct buffer *out);

/* Why no stage fits into the time, before the first one, and a remedy. */
void search_answer_too_short(const struct search_texts *t, const struct search_step *step, struct buffer *out);

/* "stage search 10/s: 86 % of 300 requests failed, …". */
void search_answer_failing(const struct search_trial *failing, struct buffer *out);

#endif
