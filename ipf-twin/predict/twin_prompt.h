/* A request for a twin: how long its prompt and its answer are, and which of their blocks another request shares.
 *
 *     if (twin_prompt_open(&prompts, &options, &err) < 0) …
 *     if (twin_prompt_read(prompts, &arrival, model, &answer, &err) < 0) …   // IPF_INPUT names the request
 *     twin_prompt_close(prompts);
 *
 * Lengths are those of the trace. Without them, a prompt and a recorded answer have a token for every 4 bytes
 * (prompt_chain.h). Where blocks end is found in these tokens too, which differ from the server's by one factor for the
 * whole trace, so text that prompts share stays shared.
 */
#ifndef IPF_TWIN_PROMPT_H
#define IPF_TWIN_PROMPT_H

#include "requests/arrival_reader.h"
#include "twin/twin_server.h"

struct twin_prompt;

struct twin_prompt_options {
	const char *trace;          /* its file, for the factor */
	int64_t room;               /* twin_server_room: blocks of longer requests are of no use */
	bool blocks;                /* there is a prefix cache */
	bool answers;               /* later turns have the server's own answers in their prompts (--history live) */
	double times[TWIN_LENGTHS]; /* factors for the lengths of prompts and answers; shared beginnings are longer, too */
};

int twin_prompt_open(struct twin_prompt **prompts, const struct twin_prompt_options *options, struct ipf_error *err);
void twin_prompt_close(struct twin_prompt *p); /* NULL is fine */

/* Fills in the lengths and the blocks of an answer that is zero otherwise. `model`: JSON, may be absent. */
int twin_prompt_read(struct twin_prompt *p, const struct arrival_request *request, struct slice model,
                     struct twin_answer *answer, struct ipf_error *err);

/* For tests: the server's tokens for each token of a chain, by the first thousand requests of the trace. */
int twin_prompt_factor(const char *trace, double *factor, struct ipf_error *err);

#endif
