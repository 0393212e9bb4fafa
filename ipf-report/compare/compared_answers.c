#include "compare/compared_answers.h"

#include "stats/exact_shares.h"
#include "verdict/verdict.h"

struct compared_answers compare_answers(const struct run_data *const runs[SIDES])
{
	const struct answer_health *health[SIDES];
	struct compared_answers a = {.p_worse = 1, .p_better = 1};
	for (int s = 0; s < SIDES; s++) {
		health[s] = verdict_answers(runs[s]->verdict);
		const int64_t *judged = health[s]->phases[ANSWERS_LOAD].judged;
		a.canaries[s] = judged[RESULT_RIGHT] + judged[RESULT_WRONG];
		a.wrong[s] = judged[RESULT_WRONG];
		a.other_marks[s] = answer_health_mixed(health[s]).answers;
	}
	a.known = a.canaries[SIDE_BASE] > 0 && a.canaries[SIDE_NEW] > 0;
	if (!a.known)
		return a;
	const struct answer_pairs p = answer_health_between(health[SIDE_BASE], health[SIDE_NEW]);
	a.paired = p.pairs > 0;
	if (a.paired) {
		a.p_worse = share_sign_p(p.worse, p.better);
		a.p_better = share_sign_p(p.better, p.worse);
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
