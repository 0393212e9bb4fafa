/* A tokenizer.json (up to a NUL) and a text behind it: the file is refused with a reason, or the text encodes to the
 * same ids again and again, the count is the ids', and they decode. */
#include "tokenizer/tokenizer.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void use(const struct tokenizer *t, struct slice text)
{
	struct tokenizer_scratch *s = tokenizer_scratch_new(t);
	struct token_ids ids[2] = {{0}, {0}};
	struct buffer decoded = {0};
	struct ipf_error err = {0};

	if (!s)
		abort();
	for (int i = 0; i < 2; i++) {
		ipf_error_clear(&err);
		if (tokenizer_encode(t, s, text, TOKENIZER_SPECIAL, &ids[i], &err) < 0) {
			if (err.kind != IPF_INPUT || !err.text[0] || ids[i].count)
				abort();
			goto out;
		}
	}
	if (ids[0].count != ids[1].count ||
	    (ids[0].count && memcmp(ids[0].ids, ids[1].ids, ids[0].count * sizeof(uint32_t)) != 0) ||
	    tokenizer_count(t, s, text, TOKENIZER_SPECIAL, &err) != (int64_t)ids[0].count)
		abort();
	if (tokenizer_decode(t, ids[0].ids, ids[0].count, 0, &decoded, &err) < 0)
		abort();
out:
	tokenizer_scratch_free(s);
	token_ids_release(&ids[0]);
	token_ids_release(&ids[1]);
	buffer_release(&decoded);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *nul = size ? memchr(data, 0, size) : NULL;
	size_t json = nul ? (size_t)(nul - data) : size;
	struct tokenizer *t;
	struct ipf_error err = {0};

	if (tokenizer_open_json(&t, (struct slice){json ? (const char *)data : "", json}, &err) < 0) {
		if (err.kind != IPF_INPUT || !err.text[0])
			abort();
		return 0;
	}
	size_t rest = nul ? size - json - 1 : 0;
	char *text = malloc(rest + 1);
	if (text) {
		if (rest)
			memcpy(text, nul + 1, rest);
		use(t, (struct slice){text, rest});
	}
	free(text);
	tokenizer_close(t);
	return 0;
}
