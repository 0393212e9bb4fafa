/* The inside of JSON strings: checks it, decodes it, or does both at once.
 *
 *     const char *at = behind_the_opening_quote;
 *     bool escaped;
 *     const char *wrong = jtext_check(&at, end, &escaped);
 *     if (wrong) …                          // what is wrong at `at`, as "invalid UTF-8"
 *     size_t len = jtext_decode(room, begin, at - 1);
 *
 * For jdoc.h, the interface for other folders. Nearly all bytes it reads are the bodies of records: JSON inside JSON,
 * one byte in seven of which is the backslash of a \". Such bytes and other ASCII are taken eight at a time, without a
 * branch for each escape.
 */
#ifndef IPF_JTEXT_H
#define IPF_JTEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Checks a string from behind its opening quote on; `end` is the end of the whole text. NULL: *at is behind the closing
 * quote, and *escaped says whether there was a backslash. Otherwise the fault at *at. */
const char *jtext_check(const char **at, const char *end, bool *escaped);
/* The same and writes the decoded characters to *to, which it advances; there must be room for end - *at bytes. */
const char *jtext_read(const char **at, const char *end, char **to);

/* Decodes the checked text, without the quotes, as UTF-8; returns the length. There must be room for end - at bytes,
 * not more. A lone surrogate becomes U+FFFD. */
size_t jtext_decode(char *to, const char *at, const char *end);
/* Decodes a single byte or escape of the checked text; returns its length. */
size_t jtext_decode_one(char to[4], const char **at, const char *end);

#endif
