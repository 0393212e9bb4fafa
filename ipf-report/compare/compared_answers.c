#include "compare/compared_answers.h"

#include "stats/exact_shares.h"
#include "verdict/verdict.h"

#include <string.h>

static bool have_one_trace(const struct run_data *const runs[SIDES])
{
	const char *base = runs[SIDE_BASE]->schedule.trace_sha256;
	return base[0] && strcmp(base, runs[SIDE_NEW]->schedule.trace_sha256) == 0;
}

struct compared_answers compare_answers(const struct run_data *const runs[SIDES])
{
	const struct answer_health *health[SIDES];
	struct compared_answers a = {.p_worse = 1, .p_better = 1};
	for (int s = 0; s < SIDES; s++) {
		health[s] = verdict_answers(runs[s]->verdict);
		const int64_t *judged = health[s]->phases[ANSWERS_LOAD].judged;
		a.canaries[s] = judged[RESULT_RIGHT] + judged[RESULT_WRONG];
		a.wrong[s] = judged[RESULT_WRONG];
		a.other_marks[s] = health[s]->other_marks;
	}
	a.known = a.canaries[SIDE_BASE] > 0 && a.canaries[SIDE_NEW] > 0;
	if (!a.known)
		return a;
	int64_t worse = 0, better = 0;
	a.paired = have_one_trace(runs) && answer_health_pairs(health[SIDE_BASE], health[SIDE_NEW], &worse, &better) > 0;
	if (a.paired) {
		a.p_worse = share_sign_p(worse, better);
		a.p_better = share_sign_p(better, worse);
		return a;
	}
	a.p_worse = share_fisher_p(a.wrong[SIDE_BASE], a.canaries[SIDE_BASE], a.wrong[SIDE_NEW], a.canaries[SIDE_NEW]);
	a.p_better = share_fisher_p(a.wrong[SIDE_NEW], a.canaries[SIDE_NEW], a.wrong[SIDE_BASE], a.canaries[SIDE_BASE]);
	return a;
}

bool compared_answers_worse(const struct compared_answers *a)
{
	return (a->known && a->p_worse < VERDICT_ANSWERS_P) || (a->other_marks[SIDE_NEW] && !a->other_marks[SIDE_BASE]);
}
