#include "capture/statistics_blocks.h"

#include "absent.h"

#include <string.h>

enum { BLOCK_STATISTICS = 5, OPTION_IFDROP = 5, OPTION_OSDROP = 7 };
#define BLOCK_SECTION UINT32_C(0x0a0d0d0a)

static uint64_t number(const struct statistics_blocks *s, size_t at, size_t bytes)
{
	uint64_t n = 0;
	for (size_t i = 0; i < bytes; i++)
		n = n << 8 | s->block[s->big_endian ? at + i : at + bytes - 1 - i];
	return n;
}

/* The number of first bytes of a block that tell its length; a section header also has its byte order. */
static size_t head_of(const struct statistics_blocks *s)
{
	return s->have >= 4 && number(s, 0, 4) == BLOCK_SECTION ? 12 : 8;
}

static void end_section(struct statistics_blocks *s)
{
	for (size_t i = 0; i < STATISTICS_INTERFACES; i++)
		s->earlier += s->dropped[i];
	memset(s->dropped, 0, sizeof s->dropped);
}

/* The options of a statistics block begin behind its interface and time. */
static void read_statistics(struct statistics_blocks *s)
{
	const size_t interface = (size_t)number(s, 8, 4);
	uint64_t dropped = 0;
	bool found = false;
	if (s->have < 24 || interface >= STATISTICS_INTERFACES)
		return;
	for (size_t at = 20; at + 4 <= s->have - 4;) {
		const size_t code = (size_t)number(s, at, 2), len = (size_t)number(s, at + 2, 2);
		if (code == 0)
			break;
		if ((code == OPTION_IFDROP || code == OPTION_OSDROP) && len == 8 && at + 12 <= s->have) {
			dropped += number(s, at + 4, 8);
			found = true;
		}
		at += 4 + (len + 3) / 4 * 4;
	}
	if (found) {
		s->dropped[interface] = dropped;
		s->known = true;
	}
}

/* The block's head is there. False: it is no block. */
static bool begin_block(struct statistics_blocks *s)
{
	if (number(s, 0, 4) == BLOCK_SECTION) {
		s->big_endian = false;
		s->big_endian = number(s, 8, 4) != UINT32_C(0x1a2b3c4d);
		if (number(s, 8, 4) != UINT32_C(0x1a2b3c4d))
			return false;
		end_section(s);
		s->started = true;
	}
	const uint64_t len = number(s, 4, 4);
	if (!s->started || len < 12 || len % 4)
		return false;
	s->left = len - s->have;
	return true;
}

void statistics_blocks_bytes(struct statistics_blocks *s, const char *bytes, size_t len)
{
	while (len && !s->ended) {
		const size_t head = head_of(s);
		size_t take = 1;
		if (s->have < head && !s->left) {
			s->block[s->have++] = (uint8_t)*bytes;
			if (s->have == head_of(s))
				s->ended = !begin_block(s);
		} else {
			take = s->left < len ? (size_t)s->left : len;
			const size_t room = STATISTICS_BLOCK_MOST - s->have, keep = take < room ? take : room;
			if (number(s, 0, 4) == BLOCK_STATISTICS) {
				memcpy(s->block + s->have, bytes, keep);
				s->have += keep;
			}
			s->left -= take;
		}
		bytes += take;
		len -= take;
		if (s->have >= head && !s->left && !s->ended) {
			if (number(s, 0, 4) == BLOCK_STATISTICS)
				read_statistics(s);
			s->have = 0;
		}
	}
}

int64_t statistics_blocks_dropped(const struct statistics_blocks *s)
{
	uint64_t all = s->earlier;
	for (size_t i = 0; i < STATISTICS_INTERFACES; i++)
		all += s->dropped[i];
	return s->known && all <= INT64_MAX ? (int64_t)all : IPF_ABSENT;
}
