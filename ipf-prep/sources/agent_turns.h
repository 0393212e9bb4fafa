/* A conversation of an agent with its tools, with known texts, as requests: one for the messages before each message of
 * the assistant.
 *
 * A recorded answer may consist of tool calls, which a plain text cannot hold; therefore it is not the request's answer
 * but the first message of the next request. The request's output length is the number of tokens in the answer's
 * content, reasoning and calls.
 *
 *     struct agent_turns turns = {.draft = d, .tokens = settings->tokens, .wait_ns = IPF_ABSENT};
 *     agent_turns_add(&turns, ROLE_USER, text, no_json); …
 *     agent_turns_answer(&turns, &answer); …
 *     agent_turns_end(&turns);
 *     buffer_release(&turns.text);
 */
#ifndef PREP_AGENT_TURNS_H
#define PREP_AGENT_TURNS_H

#include "sources/source.h"

struct agent_turns {
	struct draft *draft;
	const struct token_counter *tokens;
	struct slice tools; /* for later requests */
	int64_t wait_ns;    /* the next request's: the tools' time since the last answer; IPF_ABSENT */
	bool open;          /* the last request has no answer yet */
	bool asked;         /* and it has a message of the user or of a tool */
	struct buffer text; /* scratch space */
};

/* A message of the assistant. Texts may be absent. */
struct agent_answer {
	struct slice content, reasoning;
	struct slice calls;  /* the tool calls, a list in the chat API's JSON; absent: none */
	int64_t call_tokens; /* their length */
};

/* The request without an answer yet; a new one if there is none. NULL when out of memory. */
struct draft_request *agent_turns_request(struct agent_turns *t);
/* Adds a message, which is copied. */
void agent_turns_add(struct agent_turns *t, enum role role, struct slice text);
/* The result of a tool: the id of its call as a JSON value, and its content as text and as a JSON value. */
void agent_turns_result(struct agent_turns *t, struct slice call_id, struct slice text, struct slice content);
/* The tokens of tool calls, a list of the chat API: names and arguments. */
int64_t agent_turns_call_tokens(const struct agent_turns *t, const struct jdoc *j, jdoc_id calls);
/* Ends the open request. The answer is copied. */
void agent_turns_answer(struct agent_turns *t, const struct agent_answer *answer);
/* Removes a request never answered, and begins anew. */
void agent_turns_end(struct agent_turns *t);

#endif
