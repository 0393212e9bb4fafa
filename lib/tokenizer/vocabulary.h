/* The vocabulary of a model: token texts by id, and ids by text. It is a view of a compiled block (compiled_block.h),
 * which has to outlive it.
 *
 * Every token has a `text` and a `word`. The text is the token as tokenizer.json spells it; the word is the model's
 * view. They differ in byte mode only (model.h), where the word is the raw bytes the text's characters represent.
 */
#ifndef IPF_TOKENIZER_VOCABULARY_H
#define IPF_TOKENIZER_VOCABULARY_H

#include "buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VOCABULARY_NONE UINT32_MAX

struct vocabulary {
	uint32_t size;  /* the model's highest id + 1; there may be gaps */
	uint32_t count; /* tokens */
	bool byte_mode;
	const uint32_t *text_offsets; /* size + 1 of them */
	const char *text;
	const uint32_t *word_offsets; /* outside byte mode, text_offsets and text again */
	const char *word;
	const uint64_t *slots; /* hash table with linear probing: hash << 32 | id + 1; 0 is a free slot */
	uint32_t slot_mask;
	uint32_t longest;     /* length of the longest word, in bytes */
	const double *scores; /* by id, for a Unigram model; else NULL */
};

/* Returns the id of the token with this word, or VOCABULARY_NONE. */
uint32_t vocabulary_find(const struct vocabulary *v, const char *word, size_t len);

/* Sets ids[b] to the id of the token <0xHH> that represents byte b when a character has no token, or VOCABULARY_NONE.
 */
void vocabulary_byte_fallback(const struct vocabulary *v, uint32_t ids[256]);

/* Returns the text of a token; absent (NULL) for a gap and for an id beyond the end. */
static inline struct slice vocabulary_text(const struct vocabulary *v, uint32_t id)
{
	if (id >= v->size || v->text_offsets[id] == v->text_offsets[id + 1])
		return (struct slice){NULL, 0};
	return (struct slice){v->text + v->text_offsets[id], v->text_offsets[id + 1] - v->text_offsets[id]};
}

/* Appends the hash table of the words word[offsets[id], offsets[id + 1]) for ids below `size`; `count` of the words are
 * not empty. False: out of memory. */
bool vocabulary_make_slots(struct buffer *out, const uint32_t *offsets, const char *word, uint32_t size,
                           uint32_t count);

#endif
