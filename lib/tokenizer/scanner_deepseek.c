/* DeepSeek's three splits in sequence: numbers by three, runs of Han and kana, then the rest. A later split cannot join
 * parts that an earlier one has cut: each character belongs to the segment of its kind (number; Han or kana; other),
 * and for later expressions the end of a segment is the end of the text. */
#include "tokenizer/scanner_steps.h"

#define WORD (UNICODE_ANY_LETTER | UNICODE_MARK)
#define SIGN (UNICODE_PUNCTUATION | UNICODE_SYMBOL)

/* [一-龥぀-ゟ゠-ヿ] */
static inline bool is_east(uint32_t c)
{
	return (c >= 0x4e00 && c <= 0x9fa5) || (c >= 0x3040 && c <= 0x30ff);
}

/* Returns the character at `at`, or none at the end of the segment. */
static inline struct character in_segment(const struct character_classes *k, const char *text, size_t at, size_t end,
                                          bool east)
{
	struct character c = character_at(k, text, at, end);
	if (c.class & UNICODE_NUMBER || is_east(c.code) != east)
		return (struct character){0, 0, 0};
	return c;
}

static inline size_t skip_segment(const struct character_classes *k, const char *text, size_t at, size_t end, bool east,
                                  unsigned wanted)
{
	for (;;) {
		struct character c = in_segment(k, text, at, end, east);
		if (!(c.class & wanted))
			return at;
		at += c.len;
	}
}

static inline bool is_ascii_letter(uint32_t c)
{
	return (c | 0x20) - 'a' < 26;
}

static inline size_t letters_end(const char *text, size_t at, size_t end)
{
	while (at < end && is_ascii_letter((unsigned char)text[at]))
		at++;
	return at;
}

/* Returns where a match of the third expression at `at` ends; `at` itself if it does not match. */
static inline size_t match_end(const struct character_classes *k, const char *text, size_t at, size_t end,
                               struct character c, bool east)
{
	if (c.class & WORD)
		return skip_segment(k, text, at + c.len, end, east, WORD);
	struct character next = in_segment(k, text, at + c.len, end, east);
	if (c.class & SIGN) {
		if (c.code < 0x80 && next.len && is_ascii_letter(next.code))
			return letters_end(text, at + 1, end);
		return skip_newlines(text, skip_segment(k, text, at + c.len, end, east, SIGN), east ? at : end, false);
	}
	if (next.class & WORD && !is_newline(c.code))
		return skip_segment(k, text, at + c.len + next.len, end, east, WORD);
	if (!(c.class & UNICODE_SPACE))
		return at;
	if (c.code == ' ' && next.class & SIGN)
		return skip_newlines(text, skip_segment(k, text, at + 1 + next.len, end, east, SIGN), end, false);
	struct spaces s = spaces_at(k, text, at, end);
	return s.newline ? s.newline : spaces_end(&s, at, s.next.class & UNICODE_NUMBER || is_east(s.next.code));
}

static inline size_t deepseek_next(const struct character_classes *k, const char *text, size_t at, size_t end)
{
	struct character c = character_at(k, text, at, end);
	if (c.class & UNICODE_NUMBER) {
		for (int n = 0; n < 3 && c.class & UNICODE_NUMBER; n++) {
			at += c.len;
			c = character_at(k, text, at, end);
		}
		return at;
	}
	bool east = is_east(c.code);
	size_t found = match_end(k, text, at, end, c, east);
	/* Text that no expression matches is a word, up to the next match. */
	while (found == at) {
		at += c.len;
		c = in_segment(k, text, at, end, east);
		if (!c.len || match_end(k, text, at, end, c, east) != at)
			return at;
		found = at;
	}
	return found;
}
SCANNER(scan_deepseek, deepseek_next)
