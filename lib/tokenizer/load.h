/* What readers of tokenizer files share: they name tokens, merges and added tokens one by one, and get a block. */
#ifndef IPF_TOKENIZER_LOAD_H
#define IPF_TOKENIZER_LOAD_H

#include "tokenizer/bpe.h"

#include "json/jdoc.h"

struct loader_entry {
	uint32_t id, at, bytes;
};

struct loader_pair {
	uint32_t left, right, rank;
};

struct loader {
	struct compiled_builder builder;
	struct buffer names;   /* texts of tokens in the file's order */
	struct buffer entries; /* struct loader_entry, the same */
	uint32_t merges;
	struct vocabulary by_text; /* to look tokens up as the file spells them; slots are in `text_slots` */
	struct buffer text_slots;
	struct buffer pairs; /* struct loader_pair */
	struct buffer word;  /* scratch */
	struct buffer added; /* struct added_record, while it grows */
	uint32_t next_added;
	bool byte_parts; /* a merge joins <0x..> tokens: words must not be cut */
};

int loader_token(struct loader *l, const struct jdoc *j, jdoc_id text, uint32_t id, struct ipf_error *err);
int loader_token_text(struct loader *l, struct slice text, uint32_t id, struct ipf_error *err);
int loader_vocabulary(struct loader *l, bool twice,
                      struct ipf_error *err); /* after the last token; twice: one may stand twice */
/* The two ids, and which merge of SECTION_MERGED they are. */
void loader_pair(struct loader *l, uint32_t left, uint32_t right, uint32_t rank);
int loader_merge(struct loader *l, struct slice a, struct slice b, size_t prefix, struct ipf_error *err);
int loader_merges(struct loader *l, struct ipf_error *err); /* after the last merge */
/* The id in `record` counts only where `given`. */
int loader_added(struct loader *l, struct slice content, bool given, struct added_record record, struct ipf_error *err);
int loader_finish(struct loader *l, struct compiled *out, size_t source_bytes, const char *sha256,
                  struct ipf_error *err);
void loader_release(struct loader *l);

/* Tables that need nothing but the vocabulary (load_tables.c). */
void load_classes(struct compiled_builder *b);
void load_chars(struct compiled_builder *b, const struct vocabulary *v);
int load_pairs(struct compiled_builder *b, const struct vocabulary *v, const struct buffer *pairs,
               struct ipf_error *err);
void load_neighbours(struct compiled_builder *b, const struct vocabulary *v, const uint32_t *merged, size_t merges);

uint32_t word_hash(const char *word, size_t len);

#endif
