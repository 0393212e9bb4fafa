/* A prompt put together of pieces of different lengths, each with an id, for sources that don't record blocks of one
 * size. */
#ifndef PREP_PIECES_H
#define PREP_PIECES_H

#include "draft/draft.h"

struct prompt_pieces {
	uint64_t *ids;
	int64_t *sizes; /* two a piece: its whole length and how much of it is there */
	size_t count, cap;
	int64_t tokens; /* of all */
	bool failed;
};

void prompt_pieces_add(struct prompt_pieces *p, uint64_t id, int64_t size);
/* Cuts what is behind the first `tokens`. */
void prompt_pieces_cut(struct prompt_pieces *p, int64_t tokens);
/* Sets the blocks of a request to them, copied into the draft. */
void prompt_pieces_give(const struct prompt_pieces *p, struct draft *d, struct draft_blocks *blocks);
void prompt_pieces_release(struct prompt_pieces *p);

/* An id made of a name and a number, unlike others in 64 bits. */
uint64_t piece_id(struct slice name, uint64_t number);

#endif
