/* A tokenizer: text to token ids and back, from the files coming with models.
 *
 *     struct tokenizer *t;
 *     if (tokenizer_open(&t, "tokenizer.json", &err) < 0) …
 *     struct tokenizer_scratch *s = tokenizer_scratch_new(t);   // one for each thread
 *     struct token_ids ids = {0};
 *     if (tokenizer_encode(t, s, text, 0, &ids, &err) < 0) …
 *     int64_t n = tokenizer_count(t, s, text, 0, &err);
 *
 * Opens a Hugging Face tokenizer.json, a folder containing one, or a .tiktoken rank file, and gives exactly the ids the
 * reference implementation (the Rust library tokenizers) gives. A tokenizer does not change after it is opened: any
 * number of threads may use it, each with its own scratch. A file with an unsupported feature is rejected when it is
 * opened, never later, with an error naming the feature. A text is never cut or padded, whatever "truncation" and
 * "padding" in the file say.
 *
 * Opening a large vocabulary for the first time takes a fraction of a second. The compiled form is kept in
 * $XDG_CACHE_HOME/ipf (default ~/.cache/ipf), so opening it again takes milliseconds. It is checked whenever it is
 * opened: whatever is in the cache, the worst that comes of it is that the file is compiled again.
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
struct tokenizer_scratch; /* buffers and a cache of words; for one thread */

enum tokenizer_flags {
	TOKENIZER_SPECIAL = 1,      /* encode, count: add the post-processor's special tokens ([CLS], <bos>) */
	TOKENIZER_SKIP_SPECIAL = 2, /* decode: leave special tokens out */
};

/* `path` names a file or a folder. Errors: IPF_SYSTEM; IPF_INPUT with the file, the member and the unsupported value.
 */
int tokenizer_open(struct tokenizer **tokenizer, const char *path, struct ipf_error *err);
/* Opens a tokenizer.json in memory, without the cache on disk. */
int tokenizer_open_json(struct tokenizer **tokenizer, struct slice json, struct ipf_error *err);
void tokenizer_close(struct tokenizer *tokenizer); /* NULL is fine */

/* NULL: out of memory. A scratch must not outlive its tokenizer. */
struct tokenizer_scratch *tokenizer_scratch_new(const struct tokenizer *tokenizer);
void tokenizer_scratch_free(struct tokenizer_scratch *scratch); /* NULL is fine */

/* Appends the ids of a text in UTF-8. Other bytes are an IPF_INPUT error with the byte's offset. On error `ids` is
 * unchanged. */
int tokenizer_encode(const struct tokenizer *tokenizer, struct tokenizer_scratch *scratch, struct slice text, int flags,
                     struct token_ids *ids, struct ipf_error *err);
/* Returns the number of ids, -1 on error. Never slower than encoding. */
int64_t tokenizer_count(const struct tokenizer *tokenizer, struct tokenizer_scratch *scratch, struct slice text,
                        int flags, struct ipf_error *err);
/* Appends the text of the ids, as the reference decodes them. Ids beyond the vocabulary are left out, as by the
 * reference. */
int tokenizer_decode(const struct tokenizer *tokenizer, const uint32_t *ids, size_t count, int flags,
                     struct buffer *text, struct ipf_error *err);

/* Finds where each token of a text ends: token i ends[i] bytes from the beginning. The offsets never fall; the last one
 * is the end of the text. `ids` come from tokenizer_encode without TOKENIZER_SPECIAL. Exact if tokens are the bytes of
 * the text; if the normalizer has changed the text, the nearest place the tokens' texts give. Takes linear time.
 */
int tokenizer_token_ends(const struct tokenizer *tokenizer, const struct token_ids *ids, struct slice text,
                         size_t *ends, struct ipf_error *err);

/* Many texts in parallel. If several fail, the error is that of the first one in order. */
struct tokenizer_batch {
	const struct slice *texts;
	size_t count;
	int flags;   /* enum tokenizer_flags */
	int threads; /* 0: one for each core that this process may use */
};
/* Sets counts[i] to the number of ids of texts[i]. */
int tokenizer_count_many(const struct tokenizer *tokenizer, const struct tokenizer_batch *batch, int64_t *counts,
                         struct ipf_error *err);
/* Appends the ids of texts[i] to ids[i]. */
int tokenizer_encode_many(const struct tokenizer *tokenizer, const struct tokenizer_batch *batch, struct token_ids *ids,
                          struct ipf_error *err);

/* The highest id + 1. */
uint32_t tokenizer_vocabulary_size(const struct tokenizer *tokenizer);
/* Says which model's tokenizer it is: the name on the Hugging Face hub, and the commit. -1: out of memory. */
int tokenizer_set_origin(struct tokenizer *tokenizer, const char *name, const char *commit);
/* A new object for stream headers: {"name": base name, "sha256": of the file, "size": vocabulary size, "exact": true}.
 * With an origin, "name" is the model's; "file" and "commit" are added. */
json_t *tokenizer_describe(const struct tokenizer *tokenizer);

#endif
