#include "parquet/delta_integers.h"

#include "parquet/bit_runs.h"

#define BLOCK_MAX (UINT64_C(1) << 31) /* values */

static int varint(struct delta_integers *d, uint64_t *value)
{
	*value = 0;
	for (unsigned shift = 0; shift < 70 && d->at < d->end; shift += 7) {
		*value |= (uint64_t)(*d->at & 0x7f) << shift;
		if (!(*d->at++ & 0x80))
			return 0;
	}
	return -1;
}

static int zigzag(struct delta_integers *d, uint64_t *value)
{
	if (varint(d, value) < 0)
		return -1;
	*value = *value >> 1 ^ (0 - (*value & 1));
	return 0;
}

int delta_integers_begin(struct delta_integers *d, struct slice bytes)
{
	uint64_t block, miniblocks;
	*d = (struct delta_integers){.at = (const unsigned char *)bytes.data, .first = 1};
	d->end = d->at + bytes.len;
	if (varint(d, &block) < 0 || varint(d, &miniblocks) < 0 || varint(d, &d->left) < 0 || zigzag(d, &d->value) < 0)
		return -1;
	if (block == 0 || block > BLOCK_MAX || miniblocks == 0 || block % miniblocks != 0 || block / miniblocks % 32 != 0)
		return -1;
	d->miniblock = block / miniblocks;
	d->miniblocks = (size_t)miniblocks;
	return 0;
}

/* Goes to the next miniblock, which may be cut after its values. */
static int next_miniblock(struct delta_integers *d)
{
	if (d->widths == d->widths_end) {
		if (zigzag(d, &d->least) < 0 || (size_t)(d->end - d->at) < d->miniblocks)
			return -1;
		d->widths = d->at;
		d->widths_end = d->at += d->miniblocks;
	}
	d->width = *d->widths++;
	if (d->width > 64)
		return -1;
	uint64_t len = d->miniblock / 8 * d->width, there = (uint64_t)(d->end - d->at);
	uint64_t values = d->left < d->miniblock ? d->left : d->miniblock;
	if (len > there && (values * d->width + 7) / 8 > there)
		return -1;
	d->packed = d->at;
	d->at += len < there ? len : there;
	d->bit = 0;
	d->packed_left = values;
	return 0;
}

size_t delta_integers_read(struct delta_integers *d, int64_t *to, size_t want)
{
	size_t got = 0;
	if (d->first && d->left && want) {
		d->first = 0;
		d->left--;
		to[got++] = (int64_t)d->value;
	}
	while (got < want && d->left) {
		if (d->packed_left == 0 && next_miniblock(d) < 0) {
			d->left = 0;
			break;
		}
		size_t len = d->packed_left < want - got ? (size_t)d->packed_left : want - got;
		for (size_t i = 0; i < len; i++, d->bit += d->width) {
			d->value += d->least + bits_at(d->packed, d->end, d->bit, d->width);
			to[got++] = (int64_t)d->value;
		}
		d->packed_left -= len;
		d->left -= len;
	}
	return got;
}

int delta_integers_skip(struct delta_integers *d, struct slice *rest)
{
	if (d->first && d->left) {
		d->first = 0;
		d->left--;
	}
	for (; d->left; d->left -= d->packed_left)
		if (next_miniblock(d) < 0)
			return -1;
	*rest = (struct slice){(const char *)d->at, (size_t)(d->end - d->at)};
	return 0;
}
