/* GPT-2's mapping of bytes to printable characters: printable Latin-1 represents itself, every other byte the next code
 * point from U+0100 on. */
#ifndef IPF_TOKENIZER_BYTE_LEVEL_H
#define IPF_TOKENIZER_BYTE_LEVEL_H

#include "buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The code point representing a byte, 0x21 to 0x143. */
uint32_t byte_level_char(unsigned char byte);
/* Appends the bytes a text of such characters represents. False, and nothing appended, if a character represents no
 * byte. */
bool byte_level_bytes(const char *text, size_t len, struct buffer *out);

#endif
