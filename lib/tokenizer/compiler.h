/* Compiles a tokenizer: a reader of a file format names tokens, merges and added tokens one by one, and gets a compiled
 * block.
 *
 *     struct compiler c = {0};
 *     compiler_token(&c, text, id, &err) …          // every token
 *     compiler_end_tokens(&c, false, &err);
 *     compiler_merge(&c, left, right, 0, &err) …    // BPE: every merge
 *     compiler_end_merges(&c, &err);
 *     compiler_added_token(&c, text, false, record, &err) …
 *     compiler_finish(&c, &block, bytes, sha256, &err);
 *     compiler_release(&c);
 *
 * The reader fills the section SECTION_CONFIG, header.byte_mode and header.bpe of c.builder itself.
 */
#ifndef IPF_TOKENIZER_COMPILER_H
#define IPF_TOKENIZER_COMPILER_H

#include "tokenizer/compiled_block.h"

struct compiler {
	struct compiled_builder builder;
	struct buffer names;   /* texts of tokens in the file's order */
	struct buffer entries; /* struct compiler_entry, in the same order */
	uint32_t merges;
	struct vocabulary by_text; /* finds tokens as the file spells them; its slots are in `text_slots` */
	struct buffer text_slots;
	struct buffer pairs; /* struct bpe_merge_pair */
	struct buffer word;  /* scratch */
	struct buffer added; /* struct added_record, while it grows */
	uint32_t next_added;
	bool byte_parts; /* a merge joins <0x..> tokens: words must not be cut */
};

/* Adds a token. */
int compiler_token(struct compiler *c, struct slice text, uint32_t id, struct ipf_error *err);
/* After the last token. With `allow_repeats` a text may occur more than once. */
int compiler_end_tokens(struct compiler *c, bool allow_repeats, struct ipf_error *err);
/* Adds a merge, by the texts of the two tokens. `prefix` is the length of continuing_subword_prefix, which the merge
 * drops from the right token. */
int compiler_merge(struct compiler *c, struct slice left, struct slice right, size_t prefix, struct ipf_error *err);
/* Adds a merge by ids: which entry of SECTION_MERGED the two give. */
void compiler_pair(struct compiler *c, uint32_t left, uint32_t right, uint32_t rank);
/* After the last merge. */
int compiler_end_merges(struct compiler *c, struct ipf_error *err);
/* Adds an added token. record.id counts only if `has_id`; else the token gets the vocabulary's id or the next free
 * one, as in the reference. */
int compiler_added_token(struct compiler *c, struct slice content, bool has_id, struct added_record record,
                         struct ipf_error *err);
/* Makes the block. */
int compiler_finish(struct compiler *c, struct compiled_block *out, size_t source_bytes, const char *sha256,
                    struct ipf_error *err);
void compiler_release(struct compiler *c);

#endif
