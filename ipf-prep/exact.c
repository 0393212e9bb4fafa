#include "exact.h"

#include "synth.h"

#include <string.h>

#define ROOM 8         /* bytes for a token: more than prose needs with any vocabulary of words */
#define BEFORE "."     /* what a piece is counted behind */
#define BETWEEN "\n\n"

/* `joined`: other text comes before it some day, though `out` is empty now. */
static void append(const struct tokens *tokens, struct rng *rng, int64_t full, int64_t count, bool joined, struct buffer *out)
{
	struct buffer text = {0};
	size_t skip = out->len > 0 || joined ? strlen(BEFORE) : 0;
	int64_t before = skip ? tokens_count(tokens, BEFORE, skip) : 0;

	buffer_text(&text, skip ? BEFORE " " : "");
	synth_prose(rng, (size_t)full * ROOM + 64, &text);
	size_t end = text.failed ? 0 : tokens_cut(tokens, text.data, text.len, before + count);
	if (end > skip)
		buffer_append(out, text.data + skip, end - skip);
	if (text.failed)
		out->failed = true;
	buffer_release(&text);
}

void exact_prose(const struct tokens *tokens, struct rng *rng, int64_t count, struct buffer *out)
{
	append(tokens, rng, count, count, false, out);
}

void exact_block(const struct tokens *tokens, uint64_t id, const char *salt, int64_t full, int64_t count, struct buffer *out)
{
	char name[512];
	struct rng rng;
	rng_init(&rng, 0, synth_name("block", salt, name), id);
	append(tokens, &rng, full, count, true, out);
}

void exact_settle(const struct tokens *tokens, struct rng *rng, int64_t count, struct buffer *text)
{
	int64_t have = text->data ? tokens_count(tokens, text->data, text->len) : 0;
	for (int tries = 0; have != count && tries < 8 && !text->failed; tries++) {
		if (have < count)
			exact_prose(tokens, rng, count - have + 4, text);
		if (text->failed)
			return;
		text->len = tokens_cut(tokens, text->data, text->len, count);
		text->data[text->len] = '\0';
		have = tokens_count(tokens, text->data, text->len);
	}
}

void exact_prefix(const struct tokens *tokens, struct rng *rng, int64_t count, struct buffer *out)
{
	struct buffer prose = {0};
	synth_prose(rng, (size_t)count * ROOM + 64, &prose);
	for (int64_t words = count - 1; words > 0 && words > count - 5 && !prose.failed; words--) {
		buffer_clear(out);
		buffer_append(out, prose.data, tokens_cut(tokens, prose.data, prose.len, words));
		buffer_text(out, BETWEEN);
		if (out->failed || tokens_count(tokens, out->data, out->len) <= count)
			break;
	}
	if (prose.failed)
		out->failed = true;
	buffer_release(&prose);
}
