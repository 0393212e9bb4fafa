#include "tokens.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define APPROX_BYTES 4

struct tokens {
	char unused; /* the approximation has no vocabulary to hold */
};

int tokens_open(struct tokens **tokens, const char *name, struct ipf_error *err)
{
	*tokens = NULL;
	if (name && strcmp(name, "approx") != 0)
		return ipf_error_set(err, IPF_USAGE, "unknown tokenizer \"%s\" (known: approx)", name);
	*tokens = calloc(1, sizeof **tokens);
	if (!*tokens)
		return ipf_error_set(err, IPF_SYSTEM, "out of memory");
	return 0;
}

int64_t tokens_count(const struct tokens *tokens, const char *text, size_t len)
{
	(void)tokens;
	(void)text;
	return (int64_t)(len / APPROX_BYTES + (len % APPROX_BYTES != 0));
}

static bool continues(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

size_t tokens_cut(const struct tokens *tokens, const char *text, size_t len, int64_t count)
{
	size_t end, back;

	if (count <= 0)
		return 0;
	if (tokens_count(tokens, text, len) <= count)
		return len;
	end = (size_t)count * APPROX_BYTES;
	for (back = 0; back < 4 && back < end; back++)
		if (!continues(text[end - back]))
			return end - back;
	return end; /* not UTF-8: there is no character to keep whole */
}

json_t *tokens_describe(const struct tokens *tokens)
{
	(void)tokens;
	return json_pack("{s:s, s:s, s:b}", "name", "approx", "rule", "bytes/4", "exact", 0);
}

void tokens_close(struct tokens *tokens)
{
	free(tokens);
}
