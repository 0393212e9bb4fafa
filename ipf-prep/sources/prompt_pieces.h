/* A prompt made of pieces of different lengths, each with an id: for traces without blocks of one size.
 *
 *     struct prompt_pieces pieces = {0};
 *     prompt_pieces_add(&pieces, id, tokens); …
 *     prompt_pieces_to_blocks(&pieces, d, &r->blocks);
 *     prompt_pieces_release(&pieces);
 */
#ifndef PREP_PROMPT_PIECES_H
#define PREP_PROMPT_PIECES_H

#include "draft/draft.h"

struct prompt_pieces {
	uint64_t *ids;
	int64_t *sizes; /* two numbers a piece: the tokens of the whole piece, and how many of them are used */
	size_t count, cap;
	int64_t tokens; /* used by all pieces */
	bool failed;    /* out of memory */
};

/* Adds a piece of `size` tokens; none if `size` is 0 or less. */
void prompt_pieces_add(struct prompt_pieces *p, uint64_t id, int64_t size);
/* Drops the pieces after the first `tokens` tokens. */
void prompt_pieces_truncate(struct prompt_pieces *p, int64_t tokens);
/* Makes the pieces the blocks of a request, copied into the draft. */
void prompt_pieces_to_blocks(const struct prompt_pieces *p, struct draft *d, struct draft_blocks *blocks);
/* Adds a request of the draft's session whose prompt the pieces are. They then grow by its answer and later messages,
 * both of which no other prompt has but those continuing this one. NULL when out of memory. */
struct draft_request *prompt_pieces_turn(struct prompt_pieces *p, struct draft *d, int64_t answer, int64_t added);
void prompt_pieces_release(struct prompt_pieces *p);

/* An id made of a name and a number: 64 bits, unlikely to equal another one. */
uint64_t prompt_piece_id(struct slice name, uint64_t number);

#endif
