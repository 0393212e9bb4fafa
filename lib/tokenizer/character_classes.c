#include "tokenizer/character_classes.h"

#include "stream/digest.h"
#include "tokenizer/unicode.h"

#include <string.h>

/* Swaps both sections into the byte order of this machine. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define CLASSES_SHA256 "f9bc53d4611a3437b09c19949d0ba2a4e41818754c3e8d8a68d86ef6fc96e656"
#else
#define CLASSES_SHA256 "00432e144a7e0944891ce85b126fcd1dcc35b3998b2c3a821abf1515693a810a"
#endif

/* The reference's regular expressions are those of Oniguruma in tokenizers 0.23: Unicode 16, whatever version utf8proc
 * has. test_lib_tokenizer_scan checks the digest of all classes. */
static unsigned char unicode_class(uint32_t c)
{
	utf8proc_category_t category = unicode_category(c);
	if (category == UTF8PROC_CATEGORY_LU || category == UTF8PROC_CATEGORY_LT)
		return UNICODE_UPPER;
	if (category == UTF8PROC_CATEGORY_LL)
		return UNICODE_LOWER;
	if (CATEGORY_IN(category, CATEGORIES_L))
		return UNICODE_LETTER;
	if (CATEGORY_IN(category, CATEGORIES_M))
		return UNICODE_MARK;
	if (CATEGORY_IN(category, CATEGORIES_N))
		return UNICODE_NUMBER;
	if (CATEGORY_IN(category, CATEGORIES_P))
		return UNICODE_PUNCTUATION;
	if (CATEGORY_IN(category, CATEGORIES_S))
		return UNICODE_SYMBOL;
	return unicode_white_space(c) ? UNICODE_SPACE : 0;
}

void character_classes_build(struct compiled_builder *b)
{
	struct buffer *blocks = &b->sections[SECTION_CLASSES];
	unsigned char block[256];

	for (uint32_t page = 0; page < 0x1100; page++) {
		for (uint32_t i = 0; i < 256; i++)
			block[i] = unicode_class(page << 8 | i);
		size_t at = 0;
		while (at < blocks->len && memcmp(blocks->data + at, block, 256) != 0)
			at += 256;
		if (at == blocks->len)
			buffer_append(blocks, block, 256);
		uint16_t index = (uint16_t)(at / 256);
		buffer_append(&b->sections[SECTION_CLASS_PAGES], &index, sizeof index);
	}
}

bool character_classes_are_ours(const struct compiled_block *c)
{
	static const enum compiled_section sections[] = {SECTION_CLASS_PAGES, SECTION_CLASSES};
	char hex[65];
	struct digest *d = digest_new();
	if (!d)
		return false;
	for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
		digest_update(d, compiled_section(c, sections[i]), compiled_bytes(c, sections[i]));
	digest_hex(d, hex);
	digest_free(d);
	return strcmp(hex, CLASSES_SHA256) == 0;
}

void character_classes_of(struct character_classes *k, const struct compiled_block *c)
{
	k->pages = compiled_section(c, SECTION_CLASS_PAGES);
	k->blocks = compiled_section(c, SECTION_CLASSES);
	k->ascii = k->blocks[k->pages[0]];
}
