/* A request for an answer, out of its JSON body: how much is asked for, and the prompt as tokens.
 *
 * A token is four bytes of text, the last of a text perhaps fewer; a chat's count is the sum over its messages (plus
 * template_tokens each), at least 1; a list of token ids is as long as it is. Roles tell prefixes apart but take no
 * room.
 */
#ifndef SIM_GENERATE_REQUEST_H
#define SIM_GENERATE_REQUEST_H

#include "batching/batching.h"
#include "modes.h"

/* --trace-replay: what a request with a given answer gets. */
enum trace_replay { REPLAY_WORKS, REPLAY_IGNORED, REPLAY_REFUSED };

struct generate_request_options {
	int64_t template_tokens; /* added to each message */
	bool digest;             /* compute prompt_sha256 and body_sha256 */
	bool strict_tools;       /* refuse chats whose tool calls and results do not belong together */
	enum trace_replay replay;
};

struct dialect;

struct generate_request {
	const struct dialect *dialect; /* NULL: OpenAI's chat or completions */
	int64_t priority;              /* lower ones first; 0 without one */
	bool chat, stream, include_usage, continuous_usage, ignore_eos;
	int64_t max_tokens; /* IPF_ABSENT where the request doesn't say */
	int64_t min_tokens;
	struct buffer model;             /* empty where it doesn't say */
	struct buffer prompt;            /* as JSON without its quotes, where the answer repeats it */
	bool return_ids;                 /* vLLM's return_token_ids: the answer lists ids, those of the prompt too */
	bool keep_tokens;                /* set by the caller, or with return_ids: the prompt's tokens are wanted */
	struct buffer tokens;            /* then they are here, each a uint32_t */
	bool cached_details;             /* SGLang's return_cached_tokens_details */
	bool nvext_timing, nvext_worker; /* Dynamo's nvext.extra_fields has these */
	struct modes modes;              /* from the body's "sim" */
	struct buffer calls;             /* its "sim_calls", a list (call_plan.h); empty: it has none */
	struct buffer tools;             /* names of the tools it offers, each with a NUL after it */
	struct buffer forced;            /* ids of the answer it asks for, each a uint32_t; empty: the model's own */
	struct buffer solved;            /* the answer to a task that the prompt is (canary/canary.h); empty: it is none */
	int64_t logprobs;                /* most likely tokens to list for each, plus 1; 0: no log probabilities */
	uint64_t fingerprint;            /* the prompt's: equal prompts, equal answers */
	char prompt_sha256[65]; /* the text's: a chat's contents joined by newlines; ids in decimal joined by commas */
	char body_sha256[65];   /* with `digest` */
	/* Where a bad request was asked for: the member concerned, "" for none. */
	char param[32];
};

/* Parses the body; the prompt goes into `sequence`. -1: err gives the fault of the request (status 400). */
int generate_request_parse(struct generate_request *ask, struct sequence *sequence, bool chat, struct slice body,
                           const struct generate_request_options *options, struct ipf_error *err);
/* The same for another server's API, which ask->dialect names; `streamed` is the stream flag of its path. */
int generate_request_parse_dialect(struct generate_request *ask, struct sequence *sequence, bool streamed,
                                   struct slice body, const struct generate_request_options *options,
                                   struct ipf_error *err);
void generate_request_release(struct generate_request *ask);

#endif
