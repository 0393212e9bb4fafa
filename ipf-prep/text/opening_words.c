#include "text/opening_words.h"

#include "array.h"
#include "stats/rng.h"
#include "text/word_lists.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define SHORTEST 3
#define LONGEST  12

struct builder {
	struct opening_words *o;
	const struct token_counter *tokens;
	struct buffer text;   /* the text before, a space, the word */
	size_t skip;          /* length of the text before and the space */
	size_t before;        /* number of tokens of the text before */
	unsigned char *taken; /* by id: a sentence or another word begins with this token */
	struct token_ids ids;
};

/* Encodes a word in its place, with `after` behind it, into m->ids. Returns how many of the ids are its own, and sets
 * the first of these. */
static size_t encode(struct builder *m, struct slice word, const char *after, uint32_t *first)
{
	m->text.len = m->skip;
	buffer_slice(&m->text, word);
	buffer_text(&m->text, after);
	m->ids.count = 0;
	if (m->text.failed || !token_counter_encode(m->tokens, m->text.data, m->text.len, &m->ids)) {
		m->o->failed = true;
		return 0;
	}
	*first = m->ids.count > m->before ? m->ids.ids[m->before] : 0;
	return m->ids.count > m->before ? m->ids.count - m->before : 0;
}

/* Marks the first tokens of synthetic sentences, which may begin with any word of the lists. */
static void take_sentences(struct builder *m)
{
	for (int c = 0; c < WORD_CLASSES; c++)
		for (const char *at = word_lists[c]; *at;) {
			char word[WORD_MAX + 1];
			size_t len = strcspn(at, " ");
			uint32_t first;
			memcpy(word, at, len);
			*word = (char)toupper((unsigned char)*word);
			if (encode(m, (struct slice){word, len}, ",", &first))
				m->taken[first] = 1;
			at += len + (at[len] == ' ');
		}
}

static bool is_word(const char *text, size_t len)
{
	if (len < SHORTEST || len > LONGEST || !isalpha((unsigned char)*text) || !isascii(*text))
		return false;
	for (size_t i = 1; i < len; i++)
		if (text[i] < 'a' || text[i] > 'z')
			return false;
	return true;
}

static void add(struct opening_words *o, struct slice word)
{
	if (!array_room(o->words, o->cap, o->count + 1)) {
		o->failed = true;
		return;
	}
	o->words[o->count++] = (struct opening_word){(uint32_t)o->text.len, (uint32_t)word.len};
	buffer_slice(&o->text, word);
	o->failed |= o->text.failed;
}

static void take_vocabulary(struct builder *m)
{
	struct buffer text = {0};
	uint32_t size = token_counter_vocabulary_size(m->tokens);
	for (uint32_t id = 0; id < size && !m->o->failed; id++) {
		uint32_t alone, first;
		buffer_clear(&text);
		token_counter_token_text(m->tokens, id, &text);
		size_t space = text.len > 0 && text.data[0] == ' ';
		struct slice word = {text.data ? text.data + space : "", text.len - space};
		if (!is_word(word.data, word.len) || encode(m, word, "", &alone) != 1 || m->taken[alone] ||
		    encode(m, word, ":", &first) != 2 || first != alone || encode(m, word, " and", &first) != 2 ||
		    first != alone)
			continue;
		m->taken[alone] = 1;
		add(m->o, word);
	}
	m->o->failed |= text.failed;
	buffer_release(&text);
}

static void shuffle(struct opening_words *o)
{
	struct rng rng;
	rng_init(&rng, 0, "openers", 0);
	for (size_t i = o->count; i > 1; i--) {
		size_t k = (size_t)rng_below(&rng, i);
		struct opening_word moved = o->words[i - 1];
		o->words[i - 1] = o->words[k];
		o->words[k] = moved;
	}
}

void opening_words_make(struct opening_words *o, const struct token_counter *tokens, const char *before)
{
	struct builder m = {
		.o = o, .tokens = tokens, .before = before ? (size_t)token_counter_count(tokens, before, strlen(before)) : 0};
	*o = (struct opening_words){0};
	if (before) {
		buffer_text(&m.text, before);
		buffer_byte(&m.text, ' ');
	}
	m.skip = m.text.len;
	m.taken = calloc((size_t)token_counter_vocabulary_size(tokens) + 1, 1);
	if (m.taken) {
		take_sentences(&m);
		take_vocabulary(&m);
		shuffle(o);
	}
	o->failed |= !m.taken;
	free(m.taken);
	token_ids_release(&m.ids);
	buffer_release(&m.text);
}

struct slice opening_words_at(const struct opening_words *o, uint64_t i)
{
	if (o->count == 0)
		return (struct slice){0};
	const struct opening_word *word = &o->words[i % o->count];
	return (struct slice){o->text.data + word->at, word->len};
}

void opening_words_release(struct opening_words *o)
{
	buffer_release(&o->text);
	free(o->words);
	*o = (struct opening_words){0};
}
