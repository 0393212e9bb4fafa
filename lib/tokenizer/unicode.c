/* Character classes, pinned to Unicode 16, which is what the reference's regular expressions know (Oniguruma in tokenizers 0.23).
 *
 * The base is utf8proc's general categories. Debian 12's utf8proc knows Unicode 15.0; what 15.1 and 16 assigned since stands in the
 * table of pins, so that the classes are the same whichever version is installed (test_lib_tokenizer_unicode holds the digest of
 * the whole).
 */
#include "pipeline.h"

#include <utf8proc.h>

enum {
	UPPER = UNICODE_UPPER, LOWER = UNICODE_LOWER, LETTER = UNICODE_LETTER, MARK = UNICODE_MARK, NUMBER = UNICODE_NUMBER,
	PUNCT = UNICODE_PUNCTUATION, SYMBOL = UNICODE_SYMBOL,
};

static const struct {
	uint32_t first, last;
	unsigned char class;
} pins[] = {
	{0x897, 0x897, MARK}, {0x1b4e, 0x1b4f, PUNCT}, {0x1b7f, 0x1b7f, PUNCT}, {0x1c89, 0x1c89, UPPER},
	{0x1c8a, 0x1c8a, LOWER}, {0x2427, 0x2429, SYMBOL}, {0x2ffc, 0x2fff, SYMBOL}, {0x31e4, 0x31e5, SYMBOL},
	{0x31ef, 0x31ef, SYMBOL}, {0xa7cb, 0xa7cc, UPPER}, {0xa7cd, 0xa7cd, LOWER}, {0xa7da, 0xa7da, UPPER},
	{0xa7db, 0xa7db, LOWER}, {0xa7dc, 0xa7dc, UPPER}, {0x105c0, 0x105f3, LETTER}, {0x10d40, 0x10d49, NUMBER},
	{0x10d4a, 0x10d4f, LETTER}, {0x10d50, 0x10d65, UPPER}, {0x10d69, 0x10d6d, MARK}, {0x10d6e, 0x10d6e, PUNCT},
	{0x10d6f, 0x10d6f, LETTER}, {0x10d70, 0x10d85, LOWER}, {0x10d8e, 0x10d8f, SYMBOL}, {0x10ec2, 0x10ec4, LETTER},
	{0x10efc, 0x10efc, MARK}, {0x11380, 0x11389, LETTER}, {0x1138b, 0x1138b, LETTER}, {0x1138e, 0x1138e, LETTER},
	{0x11390, 0x113b5, LETTER}, {0x113b7, 0x113b7, LETTER}, {0x113b8, 0x113c0, MARK}, {0x113c2, 0x113c2, MARK},
	{0x113c5, 0x113c5, MARK}, {0x113c7, 0x113ca, MARK}, {0x113cc, 0x113d0, MARK}, {0x113d1, 0x113d1, LETTER},
	{0x113d2, 0x113d2, MARK}, {0x113d3, 0x113d3, LETTER}, {0x113d4, 0x113d5, PUNCT}, {0x113d7, 0x113d8, PUNCT},
	{0x113e1, 0x113e2, MARK}, {0x116d0, 0x116e3, NUMBER}, {0x11bc0, 0x11be0, LETTER}, {0x11be1, 0x11be1, PUNCT},
	{0x11bf0, 0x11bf9, NUMBER}, {0x11f5a, 0x11f5a, MARK}, {0x13460, 0x143fa, LETTER}, {0x16100, 0x1611d, LETTER},
	{0x1611e, 0x1612f, MARK}, {0x16130, 0x16139, NUMBER}, {0x16d40, 0x16d6c, LETTER}, {0x16d6d, 0x16d6f, PUNCT},
	{0x16d70, 0x16d79, NUMBER}, {0x18cff, 0x18cff, LETTER}, {0x1cc00, 0x1ccef, SYMBOL}, {0x1ccf0, 0x1ccf9, NUMBER},
	{0x1cd00, 0x1ceb3, SYMBOL}, {0x1e5d0, 0x1e5ed, LETTER}, {0x1e5ee, 0x1e5ef, MARK}, {0x1e5f0, 0x1e5f0, LETTER},
	{0x1e5f1, 0x1e5fa, NUMBER}, {0x1e5ff, 0x1e5ff, PUNCT}, {0x1f8b2, 0x1f8bb, SYMBOL}, {0x1f8c0, 0x1f8c1, SYMBOL},
	{0x1fa89, 0x1fa89, SYMBOL}, {0x1fa8f, 0x1fa8f, SYMBOL}, {0x1fabe, 0x1fabe, SYMBOL}, {0x1fac6, 0x1fac6, SYMBOL},
	{0x1fadc, 0x1fadc, SYMBOL}, {0x1fadf, 0x1fadf, SYMBOL}, {0x1fae9, 0x1fae9, SYMBOL}, {0x1fbcb, 0x1fbef, SYMBOL},
	{0x2ebf0, 0x2ee5d, LETTER},
};

static bool is_space(uint32_t c)
{
	return (c >= 9 && c <= 13) || c == 0x20 || c == 0x85 || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 ||
	       c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
}

static unsigned char category_class(uint32_t c)
{
	switch (utf8proc_category((utf8proc_int32_t)c)) {
	case UTF8PROC_CATEGORY_LU:
	case UTF8PROC_CATEGORY_LT:
		return UPPER;
	case UTF8PROC_CATEGORY_LL:
		return LOWER;
	case UTF8PROC_CATEGORY_LM:
	case UTF8PROC_CATEGORY_LO:
		return LETTER;
	case UTF8PROC_CATEGORY_MN:
	case UTF8PROC_CATEGORY_MC:
	case UTF8PROC_CATEGORY_ME:
		return MARK;
	case UTF8PROC_CATEGORY_ND:
	case UTF8PROC_CATEGORY_NL:
	case UTF8PROC_CATEGORY_NO:
		return NUMBER;
	case UTF8PROC_CATEGORY_PC:
	case UTF8PROC_CATEGORY_PD:
	case UTF8PROC_CATEGORY_PS:
	case UTF8PROC_CATEGORY_PE:
	case UTF8PROC_CATEGORY_PI:
	case UTF8PROC_CATEGORY_PF:
	case UTF8PROC_CATEGORY_PO:
		return PUNCT;
	case UTF8PROC_CATEGORY_SM:
	case UTF8PROC_CATEGORY_SC:
	case UTF8PROC_CATEGORY_SK:
	case UTF8PROC_CATEGORY_SO:
		return SYMBOL;
	default:
		return 0;
	}
}

unsigned char unicode_class(uint32_t c)
{
	size_t low = 0, high = sizeof pins / sizeof *pins;
	while (low < high) {
		size_t mid = (low + high) / 2;
		if (c > pins[mid].last)
			low = mid + 1;
		else
			high = mid;
	}
	if (low < sizeof pins / sizeof *pins && c >= pins[low].first)
		return pins[low].class;
	return (unsigned char)(category_class(c) | (is_space(c) ? UNICODE_SPACE : 0));
}
