/* The steps of a server, as the events of its answers show them: in continuous batching, all sequences of a step get
 * their tokens when it ends, so events of different requests coming together are one step.
 *
 *     struct twin_steps steps;
 *     twin_steps_find(&steps, &data, &err);
 *     … steps.list[k].end_ns, steps.list[k].length_ns …
 *     twin_steps_release(&steps);
 *
 * An event begins a new step if its request has one in this step already, or if no event came for `gap_ns`: a quarter
 * of the gaps that 5 % of all gaps within an answer are shorter than. A step's end is the time of its first event. Its
 * length is known if some answer went on from the step before to this one, because then the server was busy all the
 * time.
 */
#ifndef TWIN_TWIN_STEPS_H
#define TWIN_TWIN_STEPS_H

#include "fit/twin_data.h"

struct twin_step {
	int64_t end_ns;
	int64_t length_ns; /* IPF_ABSENT: not known */
	int32_t server;
	int32_t sequences;      /* that got tokens */
	int32_t firsts;         /* first events among them */
	int32_t waiting;        /* requests that had been sent before the step began, and got no token until after it */
	int64_t prompt_tokens;  /* prompts whose first token it has, without the cached part */
	int64_t context_tokens; /* before the tokens it computed, of those that were decoding */
	int64_t held_blocks;    /* blocks of 16 tokens the sequences with tokens in it hold … */
	int64_t own_blocks;     /* … without those found in a cache, which several may share */
	bool timely;            /* those with a first token in it were sent while the step before was under way */
};

/* A request among them. */
struct twin_passage {
	int32_t sent;  /* the step under way when it was sent, or the next one to end */
	int32_t first; /* the step of its first token */
	bool alone;    /* the server was idle when it was sent, and no other request came before its first token */
};

struct twin_steps {
	struct twin_step *list;
	int64_t count;
	struct twin_passage *passages; /* for each request of the data */
	int64_t gap_ns;
};

/* -1: IPF_INPUT, if events of different requests do not come together; IPF_SYSTEM. */
int twin_steps_find(struct twin_steps *steps, const struct twin_data *data, struct ipf_error *err);
void twin_steps_release(struct twin_steps *steps);

/* Tokens of the request before its event of this order: those of each event need not be known. */
int64_t twin_tokens_before(const struct measured_request *request, int32_t order);

#endif
