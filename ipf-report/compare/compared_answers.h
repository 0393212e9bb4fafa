/* Does the new side answer more canaries wrong than the base? Runs of one trace are compared canary by canary, by the
 * shares of its first answers under load in all runs (exact sign test); others by all their answers (Fisher). */
#ifndef COMPARE_COMPARED_ANSWERS_H
#define COMPARE_COMPARED_ANSWERS_H

#include "difference/difference.h"
#include "results/run_data.h"

struct compared_answers {
	bool known;                            /* canaries of both sides were judged under load */
	bool paired;                           /* canary by canary */
	int64_t canaries[SIDES], wrong[SIDES]; /* under load */
	int64_t other_marks[SIDES];            /* answers with the code of another request's canary */
	double p_worse, p_better; /* if chance decides: at least as many more wrong, as many fewer; 1: not known */
};

struct compared_answers compare_answers(const struct run_data *const runs[SIDES]);
/* The new side has more wrong answers, beyond chance, or mixes requests up as the base does not. */
bool compared_answers_worse(const struct compared_answers *a);

#endif
