/* Searches eight bytes of a text at once, in one 64-bit word (SWAR); the first byte is the lowest.
 *
 * Each search returns a word of marks: the highest bit of a byte is set if the byte matches. The marks are exact up to
 * and including the first match. A byte after it may be marked falsely, because of a borrow.
 */
#ifndef IPF_BYTES8_H
#define IPF_BYTES8_H

#include <stdint.h>
#include <string.h>

#define BYTES8_ONES  UINT64_C(0x0101010101010101)
#define BYTES8_HIGHS UINT64_C(0x8080808080808080)

static inline uint64_t bytes8_load(const char *at)
{
	uint64_t word;
	memcpy(&word, at, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	word = __builtin_bswap64(word);
#endif
	return word;
}

static inline void bytes8_store(char *to, uint64_t word)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	word = __builtin_bswap64(word);
#endif
	memcpy(to, &word, sizeof word);
}

/* The index of the first match; marks != 0. */
static inline unsigned bytes8_first(uint64_t marks)
{
	return (unsigned)__builtin_ctzll(marks) / 8;
}

static inline uint64_t bytes8_equal(uint64_t word, char c)
{
	uint64_t other = word ^ (BYTES8_ONES * (unsigned char)c);
	return (other - BYTES8_ONES) & ~other & BYTES8_HIGHS;
}

/* The same up to the first byte that is not ASCII, for an ASCII character: with nothing to borrow, all marks before
 * that byte are exact, not only the first. */
static inline uint64_t bytes8_ascii_equal(uint64_t word, char c)
{
	uint64_t other = word ^ (BYTES8_ONES * (unsigned char)c);
	return ~(other + BYTES8_ONES * 0x7f) & BYTES8_HIGHS;
}

/* The bytes that are not ASCII, and, before the first of them, the control characters but DEL; all marks are exact. */
static inline uint64_t bytes8_not_printable(uint64_t word)
{
	return (~(word + BYTES8_ONES * 0x60) | word) & BYTES8_HIGHS;
}

static inline uint64_t bytes8_not_digit(uint64_t word)
{
	uint64_t digit = word ^ (BYTES8_ONES * '0'); /* 0 to 9 */
	return ((digit + BYTES8_ONES * 0x76) | digit) & BYTES8_HIGHS;
}

/* The number the first `count` bytes are, all of them digits; count is 1 to 8. Neighbours are joined: digits to numbers
 * of two, these to numbers of four, these to one of eight. */
static inline uint64_t bytes8_decimal(uint64_t word, unsigned count)
{
	const uint64_t low16 = UINT64_C(0x000000ff000000ff);
	word = (word ^ (BYTES8_ONES * '0')) << (64 - 8 * count); /* zeros before it */
	word = word * 10 + (word >> 8);
	return ((word & low16) * (100 + (UINT64_C(1000000) << 32)) +
	        (word >> 16 & low16) * (1 + (UINT64_C(10000) << 32))) >>
	       32;
}

/* The control characters but DEL. */
static inline uint64_t bytes8_control(uint64_t word)
{
	return (word - BYTES8_ONES * 0x20) & ~word & BYTES8_HIGHS;
}

/* The bytes that must be escaped in a JSON string: quotes, backslashes and control characters. */
static inline uint64_t bytes8_escaped(uint64_t word)
{
	return bytes8_equal(word, '"') | bytes8_equal(word, '\\') | bytes8_control(word);
}

#endif
