/* Messages, tools and formats as OpenTelemetry's attributes and events hold them, made those of the chat API; for
 * from_otel.c. Texts belong to the draft. */
#ifndef PREP_OTEL_MESSAGES_H
#define PREP_OTEL_MESSAGES_H

#include "draft/draft.h"

/* Adds messages to the last request: system instructions (a text, or JSON), and a JSON list of messages, {"role",
 * "content"} or {"role", "parts"}. An absent text adds nothing. 0 or -1. */
int otel_messages(struct draft *d, struct slice system, struct slice messages, struct ipf_error *err);
/* Adds the prompt of gen_ai.prompt: such a list, or the text of a user. */
void otel_prompt(struct draft *d, struct slice prompt);
/* The text of the first message of a JSON list with one, or of the first choice. Absent if none has. */
struct slice otel_answer(struct draft *d, struct slice messages);

/* Adds the message of an event such as gen_ai.user.message, whose body is JSON or a text; `role` is its default. A body
 * from which the contents were left out adds nothing. */
void otel_event_message(struct draft *d, const char *role, struct slice body);
/* The answer in the body of gen_ai.choice. Absent if it has none, or is a further choice's. */
struct slice otel_event_answer(struct draft *d, struct slice body);

/* Tools and the response format as the chat API takes them, of gen_ai.tool.definitions and gen_ai.output.type. */
struct slice otel_tools(struct draft *d, struct slice definitions);
struct slice otel_response_format(struct slice type);

#endif
