/* A tokenizer: text to ids and back, from the files that models ship.
 *
 *     struct tokenizer *t;
 *     if (tokenizer_open(&t, "tokenizer.json", &err) < 0) …
 *     struct tokenizer_scratch *s = tokenizer_scratch_new(t);   // one a thread
 *     struct token_ids ids = {0};
 *     if (tokenizer_encode(t, s, text, len, 0, &ids, &err) < 0) …
 *     int64_t n = tokenizer_count(t, s, text, len, 0, &err);
 *
 * Opens a Hugging Face tokenizer.json, a folder that holds one, or a .tiktoken rank file; gives the ids that the
 * reference implementation gives, to the last one. After opening it is never written to: any number of threads may use
 * it, each with a scratch of its own. What it does not know it refuses by name when it opens, never later. A text is
 * never cut or padded, whatever the file's "truncation" and "padding" say.
 *
 * Opening the first time takes a fraction of a second for a large vocabulary; what was made is kept under
 * $XDG_CACHE_HOME/ipf (else
 * ~/.cache/ipf), so that it takes milliseconds from then on.
 */
#ifndef IPF_TOKENIZER_H
#define IPF_TOKENIZER_H

#include "buffer.h"
#include "error.h"
#include "tokenizer/token_ids.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tokenizer;
struct tokenizer_scratch; /* buffers and a cache of words that were seen; not thread-safe */

enum tokenizer_flags {
	TOKENIZER_SPECIAL = 1,      /* encode: add what the post-processor adds ([CLS], <bos>) */
	TOKENIZER_SKIP_SPECIAL = 2, /* decode: leave special tokens out */
};

/* path: a file or folder. Errors: IPF_SYSTEM; IPF_INPUT naming the file, the member and what is not known. */
int tokenizer_open(struct tokenizer **tokenizer, const char *path, struct ipf_error *err);
/* Opens a tokenizer.json in memory, without the cache. */
int tokenizer_open_json(struct tokenizer **tokenizer, struct slice json, struct ipf_error *err);
void tokenizer_close(struct tokenizer *tokenizer); /* NULL is fine */

struct tokenizer_scratch *tokenizer_scratch_new(const struct tokenizer *tokenizer); /* NULL: out of memory */
void tokenizer_scratch_free(struct tokenizer_scratch *scratch);

/* Appends the ids of `text` (UTF-8; anything else is IPF_INPUT with the byte offset). */
int tokenizer_encode(const struct tokenizer *tokenizer, struct tokenizer_scratch *scratch, struct slice text, int flags,
                     struct token_ids *ids, struct ipf_error *err);
/* Only how many; never slower than encoding. -1 on error. */
int64_t tokenizer_count(const struct tokenizer *tokenizer, struct tokenizer_scratch *scratch, struct slice text,
                        int flags, struct ipf_error *err);
/* Appends the text of the ids, as the reference decodes them. An id beyond the vocabulary is left out, as the reference
 * does. */
int tokenizer_decode(const struct tokenizer *tokenizer, const uint32_t *ids, size_t count, int flags,
                     struct buffer *text, struct ipf_error *err);

/* Where each of the text's ids ends: ends[i] bytes from its beginning, never falling, the last at its end
 * (TOKENIZER_SPECIAL's ids are not the text's). Exact where tokens are the bytes of the text; where the normalizer has
 * changed it, at the nearest place that the texts of the tokens tell. Linear. */
int tokenizer_token_ends(const struct tokenizer *tokenizer, const struct token_ids *ids, struct slice text,
                         size_t *ends, struct ipf_error *err);

/* Many texts in parallel. If one fails, the error is that of the first text in order that failed. */
struct tokenizer_batch {
	const struct slice *texts;
	size_t count;
	int flags;   /* enum tokenizer_flags */
	int threads; /* 0: one for each core that this process may use */
};
/* counts[i] is the number of tokens of texts[i]. */
int tokenizer_count_many(const struct tokenizer *tokenizer, const struct tokenizer_batch *batch, int64_t *counts,
                         struct ipf_error *err);
/* Appends the ids of texts[i] to ids[i]. */
int tokenizer_encode_many(const struct tokenizer *tokenizer, const struct tokenizer_batch *batch, struct token_ids *ids,
                          struct ipf_error *err);

/* How many ids there are (the highest id + 1). */
uint32_t tokenizer_vocabulary_size(const struct tokenizer *tokenizer);
/* New: {"name": base name, "sha256": of the file, "size": …, "exact": true} for headers. */
json_t *tokenizer_describe(const struct tokenizer *tokenizer);

#endif
