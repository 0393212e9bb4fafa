/* A prompt as one text, or as a list of token ids, instead of chat messages: for completion APIs. */
#ifndef PREP_FLAT_PROMPT_H
#define PREP_FLAT_PROMPT_H

#include "draft/draft.h"
#include "tokenizer/token_counter.h"

struct flat_prompt {
	struct buffer text, json; /* `failed` when out of memory */
	struct token_ids ids;
};

/* Joins the texts of the messages with an empty line between them, and writes the result to flat->json as a JSON
 * string. Returns the number of its tokens. */
int64_t flat_prompt_text(struct flat_prompt *flat, const struct token_counter *tokens,
                         const struct draft_message *messages, size_t count);
/* The same as a JSON list of token ids; `tokens` has to be a tokenizer, not an estimate. */
int64_t flat_prompt_ids(struct flat_prompt *flat, const struct token_counter *tokens,
                        const struct draft_message *messages, size_t count);
/* A text as a JSON list of token ids, in `json`. */
struct slice flat_answer_ids(struct flat_prompt *flat, const struct token_counter *tokens, struct slice text,
                             struct buffer *json);
void flat_prompt_release(struct flat_prompt *flat);

#endif
