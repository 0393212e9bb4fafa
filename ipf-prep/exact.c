#include "exact.h"

#include "synth.h"

#define ROOM 8         /* bytes for a token: more than prose needs with any vocabulary of words */
#define BEFORE "."     /* what a piece is counted behind */
#define BETWEEN "\n\n"

void exact_prose(const struct tokens *tokens, struct rng *rng, int64_t full, int64_t count, struct buffer *out)
{
	struct buffer text = {0};
	size_t size = (size_t)full * ROOM + 64;
	int64_t before = tokens_count(tokens, BEFORE, 1);

	buffer_text(&text, BEFORE " ");
	synth_prose(rng, size, &text);
	/* A vocabulary without words takes a letter for a token: never too little. */
	size_t end = text.failed ? 0 : tokens_cut(tokens, text.data, text.len, before + count);
	if (end > 1)
		buffer_append(out, text.data + 1, end - 1);
	if (text.failed)
		out->failed = true;
	buffer_release(&text);
}

void exact_block(const struct tokens *tokens, uint64_t id, const char *salt, int64_t full, int64_t count, struct buffer *out)
{
	char name[512];
	struct rng rng;
	rng_init(&rng, 0, synth_name("block", salt, name), id);
	exact_prose(tokens, &rng, full, count, out);
}

void exact_settle(const struct tokens *tokens, struct rng *rng, int64_t count, struct buffer *text)
{
	int64_t have = text->data ? tokens_count(tokens, text->data, text->len) : 0;
	for (int tries = 0; have != count && tries < 8 && !text->failed; tries++) {
		if (have < count)
			exact_prose(tokens, rng, count - have + 4, count - have + 4, text);
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
