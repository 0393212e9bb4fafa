/* Scanners for the expressions of GPT-2, GPT-4 and related models. */
#include "tokenizer/scanner_steps.h"

#define LETTER_NUMBER_SPACE (UNICODE_ANY_LETTER | UNICODE_NUMBER | UNICODE_SPACE)

/* A digit for Digits: Rust's is_numeric has a newer Unicode version (17) than the expressions. */
static inline bool is_digit(struct character c)
{
	return c.class & UNICODE_NUMBER || (c.code >= 0x11de0 && c.code <= 0x11de9) ||
	       (c.code >= 0x16ff4 && c.code <= 0x16ff6);
}

/* Skips characters that are not letters, numbers or spaces. With `digits`, stops at a digit, since these were cut out
 * before. */
static inline size_t skip_signs(const struct character_classes *k, const char *text, size_t at, size_t end, bool digits)
{
	while (at < end) {
		struct character c = character_at(k, text, at, end);
		if (c.class & LETTER_NUMBER_SPACE || (digits && is_digit(c)))
			break;
		at += c.len;
	}
	return at;
}

/* 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+ */
static inline size_t gpt2_end(const struct character_classes *k, const char *text, size_t at, size_t end, bool digits)
{
	struct character c = character_at(k, text, at, end);
	if (c.code == '\'') {
		size_t n = contraction(text, at, end, false);
		if (n)
			return at + n;
	}
	size_t body = at;
	if (c.code == ' ') {
		struct character next = character_at(k, text, at + 1, end);
		if (next.len && !(next.class & UNICODE_SPACE) && !(digits && is_digit(next))) {
			body = at + 1;
			c = next;
		}
	}
	if (c.class & UNICODE_ANY_LETTER)
		return skip_class(k, text, body + c.len, end, UNICODE_ANY_LETTER);
	if (digits && is_digit(c))
		return body + c.len;
	if (c.class & UNICODE_NUMBER)
		return skip_class(k, text, body + c.len, end, UNICODE_NUMBER);
	if (!(c.class & UNICODE_SPACE))
		return skip_signs(k, text, body + c.len, end, digits);
	struct spaces s = spaces_at(k, text, at, end);
	return spaces_end(&s, at, digits && is_digit(s.next));
}

static inline size_t gpt2_next(const struct character_classes *k, const char *text, size_t at, size_t end)
{
	return gpt2_end(k, text, at, end, false);
}
SCANNER(scan_gpt2, gpt2_next)

static inline size_t gpt2_digit_next(const struct character_classes *k, const char *text, size_t at, size_t end)
{
	return gpt2_end(k, text, at, end, true);
}
SCANNER(scan_gpt2_digit, gpt2_digit_next)

/* \s*[\r\n]+|\s+(?!\S)|\s+ */
static inline size_t lines_end(const struct character_classes *k, const char *text, size_t at, size_t end)
{
	struct spaces s = spaces_at(k, text, at, end);
	return s.newline ? s.newline : spaces_end(&s, at, false);
}

/* Skips up to `most` numbers. */
static inline size_t numbers_end(const struct character_classes *k, const char *text, size_t at, size_t end, int most)
{
	for (; most; most--) {
		struct character c = character_at(k, text, at, end);
		if (!(c.class & UNICODE_NUMBER))
			break;
		at += c.len;
	}
	return at;
}

/* (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,most}|
 * ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+ */
static inline size_t cl100k_end(const struct character_classes *k, const char *text, size_t at, size_t end, int most)
{
	struct character c = character_at(k, text, at, end);
	if (c.class & UNICODE_ANY_LETTER)
		return skip_class(k, text, at + c.len, end, UNICODE_ANY_LETTER);
	if (c.class & UNICODE_NUMBER)
		return numbers_end(k, text, at, end, most);
	if (c.code == '\'') {
		size_t n = contraction(text, at, end, true);
		if (n)
			return at + n;
	}
	struct character next = character_at(k, text, at + c.len, end);
	if (next.class & UNICODE_ANY_LETTER && !is_newline(c.code))
		return skip_class(k, text, at + c.len + next.len, end, UNICODE_ANY_LETTER);
	if (!(c.class & UNICODE_SPACE))
		return skip_newlines(text, skip_other(k, text, at + c.len, end, LETTER_NUMBER_SPACE), end, false);
	if (c.code == ' ' && next.len && !(next.class & LETTER_NUMBER_SPACE))
		return skip_newlines(text, skip_other(k, text, at + 1 + next.len, end, LETTER_NUMBER_SPACE), end, false);
	return lines_end(k, text, at, end);
}

static inline size_t cl100k_next(const struct character_classes *k, const char *text, size_t at, size_t end)
{
	return cl100k_end(k, text, at, end, 3);
}
SCANNER(scan_cl100k, cl100k_next)

static inline size_t qwen_next(const struct character_classes *k, const char *text, size_t at, size_t end)
{
	return cl100k_end(k, text, at, end, 1);
}
SCANNER(scan_qwen, qwen_next)

#define UPPERS (UNICODE_UPPER | UNICODE_LETTER | UNICODE_MARK)
#define LOWERS (UNICODE_LOWER | UNICODE_LETTER | UNICODE_MARK)

/* [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+ with backtracking of the first part. 0: no match, and
 * *uppers is the end of the run of upper case. */
static inline size_t cased_end(const struct character_classes *k, const char *text, size_t at, size_t end,
                               size_t *uppers)
{
	size_t lower = 0;
	for (;;) {
		struct character c = character_at(k, text, at, end);
		if (!(c.class & UPPERS)) {
			*uppers = at;
			return c.class & UNICODE_LOWER ? skip_class(k, text, at + c.len, end, LOWERS) : lower;
		}
		at += c.len;
		if (c.class & LOWERS)
			lower = at;
	}
}

/* The two alternatives for words; 0: neither matches. */
static inline size_t cased_word_end(const struct character_classes *k, const char *text, size_t at, size_t end,
                                    struct character c)
{
	bool prefix = !(c.class & (UNICODE_ANY_LETTER | UNICODE_NUMBER)) && !is_newline(c.code);
	bool inside = c.class & (UPPERS | UNICODE_LOWER);
	size_t behind = 0, uppers = 0, found;

	if (prefix) {
		found = cased_end(k, text, at + c.len, end, &behind);
		if (found)
			return found;
	}
	if (inside) {
		found = cased_end(k, text, at, end, &uppers);
		if (found)
			return found;
	}
	if (prefix && behind > at + c.len)
		return behind;
	return inside && uppers > at ? uppers : 0;
}

/* o200k: two alternatives for words by case, each with a contraction behind it, \p{N}{1,3}|
 * ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+| \s+(?!\S)|\s+ ; tekken: the same without contractions and with single numbers.
 */
static inline size_t o200k_end(const struct character_classes *k, const char *text, size_t at, size_t end, int most,
                               bool contractions)
{
	struct character c = character_at(k, text, at, end);
	if (c.class & UNICODE_NUMBER)
		return numbers_end(k, text, at, end, most);
	size_t word = cased_word_end(k, text, at, end, c);
	if (word)
		return contractions ? word + contraction(text, word, end, true) : word;
	if (!(c.class & UNICODE_SPACE))
		return skip_newlines(text, skip_other(k, text, at + c.len, end, LETTER_NUMBER_SPACE), end, true);
	struct character next = character_at(k, text, at + c.len, end);
	if (c.code == ' ' && next.len && !(next.class & LETTER_NUMBER_SPACE))
		return skip_newlines(text, skip_other(k, text, at + 1 + next.len, end, LETTER_NUMBER_SPACE), end, true);
	return lines_end(k, text, at, end);
}

static inline size_t o200k_next(const struct character_classes *k, const char *text, size_t at, size_t end)
{
	return o200k_end(k, text, at, end, 3, true);
}
SCANNER(scan_o200k, o200k_next)

static inline size_t tekken_next(const struct character_classes *k, const char *text, size_t at, size_t end)
{
	return o200k_end(k, text, at, end, 1, false);
}
SCANNER(scan_tekken, tekken_next)
