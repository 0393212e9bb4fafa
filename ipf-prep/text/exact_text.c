#include "text/exact_text.h"

#include "text/synthetic_text.h"

#include <stdio.h>
#include <string.h>

#define BEFORE         "." /* the text before a piece when it is counted */
#define BETWEEN        "\n\n"
#define SAMPLE_BYTES   8192
#define PAD_ROUNDS_MAX 4

static int64_t count_of(const struct exact_text *e, const char *text, size_t len)
{
	return token_counter_count(e->tokens, text, len);
}

/* Makes the lists of opening words, and measures how many bytes of prose make a token. */
static void prepare(struct exact_text *e)
{
	struct rng rng;
	if (e->made)
		return;
	e->made = true;
	opening_words_make(&e->first, e->tokens, NULL);
	opening_words_make(&e->next, e->tokens, BEFORE);
	rng_init(&rng, 0, "sample", 0);
	buffer_clear(&e->text);
	synthetic_text_prose(&rng, SAMPLE_BYTES, &e->text);
	int64_t tokens = e->text.failed ? 1 : count_of(e, e->text.data, e->text.len);
	e->bytes_a_token = (double)SAMPLE_BYTES / (double)(tokens > 0 ? tokens : 1);
	e->failed |= e->first.failed || e->next.failed || e->text.failed;
}

/* Returns where the last word begins, with its space; 0: there is none. */
static size_t last_space(const char *text, size_t len)
{
	while (len > 0 && text[len - 1] != ' ')
		len--;
	return len ? len - 1 : 0;
}

/* Appends words of one token each until the text with `after` behind it has `count` tokens. If it has more, removes its
 * last word, but never anything before `skip`. */
static void pad(const struct exact_text *e, struct rng *rng, size_t skip, int64_t count, const char *after,
                struct buffer *text)
{
	for (int tries = 0; tries < PAD_ROUNDS_MAX && e->next.count > 0 && !text->failed; tries++) {
		size_t len = text->len;
		buffer_text(text, after);
		int64_t have = text->failed ? count : count_of(e, text->data, text->len);
		text->len = len;
		if (have == count)
			return;
		if (have > count) {
			size_t end = last_space(text->data, text->len);
			if (end <= skip)
				return;
			text->len = end;
			continue;
		}
		for (; have < count; have++) {
			buffer_byte(text, ' ');
			buffer_slice(text, opening_words_at(&e->next, rng_next(rng) >> 32));
		}
	}
}

/* A piece: the first `count` tokens of a text of `full` tokens. */
struct text_piece {
	struct slice opener; /* the word it begins with; absent: none */
	bool first;          /* no text stands before it */
	int64_t full, count;
};

static void append(struct exact_text *e, struct rng *rng, const struct text_piece *piece, struct buffer *out)
{
	size_t skip = piece->first ? 0 : strlen(BEFORE);
	int64_t wanted = piece->count + (skip ? count_of(e, BEFORE, skip) : 0);
	double room = e->bytes_a_token * 1.1;
	size_t end = 0;
	for (struct rng again = *rng;; room *= 2, *rng = again) {
		buffer_clear(&e->text);
		buffer_text(&e->text, skip ? BEFORE " " : "");
		if (piece->opener.data) {
			buffer_slice(&e->text, piece->opener);
			buffer_text(&e->text, ": ");
		}
		synthetic_text_prose(rng, (size_t)((double)piece->full * room) + 128, &e->text);
		if (e->text.failed)
			break;
		end = token_counter_cut(e->tokens, e->text.data, e->text.len, wanted);
		if (end < e->text.len || room > 64)
			break;
	}
	if (!e->text.failed) {
		e->text.len = end;
		/* The cut never changes the beginning of a word, so a token may be missing. */
		if (count_of(e, e->text.data, end) != wanted)
			pad(e, rng, skip + 1, wanted, "", &e->text);
		if (e->text.len > skip)
			buffer_append(out, e->text.data + skip, e->text.len - skip);
	}
	e->failed |= e->text.failed || out->failed;
}

/* The first child needs no opener until there is a second: synthetic sentences begin with none of these words. */
static struct slice opener_of(const struct exact_text *e, const struct exact_text_start *start, bool first)
{
	struct rng rng;
	char name[512];
	if (!start || !start->apart || start->place == 0)
		return (struct slice){0};
	rng_init(&rng, 0, synthetic_text_name("opener", e->salt, name), start->parent);
	const struct opening_words *words = first ? &e->first : &e->next;
	return opening_words_at(words, words->count ? rng_next(&rng) % words->count + start->place : 0);
}

void exact_text_prose(struct exact_text *e, struct rng *rng, const struct exact_text_start *start, int64_t count,
                      struct buffer *out)
{
	bool first = out->len == 0;
	prepare(e);
	append(e, rng, &(struct text_piece){opener_of(e, start, first), first, count, count}, out);
}

void exact_text_block(struct exact_text *e, uint64_t id, const struct exact_text_start *start, int64_t full,
                      int64_t count, struct buffer *out)
{
	char name[512];
	struct rng rng;
	bool first = out->len == 0;
	prepare(e);
	rng_init(&rng, 0, synthetic_text_name("block", e->salt, name), id);
	append(e, &rng, &(struct text_piece){opener_of(e, start, first), first, full, count}, out);
}

int64_t exact_text_fit(struct exact_text *e, struct rng *rng, int64_t count, struct buffer *text)
{
	int64_t have = text->data ? count_of(e, text->data, text->len) : 0;
	for (int tries = 0; have != count && tries < 8 && !text->failed; tries++) {
		if (have < count)
			exact_text_prose(e, rng, NULL, count - have + 4, text);
		if (text->failed)
			break;
		text->len = token_counter_cut(e->tokens, text->data, text->len, count);
		text->data[text->len] = '\0';
		have = count_of(e, text->data, text->len);
	}
	return have;
}

void exact_text_pad(struct exact_text *e, struct rng *rng, int64_t count, struct buffer *text)
{
	prepare(e);
	pad(e, rng, 0, count, "", text);
	e->failed |= text->failed;
}

void exact_text_prefix(struct exact_text *e, struct rng *rng, int64_t count, struct buffer *out)
{
	buffer_clear(out);
	if (count > 1)
		exact_text_prose(e, rng, NULL, count - 1, out);
	pad(e, rng, 0, count, BETWEEN, out);
	buffer_text(out, BETWEEN);
}

void exact_text_release(struct exact_text *e)
{
	opening_words_release(&e->first);
	opening_words_release(&e->next);
	buffer_release(&e->text);
}
