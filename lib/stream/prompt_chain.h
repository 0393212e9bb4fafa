/* The prompts of a trace as chains of tokens, with a hash of all tokens so far after each PROMPT_BLOCK of them: two
 * prompts have the same hash there if they begin alike up to there.
 *
 *     struct prompt_chain chain = {.block = note_hash};        // called after each block
 *     prompt_chain_begin(&chain, model);                       // a prompt of its own
 *     prompt_chain_add(&chain, &request, &scratch, &err);      // its messages, text or token ids
 *     … chain.hash, chain.tokens …
 *     prompt_chain_answer(&chain, answer, &scratch, &err);     // then the next turn of the session, if it continues
 *
 * Token ids are tokens. A text has a token for every 4 bytes, and each message begins a token of its own: that is how
 * "approx" counts. Roles, and parts that are no text, are between tokens: they make prompts differ but have no length,
 * since a server's chat template makes unknown text of them. In a request with several inputs, the query and the inputs
 * follow each other, each after a mark; a server caches them one by one, so the chain is `partly` known.
 */
#ifndef IPF_PROMPT_CHAIN_H
#define IPF_PROMPT_CHAIN_H

#include "stream/trace.h"

/* Longer answers than any context are not generated: a file can claim any length. */
#define PROMPT_ANSWER_MOST (INT64_C(1) << 24)

/* Tokens of a block: the unit in which most servers cache. */
#define PROMPT_BLOCK 16

struct prompt_chain {
	void (*block)(struct prompt_chain *chain); /* called after each block; the chain is a member of its owner */
	uint64_t hash;                             /* hash of all tokens so far; at the end of a block, all its bits are
	                                            * good */
	int64_t tokens;                            /* tokens so far */
	bool partly; /* something has no length here, and has one at a server: tools, images; or it has several inputs */
};

/* Memory for reading a prompt; zero-initialise. */
struct prompt_scratch {
	struct jdoc doc;
	struct buffer text;
};
void prompt_scratch_release(struct prompt_scratch *scratch);

/* Begins a prompt for a model (a text; absent: not named): models share no cache. */
void prompt_chain_begin(struct prompt_chain *chain, struct slice model);
/* Appends the tools and the prompt of a request; of one with "context": "session", the new part. -1: IPF_INPUT for
 * messages that are none. */
int prompt_chain_add(struct prompt_chain *chain, const struct trace_request *request, struct prompt_scratch *scratch,
                     struct ipf_error *err);
/* Appends a message of text; `role` is JSON. The same as prompt_chain_add for a request that has it. */
void prompt_chain_message(struct prompt_chain *chain, struct slice role, struct slice text);
/* Appends an answer the next turn has in its prompt: trace_answer of the trace, or … */
int prompt_chain_answer(struct prompt_chain *chain, struct slice answer, struct prompt_scratch *scratch,
                        struct ipf_error *err);
/* … one of which only the length is known, and that it is the answer to request number `req`:
 * at most PROMPT_ANSWER_MOST tokens. */
void prompt_chain_generated(struct prompt_chain *chain, int64_t req, int64_t tokens);

#endif
