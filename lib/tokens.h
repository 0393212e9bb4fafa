/* Counting tokens.
 *
 * The approximation ("approx") takes four bytes of UTF-8 for a token, rounded up: good enough to shape a load, never good
 * enough to be called exact, so every stream that used it says so. The count of a chat is the sum over its messages.
 */
#ifndef IPF_TOKENS_H
#define IPF_TOKENS_H

#include "error.h"

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

struct tokens;

/* `name` is "approx" (also for NULL). Anything else is IPF_USAGE as long as no other tokenizer is known by that name. */
int tokens_open(struct tokens **tokens, const char *name, struct ipf_error *err);
int64_t tokens_count(const struct tokens *tokens, const char *text, size_t len); /* thread-safe */
/* How many bytes from the start of the text make `count` tokens or fewer, never splitting a character. */
size_t tokens_cut(const struct tokens *tokens, const char *text, size_t len, int64_t count);
json_t *tokens_describe(const struct tokens *tokens); /* new: {"name":"approx","rule":"bytes/4","exact":false} for headers */
void tokens_close(struct tokens *tokens);

#endif
