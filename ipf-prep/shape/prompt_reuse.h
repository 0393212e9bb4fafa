/* How many tokens of a trace's prompts a prefix cache without a limit could find, in whichever order they are sent: all
 * but those of beginnings occurring for the first time.
 *
 *     struct prompt_reuse reuse = {0};
 *     prompt_reuse_add(&reuse, &request, &draft, continues, &err);   // for each request, turns of a session in a row
 *     prompt_reuse_find(&reuse, input_tokens, &found);
 *     prompt_reuse_release(&reuse);
 *
 * Tokens are those of prompt_chain.h, which the report counts by, too; it knows the order of sending and whole blocks.
 * Beginnings are counted in blocks here, so no cache finds more than PROMPT_BLOCK tokens a prompt beyond it, whatever
 * the length of its blocks. Memory is constant.
 */
#ifndef PREP_PROMPT_REUSE_H
#define PREP_PROMPT_REUSE_H

#include "draft/draft.h"
#include "shape/distinct_count.h"
#include "stream/prompt_chain.h"
#include "stream/schedule.h"

/* Zero-initialise. */
struct prompt_reuse {
	struct prompt_chain chain; /* its first member */
	struct distinct_count beginnings;
	int64_t tokens;        /* all prompts together */
	int64_t blocks;        /* whole ones, of all prompts */
	int64_t answers;       /* answers a later turn has in its prompt, each once */
	struct buffer answer;  /* the last request's: JSON */
	int64_t answer_tokens; /* requested */
	struct prompt_scratch scratch;
	bool partly; /* some prompts have no length here, or none at all */
};

/* `draft` has the messages of the request, which need not be parsed again. `continues`: it is the next turn of the
 * session of the request before, whose prompt and answer come before its own. A request without a prompt makes the
 * whole unknown. -1: IPF_INPUT; out of memory. */
int prompt_reuse_add(struct prompt_reuse *reuse, const struct trace_request *request, const struct draft *draft,
                     bool continues, struct ipf_error *err);
/* In tokens of which all prompts have `input_tokens`. All 0: not known. */
void prompt_reuse_find(const struct prompt_reuse *reuse, int64_t input_tokens, struct schedule_reuse *found);
void prompt_reuse_release(struct prompt_reuse *reuse);

#endif
