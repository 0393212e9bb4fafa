/* libipf: tokenizers of models; see ipf_functions(3).
 *
 *     if (ipf_tokenizer_open(&tokenizer, "tokenizer.json", &err) < 0) …
 *     struct ipf_text text = {"why", 3};
 *     tokens = ipf_tokenizer_count(tokenizer, text, 0, &err);
 *     ipf_tokenizer_close(tokenizer);
 *
 * Gives exactly the ids the reference implementation (the Rust library tokenizers) gives. A tokenizer does not change
 * after it is opened: any number of threads may use one at the same time.
 */
#ifndef LIBIPF_TOKENS_H
#define LIBIPF_TOKENS_H

#include <ipf/values.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ipf_tokenizer;

/* Borrowed bytes and ids. */
struct ipf_text {
	const char *data;
	size_t len;
};
struct ipf_ids {
	const uint32_t *data;
	size_t count;
};

enum ipf_tokenizer_flags {
	IPF_TOKENS_SPECIAL = 1,     /* encode, count: add the special tokens around the text ([CLS], <bos>) */
	IPF_TOKENS_SKIP_SPECIAL = 2 /* decode: leave special tokens out */
};

/* Opens a tokenizer.json, a folder with one, or a .tiktoken rank file. The compiled form is kept in
 * $XDG_CACHE_HOME/ipf, so the next time takes milliseconds. IPF_INPUT with the file, the member and the unsupported
 * value; IPF_SYSTEM. */
IPF_PUBLIC int ipf_tokenizer_open(struct ipf_tokenizer **tokenizer, const char *path, struct ipf_error *err);
IPF_PUBLIC void ipf_tokenizer_close(struct ipf_tokenizer *tokenizer); /* NULL is fine */
/* The highest id + 1. */
IPF_PUBLIC uint32_t ipf_tokenizer_vocabulary(const struct ipf_tokenizer *tokenizer);

/* The number of tokens of a text in UTF-8; -1: IPF_INPUT with the offset of the byte that is not UTF-8, or IPF_SYSTEM.
 * `flags` as above. */
IPF_PUBLIC int64_t ipf_tokenizer_count(const struct ipf_tokenizer *tokenizer, struct ipf_text text, int flags,
                                       struct ipf_error *err);
/* Writes the ids of a text to `ids`, which has room for `room`, and returns how many the text has: with more than
 * `room` only the first ones are written. A text has at most a token for each byte, besides the special ones. */
IPF_PUBLIC int64_t ipf_tokenizer_encode(const struct ipf_tokenizer *tokenizer, struct ipf_text text, int flags,
                                        uint32_t *ids, size_t room, struct ipf_error *err);
/* Writes the text of ids to `text`, ended by a NUL, and returns its length in bytes without that: with `room` or more
 * only the beginning is written. */
IPF_PUBLIC int64_t ipf_tokenizer_decode(const struct ipf_tokenizer *tokenizer, struct ipf_ids ids, int flags,
                                        char *text, size_t room, struct ipf_error *err);

#ifdef __cplusplus
}
#endif

#endif
