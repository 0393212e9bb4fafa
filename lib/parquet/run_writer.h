/* Writes small integers as runs, which bit_runs.h reads: levels, and indexes into a dictionary. A run either repeats a
 * value or packs groups of eight values.
 *
 *     struct run_writer runs = {.width = 3};
 *     run_writer_put(&runs, 5, 1000);           // 1,000 times 5
 *     run_writer_end(&runs);
 *     … buffer_all(&runs.out) …
 *     run_writer_clear(&runs);                  // begins anew
 *     buffer_release(&runs.out);
 *
 * Specification: github.com/apache/parquet-format, Encodings.md ("RLE/bit-packing hybrid").
 */
#ifndef IPF_RUN_WRITER_H
#define IPF_RUN_WRITER_H

#include "buffer.h"

#include <stdint.h>

struct run_writer {
	unsigned width; /* bits of a value, 1 to 32 */
	struct buffer out;
	uint32_t last; /* the value that is repeated, and how often; not written yet */
	uint64_t repeats;
	uint32_t group[8]; /* values of the group that is not full yet */
	unsigned held;
	size_t head; /* where the packed run begins to which groups are added, and how many it has */
	unsigned groups;
};

void run_writer_put(struct run_writer *r, uint32_t value, uint64_t count);
/* Writes everything; the last group is filled up with zeros. */
void run_writer_end(struct run_writer *r);
void run_writer_clear(struct run_writer *r);

#endif
