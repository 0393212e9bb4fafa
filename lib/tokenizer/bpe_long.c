/* Long words in linear time.
 *
 * A sequence of tokens is the encoding of a text exactly if every two neighbours among them encode to themselves: what is merged
 * inside a token does not depend on what stands outside, and the first merge across a border would show in the two tokens alone. So
 * two overlapping windows of a word, each encoded by itself, may be joined at any token that both have at the same place: all
 * neighbours in the joined sequence were neighbours in one of the windows.
 *
 * The next window begins at a token's border near the end of the last one. Should the two have no token in common, the windows grow.
 */
#include "bpe.h"

#include <stdlib.h>

#define WINDOW 64 /* bytes, at first */

struct window {
	struct bpe_span s;
	size_t cap;
};

static int window_room(struct window *w, size_t bytes, struct ipf_error *err)
{
	if (bytes <= w->cap)
		return 0;
	uint32_t *ids = realloc(w->s.ids, bytes * sizeof *ids);
	if (ids)
		w->s.ids = ids;
	uint32_t *starts = realloc(w->s.starts, bytes * sizeof *starts);
	if (starts)
		w->s.starts = starts;
	if (!ids || !starts)
		return ipf_error_set(err, IPF_SYSTEM, "out of memory");
	w->cap = bytes;
	return 0;
}

static size_t character_start(const struct bpe *b, const char *word, size_t len, size_t at)
{
	while (at < len && !b->vocabulary->byte_mode && ((unsigned char)word[at] & 0xc0) == 0x80)
		at--;
	return at;
}

/* word[begin, begin + size), a bit less where that would cut a character, as unmerged symbols. */
static int fill_window(const struct bpe *b, struct window *w, const char *word, size_t len, size_t begin, size_t size, struct ipf_error *err)
{
	w->s.word = word;
	w->s.begin = begin;
	w->s.end = character_start(b, word, len, size < len - begin ? begin + size : len);
	if (window_room(w, w->s.end - begin, err) < 0)
		return -1;
	w->s.count = w->s.end - begin;
	w->s.plain = w->s.count <= BPE_SHORT && bpe_is_plain(b, word + begin, w->s.count);
	if (!w->s.plain)
		w->s.count = bpe_symbol_spans(b, word, begin, w->s.end, w->s.end == len, w->s.ids, w->s.starts);
	return 0;
}

static int encode_window(const struct bpe *b, struct window *w, const char *word, size_t len, size_t begin, size_t size, struct ipf_error *err)
{
	if (fill_window(b, w, word, len, begin, size, err) < 0)
		return -1;
	if (w->s.count > BPE_SHORT)
		w->s.count = bpe_merge_heap(b, w->s.ids, w->s.starts, w->s.count);
	else
		bpe_merge_span(b, &w->s);
	return w->s.count == SIZE_MAX ? ipf_error_set(err, IPF_SYSTEM, "out of memory") : 0;
}

static bool repeats(const struct window *last, const char *word, size_t len, size_t begin)
{
	size_t size = last->s.end - last->s.begin;
	return size <= len - begin && memcmp(word + begin, word + last->s.begin, size) == 0;
}

/* The text of the next window is that of the last one (runs of a character, repeated patterns): so are its tokens. */
static int repeat_window(struct window *next, const struct window *last, size_t begin, struct ipf_error *err)
{
	if (window_room(next, last->s.count, err) < 0)
		return -1;
	next->s.word = last->s.word;
	next->s.begin = begin;
	next->s.end = begin + last->s.end - last->s.begin;
	next->s.count = last->s.count;
	memcpy(next->s.ids, last->s.ids, last->s.count * sizeof *last->s.ids);
	for (size_t i = 0; i < last->s.count; i++)
		next->s.starts[i] = (uint32_t)(last->s.starts[i] - last->s.begin + begin);
	return 0;
}

/* The first token that both have, the last of neither (it may go on behind the window). */
static bool common_token(const struct bpe_span *a, const struct bpe_span *b, size_t *in_a, size_t *in_b)
{
	size_t i = a->count, j = 0;
	while (i > 0 && a->starts[i - 1] >= b->starts[0])
		i--;
	while (i + 1 < a->count && j + 1 < b->count) {
		if (a->starts[i] < b->starts[j]) {
			i++;
		} else if (a->starts[i] > b->starts[j]) {
			j++;
		} else if (a->ids[i] == b->ids[j] && a->starts[i + 1] == b->starts[j + 1]) {
			*in_a = i;
			*in_b = j;
			return true;
		} else {
			i++;
			j++;
		}
	}
	return false;
}

/* 1: what `last` has before their common token is done, and `next` begins with that token; 0: they have none. */
static int join(const struct window *last, struct window *next, struct token_ids *ids, struct ipf_error *err)
{
	size_t in_last, in_next;
	if (last->s.count == 0 || next->s.count == 0 || !common_token(&last->s, &next->s, &in_last, &in_next))
		return 0;
	if (!token_ids_grow(ids, in_last))
		return ipf_error_set(err, IPF_SYSTEM, "out of memory");
	memcpy(ids->ids + ids->count, last->s.ids, in_last * sizeof *last->s.ids);
	ids->count += in_last;
	next->s.count -= in_next;
	memmove(next->s.ids, next->s.ids + in_next, next->s.count * sizeof *next->s.ids);
	memmove(next->s.starts, next->s.starts + in_next, next->s.count * sizeof *next->s.starts);
	next->s.begin = next->s.starts[0];
	return 1;
}

/* Where the next window may begin: a token's start that leaves about `overlap` bytes. */
static size_t border_before_end(const struct window *w, size_t overlap)
{
	size_t k = w->s.count - 1;
	while (k > 1 && w->s.end - w->s.starts[k] < overlap)
		k--;
	return k;
}

struct walk {
	const struct bpe *bpe;
	const char *word;
	size_t len, size; /* size: of a window, in bytes */
	struct window windows[3], *last, *next, *after;
	struct token_ids *ids;
	struct ipf_error *err;
};

static void swap(struct window **a, struct window **b)
{
	struct window *keep = *a;
	*a = *b;
	*b = keep;
}

/* One window on, from a token's border: 1; 0 where the windows have to grow. */
static int step_one(struct walk *w)
{
	for (size_t overlap = w->size / 4; overlap < w->size; overlap += w->size / 3) {
		size_t k = w->last->s.count > 2 ? border_before_end(w->last, overlap) : 0;
		if (k == 0)
			return 0;
		size_t begin = w->last->s.starts[k];
		int status = repeats(w->last, w->word, w->len, begin)
		                     ? repeat_window(w->next, w->last, begin, w->err)
		                     : encode_window(w->bpe, w->next, w->word, w->len, begin, w->size, w->err);
		if (status == 0)
			status = join(w->last, w->next, w->ids, w->err);
		if (status) {
			swap(&w->last, &w->next);
			return status;
		}
	}
	return 0;
}

/* Two windows on at once, from anywhere: 1 where at least the first could be joined; 0: take one step instead. */
static int step_two(struct walk *w)
{
	size_t overlap = w->size / 4, begin = character_start(w->bpe, w->word, w->len, w->last->s.end - overlap);
	if (w->size > BPE_SHORT || w->len - w->last->s.end < 2 * w->size || begin <= w->last->s.begin || repeats(w->last, w->word, w->len, begin))
		return 0;
	if (fill_window(w->bpe, w->next, w->word, w->len, begin, w->size, w->err) < 0)
		return -1;
	begin = character_start(w->bpe, w->word, w->len, w->next->s.end - overlap);
	if (fill_window(w->bpe, w->after, w->word, w->len, begin, w->size, w->err) < 0)
		return -1;
	bpe_merge_two_spans(w->bpe, &w->next->s, &w->after->s);
	int status = join(w->last, w->next, w->ids, w->err);
	if (status <= 0)
		return status;
	swap(&w->last, &w->next);
	status = join(w->last, w->after, w->ids, w->err);
	if (status > 0)
		swap(&w->last, &w->after);
	return status < 0 ? -1 : 1;
}

static int walk(struct walk *w)
{
	int status = encode_window(w->bpe, w->last, w->word, w->len, 0, w->size, w->err);
	while (status == 0 && w->last->s.end < w->len) {
		int moved = step_two(w);
		if (moved == 0)
			moved = step_one(w);
		if (moved < 0)
			return -1;
		if (moved == 0) {
			w->size *= 2;
			status = encode_window(w->bpe, w->last, w->word, w->len, w->last->s.begin, w->size, w->err);
		}
	}
	if (status < 0)
		return -1;
	if (!token_ids_grow(w->ids, w->last->s.count))
		return ipf_error_set(w->err, IPF_SYSTEM, "out of memory");
	if (w->last->s.count)
		memcpy(w->ids->ids + w->ids->count, w->last->s.ids, w->last->s.count * sizeof *w->last->s.ids);
	w->ids->count += w->last->s.count;
	return 0;
}

int bpe_encode_long(const struct bpe *b, const char *word, size_t len, struct token_ids *ids, struct ipf_error *err)
{
	/* Symbols of an affix belong to the word's ends alone: no windows then. */
	struct walk w = {.bpe = b, .word = word, .len = len, .size = b->affixes ? len : WINDOW, .ids = ids, .err = err};
	if (len > UINT32_MAX - 1)
		return ipf_error_set(err, IPF_INPUT, "a word of more than 4 GiB");
	w.last = &w.windows[0];
	w.next = &w.windows[1];
	w.after = &w.windows[2];
	int status = walk(&w);
	for (int i = 0; i < 3; i++) {
		free(w.windows[i].s.ids);
		free(w.windows[i].s.starts);
	}
	return status;
}
