/* Pre-tokenizers among themselves. */
#ifndef IPF_TOKENIZER_PRETOKENIZE_H
#define IPF_TOKENIZER_PRETOKENIZE_H

#include "tokenizer/config.h"

typedef int pretokenizer_maker(struct pretokenizer **pretokenizer, const json_t *config, struct ipf_error *err);

/* One a type (pretokenize.c, pretokenize_split.c, pretokenize_chars.c, pretokenize_space.c). */
pretokenizer_maker pretokenizer_sequence, pretokenizer_split, pretokenizer_digits, pretokenizer_punctuation,
	pretokenizer_whitespace, pretokenizer_whitespace_split, pretokenizer_bert, pretokenizer_delimiter,
	pretokenizer_scripts, pretokenizer_fixed_length, pretokenizer_metaspace, pretokenizer_byte_level;

enum behavior { REMOVED, ISOLATED, MERGED_WITH_PREVIOUS, MERGED_WITH_NEXT, CONTIGUOUS };
int config_behavior(const json_t *config, const char *part, bool optional, enum behavior *behavior,
                    struct ipf_error *err);

/* Makes pieces out of stretches of a text, matches and what is between them, which come in order and cover it.
 * (pretokenize_split.c)
 *
 *     struct splitter s = {.text = text, .out = out, .behavior = ISOLATED};
 *     splitter_add(&s, start, end, true);
 *     splitter_finish(&s);
 */
struct splitter {
	struct slice text;
	struct text_pieces *out;
	enum behavior behavior;
	size_t start, end; /* what is not in `out` yet */
	bool open, previous;
};
void splitter_add(struct splitter *s, size_t start, size_t end, bool match);
void splitter_finish(struct splitter *s);

/* What the reference does with a predicate on characters: each that fulfils it is a match. */
void split_characters(bool (*is_match)(uint32_t c), enum behavior behavior, struct slice text, struct text_pieces *out);

/* What is left of the head behind so many bytes. */
static inline size_t head_behind(size_t head, size_t begin)
{
	return head > begin ? head - begin : 0;
}

/* text[begin, end) goes into `out` as it is. */
static inline void head_kept(struct text_pieces *out, size_t begin, size_t end)
{
	size_t left = head_behind(out->head, begin);
	out->heads += left < end - begin ? left : end - begin;
}

/* Adds text[begin, end) unless it is empty. */
static inline void add_part(struct text_pieces *out, struct slice text, size_t begin, size_t end)
{
	if (end <= begin)
		return;
	head_kept(out, begin, end);
	text_pieces_add(out, text.data + begin, end - begin);
}

static inline int pieces_status(const struct text_pieces *p, struct ipf_error *err)
{
	return p->failed || p->text.failed ? ipf_error_memory(err) : 0;
}

#endif
