/* The classes of all characters in two stages, as scanners look them up: a page of 256 code points to a block. */
#ifndef IPF_TOKENIZER_CHARACTER_CLASSES_H
#define IPF_TOKENIZER_CHARACTER_CLASSES_H

#include "tokenizer/compiled_block.h"

/* Classes as the regular expressions of the reference see them. */
enum unicode_class {
	UNICODE_UPPER = 1,  /* Lu, Lt */
	UNICODE_LOWER = 2,  /* Ll */
	UNICODE_LETTER = 4, /* Lm, Lo */
	UNICODE_MARK = 8,
	UNICODE_NUMBER = 16,
	UNICODE_SPACE = 32, /* White_Space: the reference's \s */
	UNICODE_PUNCTUATION = 64,
	UNICODE_SYMBOL = 128,
	UNICODE_ANY_LETTER = UNICODE_UPPER | UNICODE_LOWER | UNICODE_LETTER,
};

struct character_classes {
	const uint16_t *pages;
	const unsigned char (*blocks)[256];
	const unsigned char *ascii; /* the block of page 0 */
};

/* Builds the sections; equal blocks are stored once. */
void character_classes_build(struct compiled_builder *b);
/* Whether the sections are those of character_classes_build, which are the same for every tokenizer. */
bool character_classes_are_ours(const struct compiled_block *c);
void character_classes_of(struct character_classes *k, const struct compiled_block *c);
/* The class of a character; 0: none of these. */
static inline unsigned class_of(const struct character_classes *k, uint32_t c)
{
	return k->blocks[k->pages[c >> 8]][c & 255];
}

#endif
