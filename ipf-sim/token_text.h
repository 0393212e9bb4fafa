/* The text of a simulated answer: a pure function of where it starts and of the token's number. Every token is exactly
 * TOKEN_BYTES bytes of UTF-8, so a count of ceil(bytes / 4) is the count of tokens.
 */
#ifndef SIM_TOKEN_TEXT_H
#define SIM_TOKEN_TEXT_H

#include "buffer.h"

#include <stdint.h>

#define TOKEN_BYTES 4

/* The simulated vocabulary: a token's id is its bytes, the first one lowest. A shorter token, at the end of a text, is
 * filled up with a byte that no text has, so every text comes back as it was. */
uint32_t token_of_text(struct slice text);        /* from its first TOKEN_BYTES bytes */
uint32_t token_without_text(int64_t number);      /* those of a chat template */
size_t token_bytes(uint32_t token, char bytes[]); /* puts at most TOKEN_BYTES there, and returns how many */

enum token_text {
	TOKEN_TEXT_PLAIN,   /* lorem ipsum */
	TOKEN_TEXT_UTF8,    /* every token has a character of two to four bytes */
	TOKEN_TEXT_ESCAPES, /* every token has something that JSON escapes */
};

struct token_bytes {
	const char *json;  /* as it stands in a JSON string */
	const char *bytes; /* its text; TOKEN_BYTES of them */
};

struct token_bytes token_text_at(enum token_text words, uint64_t start, int64_t k);

#endif
