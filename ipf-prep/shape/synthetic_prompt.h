/* Synthetic text for prompts whose text was not recorded, only their length and possibly the blocks they share.
 *
 * The text of a block is a function of its id, so prompts share text where the recorded ones did. With a model's
 * tokenizer, blocks following the same beginning differ from their first token on (prefix_siblings.h), and the text has
 * exactly the wanted number of tokens; the approximation counts four bytes of ASCII as a token.
 *
 *     struct synthetic_prompt prompt = {.config = config, .exact = &exact, .counts = counts};
 *     synthetic_prompt_register(&prompt, draft);              // every record, in the order of the data
 *     struct slice text = synthetic_prompt_make(&prompt, draft, turn, &blocks, tokens);
 *     synthetic_prompt_release(&prompt);
 */
#ifndef PREP_SYNTHETIC_PROMPT_H
#define PREP_SYNTHETIC_PROMPT_H

#include "config/prep_config.h"
#include "draft/draft.h"
#include "shape/prefix_siblings.h"
#include "shape/selection_counts.h"
#include "text/exact_text.h"

/* A whole block at the beginning of the text, and where it ends. */
struct block_span {
	uint64_t key;
	size_t end;
};

struct synthetic_prompt {
	const struct prep_config *config;
	struct exact_text *exact;
	struct selection_counts *counts;
	struct prefix_siblings siblings; /* for blocks; used with a model's tokenizer */
	struct buffer text;              /* the last prompt's */
	struct buffer answer;            /* the last one */
	struct block_span *spans;        /* the whole blocks at the beginning of `text` */
	size_t span_count, span_cap;
	bool failed; /* memory ran out */
};

/* Learns which blocks follow the same beginning. Call it with every record in the order of the data, so selecting other
 * records changes no text. */
void synthetic_prompt_register(struct synthetic_prompt *p, const struct draft *d);
/* Text of `count` tokens for the request at index `turn`, which has no message. `blocks` are those of the request, in
 * the scope of its copy. Good until the next call. */
struct slice synthetic_prompt_make(struct synthetic_prompt *p, const struct draft *d, size_t turn,
                                   const struct draft_blocks *blocks, int64_t count);
/* The answer to the request at index `turn`, of its output_tokens, for the context of later turns. Good until the next
 * call. */
struct slice synthetic_answer_make(struct synthetic_prompt *p, const struct draft *d, size_t turn);
void synthetic_prompt_release(struct synthetic_prompt *p);

#endif
