/* A model maps words to token ids. bpe.h has BPE.
 *
 * Byte mode: if a BPE model's pre-tokenizers end in ByteLevel, that last step is left out, and the model works on the
 * raw bytes of the text. In every other case ByteLevel is a pre-tokenizer like the others: it maps bytes to characters
 * (byte_level.h), and the model works on these.
 */
#ifndef IPF_TOKENIZER_MODEL_H
#define IPF_TOKENIZER_MODEL_H

#include "tokenizer/compiled_block.h"
#include "tokenizer/token_ids.h"
#include "tokenizer/vocabulary.h"

#include <jansson.h>

struct model {
	/* Appends the ids of one word, which is not empty. They depend on the bytes of the word only, so the caller may
	 * cache them. `scratch` comes from scratch_new, one for each thread; NULL if there is no scratch_new. */
	int (*encode)(const struct model *self, void *scratch, const char *word, size_t len, struct token_ids *ids,
	              struct ipf_error *err);
	void *(*scratch_new)(const struct model *self); /* NULL: out of memory */
	void (*scratch_free)(void *scratch);
	void (*free)(struct model *self);
};

/* `config` is the value of "model" without "vocab" and "merges". The vocabulary, and the block that unigram_new takes,
 * have to outlive the model. */
int unigram_new(struct model **model, const json_t *config, const struct compiled_block *block,
                const struct vocabulary *vocabulary, struct ipf_error *err);
int wordpiece_new(struct model **model, const json_t *config, const struct vocabulary *vocabulary,
                  struct ipf_error *err);
int wordlevel_new(struct model **model, const json_t *config, const struct vocabulary *vocabulary,
                  struct ipf_error *err);

#endif
