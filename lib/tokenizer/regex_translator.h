/* The state of a translation from Oniguruma to PCRE2 (regex_translate.h): the place in the pattern, the output, the
 * options holding at this place. */
#ifndef IPF_TOKENIZER_REGEX_TRANSLATOR_H
#define IPF_TOKENIZER_REGEX_TRANSLATOR_H

#include "buffer.h"
#include "error.h"

#include <stdbool.h>
#include <stdint.h>

struct translator {
	const char *begin, *at, *end;
	struct buffer *out;
	struct ipf_error *err;
	bool ignore_case, extended, dot_all;
	int depth;
	uint32_t previous; /* the literal just before, 0 if there is none: some pairs fold to one character */
};

/* Sets the error `regex "…": byte N: WHAT`, where N is the place `at`, and returns -1. */
int translator_refuse(const struct translator *t, const char *at, const char *what);
/* True if the pattern continues with this text. */
bool translator_sees(const struct translator *t, const char *text);
/* Reads up to `most` digits; -1: no digit. */
int32_t translator_digits(struct translator *t, int base, int most);
/* Reads a character's number in hex or octal after a backslash: \x41 \x{1F600} \u0041 \101. `kind` is the letter or
 * digit after the backslash, which has been read. -1: none of these. */
int32_t translator_number(struct translator *t, char kind);

#endif
