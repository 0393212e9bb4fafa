/* The goals of a search: objectives on percentiles (objective/objective.h) of the latencies a search knows.
 *
 *     struct search_goals goals = {0};
 *     search_goals_parse("p99:ttft=500ms,p90:tpot=50ms", &goals, &err);
 *
 * At least 99 of 100 requests then must have their first token within 500 ms, as they must for ttft=500ms. A request
 * failing misses every goal; a request without the figure (the TPOT of a single token) meets it, unless the run was not
 * streamed. Latencies beginning with the request count from its due time, if it has one: a user waits from then.
 */
#ifndef IPF_SEARCH_GOAL_H
#define IPF_SEARCH_GOAL_H

#include "buffer.h"
#include "error.h"
#include "objective/objective.h"
#include "stream/result.h"

enum { LATENCY_COUNT = 6 }; /* TTFT, TTFA, E2E, TPOT, NTPOT, mean ITL */

struct search_goal {
	int latency; /* which of them */
	int64_t limit_ns;
	double share;  /* share of the requests that must be within the limit, from 0 to 1 */
	char text[48]; /* "p99:ttft=500ms" */
};

struct search_goals {
	struct search_goal list[OBJECTIVES_MOST];
	int count;
};

/* Adds the goals of `text`, separated by commas. IPF_USAGE. */
int search_goals_parse(const char *text, struct search_goals *goals, struct ipf_error *err);

/* Appends the goal's figure: "p99 TTFT". */
void search_goal_name(const struct search_goal *goal, struct buffer *out);
/* Appends all goals: "p99 TTFT < 500 ms and p90 TPOT < 50 ms". */
void search_goals_describe(const struct search_goals *goals, struct buffer *out);
/* Requests the percentiles of all goals need (samples_needed). */
size_t search_goals_needed(const struct search_goals *goals);

/* The goal's latency, such as "ttft", if it exists only in streamed responses; otherwise NULL. */
const char *search_goal_of_stream(const struct search_goal *goal);
/* The latency of a request in ns; IPF_ABSENT. */
int64_t latency_of(const struct result *result, int latency);

#endif
