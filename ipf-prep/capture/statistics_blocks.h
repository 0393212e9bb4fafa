/* The number of dropped packets in the bytes of a pcapng file, for packet_file.h: passes over all blocks but section
 * headers and interface statistics (draft-ietf-opsawg-pcapng sections 4.1 and 4.6).
 *
 *     struct statistics_blocks blocks = {0};
 *     statistics_blocks_bytes(&blocks, bytes, len);        // all of the file, in any pieces
 *     statistics_blocks_dropped(&blocks)
 *
 * The counters of an interface replace its earlier ones; those of several interfaces and sections add up. Bytes of
 * another format are ignored.
 */
#ifndef PREP_STATISTICS_BLOCKS_H
#define PREP_STATISTICS_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { STATISTICS_INTERFACES = 64, STATISTICS_BLOCK_MOST = 1024 };

struct statistics_blocks {
	uint8_t block[STATISTICS_BLOCK_MOST]; /* the beginning of the block at hand */
	size_t have;
	uint64_t left;            /* bytes of the block to pass over */
	bool big_endian, started; /* a section header was read */
	bool ended;               /* it is no pcapng file, or no longer one */
	bool known;               /* counters were found */
	uint64_t dropped[STATISTICS_INTERFACES], earlier;
};

void statistics_blocks_bytes(struct statistics_blocks *s, const char *bytes, size_t len);
/* IPF_ABSENT: there were no counters. */
int64_t statistics_blocks_dropped(const struct statistics_blocks *s);

#endif
