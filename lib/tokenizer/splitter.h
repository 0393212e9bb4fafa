/* Splits a text at matches, in the five ways ("behaviors") of the reference. Matches and the parts between them are
 * added in order and cover the text.
 *
 *     struct splitter s = {.text = text, .out = out, .behavior = ISOLATED};
 *     splitter_add(&s, start, end, true);
 *     splitter_finish(&s);
 */
#ifndef IPF_TOKENIZER_SPLITTER_H
#define IPF_TOKENIZER_SPLITTER_H

#include "tokenizer/text_pieces.h"

#include <jansson.h>

enum behavior { REMOVED, ISOLATED, MERGED_WITH_PREVIOUS, MERGED_WITH_NEXT, CONTIGUOUS };

/* Reads the member "behavior". If it is optional and absent, `*behavior` keeps its value. */
int splitter_behavior(const json_t *config, const char *part, bool optional, enum behavior *behavior,
                      struct ipf_error *err);

struct splitter {
	struct slice text;
	struct text_pieces *out;
	enum behavior behavior;
	size_t start, end; /* the piece that is not in `out` yet */
	bool open, previous;
};
/* text[start, end) is a match, or the part between two matches. */
void splitter_add(struct splitter *s, size_t start, size_t end, bool match);
/* Ends the last piece. */
void splitter_finish(struct splitter *s);

/* ---- pieces and the head of the input (text_pieces.h) ---- */

/* The length of the head beyond the first `begin` bytes. */
static inline size_t head_behind(size_t head, size_t begin)
{
	return head > begin ? head - begin : 0;
}

/* Notes that text[begin, end) goes into `out` unchanged. */
static inline void head_kept(struct text_pieces *out, size_t begin, size_t end)
{
	size_t left = head_behind(out->head, begin);
	out->heads += left < end - begin ? left : end - begin;
}

/* Adds text[begin, end) as a piece unless it is empty. */
static inline void add_part(struct text_pieces *out, struct slice text, size_t begin, size_t end)
{
	if (end <= begin)
		return;
	head_kept(out, begin, end);
	text_pieces_add(out, text.data + begin, end - begin);
}

#endif
