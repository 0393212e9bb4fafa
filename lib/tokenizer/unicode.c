/* Character classes for the scanners: as the reference's regular expressions see characters (Oniguruma in tokenizers
 * 0.23: Unicode 16), whatever version utf8proc has; test_lib_tokenizer_scan holds the digest of the whole. */
#include "tokenizer/pipeline.h"

#include "tokenizer/unicode_pins.h"

unsigned char unicode_class(uint32_t c)
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
