#include "parquet/bit_runs.h"

unsigned bit_width(unsigned most)
{
	return most ? 32 - (unsigned)__builtin_clz(most) : 0;
}

void bit_runs_begin(struct bit_runs *r, struct slice bytes, unsigned width)
{
	const unsigned char *at = (const unsigned char *)bytes.data;
	*r = (struct bit_runs){.at = at, .end = at + bytes.len, .width = width};
}

void bit_runs_begin_packed(struct bit_runs *r, struct slice bytes, unsigned width, bool msb_first)
{
	bit_runs_begin(r, bytes, width);
	r->packed = r->at;
	r->packed_end = r->at = r->end;
	r->left = width ? (uint64_t)bytes.len * 8 / width : 0;
	r->msb_first = msb_first;
}

/* False if the bytes end. */
static bool next_run(struct bit_runs *r)
{
	uint64_t head = 0;
	unsigned char byte = 0x80;
	for (unsigned shift = 0; byte & 0x80; shift += 7) {
		if (r->at == r->end || shift > 35)
			return false;
		byte = *r->at++;
		head |= (uint64_t)(byte & 0x7f) << shift;
	}
	size_t there = (size_t)(r->end - r->at), wide = (r->width + 7) / 8;
	r->left = head >> 1;
	r->bit = 0;
	r->packed = NULL;
	r->value = 0;
	if (head & 1) {
		uint64_t len = r->left * r->width;
		r->left *= 8;
		if (len > there) { /* the last group may be cut after its values */
			len = there;
			r->left = len * 8 / r->width;
		}
		r->packed = r->at;
		r->packed_end = r->at += len;
		return true;
	}
	if (wide > there)
		return false;
	for (size_t i = 0; i < wide; i++)
		r->value |= (uint32_t)r->at[i] << 8 * i;
	r->at += wide;
	return true;
}

static uint32_t msb_first_value(const struct bit_runs *r)
{
	uint32_t value = 0;
	for (uint64_t bit = r->bit; bit < r->bit + r->width; bit++)
		value = value << 1 | (r->packed[bit >> 3] >> (7 - (bit & 7)) & 1u);
	return value;
}

static inline uint32_t packed_value(struct bit_runs *r)
{
	uint32_t value = r->msb_first ? msb_first_value(r) : (uint32_t)bits_at(r->packed, r->packed_end, r->bit, r->width);
	r->bit += r->width;
	return value;
}

/* Values of the next run, at most `want`; 0 if the bytes end. */
static size_t run_length(struct bit_runs *r, size_t want)
{
	while (r->left == 0)
		if (!next_run(r))
			return 0;
	size_t len = r->left < want ? (size_t)r->left : want;
	r->left -= len;
	return len;
}

size_t bit_runs_read(struct bit_runs *r, uint32_t *to, size_t want)
{
	size_t got = 0, len;
	if (r->width == 0) {
		memset(to, 0, want * sizeof *to);
		return want;
	}
	for (; got < want && (len = run_length(r, want - got)) > 0; got += len)
		for (size_t i = 0; i < len; i++)
			to[got + i] = r->packed ? packed_value(r) : r->value;
	return got;
}

size_t bit_runs_levels(struct bit_runs *r, uint8_t *to, size_t want)
{
	size_t got = 0, len;
	if (r->width == 0) {
		memset(to, 0, want);
		return want;
	}
	for (; got < want && (len = run_length(r, want - got)) > 0; got += len)
		if (r->packed)
			for (size_t i = 0; i < len; i++)
				to[got + i] = (uint8_t)packed_value(r);
		else
			memset(to + got, (int)(uint8_t)r->value, len);
	return got;
}
