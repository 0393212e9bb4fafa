/* Characters that scripts got between Unicode 14, which PCRE2 of Debian 12 has, and Unicode 16, which the reference's
 * regular expressions have. */
#ifndef IPF_TOKENIZER_REGEX_SCRIPT_ADDITIONS_H
#define IPF_TOKENIZER_REGEX_SCRIPT_ADDITIONS_H

#include <stdint.h>

/* clang-format off */
static const struct {
	const char *script; /* as a property's name is compared: small letters only */
	uint32_t first, last;
} script_additions[] = {
	{"arabic", 0x897, 0x897},
	{"arabic", 0x10ec2, 0x10ec4},
	{"arabic", 0x10efc, 0x10eff},
	{"balinese", 0x1b4e, 0x1b4f},
	{"balinese", 0x1b7f, 0x1b7f},
	{"common", 0x2427, 0x2429},
	{"common", 0x2ffc, 0x2fff},
	{"common", 0x31e4, 0x31e5},
	{"common", 0x31ef, 0x31ef},
	{"common", 0x1cc00, 0x1ccf9},
	{"common", 0x1cd00, 0x1ceb3},
	{"common", 0x1d2c0, 0x1d2d3},
	{"common", 0x1f6dc, 0x1f6dc},
	{"common", 0x1f774, 0x1f776},
	{"common", 0x1f77b, 0x1f77f},
	{"common", 0x1f7d9, 0x1f7d9},
	{"common", 0x1f8b2, 0x1f8bb},
	{"common", 0x1f8c0, 0x1f8c1},
	{"common", 0x1fa75, 0x1fa77},
	{"common", 0x1fa87, 0x1fa89},
	{"common", 0x1fa8f, 0x1fa8f},
	{"common", 0x1faad, 0x1faaf},
	{"common", 0x1fabb, 0x1fabf},
	{"common", 0x1fac6, 0x1fac6},
	{"common", 0x1face, 0x1facf},
	{"common", 0x1fada, 0x1fadc},
	{"common", 0x1fadf, 0x1fadf},
	{"common", 0x1fae8, 0x1fae9},
	{"common", 0x1faf7, 0x1faf8},
	{"common", 0x1fbcb, 0x1fbef},
	{"cyrillic", 0x1c89, 0x1c8a},
	{"cyrillic", 0x1e030, 0x1e06d},
	{"cyrillic", 0x1e08f, 0x1e08f},
	{"devanagari", 0x11b00, 0x11b09},
	{"egyptianhieroglyphs", 0x1342f, 0x1342f},
	{"egyptianhieroglyphs", 0x13439, 0x13455},
	{"egyptianhieroglyphs", 0x13460, 0x143fa},
	{"han", 0x2b739, 0x2b739},
	{"han", 0x2ebf0, 0x2ee5d},
	{"han", 0x31350, 0x323af},
	{"hiragana", 0x1b132, 0x1b132},
	{"kannada", 0xcf3, 0xcf3},
	{"katakana", 0x1b155, 0x1b155},
	{"khitansmallscript", 0x18cff, 0x18cff},
	{"khojki", 0x1123f, 0x11241},
	{"lao", 0xece, 0xece},
	{"latin", 0xa7cb, 0xa7cd},
	{"latin", 0xa7da, 0xa7dc},
	{"latin", 0x1df25, 0x1df2a},
	{"myanmar", 0x116d0, 0x116e3},
};

#endif
