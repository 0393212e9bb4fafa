/* Prose out of nothing: English-looking sentences from a grammar and lists of words, for prompts of which only the
 * length is known. Varied, so that neither speculative decoding nor a router takes to it; the same bytes for the same
 * generator on every machine; fast (over a gigabyte a second), since a trace may want hundreds of megabytes of it.
 *
 * ASCII without quotes, backslashes and line ends: it stands in JSON as it is.
 */
#ifndef PREP_SYNTH_H
#define PREP_SYNTH_H

#include "buffer.h"
#include "stats/rng.h"

/* Appends exactly `len` bytes of prose that begin with a sentence and end in a full stop (shorter than 2 bytes: as it
 * comes). */
void synthetic_text_prose(struct rng *rng, size_t len, struct buffer *out);

/* Appends the first `len` bytes of the text of `size` bytes that stands for a block: a function of its id, the size and
 * the salt (NULL: none) alone, whatever `len` is. */
void synthetic_text_block(uint64_t id, size_t size, const char *salt, size_t len, struct buffer *out);

/* From now on prose is taken from this text (UTF-8, not empty; it has to stay), from a word picked at random on, and
 * round again at its end, after a made sentence that keeps texts apart. Set once, before anything is made. */
void synthetic_text_content(struct slice text);

/* The name of a generator that the salt changes too: "NAME" or "NAME:SALT". */
const char *synthetic_text_name(const char *name, const char *salt, char text[512]);

#endif
