/* Added tokens: matched in a text before everything else, the longest first, and never split. */
#ifndef IPF_TOKENIZER_ADDED_TOKENS_H
#define IPF_TOKENIZER_ADDED_TOKENS_H

#include "tokenizer/compiled_block.h"
#include "tokenizer/normalizer.h"

struct added_pattern {
	const char *text;
	uint32_t len, id;
	uint8_t lstrip, rstrip, single_word;
};

/* Patterns matched together, in byte order, with their ranges by first byte. */
struct added_set {
	struct added_pattern *patterns;
	size_t count;
	uint32_t first[257];
	bool begins[256];
	int only; /* the first byte of all patterns; -1 if they have several */
};

struct added_tokens {
	struct added_set raw, normalized; /* matched in the raw text, and in normalized text */
	struct buffer normal_texts;
	const struct added_record *records; /* in the block's order */
	struct added_record *sorted;        /* by id */
	const char *texts;
	size_t count;
};

/* The block has to outlive it. */
int added_tokens_init(struct added_tokens *a, const struct compiled_block *block, const struct normalizer *normalizer,
                      struct ipf_error *err);
void added_tokens_release(struct added_tokens *a);
/* The added token with this id, or NULL. */
const struct added_record *added_tokens_by_id(const struct added_tokens *a, uint32_t id);
/* Its decoded text: its normalized form if it has one. */
struct slice added_tokens_text(const struct added_tokens *a, const struct added_record *record);

/* One walk over a text. */
struct added_walk {
	size_t at;   /* where the next match may begin */
	size_t done; /* the caller has used the text before this place */
};
struct added_match {
	size_t begin, end;
	uint32_t id;
};
/* Finds the next token. There is none in text[walk->done, match->begin). False at the end of the text. */
bool added_tokens_next(const struct added_set *set, struct slice text, struct added_walk *walk,
                       struct added_match *match);

#endif
