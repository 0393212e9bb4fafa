/* Regular expressions of tokenizer files: written for Oniguruma (Ruby's syntax), run by PCRE2's just-in-time compiler.
 *
 *     struct regex *re;
 *     if (regex_new(&re, pattern, false, &err) < 0) …        // err names the unsupported construct and its place
 *     struct regex_walk w;
 *     regex_walk_begin(&w, re, text);
 *     while ((found = regex_walk_next(&w, &start, &end, &err)) == 1) …
 *     regex_walk_end(&w);
 *
 * The two differ in syntax (intersections of classes, possessive intervals, where (?i) ends, …), in the meaning of \w,
 * \s, \b and $ and in their versions of Unicode. regex_translate.h writes a pattern with the same meaning in PCRE2 as
 * the original has in the reference, and refuses features PCRE2 lacks: absent groups, calls of groups, \G, \K, \X, and
 * ignoring the case of characters that fold to several.
 */
#ifndef IPF_TOKENIZER_REGEX_H
#define IPF_TOKENIZER_REGEX_H

#include "buffer.h"
#include "error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct regex;

/* `literal`: the pattern is a string to find, not an expression. */
int regex_new(struct regex **re, struct slice pattern, bool literal, struct ipf_error *err);
void regex_free(struct regex *re); /* NULL is fine */

/* A walk over the matches from left to right, as in the reference: matches do not overlap, and an empty match right
 * after a match is skipped. */
struct regex_walk {
	const struct regex *re;
	struct slice text;
	size_t from, last_end;
	bool matched;
	void *data, *context, *stack; /* PCRE2's data */
};
void regex_walk_begin(struct regex_walk *w, const struct regex *re, struct slice text);
/* 1 with the offsets of a match; 0: no more; -1: out of memory, or PCRE2 gave up. */
int regex_walk_next(struct regex_walk *w, size_t *start, size_t *end, struct ipf_error *err);
void regex_walk_end(struct regex_walk *w);

#endif
