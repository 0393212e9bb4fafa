/* The text of a simulated answer: a pure function of where it starts and of the token's number. Every token is exactly
 * TOKEN_BYTES bytes of UTF-8, so that a count of ceil(bytes / 4) is the count of tokens.
 */
#ifndef SIM_TOKEN_TEXT_H
#define SIM_TOKEN_TEXT_H

#include "buffer.h"

#include <stdint.h>

#define TOKEN_BYTES 4

enum token_text {
	TOKEN_TEXT_PLAIN,   /* lorem ipsum */
	TOKEN_TEXT_UTF8,    /* every token has a character of two to four bytes */
	TOKEN_TEXT_ESCAPES, /* every token has something that JSON escapes */
};

struct token_bytes {
	const char *json;  /* as it stands in a JSON string */
	const char *bytes; /* what it means; TOKEN_BYTES of them */
};

struct token_bytes token_text_at(enum token_text words, uint64_t start, int64_t k);
uint32_t token_text_token(enum token_text words, uint64_t start,
                          int64_t k); /* its number in the simulated vocabulary */

#endif
