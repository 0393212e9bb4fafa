/* Synthetic prose: English-looking sentences from a grammar and lists of words, for prompts whose text was not
 * recorded. It is varied, so it gives no advantage to speculative decoding or to a router. The same generator gives the
 * same bytes on every machine. It is fast, because a trace may need hundreds of megabytes.
 *
 * The text is ASCII without quotes, backslashes and line breaks, so it needs no escaping in JSON.
 */
#ifndef PREP_SYNTHETIC_TEXT_H
#define PREP_SYNTHETIC_TEXT_H

#include "buffer.h"
#include "stats/rng.h"

/* Appends exactly `len` bytes of prose. From 2 bytes on it begins with a sentence and ends in a full stop. */
void synthetic_text_prose(struct rng *rng, size_t len, struct buffer *out);

/* Appends the first `len` bytes of the text of a block, which has `size` bytes. The text depends only on the id, the
 * size and the salt (NULL: none). */
void synthetic_text_block(uint64_t id, size_t size, const char *salt, size_t len, struct buffer *out);

/* Takes prose from this text (UTF-8, not empty) instead of generating it. The text has to stay in memory. Prose is then
 * one synthetic sentence, which makes it distinct, followed by the text from a random word on, wrapping around at its
 * end. Call it once, before any text is made. */
void synthetic_text_content(struct slice text);

/* The name of a random generator depending on the salt: "NAME" or "NAME:SALT". Returns `text`. */
const char *synthetic_text_name(const char *name, const char *salt, char text[512]);

#endif
