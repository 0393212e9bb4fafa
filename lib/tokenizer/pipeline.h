/* The parts of a tokenizer, put together.
 *
 *     text ── added tokens matched in the raw text (added_tokens.h) ──► text between them
 *          ── normalizer (normalizer.h) ──► normalized text ── added tokens matched in it ──► text between them
 *          ── pre-tokenizer (pretokenizer.h) or scanner (scanner.h) ──► words
 *          ── model (model.h, bpe.h) ──► ids ── post-processor (postprocess.h) ──► ids with [CLS] and the like
 *     ids  ── vocabulary (vocabulary.h) ──► token texts ── decoder (decoder.h) ──► text
 *
 * Each part is made from its member of tokenizer.json and never written to afterwards, so any number of threads may use
 * it. A part refuses unknown members with an error naming it: `pre_tokenizer: unknown type "Foo"`. The caller opening
 * the file adds the file's name.
 */
#ifndef IPF_TOKENIZER_PIPELINE_H
#define IPF_TOKENIZER_PIPELINE_H

#include "tokenizer/added_tokens.h"
#include "tokenizer/character_classes.h"
#include "tokenizer/decoder.h"
#include "tokenizer/model.h"
#include "tokenizer/postprocess.h"
#include "tokenizer/pretokenizer.h"
#include "tokenizer/scanner.h"
#include "tokenizer/tokenizer.h"
#include "tokenizer/word_cache.h"

struct tokenizer {
	char *name;
	char *file, *commit; /* for a model of the hub; NULL */
	struct compiled_block block;
	struct vocabulary vocabulary;
	struct character_classes classes;
	struct added_tokens added;
	struct normalizer *normalizer;
	struct pretokenizer *pretokenizer; /* NULL if a scanner does its work, or if there is none */
	struct model *model;
	struct postprocess post;
	struct decoder *decoder;

	scan_function *scan;        /* cuts the text, or the pre-tokenizer's pieces, into words; NULL: they are words */
	bool prefix_space;          /* byte mode: a piece that does not begin with a space gets one */
	const uint64_t *neighbours; /* cuts words that no pre-tokenizer has cut (bpe_neighbours); NULL: they stay whole */
	bool spaces_inside;         /* the normalizer only replaces spaces by U+2581: done word by word */
	bool prepend;               /* and puts one before each text */
};

/* Makes all parts from the configuration in t->block. */
int pipeline_configure(struct tokenizer *t, struct ipf_error *err);

/* A decoder's text for an id: the text of the added token with this id, else the vocabulary's. Absent: no such id, or a
 * special token with TOKENIZER_SKIP_SPECIAL in `flags`. */
struct slice pipeline_token_text(const struct tokenizer *t, uint32_t id, int flags);

#define WORD_BATCH 256 /* words looked up at a time */

struct tokenizer_scratch {
	struct word_cache *words;
	void *model;
	size_t ends[WORD_BATCH];
	struct buffer normalized, word;
	struct text_pieces pieces;
	struct token_ids ids;
	const struct tokenizer *tokenizer;
};

#endif
