/* Regular expressions of tokenizer files: written for Oniguruma (Ruby's syntax), run by PCRE2's just-in-time compiler.
 *
 *     struct regex *re;
 *     if (regex_new(&re, pattern, false, &err) < 0) …        // err names what is not known, with its place
 *     struct regex_walk w;
 *     regex_walk_begin(&w, re, text);
 *     while ((found = regex_walk_next(&w, &start, &end, &err)) == 1) …
 *     regex_walk_end(&w);
 *
 * The two differ in syntax (intersections of classes, possessive intervals, where (?i) ends, …), in what \w, \s, \b and
 * $ mean and in their versions of Unicode. regex_translate writes a pattern that means to PCRE2 what the original means
 * to the reference, and refuses what it cannot say: absent groups, calls of groups, \G, \K, \X, and ignoring the case
 * of what folds to several characters.
 */
#ifndef IPF_TOKENIZER_REGEX_H
#define IPF_TOKENIZER_REGEX_H

#include "buffer.h"
#include "error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct regex;

/* `literal`: the pattern is a text to be found, not an expression. */
int regex_new(struct regex **re, struct slice pattern, bool literal, struct ipf_error *err);
void regex_free(struct regex *re); /* NULL is fine */

/* Goes over the matches from left to right as the reference does: none overlap, and an empty one right after a match is
 * passed over. */
struct regex_walk {
	const struct regex *re;
	struct slice text;
	size_t from, last_end;
	bool matched;
	void *data, *context, *stack; /* PCRE2's */
};
void regex_walk_begin(struct regex_walk *w, const struct regex *re, struct slice text);
/* 1 with the bytes of a match; 0: no more; -1: memory ran out, or the expression needs more steps than PCRE2 can count.
 */
int regex_walk_next(struct regex_walk *w, size_t *start, size_t *end, struct ipf_error *err);
void regex_walk_end(struct regex_walk *w);

/* Appends the translation. (regex_translate.c) */
int regex_translate(struct slice pattern, struct buffer *out, struct ipf_error *err);

/* ---- shared by regex_translate.c and regex_class.c
 * ------------------------------------------------------------------------- */

struct translator {
	const char *begin, *at, *end;
	struct buffer *out;
	struct ipf_error *err;
	bool ignore_case, extended, dot_all;
	int depth;
	uint32_t previous; /* the literal just before, 0 where there is none: some pairs fold to one character */
};

int translate_refuse(const struct translator *t, const char *at, const char *what);
/* A number in hex or octal after a backslash: \x41 \x{1F600} \u0041 \101. -1: none of these. */
int32_t translate_number(struct translator *t, char kind);
int translate_class(struct translator *t); /* at what follows '[' */

/* A set of characters by name or by escape: what stands within a PCRE2 class for it. */
struct character_set {
	struct buffer items; /* as in [items] */
	bool negated;
	bool inexact; /* PCRE2's has characters too many: `categories` says what is meant */
	uint32_t categories;
	bool cased; /* would grow where case is ignored */
};
/* \d \w \s \h and their negations; 0, or -1 where the letter is none of these (err is not set). In brackets \w has
 * fewer characters. */
int character_set_escape(struct character_set *set, char letter, bool in_brackets);
/* \p{name}, t->at after the 'p' or 'P'. */
int character_set_property(struct translator *t, struct character_set *set, bool negated, bool in_brackets);
/* [:name:], t->at after "[:". -1: not one (t->at is back). */
int character_set_bracket(struct translator *t, struct character_set *set);
/* Appends a class that matches it. */
int character_set_write(struct translator *t, const char *at, const struct character_set *set, struct buffer *out);
/* All characters of it as bits. */
#define SET_WORDS (0x110000 / 64)
int character_set_fill(const struct translator *t, const struct character_set *set, uint64_t *bits);
void write_bits(const uint64_t *bits, struct buffer *out); /* as a class */
void write_character(uint32_t c, struct buffer *out);      /* as \x{…} */

#endif
