/* When the tokens of a request arrived.
 *
 *     struct token_times times = token_times_of(row);
 *     double in_stage = token_times_before(&times, end_ns) - token_times_before(&times, begin_ns);
 *
 * The results have the time of the first and of the last content event, and how many tokens came before each begin and
 * end of a stage in between (edge_ns in ipf-results(5)). Between two such times, tokens are spread evenly. Tokens of an
 * unstreamed response arrive at its end, and so do those of one whose first event is not known.
 */
#ifndef REPORT_TOKEN_TIMES_H
#define REPORT_TOKEN_TIMES_H

#include "results/run_data.h"

struct token_times {
	double tokens;             /* output tokens of the request; NAN: not known */
	int64_t first_ns, last_ns; /* IPF_ABSENT: not known */
	int64_t after_ns;          /* … and may have been earlier, after this time; IPF_ABSENT */
	double events;             /* between these, with both */
	const int64_t *edges;      /* for each edge its time and the tokens before it */
	int64_t edge_count;
};

struct token_times token_times_of(const struct row *row);
/* The tokens arriving before a time. */
double token_times_before(const struct token_times *t, int64_t t_ns);
/* Is it exact? False: it lies between two known times. */
bool token_times_exact(const struct token_times *t, int64_t t_ns);

#endif
