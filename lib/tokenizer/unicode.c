#include "tokenizer/unicode.h"

#include "tokenizer/unicode_pins.h"
#include "tokenizer/unicode_scripts.h"

static bool in_ranges(const struct range *ranges, size_t count, uint32_t c)
{
	size_t low = 0, high = count;
	while (low < high) {
		size_t mid = (low + high) / 2;
		if (c > ranges[mid].last)
			low = mid + 1;
		else
			high = mid;
	}
	return low < count && c >= ranges[low].first;
}
#define IN(ranges, c) in_ranges(ranges, sizeof ranges / sizeof *ranges, c)

size_t unicode_pins(const struct unicode_pin **first)
{
	*first = pins;
	return sizeof pins / sizeof *pins;
}

utf8proc_category_t unicode_category(uint32_t c)
{
	size_t low = 0, high = sizeof pins / sizeof *pins;
	while (low < high && c >= pins[0].first) {
		size_t mid = (low + high) / 2;
		if (c > pins[mid].last)
			low = mid + 1;
		else
			high = mid;
	}
	if (low < sizeof pins / sizeof *pins && c >= pins[low].first)
		return pins[low].category;
	return utf8proc_category((utf8proc_int32_t)c);
}

bool unicode_white_space(uint32_t c)
{
	if (c < 0x80)
		return c == ' ' || (c >= 9 && c <= 13);
	return c == 0x85 || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 ||
	       c == 0x202f || c == 0x205f || c == 0x3000;
}

bool unicode_numeric(uint32_t c)
{
	if (c < 0x80)
		return c >= '0' && c <= '9';
	return CATEGORY_IN(unicode_category(c), CATEGORIES_N) || (c >= 0x11de0 && c <= 0x11de9) ||
	       (c >= 0x16ff4 && c <= 0x16ff6);
}

bool unicode_punctuation(uint32_t c)
{
	if (c < 0x80)
		return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
	return (CATEGORY_IN(unicode_category(c), CATEGORIES_P) && !IN(newer_punctuation, c)) || c == 0x166d || c == 0x111c9;
}

bool unicode_word(uint32_t c)
{
	if (c < 0x80)
		return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') || c == '_';
	return CATEGORY_IN(unicode_category(c), CATEGORIES_WORD) || unicode_other_alphabetic(c) || c == 0x200c ||
	       c == 0x200d;
}

bool unicode_accent(uint32_t c)
{
	return c >= 0x300 &&
	       ((CATEGORY_IN(unicode_category(c), CATEGORIES_M) && !IN(newer_marks, c)) || c == 0x1cf2 || c == 0x1cf3);
}

bool unicode_nonspacing(uint32_t c)
{
	return c >= 0x300 &&
	       ((unicode_category(c) == UTF8PROC_CATEGORY_MN && !IN(newer_nonspacing, c)) || c == 0x1734 || c == 0x1171e);
}

bool unicode_control(uint32_t c)
{
	switch (unicode_category(c)) {
	case UTF8PROC_CATEGORY_CC:
		return c != '\t' && c != '\n' && c != '\r';
	case UTF8PROC_CATEGORY_CF:
		return c != 0x890 && c != 0x891 && c != 0x8e2 && c != 0x110cd && !(c >= 0x13430 && c <= 0x1343f);
	case UTF8PROC_CATEGORY_CO:
		return true;
	default:
		return false;
	}
}

bool unicode_unknown_to_forms(uint32_t c)
{
	return c >= 0x7fd && (IN(newer_marks, c) || IN(newer_decompositions, c));
}

uint32_t unicode_for_clusters(uint32_t c)
{
	if (c < 0x897)
		return c;
	return c == 0x113d1 ? 0x605 : IN(newer_extend, c) ? 0x300 : c;
}

size_t unicode_lower(uint32_t c, uint32_t lower[2])
{
	if (c < 0x80) {
		lower[0] = c >= 'A' && c <= 'Z' ? c + 32 : c;
		return 1;
	}
	if (c == 0x130) {
		lower[0] = 'i';
		lower[1] = 0x307;
		return 2;
	}
	lower[0] = (uint32_t)utf8proc_tolower((utf8proc_int32_t)c);
	for (size_t i = 0; c >= newer_lowercase[0].first && i < sizeof newer_lowercase / sizeof *newer_lowercase; i++)
		if (c >= newer_lowercase[i].first && c <= newer_lowercase[i].last)
			lower[0] = newer_lowercase[i].lower + (c - newer_lowercase[i].first);
	return 1;
}

unsigned unicode_script(uint32_t c)
{
	size_t low = 0, high = sizeof script_runs / sizeof *script_runs;
	while (high - low > 1) {
		size_t mid = (low + high) / 2;
		if (c < script_runs[mid] >> 8)
			high = mid;
		else
			low = mid;
	}
	return script_runs[low] & 255;
}
