/* Properties of characters as in the reference, independent of the Unicode versions of utf8proc and PCRE2.
 *
 * The reference consists of parts with different Unicode versions. Its regular expressions have Unicode 16; Rust's
 * functions (digits, lower case) and its grapheme clusters have 17; its punctuation, its accents and its normal forms
 * come from tables of about Unicode 8 and 9. unicode_pins.h has the differences.
 */
#ifndef IPF_TOKENIZER_UNICODE_H
#define IPF_TOKENIZER_UNICODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <utf8proc.h>

/* Sets of general categories as bits. */
#define CATEGORY_BIT(name)         (1u << UTF8PROC_CATEGORY_##name)
#define CATEGORY_IN(category, set) ((set) >> (category)&1)
#define CATEGORIES_CASED           (CATEGORY_BIT(LU) | CATEGORY_BIT(LL) | CATEGORY_BIT(LT))
#define CATEGORIES_L               (CATEGORIES_CASED | CATEGORY_BIT(LM) | CATEGORY_BIT(LO))
#define CATEGORIES_M               (CATEGORY_BIT(MN) | CATEGORY_BIT(MC) | CATEGORY_BIT(ME))
#define CATEGORIES_N               (CATEGORY_BIT(ND) | CATEGORY_BIT(NL) | CATEGORY_BIT(NO))
#define CATEGORIES_P                                                                                                   \
	(CATEGORY_BIT(PC) | CATEGORY_BIT(PD) | CATEGORY_BIT(PS) | CATEGORY_BIT(PE) | CATEGORY_BIT(PI) | CATEGORY_BIT(PF) | \
	 CATEGORY_BIT(PO))
#define CATEGORIES_S    (CATEGORY_BIT(SM) | CATEGORY_BIT(SC) | CATEGORY_BIT(SK) | CATEGORY_BIT(SO))
#define CATEGORIES_Z    (CATEGORY_BIT(ZS) | CATEGORY_BIT(ZL) | CATEGORY_BIT(ZP))
#define CATEGORIES_C    (CATEGORY_BIT(CC) | CATEGORY_BIT(CF) | CATEGORY_BIT(CN) | CATEGORY_BIT(CS) | CATEGORY_BIT(CO))
#define CATEGORIES_WORD (CATEGORIES_L | CATEGORIES_M | CATEGORY_BIT(ND) | CATEGORY_BIT(NL) | CATEGORY_BIT(PC))

enum unicode_pin_flags { PIN_ALPHABETIC = 1, PIN_UPPERCASE = 2, PIN_LOWERCASE = 4 };

/* A run of characters whose category has changed since Unicode 14. */
struct unicode_pin {
	uint32_t first, last;
	utf8proc_category_t category; /* in Unicode 16 */
	unsigned flags;
};
size_t unicode_pins(const struct unicode_pin **first); /* returns how many there are; they are in order */

utf8proc_category_t unicode_category(uint32_t c); /* Unicode 16 */
bool unicode_white_space(uint32_t c);
bool unicode_numeric(uint32_t c);          /* for Digits: Unicode 17 */
bool unicode_punctuation(uint32_t c);      /* for Punctuation and BertPreTokenizer: Unicode 8, and all ASCII symbols */
bool unicode_word(uint32_t c);             /* \w of the pre-tokenizer Whitespace */
bool unicode_accent(uint32_t c);           /* for StripAccents */
bool unicode_nonspacing(uint32_t c);       /* accents of BertNormalizer */
bool unicode_control(uint32_t c);          /* control characters of BertNormalizer */
bool unicode_unknown_to_forms(uint32_t c); /* unchanged by the normal forms */
size_t unicode_lower(uint32_t c, uint32_t lower[2]); /* sets lower case, 1 or 2 characters; returns how many */
uint32_t unicode_for_clusters(
	uint32_t c); /* a character that utf8proc treats in grapheme clusters as the reference treats c */
unsigned unicode_script(uint32_t c); /* number of the script; 0: none */

/* Letters in circles and squares: symbols that count as part of words. */
static inline bool unicode_other_alphabetic(uint32_t c)
{
	return (c >= 0x24b6 && c <= 0x24e9) || (c >= 0x1f130 && c <= 0x1f149) || (c >= 0x1f150 && c <= 0x1f169) ||
	       (c >= 0x1f170 && c <= 0x1f189);
}

#endif
