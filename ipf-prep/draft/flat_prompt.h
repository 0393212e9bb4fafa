/* A prompt as one text, or as the ids of its tokens, in place of the turns of a chat: for APIs that complete. */
#ifndef PREP_FLAT_H
#define PREP_FLAT_H

#include "draft/draft.h"
#include "tokenizer/token_counter.h"

struct flat_prompt {
	struct buffer text, json;
	struct token_ids ids;
};

/* The texts of the messages with an empty line between, as JSON in flat->json: a text, and how many tokens that is. */
int64_t flat_prompt_text(struct flat_prompt *flat, const struct token_counter *tokens,
                         const struct draft_message *messages, size_t count);
/* The same as a list of ids, of a model's tokenizer. */
int64_t flat_prompt_ids(struct flat_prompt *flat, const struct token_counter *tokens,
                        const struct draft_message *messages, size_t count);
void flat_prompt_release(struct flat_prompt *flat);

#endif
