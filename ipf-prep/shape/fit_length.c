#include "shape/fit_length.h"

#include <stdlib.h>
#include <string.h>

#define POOL_MAX ((size_t)1 << 20)
#define BETWEEN  "\n\n"

void fit_length_feed(struct fit_length *s, struct slice text)
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

static struct slice keep(struct fit_length *s, struct draft *space)
{
	char *to = s->text.failed ? NULL : draft_space(space, s->text.len);
	if (!to) {
		space->failed = true;
		return (struct slice){"", 0};
	}
	memcpy(to, s->text.data, s->text.len);
	return (struct slice){to, s->text.len};
}

/* Not every text can be cut to every length: what lacks is made up for by a word. */
static struct slice cut(struct fit_length *s, struct slice text, int64_t count, struct rng *rng, struct draft *space)
{
	text.len = token_counter_cut(s->tokens, text.data, text.len, count);
	if (!token_counter_is_exact(s->tokens) || token_counter_count(s->tokens, text.data, text.len) == count)
		return text;
	if (text.data != s->text.data) {
		buffer_clear(&s->text);
		buffer_slice(&s->text, text);
	}
	s->text.len = text.len;
	exact_text_pad(s->exact, rng, count, &s->text);
	s->failed |= s->exact->failed;
	return keep(s, space);
}

struct slice fit_length_to(struct fit_length *s, struct slice text, int64_t count, struct rng *rng, struct draft *space)
{
	int64_t have = token_counter_count(s->tokens, text.data, text.len);
	if (have == count)
		return text;
	if (have > count)
		return cut(s, text, count, rng, space);
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
		have = token_counter_count(s->tokens, s->text.data, s->text.len);
	}
	struct slice longer = s->text.failed ? (struct slice){0} : cut(s, buffer_all(&s->text), count, rng, space);
	if (longer.data == s->text.data && !s->text.failed) {
		s->text.len = longer.len;
		longer = keep(s, space);
	}
	space->failed |= s->text.failed;
	return longer.data ? longer : text;
}

void fit_length_release(struct fit_length *s)
{
	buffer_release(&s->pool);
	buffer_release(&s->text);
	free(s->pieces);
	*s = (struct fit_length){0};
}
