#include "stretch.h"

#include <stdlib.h>
#include <string.h>

#define POOL_MAX ((size_t)1 << 20)
#define BETWEEN "\n\n"

void stretch_feed(struct stretch *s, struct slice text)
{
	if (text.len == 0 || s->pool.len >= POOL_MAX || s->failed)
		return;
	if (s->count == s->cap) {
		size_t cap = s->cap ? s->cap * 2 : 256;
		struct piece *pieces = reallocarray(s->pieces, cap, sizeof *pieces);
		if (!pieces) {
			s->failed = true;
			return;
		}
		s->pieces = pieces;
		s->cap = cap;
	}
	s->pieces[s->count++] = (struct piece){s->pool.len, text.len};
	buffer_append(&s->pool, text.data, text.len);
	s->failed |= s->pool.failed;
}

struct slice stretch_to(struct stretch *s, struct slice text, int64_t count, struct rng *rng, struct draft *space)
{
	int64_t have = tokens_count(s->tokens, text.data, text.len);
	if (have == count)
		return text;
	if (have > count)
		return (struct slice){text.data, tokens_cut(s->tokens, text.data, text.len, count)};
	if (s->count == 0)
		return text;
	buffer_clear(&s->text);
	buffer_slice(&s->text, text);
	size_t at = (size_t)rng_below(rng, s->count);
	while (have < count && !s->text.failed) {
		if (s->text.len > 0)
			buffer_text(&s->text, BETWEEN);
		buffer_append(&s->text, s->pool.data + s->pieces[at].begin, s->pieces[at].len);
		at = (at + 1) % s->count;
		have = tokens_count(s->tokens, s->text.data, s->text.len);
	}
	char *to = s->text.failed ? NULL : draft_space(space, s->text.len);
	if (!to) {
		space->failed = true;
		return text;
	}
	memcpy(to, s->text.data, s->text.len);
	return (struct slice){to, tokens_cut(s->tokens, to, s->text.len, count)};
}

void stretch_release(struct stretch *s)
{
	buffer_release(&s->pool);
	buffer_release(&s->text);
	free(s->pieces);
	*s = (struct stretch){0};
}
