/* Repetition loops: a text that ends in a short piece repeated again and again. */
#ifndef COLLECT_REPETITION_H
#define COLLECT_REPETITION_H

#include "buffer.h"

/* A loop has at least this many repetitions and bytes, of a piece of at most so many bytes. The end of a text is
 * searched for it. */
enum { REPETITION_TIMES = 8, REPETITION_BYTES = 64, REPETITION_PIECE = 512, REPETITION_SEARCHED = 16384 };

/* The bytes of the loop at the end of the text, at most REPETITION_SEARCHED; 0: there is none. */
size_t repetition_bytes(struct slice text);

#endif
