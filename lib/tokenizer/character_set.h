/* Sets of characters in regular expressions, by name or by escape, with the meaning of Oniguruma, as items of a PCRE2
 * class. */
#ifndef IPF_TOKENIZER_CHARACTER_SET_H
#define IPF_TOKENIZER_CHARACTER_SET_H

#include "tokenizer/regex_translator.h"

struct character_set {
	struct buffer items; /* as in [items] */
	bool negated;
	bool inexact; /* PCRE2's set has too many characters: `categories` says which are meant */
	uint32_t categories;
	bool cased; /* would grow if case is ignored */
};

/* \d \w \s \h and their negations. 0, or -1 without an error if the letter is none of these. In brackets \w has fewer
 * characters. */
int character_set_escape(struct character_set *set, char letter, bool in_brackets);
/* \p{name}; t->at is after the 'p' or 'P'. */
int character_set_property(struct translator *t, struct character_set *set, bool negated, bool in_brackets);
/* [:name:]; t->at is after "[:". -1 without an error if it is not one; t->at is then unchanged. */
int character_set_bracket(struct translator *t, struct character_set *set);
/* Appends a class matching the set. `at` is the set's place in the pattern, for errors. */
int character_set_write(struct translator *t, const char *at, const struct character_set *set, struct buffer *out);

/* ---- sets as bits ---- */

#define SET_WORDS (0x110000 / 64)
/* Adds all characters of the set. */
int character_set_fill(const struct translator *t, const struct character_set *set, uint64_t *bits);
/* Appends the bits as a class. */
void character_set_write_bits(const uint64_t *bits, struct buffer *out);
/* Appends a character, or the characters from `first` to `last`, as items of a class. */
void character_set_write_range(uint32_t first, uint32_t last, struct buffer *out);

#endif
