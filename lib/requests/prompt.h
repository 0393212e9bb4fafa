/* The prompt of a request in the forms that APIs take: a list of messages, one text, or token ids; with the system
 * messages apart if needed.
 *
 * Messages in which a tool call has no id, or another one's, are repaired (call_ids.h).
 *
 * The text of several messages is their contents with a blank line between two; of a content in parts, its texts.
 */
#ifndef IPF_PROMPT_H
#define IPF_PROMPT_H

#include "requests/call_ids.h"
#include "stream/trace.h"

/* Working memory, reused for each request. Zero-initialise. */
struct prompt {
	struct buffer messages; /* the whole list, if it had to be assembled */
	struct jdoc doc;
	struct call_ids ids;
	enum call_ids_rule call_ids; /* set by the caller */
};

enum prompt_part { PROMPT_ALL, PROMPT_SYSTEM, PROMPT_TURNS };

/* ---- the context of later turns: the inside of a list of messages, or of token ids if the prompts are these ---- */

/* Appends a request's own messages, or ids. */
void prompt_append_own(struct buffer *context, const struct trace_request *request);
/* Appends the assistant's answer, a JSON text or a list of ids. */
void prompt_append_answer(struct buffer *context, struct slice answer);
/* Appends a turn: its own messages, and its recorded answer if there is one. */
void prompt_append_turn(struct buffer *context, const struct trace_request *request);

/* ---- the prompt of a request, with the context of its earlier turns ---- */

/* All messages as a list; absent if there are none. */
struct slice prompt_messages(struct prompt *p, const struct trace_request *request, struct slice context);

/* The same list, parsed in p->doc, one message at a time; prompt_step returns false at the end. */
struct prompt_each {
	struct jdoc_each each;
	enum prompt_part part;
};
int prompt_each(struct prompt *p, const struct trace_request *request, struct slice context, enum prompt_part part,
                struct prompt_each *each, struct ipf_error *err);
bool prompt_step(struct prompt_each *each);

/* Append the text of a message, of the whole prompt, or of its system messages: JSON with its quotes. */
void prompt_content(const struct jdoc *doc, jdoc_id message, struct buffer *out);
int prompt_text(struct prompt *p, const struct trace_request *request, struct slice context, struct buffer *out,
                struct ipf_error *err);
int prompt_system(struct prompt *p, const struct trace_request *request, struct slice context, struct buffer *out,
                  struct ipf_error *err);
/* Appends the ids of a request with these, after those of its earlier turns. */
void prompt_token_ids(const struct trace_request *request, struct slice context, struct buffer *out);
/* Appends the list without the system messages. */
int prompt_turns(struct prompt *p, const struct trace_request *request, struct slice context, struct buffer *out,
                 struct ipf_error *err);
/* 1: it has system messages; 0: it has none; -1: error. */
int prompt_has_system(struct prompt *p, const struct trace_request *request, struct slice context,
                      struct ipf_error *err);

void prompt_release(struct prompt *p);

#endif
