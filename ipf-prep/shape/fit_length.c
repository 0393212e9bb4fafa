#include "shape/fit_length.h"

#include "array.h"

#include <stdlib.h>
#include <string.h>

#define POOL_MAX  ((size_t)1 << 20)
#define SEPARATOR "\n\n"

void fit_length_learn(struct fit_length *f, struct slice text)
{
	if (text.len == 0 || f->pool.len >= POOL_MAX || f->failed)
		return;
	if (!array_room(f->pool_texts, f->cap, f->count + 1)) {
		f->failed = true;
		return;
	}
	f->pool_texts[f->count++] = (struct pool_text){f->pool.len, text.len};
	buffer_append(&f->pool, text.data, text.len);
	f->failed |= f->pool.failed;
}

static struct slice copy_text(struct fit_length *f, struct draft *space)
{
	char *to = f->text.failed ? NULL : draft_space(space, f->text.len);
	if (!to) {
		space->failed = true;
		return (struct slice){"", 0};
	}
	memcpy(to, f->text.data, f->text.len);
	return (struct slice){to, f->text.len};
}

/* Cuts the text. If no cut gives exactly `count` tokens, words of one token fill it up. */
static struct slice cut(struct fit_length *f, struct slice text, int64_t count, struct rng *rng, struct draft *space)
{
	text.len = token_counter_cut(f->tokens, text.data, text.len, count);
	if (!token_counter_is_exact(f->tokens) || token_counter_count(f->tokens, text.data, text.len) == count)
		return text;
	if (text.data != f->text.data) {
		buffer_clear(&f->text);
		buffer_slice(&f->text, text);
	}
	f->text.len = text.len;
	exact_text_pad(f->exact, rng, count, &f->text);
	f->failed |= f->exact->failed;
	return copy_text(f, space);
}

struct slice fit_length_to(struct fit_length *f, struct slice text, int64_t count, struct rng *rng, struct draft *space)
{
	int64_t have = token_counter_count(f->tokens, text.data, text.len);
	if (have == count)
		return text;
	if (have > count)
		return cut(f, text, count, rng, space);
	if (f->count == 0)
		return text;
	buffer_clear(&f->text);
	buffer_slice(&f->text, text);
	size_t at = (size_t)rng_below(rng, f->count);
	while (have < count && !f->text.failed) {
		if (f->text.len > 0)
			buffer_text(&f->text, SEPARATOR);
		buffer_append(&f->text, f->pool.data + f->pool_texts[at].begin, f->pool_texts[at].len);
		at = (at + 1) % f->count;
		have = token_counter_count(f->tokens, f->text.data, f->text.len);
	}
	struct slice longer = f->text.failed ? (struct slice){0} : cut(f, buffer_all(&f->text), count, rng, space);
	if (longer.data == f->text.data && !f->text.failed) {
		f->text.len = longer.len;
		longer = copy_text(f, space);
	}
	space->failed |= f->text.failed;
	return longer.data ? longer : text;
}

void fit_length_release(struct fit_length *f)
{
	buffer_release(&f->pool);
	buffer_release(&f->text);
	free(f->pool_texts);
	*f = (struct fit_length){0};
}
