/* Shared by datasets of prompts and conversations: messages and tools as the chat API has them, and the ways to hand a
 * prompt with its answer, or a whole conversation, to the sink.
 */
#ifndef PREP_CHAT_FIELDS_H
#define PREP_CHAT_FIELDS_H

#include "sources/source.h"

/* ---- the chat API's JSON ---- */

/* The text of a message's content: a string, or the texts of a list of parts, joined. Absent if it has none. */
struct slice chat_content(struct draft *d, const struct jdoc *j, jdoc_id content);
/* The answer a message of the assistant is: its text, then its tool calls as the model wrote them. */
struct slice chat_answer(struct draft *d, const struct jdoc *j, jdoc_id message);
/* Adds a list of chat messages to the last request; `name` is the list's name in errors. Messages with more than a role
 * and a text (tool calls, typed parts) are passed on verbatim. If the last of several messages is an assistant's, with
 * text or tool calls, it becomes the request's answer, whose tokens include the calls. */
int chat_messages(struct draft *d, const struct jdoc *j, jdoc_id list, const char *name, struct ipf_error *err);
/* Tools as the chat API takes them, made of a list of tools or of bare functions, or of a string holding such a list.
 * Absent if the node is anything else. */
struct slice chat_tools(struct draft *d, const struct jdoc *j, jdoc_id node);
/* The JSON of a value, without null members of objects: of columns of Parquet, which have the members of all rows.
 * Absent if the value itself is null. */
struct slice chat_without_nulls(struct draft *d, const struct jdoc *j, jdoc_id node);
/* The response format the chat API takes. Absent if it is plain text, or no object. */
struct slice chat_response_format(struct draft *d, const struct jdoc *j, jdoc_id node);
/* The same for the prompt of a request: to the API, an assistant's message at the end is part of it. */
int chat_prompt(struct draft *d, const struct jdoc *j, jdoc_id list, struct ipf_error *err);
/* The most tokens of the answer, the model, tools, response format and sampling parameters of such a request's body. 0
 * or -1. */
int chat_parameters(struct draft *d, const struct jdoc *j, jdoc_id body, struct draft_request *r,
                    struct ipf_error *err);
/* The same from members AIPerf adds to a body (`extra`, which may be absent), which replace the old ones. 0 or -1. */
int chat_extra(struct draft *d, const struct jdoc *j, jdoc_id extra, struct draft_request *r, struct ipf_error *err);
/* ---- images and audio of a record ---- */

/* Adds a medium before the text of the last message: `kind` is image, audio or video, the node a string (URL, data URL,
 * base64, or a file's path), an object with one of url, path and bytes, or a list of such. 0, or -1: `name` is the
 * member's name in errors. */
int chat_media(struct draft *d, const struct jdoc *j, jdoc_id node, const char *kind, const char *name,
               struct ipf_error *err);
/* A text without the marks "<image>", "<video>" and "<audio>" at the places of media in data. */
struct slice chat_without_marks(struct draft *d, struct slice text);

/* ---- a prompt and its answer ---- */

/* Hands over a request with a prompt, a system message before it if not empty, and an answer. A record without a prompt
 * is counted as unusable. */
int chat_pair(struct sink *sink, struct slice system, struct slice prompt, struct slice answer, struct ipf_error *err);

/* ---- conversations ---- */

/* The state of a format of conversations: which of their turns are wanted. See struct source_settings. */
struct chat_settings {
	bool lone, first_two, answers_optional;
};

/* The `open` of a format whose state is a struct chat_settings. */
int chat_open(void *state, const struct source_settings *settings, struct ipf_error *err);
/* Hands over the sink's draft as a conversation: each request needs the ones before it, unless only the first was
 * wanted. A draft without a request is counted as unusable, for the reason `why`. */
int chat_hand_over(const struct chat_settings *settings, struct sink *sink, const char *why, struct ipf_error *err);

#endif
