/* Counts tokens.
 *
 * With a model's tokenizer (tokenizer/tokenizer.h) counts are exact. The approximation ("approx") counts four bytes of
 * UTF-8 as one token, rounded up: good enough to shape load, but not exact, and the header of each stream that used it
 * says so. The count of a chat is the sum over its messages.
 */
#ifndef IPF_TOKEN_COUNTER_H
#define IPF_TOKEN_COUNTER_H

#include "error.h"
#include "tokenizer/tokenizer.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct token_counter;

/* `name` is "approx" (NULL means the same), or the path of a tokenizer.json, of a folder containing one, or of a
 * .tiktoken rank file. A name that is neither known nor a file is an IPF_USAGE error. */
int token_counter_open(struct token_counter **counter, const char *name, struct ipf_error *err);
/* Counts with this tokenizer, which is taken over, also if memory runs out. */
int token_counter_of(struct token_counter **counter, struct tokenizer *tokenizer, struct ipf_error *err);
/* True if it counts with a model's tokenizer. */
bool token_counter_is_exact(const struct token_counter *counter);

/* Returns the number of tokens of a text. Thread-safe. Bytes that are not UTF-8 count as U+FFFD. If the tokenizer fails
 * (out of memory, or a character a model without an unknown token does not have), this function and token_counter_cut
 * fall back to the approximation, so loops that add text up to a count always end; token_counter_check reports the
 * failure. Call it before the counts are used. */
int64_t token_counter_count(const struct token_counter *counter, const char *text, size_t len);
/* 0, or -1 with the first failure since the counter was opened. */
int token_counter_check(const struct token_counter *counter, struct ipf_error *err);
/* For `count` offsets ends[i] that never fall: sets counts[i] to the number of the text's tokens ending within its
 * first ends[i] bytes. Encodes the text once. Returns the number of tokens of the whole text; -1 with `err`. */
int64_t token_counter_count_prefixes(const struct token_counter *counter, struct slice text, const size_t *ends,
                                     size_t count, int64_t *counts, struct ipf_error *err);
/* Returns the length in bytes of a beginning of the text that has at most `count` tokens when it is counted alone. It
 * never splits a character. With a tokenizer it ends at the end of a token, and has fewer tokens only if no place
 * nearby gives exactly `count`. */
size_t token_counter_cut(const struct token_counter *counter, const char *text, size_t len, int64_t count);
/* The number of special tokens the tokenizer puts around a text, such as one at its beginning; 0 for the
 * approximation. */
int64_t token_counter_special_tokens(const struct token_counter *counter);

/* ---- with a tokenizer only ---- */

/* Appends the ids of a text in UTF-8. False: out of memory. Thread-safe. */
bool token_counter_encode(const struct token_counter *counter, const char *text, size_t len, struct token_ids *ids);
/* The highest id + 1. */
uint32_t token_counter_vocabulary_size(const struct token_counter *counter);
/* Appends the text of one token; nothing for an id without one. */
void token_counter_token_text(const struct token_counter *counter, uint32_t id, struct buffer *text);

/* A new object for stream headers: {"name":"approx","rule":"bytes/4","exact":false}, or tokenizer_describe's. */
json_t *token_counter_describe(const struct token_counter *counter);
void token_counter_close(struct token_counter *counter); /* NULL is fine */

#endif
