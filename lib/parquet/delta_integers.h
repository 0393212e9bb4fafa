/* Integers as differences (DELTA_BINARY_PACKED), which are also the lengths of texts in two encodings. They are decoded
 * piecewise.
 *
 *     struct delta_integers d;
 *     if (delta_integers_begin(&d, bytes) < 0) …
 *     size_t got = delta_integers_read(&d, to, 512);  // fewer: there are no more, or the bytes are malformed
 *
 * Sums wrap, as the specification wants it: github.com/apache/parquet-format, Encodings.md.
 */
#ifndef IPF_DELTA_INTEGERS_H
#define IPF_DELTA_INTEGERS_H

#include "buffer.h"

#include <stdint.h>

struct delta_integers {
	const unsigned char *at, *end;
	uint64_t left;                            /* values to come */
	uint64_t miniblock;                       /* values of a miniblock */
	size_t miniblocks;                        /* a block's */
	uint64_t value;                           /* the next one, if `first`, else the one before */
	uint64_t least;                           /* the least difference in the block */
	const unsigned char *widths, *widths_end; /* the block's miniblocks to come */
	const unsigned char *packed;              /* the present miniblock */
	uint64_t bit, packed_left;
	unsigned width;
	int first;
};

/* 0, or -1 if the head is malformed. */
int delta_integers_begin(struct delta_integers *d, struct slice bytes);
size_t delta_integers_read(struct delta_integers *d, int64_t *to, size_t want);
/* Skips all values: 0 and the bytes behind them in *rest, or -1. */
int delta_integers_skip(struct delta_integers *d, struct slice *rest);

#endif
