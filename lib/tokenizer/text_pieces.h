/* A text cut into pieces: the output of pre-tokenizers, and the input and output of decoders. Zero is an empty list.
 *
 * Piece i is text[ends[i-1], ends[i]). Out of memory is noted in `failed` and never cleared by adding; check it once,
 * with text_pieces_status, after the last piece.
 */
#ifndef IPF_TOKENIZER_TEXT_PIECES_H
#define IPF_TOKENIZER_TEXT_PIECES_H

#include "buffer.h"
#include "error.h"

#include <stdbool.h>
#include <stddef.h>

struct text_pieces {
	struct buffer text;
	size_t *ends;
	size_t count, cap;
	bool failed; /* out of memory */
	/* For pre-tokenizers, because Metaspace's "first" scheme needs it. The head is the replacement of the whole input's
	 * first character: `head` is its length at the front of the text split now, `heads` its length at the front of the
	 * pieces, in bytes. */
	size_t head, heads;
};

/* Adds a piece with this text. */
void text_pieces_add(struct text_pieces *p, const char *text, size_t len);
/* Ends a piece: it holds the text appended to p->text since the end of the piece before. */
void text_pieces_end(struct text_pieces *p);
/* Removes all pieces and keeps the memory. */
void text_pieces_clear(struct text_pieces *p);
void text_pieces_release(struct text_pieces *p);

static inline struct slice text_pieces_at(const struct text_pieces *p, size_t i)
{
	size_t begin = i ? p->ends[i - 1] : 0;
	return (struct slice){p->text.data ? p->text.data + begin : "", p->ends[i] - begin};
}

/* 0, or -1 with `err` if memory ran out. */
static inline int text_pieces_status(const struct text_pieces *p, struct ipf_error *err)
{
	return p->failed || p->text.failed ? ipf_error_memory(err) : 0;
}

#endif
