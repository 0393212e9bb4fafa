/* A request's prompt in the forms that APIs take: a list of messages, one text, token ids; the system's messages apart.
 *
 * A text of messages is their contents with a blank line between two; of a content in parts, the texts count.
 */
#ifndef IPF_PROMPT_H
#define IPF_PROMPT_H

#include "stream/trace.h"

/* Zero-initialise; used again for each request. */
struct prompt {
	struct buffer messages; /* the whole list, where it had to be put together */
	struct jdoc doc;
};

/* Which messages are meant. */
enum prompt_part { PROMPT_ALL, PROMPT_SYSTEM, PROMPT_TURNS };

/* Adds a turn's messages to a list's inside. */
void prompt_append_turn(struct buffer *list, const struct trace_request *request);

/* All messages as a list, those of earlier turns (`context`, the inside of a list) before the request's own; absent
 * where there are none. */
struct slice prompt_messages(struct prompt *p, const struct trace_request *request, struct slice context);

/* The same, parsed in p->doc, one at a time: false at the end. */
struct prompt_each {
	struct jdoc_each each;
	enum prompt_part part;
};
int prompt_each(struct prompt *p, const struct trace_request *request, struct slice context, enum prompt_part part,
                struct prompt_each *each, struct ipf_error *err);
bool prompt_step(struct prompt_each *each);

/* Appends the text of a message, of the prompt, of the system's part: JSON with its quotes. */
void prompt_content(const struct jdoc *doc, jdoc_id message, struct buffer *out);
int prompt_text(struct prompt *p, const struct trace_request *request, struct slice context, struct buffer *out,
                struct ipf_error *err);
int prompt_system(struct prompt *p, const struct trace_request *request, struct slice context, struct buffer *out,
                  struct ipf_error *err);
/* Appends the list without the system's messages. */
int prompt_turns(struct prompt *p, const struct trace_request *request, struct slice context, struct buffer *out,
                 struct ipf_error *err);
/* 1: it has messages of the system; 0; -1. */
int prompt_has_system(struct prompt *p, const struct trace_request *request, struct slice context,
                      struct ipf_error *err);

void prompt_release(struct prompt *p);

#endif
