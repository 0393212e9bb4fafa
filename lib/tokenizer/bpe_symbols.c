#include "tokenizer/bpe_symbols.h"

#include "tokenizer/byte_level.h"
#include "tokenizer/code_point.h"

#include <string.h>

/* Returns the id of one character (or byte) of a word, with the affixes at the ends of the word. */
static uint32_t affixed_symbol(const struct bpe *b, const char *at, size_t len, bool first, bool last,
                               struct buffer *text)
{
	buffer_clear(text);
	if (!first)
		buffer_slice(text, buffer_all(&b->prefix));
	buffer_append(text, at, len);
	if (last)
		buffer_slice(text, buffer_all(&b->suffix));
	return vocabulary_find(b->vocabulary, text->data, text->len);
}

/* The symbols found so far. An unknown character is pending, since neighbours may be fused with it. */
struct symbols {
	uint32_t *ids, *starts; /* starts may be NULL */
	size_t count;
	bool unknown;
	uint32_t unknown_start;
};

static void add_symbol(struct symbols *s, uint32_t id, size_t start)
{
	s->ids[s->count] = id;
	if (s->starts)
		s->starts[s->count] = (uint32_t)start;
	s->count++;
}

static void flush_unknown(const struct bpe *b, struct symbols *s)
{
	if (s->unknown)
		add_symbol(s, b->unk, s->unknown_start);
	s->unknown = false;
}

/* Adds a character that is not in the vocabulary: the tokens of its bytes if all of them have one, else the unknown
 * token, else nothing. The reference writes bytes before a pending unknown token; so does this function. */
static void add_unknown(const struct bpe *b, struct symbols *s, const char *text, size_t len, size_t start)
{
	if (b->byte_fallback) {
		size_t known = 0;
		while (known < len && b->fallback[(unsigned char)text[known]] != VOCABULARY_NONE)
			known++;
		if (known == len) {
			for (size_t i = 0; i < len; i++)
				add_symbol(s, b->fallback[(unsigned char)text[i]], start + i);
			return;
		}
	}
	if (b->unk == VOCABULARY_NONE)
		return;
	if (s->unknown && b->fuse_unk)
		return;
	flush_unknown(b, s);
	s->unknown = true;
	s->unknown_start = (uint32_t)start;
}

static size_t character(const struct bpe *b, const char *at)
{
	unsigned char c = (unsigned char)*at;
	return b->vocabulary->byte_mode || c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
}

/* Returns a byte as the reference sees it: the UTF-8 of the character representing it. */
static size_t as_reference(const struct bpe *b, const char *at, size_t len, char text[4])
{
	if (!b->vocabulary->byte_mode) {
		memcpy(text, at, len);
		return len;
	}
	return utf8_put(text, byte_level_char((unsigned char)*at));
}

static uint32_t plain_symbol(const struct bpe *b, const char *at, size_t len)
{
	const unsigned char *s = (const unsigned char *)at;
	if (len == 1)
		return b->vocabulary->byte_mode ? b->bytes[s[0]] : b->chars[s[0]];
	if (len == 4)
		return vocabulary_find(b->vocabulary, at, len);
	const char *next = at;
	return b->chars[utf8_next(&next)];
}

void bpe_symbols(const struct bpe *b, struct bpe_span *span, bool last)
{
	const char *word = span->word;
	const size_t end = span->end;
	struct symbols s = {.ids = span->ids, .starts = span->starts};
	struct buffer text = {0};
	char unknown[4];

	for (size_t i = span->begin; i < end;) {
		size_t len = character(b, word + i);
		uint32_t id = b->affixes ? affixed_symbol(b, word + i, len, i == 0, last && i + len == end, &text)
		                         : plain_symbol(b, word + i, len);
		if (id != VOCABULARY_NONE) {
			flush_unknown(b, &s);
			add_symbol(&s, id, i);
		} else {
			size_t spelled = as_reference(b, word + i, len, unknown);
			add_unknown(b, &s, unknown, spelled, i);
		}
		i += len;
	}
	flush_unknown(b, &s);
	buffer_release(&text);
	span->count = s.count;
}
