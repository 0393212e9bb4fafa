/* Request bodies: the API descriptor's template filled in with a request of the trace.
 *
 *     renderer_new(&r, api_request(api), &options, &err);
 *     renderer_body(r, &request, context, &body, &err);   // any number of times
 *
 * A text in the template that begins with "$" names a field, and maps with a member $first, $json, $each or $values are
 * operators; ipf-api(5) has them all. A member (an element) whose field is absent is left out. "$$" at the beginning
 * stands for "$". The template's "stream" or "whole" is merged into its "body", then "exact_output" where asked for,
 * then the user's own parameters.
 *
 * Prompts are put into the form that the API takes: $messages of a `prompt` is one user message; $prompt of `messages`
 * is their contents with a blank line between two; $prompt of `prompt_token_ids` is that list ($prompt_text never is).
 */
#ifndef IPF_BODY_RENDERER_H
#define IPF_BODY_RENDERER_H

#include "buffer.h"
#include "cli/options.h"
#include "protobuf/protobuf.h"
#include "stream/trace.h"

#include <jansson.h>
#include <stdbool.h>

struct renderer;

struct body_renderer_options {
	const char *model; /* overrides the trace's; NULL: the trace's own */
	json_t *params;    /* borrowed: members that are added to the body as they stand; NULL */
	bool exact_output, streamed;
	bool measure_prompt; /* for renderer_prompt_bytes */
	const struct protobuf_schema
		*protobuf; /* borrowed: the body becomes a message of gRPC, of the type `message`; NULL: it is JSON */
	int message;
};

/* `request` is the descriptor's request half (borrowed until the call returns). -1: memory, or IPF_USAGE for
 * --exact-output where the descriptor does not know how. */
int renderer_new(struct renderer **renderer, json_t *request, const struct body_renderer_options *options,
                 struct ipf_error *err);
void renderer_free(struct renderer *r);

/* Is there a prompt that the template can carry? -1 (IPF_INPUT): no. */
int renderer_check(struct renderer *r, const struct trace_request *request, struct ipf_error *err);
/* The body into `body` (cleared first). `context` are the messages of the session's earlier turns, as elements of a
 * list with commas between (session_append). -1: memory, or what renderer_check says. */
int renderer_body(struct renderer *r, const struct trace_request *request, struct slice context, struct buffer *body,
                  struct ipf_error *err);
/* The JSON that the last body was made of, where the body is none; absent otherwise. Good until the next body. */
struct slice renderer_json(const struct renderer *r);
/* The length of the prompt in the last body, as text; IPF_ABSENT where it is none. */
int64_t renderer_prompt_bytes(const struct renderer *r);
/* The model that the body asks for, as JSON; absent where none is named. */
struct slice renderer_model(const struct renderer *r, const struct trace_request *request);

/* Adds a turn's messages to the context of those after it: its own, and the answer that was recorded. */
void session_append(struct buffer *context, const struct trace_request *request);
/* Adds what the assistant said, a JSON text. */
void session_answer(struct buffer *context, struct slice answer);

/* "KEY=JSON" into `params`. -1: IPF_USAGE, text `KEY: …`. */
int param_parse(json_t *params, const char *text, struct ipf_error *err);

#endif
