/* Renders request bodies: fills the template of an API descriptor with requests of the trace.
 *
 *     body_renderer_new(&r, api_request(api), &options, &err);
 *     body_renderer_render(r, &request, context, &body, &err);   // any number of times
 *
 * A text in the template beginning with "$" names a field; a map with a member $first, $json, $each or $values is an
 * operator (ipf-api(5) lists them all). A member or element whose field is absent is left out. "$$" at the beginning
 * stands for "$". The template's "stream" or "whole" is merged into its "body", then "exact_output" or
 * "recorded_answers" if requested, then the user's parameters. A canary's body (tags.canary) has no member of these
 * two, so that its answer is the model's and can end.
 *
 * Prompts are converted to the form the API takes: $messages of a `prompt` is one user message; $prompt of `messages`
 * is their contents with a blank line between two; $prompt of `prompt_token_ids` is the list ($prompt_text is never a
 * list).
 */
#ifndef IPF_BODY_RENDERER_H
#define IPF_BODY_RENDERER_H

#include "buffer.h"
#include "protobuf/protobuf.h"
#include "stream/trace.h"

#include <jansson.h>
#include <stdbool.h>

struct body_renderer;

struct body_renderer_options {
	const char *model; /* instead of the trace's; NULL: the trace's */
	json_t *params;    /* borrowed: members added to the body unchanged; NULL: none */
	bool exact_output, streamed;
	bool recorded_answers; /* each request but canaries has its recorded answer, which the server is to give */
	bool free_end; /* answers end by themselves: members of exact_output are left out, of `params` as well, and those of
	                * recorded_answers */
	bool live;     /* later turns of a session continue the server's answers */
	bool measure_prompt; /* for body_renderer_prompt_bytes */
	const struct protobuf_schema
		*protobuf; /* borrowed: the body is a gRPC message of type `message`; NULL: it is JSON */
	int message;
};

/* `request` is the request half of the descriptor, borrowed until the call returns. -1: out of memory, or IPF_USAGE if
 * exact_output or recorded_answers is requested and the descriptor has none. */
int body_renderer_new(struct body_renderer **renderer, json_t *request, const struct body_renderer_options *options,
                      struct ipf_error *err);
void body_renderer_free(struct body_renderer *r); /* NULL is fine */

/* -1 (IPF_INPUT): the request has no prompt the template can carry, or lacks the recorded answer. */
int body_renderer_check(struct body_renderer *r, const struct trace_request *request, struct ipf_error *err);
/* From now on, requests of the trace naming no model get this one, if the options have none either. -1: out of memory,
 * or IPF_USAGE for a name that is not UTF-8. */
int body_renderer_set_default_model(struct body_renderer *r, const char *model, struct ipf_error *err);
/* Writes the body into `body` (cleared first). `context` has the messages of the session's earlier turns, as elements
 * of a list with commas between (prompt_append_turn). -1: out of memory, or as body_renderer_check. */
int body_renderer_render(struct body_renderer *r, const struct trace_request *request, struct slice context,
                         struct buffer *body, struct ipf_error *err);
/* Can a request name the answer it continues, whose messages the server then has? */
bool body_renderer_can_continue(const struct body_renderer *r);
/* Does it send messages as they are, with whatever members they have? */
bool body_renderer_sends_messages(const struct body_renderer *r);
/* The id of that answer for the next bodies, a JSON text, borrowed; absent: none. */
void body_renderer_continue(struct body_renderer *r, struct slice id);
/* The JSON from which the last gRPC message or form was made; absent if bodies are JSON. Valid until the next body. */
struct slice body_renderer_json(const struct body_renderer *r);
/* How many tokens a request asks for: its output_tokens, else those of its recorded answer; IPF_ABSENT. */
int64_t body_renderer_asked_tokens(const struct body_renderer *r, const struct trace_request *request);
/* How many results a request with inputs asks for; IPF_ABSENT: one for each input. */
int64_t body_renderer_asked_outputs(const struct body_renderer *r, const struct trace_request *request);
/* The length of the last body's prompt as text; IPF_ABSENT if it is not a text. */
int64_t body_renderer_prompt_bytes(const struct body_renderer *r);
/* The model the body requests, as JSON; absent if none is named. */
struct slice body_renderer_model(const struct body_renderer *r, const struct trace_request *request);

/* Adds "KEY=JSON" to `params`. -1: IPF_USAGE. */
int body_renderer_add_param(json_t *params, const char *text, struct ipf_error *err);

#endif
