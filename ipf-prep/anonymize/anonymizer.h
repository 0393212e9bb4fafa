/* Takes from a request all possible names of its user: text becomes salted hashes of blocks, names become keyed.
 *
 *     struct anonymizer a = {.salt = &salt, .block_tokens = 512, .tokens = counter};
 *     anonymizer_take(&a, &request, &anonymous, &err);     // for each request, in the order of the trace
 *     anonymizer_release(&a);
 *
 * A prompt given twice is taken from one place: the blocks a source recorded, if they cover the prompt, else the text,
 * else the length alone, in blocks that no other prompt has. The turns of a session whose messages contain only new
 * parts have to follow each other.
 */
#ifndef PREP_ANONYMIZER_H
#define PREP_ANONYMIZER_H

#include "anonymize/anonymous_request.h"
#include "anonymize/block_chain.h"
#include "cli/options.h"
#include "stream/trace.h"

/* Longer prompts than any context are refused: a file can claim any length, and each block needs a hash. */
#define ANONYMIZER_TOKENS_MOST (INT64_C(1) << 24)

enum model_names { MODELS_KEYED, MODELS_KEPT, MODELS_DROPPED };

/* Left out, in requests. */
struct left_out {
	int64_t tools, response_formats, tags, objectives, parents, hang_ups, latencies;
	int64_t unchained; /* turns not following the turn whose context they need */
};

struct anonymizer {
	const struct salt *salt;
	int64_t block_tokens;
	const struct token_counter *tokens;
	bool recount;      /* count the prompts whose text is there, whatever length was recorded */
	bool exact_times;  /* keep the first arrival where it is; else it becomes 0 */
	int64_t jitter_ns; /* 0: none */
	enum model_names models;
	bool structure;                      /* keep ids, parents and tags, for a format with them */
	const struct string_list *kept_tags; /* names of tags to keep; NULL: none */

	int64_t requests, with_text;                        /* taken */
	int64_t differing, recorded_tokens, counted_tokens; /* for texts whose recorded length differs from the count */
	struct left_out left_out;

	/* its own */
	int64_t first_ns;
	bool begun;            /* first_ns is known */
	bool context;          /* the last request was of a session to be continued */
	int64_t turn;          /* its number */
	uint64_t last_number;  /* its number */
	struct buffer session; /* its session's name */
	struct buffer answer;  /* its answer: JSON */
	bool answered;         /* it has an answer */
	struct block_chain chain;
	struct jdoc doc;
	struct buffer text, tags;
	struct block_hashes hashes, parents;
};

/* `out` is valid until the next call, as long as the request is. -1: IPF_INPUT for an invalid request; out of
 * memory. */
int anonymizer_take(struct anonymizer *a, const struct trace_request *request, struct anonymous_request *out,
                    struct ipf_error *err);
void anonymizer_release(struct anonymizer *a);

#endif
