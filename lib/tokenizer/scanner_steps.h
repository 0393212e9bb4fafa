/* Steps from which scanners are built: the character at a place, runs of a class, runs of white space, contractions. */
#ifndef IPF_TOKENIZER_SCANNER_STEPS_H
#define IPF_TOKENIZER_SCANNER_STEPS_H

#include "tokenizer/code_point.h"
#include "tokenizer/scanner.h"

struct character {
	unsigned class;
	uint32_t code; /* the code point; the byte for ASCII */
	size_t len;
};

/* At the end of the text there are no classes and the length is 0. */
static inline struct character character_at(const struct character_classes *k, const char *text, size_t at, size_t end)
{
	if (at >= end)
		return (struct character){0, 0, 0};
	unsigned char c = (unsigned char)text[at];
	if (c < 0x80)
		return (struct character){k->ascii[c], c, 1};
	const char *s = text + at, *next = s;
	uint32_t code = utf8_next(&next);
	return (struct character){class_of(k, code), code, (size_t)(next - s)};
}

/* Skips characters of these classes. */
static inline size_t skip_class(const struct character_classes *k, const char *text, size_t at, size_t end,
                                unsigned wanted)
{
	for (;;) {
		while (at < end && (unsigned char)text[at] < 0x80) {
			if (!(k->ascii[(unsigned char)text[at]] & wanted))
				return at;
			at++;
		}
		if (at >= end)
			return at;
		struct character c = character_at(k, text, at, end);
		if (!(c.class & wanted))
			return at;
		at += c.len;
	}
}

/* Skips characters of other classes. */
static inline size_t skip_other(const struct character_classes *k, const char *text, size_t at, size_t end,
                                unsigned unwanted)
{
	while (at < end) {
		struct character c = character_at(k, text, at, end);
		if (c.class & unwanted)
			break;
		at += c.len;
	}
	return at;
}

static inline bool is_newline(uint32_t c)
{
	return c == '\n' || c == '\r';
}

static inline size_t skip_newlines(const char *text, size_t at, size_t end, bool slash)
{
	while (at < end && (is_newline((unsigned char)text[at]) || (slash && text[at] == '/')))
		at++;
	return at;
}

struct spaces {
	size_t end, last; /* end of the run; beginning of its last character */
	size_t newline;   /* end of the last newline in the run; 0: none */
	struct character next;
};

static inline struct spaces spaces_at(const struct character_classes *k, const char *text, size_t at, size_t end)
{
	struct spaces s = {at, at, 0, {0, 0, 0}};
	for (;;) {
		s.next = character_at(k, text, s.end, end);
		if (!(s.next.class & UNICODE_SPACE))
			return s;
		s.last = s.end;
		s.end += s.next.len;
		if (is_newline(s.next.code))
			s.newline = s.end;
	}
}

/* \s+(?!\S)|\s+: the whole run at the end of the text, else all but the last character, else that one. `closed`: the
 * end of the text is here, because an earlier step has cut there. */
static inline size_t spaces_end(const struct spaces *s, size_t at, bool closed)
{
	return s->next.len == 0 || closed || s->last == at ? s->end : s->last;
}

/* Returns the length of a contraction at `at` ('s 't 're 've 'm 'll 'd), or 0. `fold`: ignore case; U+017F, the long s,
 * is then an s. */
static inline size_t contraction(const char *text, size_t at, size_t end, bool fold)
{
	size_t left = end - at;
	unsigned bit = fold ? 0x20 : 0;
	if (left < 2 || text[at] != '\'')
		return 0;
	unsigned a = (unsigned char)text[at + 1] | bit, b = left > 2 ? (unsigned char)text[at + 2] | bit : 0;
	if (a == 's' || a == 't' || a == 'm' || a == 'd')
		return 2;
	if ((a == 'r' && b == 'e') || (a == 'v' && b == 'e') || (a == 'l' && b == 'l'))
		return 3;
	if (fold && left > 2 && (unsigned char)text[at + 1] == 0xc5 && (unsigned char)text[at + 2] == 0xbf)
		return 3;
	return 0;
}

#define SCANNER(name, next_end)                                                                                        \
	size_t name(const struct character_classes *k, const char *text, size_t begin, size_t end, size_t *ends,           \
	            size_t room)                                                                                           \
	{                                                                                                                  \
		size_t count = 0;                                                                                              \
		while (begin < end && count < room)                                                                            \
			ends[count++] = begin = next_end(k, text, begin, end);                                                     \
		return count;                                                                                                  \
	}

#endif
