/* Counting tokens.
 *
 * With a model's own tokenizer (tokenizer/tokenizer.h) counts are exact. The approximation ("approx") takes four bytes
 * of UTF-8 for a token, rounded up: good enough to shape a load, never good enough to be called exact, so every stream
 * that used it says so. The count of a chat is the sum over its messages.
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

/* `name` is "approx" (also for NULL), or the path of a tokenizer.json, of a folder that holds one, or of a .tiktoken
 * rank file. */
int token_counter_open(struct token_counter **tokens, const char *name, struct ipf_error *err);
/* Is it a model's tokenizer? */
bool token_counter_is_exact(const struct token_counter *tokens);
/* Thread-safe. Bytes that are not UTF-8 count as U+FFFD. Where a tokenizer cannot count (memory ran out; a model
 * without a token for what it does not know met such a character) this and token_counter_cut go by the approximation,
 * so that whoever adds up to some count comes to an end, and token_counter_check tells: to be asked before the counts
 * are given to anybody. */
int64_t token_counter_count(const struct token_counter *tokens, const char *text, size_t len);
/* 0; -1 with the first failure since it was opened. */
int token_counter_check(const struct token_counter *tokens, struct ipf_error *err);
/* How many of the text's tokens end within its first ends[i] bytes: counts[i], for `count` places that never fall. The
 * text is encoded once. Returns how many the whole has; -1 with `err`. */
int64_t token_counter_count_prefixes(const struct token_counter *tokens, struct slice text, const size_t *ends,
                                     size_t count, int64_t *counts, struct ipf_error *err);
/* How many bytes from the start of the text make `count` tokens or fewer when they are counted by themselves, never
 * splitting a character. With a tokenizer the cut is at a token's border, and fewer only where no cut there makes
 * exactly `count`. */
size_t token_counter_cut(const struct token_counter *tokens, const char *text, size_t len, int64_t count);
/* How many special tokens a tokenizer puts around a text of its own accord, such as one for its beginning; 0 for the
 * approximation. */
int64_t token_counter_special_tokens(const struct token_counter *tokens);
/* With a tokenizer only. Appends the ids of a text that is UTF-8; false where memory runs out. Thread-safe. */
bool token_counter_encode(const struct token_counter *tokens, const char *text, size_t len, struct token_ids *ids);
/* With a tokenizer only: how many ids there are, and the text of one of them, appended (nothing for one without). */
uint32_t token_counter_vocabulary_size(const struct token_counter *tokens);
void token_counter_token_text(const struct token_counter *tokens, uint32_t id, struct buffer *text);
/* New, for headers: {"name":"approx","rule":"bytes/4","exact":false}; what tokenizer_describe says for a tokenizer. */
json_t *token_counter_describe(const struct token_counter *tokens);
void token_counter_close(struct token_counter *tokens);

#endif
