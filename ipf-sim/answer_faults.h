/* Answers that are wrong although the server works: wrong tokens if its KV cache is full, the answer of another
 * request, near ties that another batch decides differently, and answers that end early under load.
 *
 *     answer_faults_plan(&answer, &faults);                   // before the engine gets it
 *     answer_faults_token(&answer, k, &faults, &load);        // before each token is written
 *
 * Draws follow from the seed and the number of the request, those of near ties from its prompt: equal prompts have
 * their tie at the same token, alone and under load.
 */
#ifndef SIM_ANSWER_FAULTS_H
#define SIM_ANSWER_FAULTS_H

#include "error.h"

#include <stdbool.h>
#include <stdint.h>

struct answer;

struct share_under_load {
	double share;
	int64_t load; /* requests in flight, at least */
};

struct answer_faults {
	struct {
		double share;
		double above; /* share of the KV cache that has to be exceeded; below 0: any */
	} wrong;
	double crosstalk;
	struct share_under_load near_ties, cut;
};
extern const struct answer_faults answer_faults_none;

/* Values of options: "1%,above=90%", and "5%,load=16" into a struct share_under_load. */
int answer_faults_parse_wrong(const char *text, void *wrong, struct ipf_error *err);
int answer_faults_parse_load(const char *text, void *share, struct ipf_error *err);

/* The state of the server when a token is made. */
struct server_load {
	double kv_usage;   /* 0 to 1 */
	int64_t in_flight; /* requests, this one included */
};

/* Bits of answer.faults: those that have shown. */
enum answer_fault { FAULT_WRONG = 1, FAULT_CROSSTALK = 2, FAULT_TIE = 4, FAULT_CUT = 8 };
extern const char *const answer_fault_names[]; /* by the number of the bit; NULL at the end */

/* Is any of them on? */
bool answer_faults_any(const struct answer_faults *f);

void answer_faults_plan(struct answer *a, const struct answer_faults *f);
/* Does the request get the answer of another one? */
bool answer_faults_swaps(const struct answer *a, const struct answer_faults *f);
/* Makes it the answer of `other`, which has at most `room` tokens. */
void answer_faults_swap(struct answer *a, const struct answer *other, int64_t room);
/* May end the answer after token k: a->output_tokens is then smaller. */
void answer_faults_token(struct answer *a, int64_t k, const struct answer_faults *f, const struct server_load *load);

#endif
