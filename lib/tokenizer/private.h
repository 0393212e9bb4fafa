/* The tokenizer whole: private to tokenizer.c, encode.c, batch.c. */
#ifndef IPF_TOKENIZER_PRIVATE_H
#define IPF_TOKENIZER_PRIVATE_H

#include "tokenizer/added.h"
#include "tokenizer/bpe.h"
#include "tokenizer/scan.h"
#include "tokenizer/words.h"

struct tokenizer {
	char *name;
	struct compiled block;
	struct vocabulary vocabulary;
	struct classes classes;
	struct added added;
	struct normalizer *normalizer;
	struct pretokenizer *pretokenizer; /* NULL where a scanner does its work, or there is none */
	struct model *model;
	struct postprocess post;
	struct decoder *decoder;
	bool byte_decoder; /* the decoder is ByteLevel and nothing else */

	scan_function *scan; /* cuts the text, or (with a pretokenizer) its pieces, into words; NULL: they are words */
	bool prefix_space;   /* byte mode: a piece that does not begin with a space gets one */
	const uint64_t *neighbours; /* cuts words that no pre-tokenizer has cut; NULL */
	bool spaces_inside;         /* the normalizer only replaces spaces by U+2581: done word by word */
	bool prepend;               /* and puts one before each text */
};

#define BATCH 256 /* words that are looked for at a time */

struct tokenizer_scratch {
	struct words *words;
	void *model;
	size_t ends[BATCH];
	struct buffer normalized, word;
	struct text_pieces pieces;
	struct token_ids ids;
	const struct tokenizer *tokenizer;
};

/* A tokenizer.json in memory, without the cache: for tests. */
int tokenizer_open_text(struct tokenizer **tokenizer, const char *json, size_t len, struct ipf_error *err);

/* Reads the configuration in the block (tokenizer.c's other half). */
int tokenizer_configure(struct tokenizer *t, struct ipf_error *err);

#endif
