/* Are the answers still right under load? Counts the checked requests of a run (stream/request_check.h) alone and under
 * load, and judges whether more canaries are wrong under load than alone beyond chance.
 *
 *     answer_health_part(&a, &schedule);            // before the rows of each shard or repeat
 *     answer_health_row(&a, &row, number);          // `number` is that of the prompt: schedule_prompt_number
 *     answer_health_judge(&a, check);               // at any time
 *     answer_health_release(&a);
 *
 * A request is alone in a stage of kind "alone", and under load in a measured one. Each canary's first answer alone and
 * first answer under load are a pair; the exact test of McNemar counts the pairs of which only one is right.
 */
#ifndef IPF_ANSWER_HEALTH_H
#define IPF_ANSWER_HEALTH_H

#include "seen_numbers.h"
#include "stream/result.h"
#include "stream/schedule.h"
#include "verdict/verdict_check.h"

enum answer_phase { ANSWERS_BEFORE, ANSWERS_LOAD, ANSWERS_AFTER, ANSWER_PHASES };
extern const char *const answer_phase_names[ANSWER_PHASES]; /* "before", "load", "after" */

struct answer_lengths {
	int64_t cut;             /* answers that the limit of their length ended */
	int64_t tokens, counted; /* output tokens, and the answers that have a count */
	int64_t empty;
};

/* The answers to checked requests of a phase. */
struct answer_counts {
	int64_t requests;                     /* failed ones, too */
	int64_t judged[RESULT_JUDGEMENTS];    /* canaries */
	int64_t compared[RESULT_COMPARISONS]; /* repeats, with their first answer */
	int64_t finish_differs;
	struct answer_lengths canaries, repeats;
};

struct answer_health {
	struct answer_counts phases[ANSWER_PHASES];
	int64_t worse, better; /* pairs: only alone right, only under load right */
	int64_t pairs;
	int64_t other_marks, other_marks_unchecked; /* answers with the mark of another canary; of those, to no canary */
	int64_t requests;                           /* in measured stages, checked or not */
	int64_t loops;                              /* answers of measured stages that end in a repetition loop */

	/* private */
	unsigned char *phase_of; /* for each stage: enum answer_phase, or ANSWER_PHASES: not counted */
	size_t stages;
	struct seen_numbers alone, alone_wrong, load, load_wrong; /* the canaries' first answers */
};

/* -1: out of memory. */
int answer_health_part(struct answer_health *a, const struct schedule *schedule);
void answer_health_row(struct answer_health *a, const struct result *row, int64_t number);
/* Was any request checked? */
bool answer_health_any(const struct answer_health *a);
bool answer_health_failed(const struct answer_health *a); /* out of memory */
/* The probability of at least so many canaries wrong only under load if load makes no difference; 1 without pairs. */
double answer_health_p(const struct answer_health *a);
/* How many canaries two runs of one trace both have under load; those of which only the base is right, only the new
 * run. The last of several parts counts. */
int64_t answer_health_pairs(const struct answer_health *base, const struct answer_health *new, int64_t *worse,
                            int64_t *better);
/* {"before": {"canaries", "wrong", "wrong_low", …}, …, "pairs", "worse", "better", "p", "other_marks", …}; new. NULL:
 * out of memory. */
json_t *answer_health_json(const struct answer_health *a);
/* Adds clauses and figures; nothing without checked requests. False: out of memory. */
bool answer_health_judge(const struct answer_health *a, struct verdict_check *check);
void answer_health_release(struct answer_health *a);

#endif
