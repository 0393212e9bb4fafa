/* UTF-8 as Unicode defines it: no overlong forms, no surrogates, nothing above U+10FFFF. */
#ifndef IPF_UTF8_H
#define IPF_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Whether all `len` bytes are well-formed UTF-8. *good (may be NULL) is the length of the well-formed beginning, in
 * bytes. */
bool utf8_valid(const char *text, size_t len, size_t *good);

/* The length in bytes of the well-formed character at `text`, of which `left` >= 1 bytes remain; 0: not well-formed. */
size_t utf8_character(const char *text, size_t left);

#endif
