/* The text of a simulated answer: a pure function of where it starts and of the token's number. Every token is exactly
 * WORD_BYTES bytes of UTF-8, so that a count of ceil(bytes / 4) is the count of tokens.
 */
#ifndef SIM_WORDS_H
#define SIM_WORDS_H

#include "buffer.h"

#include <stdint.h>

#define WORD_BYTES 4

enum words {
	WORDS_PLAIN,   /* lorem ipsum */
	WORDS_UTF8,    /* every token has a character of two to four bytes */
	WORDS_ESCAPES, /* every token has something that JSON escapes */
};

struct word {
	const char *json;  /* as it stands in a JSON string */
	const char *bytes; /* what it means; WORD_BYTES of them */
};

struct word word_at(enum words words, uint64_t start, int64_t k);
uint32_t word_token(enum words words, uint64_t start, int64_t k); /* its number in the simulated vocabulary */

#endif
