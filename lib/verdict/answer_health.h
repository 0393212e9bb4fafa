/* Are the answers still right under load? Counts the checked requests of a run (stream/request_check.h) alone and under
 * load, and judges whether more canaries are wrong under load than alone beyond chance.
 *
 *     answer_health_part(&a, &schedule);            // before the rows of each shard or repeat
 *     answer_health_row(&a, &row);
 *     answer_health_judge(&a, check);               // at any time
 *     answer_health_release(&a);
 *
 * A request is alone in a stage of kind "alone", and under load in a measured one. Each canary is one pair, however
 * often it is sent: its first answer alone and its first under load in each run, whose wrong ones are counted. The
 * exact test of McNemar counts the pairs in which one share is larger. Copies of a request (schedule.h) are the same
 * canary.
 *
 * An answer with the mark of another canary counts if that canary is one of the run: a prompt may contain those of
 * others.
 */
#ifndef IPF_ANSWER_HEALTH_H
#define IPF_ANSWER_HEALTH_H

#include "canary/canary.h"
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

/* A canary: its first answers of each run, alone and under load. */
struct canary_answers {
	uint64_t key;                  /* its trace and request; see hash_index.h */
	int32_t alone_part, load_part; /* the last part with one */
	int32_t alone, alone_wrong, load, load_wrong;
};

/* Answers with a mark that their request does not expect. */
struct mark_count {
	uint64_t key;               /* the mark's hash */
	int64_t answers, unchecked; /* unchecked: to requests that are not checked */
	bool own;                   /* a canary of the run expects it */
};

struct answer_pairs {
	int64_t pairs, worse, better; /* pairs; those more often wrong under load, those more often wrong alone */
};

struct answer_health {
	struct answer_counts phases[ANSWER_PHASES];
	int64_t requests; /* in measured stages, checked or not */
	int64_t loops;    /* answers of measured stages that end in a repetition loop */

	/* private */
	unsigned char *phase_of; /* for each stage: enum answer_phase, or ANSWER_PHASES: not counted */
	size_t stages;
	int32_t part;
	uint64_t trace; /* hash of the part's trace */
	struct canary_answers *canaries;
	struct mark_count *marks;
	size_t canaries_room, canaries_count, marks_room, marks_count;
	struct jdoc doc;
	struct canary_expected expected;
	bool failed;
};

/* -1: out of memory. */
int answer_health_part(struct answer_health *a, const struct schedule *schedule);
void answer_health_row(struct answer_health *a, const struct result *row);
/* Was any request checked? */
bool answer_health_any(const struct answer_health *a);
bool answer_health_failed(const struct answer_health *a); /* out of memory */
/* The probability of at least so many canaries wrong only under load if load makes no difference; 1 without pairs. */
double answer_health_p(const struct answer_health *a);
struct answer_pairs answer_health_pairs(const struct answer_health *a);
/* The canaries that two runs both have under load: worse: more often wrong in the new one. */
struct answer_pairs answer_health_between(const struct answer_health *base, const struct answer_health *new);
/* Answers with the mark of another canary of the run; unchecked: to requests that are not checked. */
struct mark_count answer_health_mixed(const struct answer_health *a);
/* {"before": {"canaries", "wrong", "wrong_low", …}, …, "pairs", "worse", "better", "p", "other_marks", …}; new. NULL:
 * out of memory. */
json_t *answer_health_json(const struct answer_health *a);
/* Adds clauses and figures; nothing without checked requests. False: out of memory. */
bool answer_health_judge(const struct answer_health *a, struct verdict_check *check);
void answer_health_release(struct answer_health *a);

#endif
