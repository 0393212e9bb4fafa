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

#define WINDOW 96 /* bytes, at first */

struct window {
	size_t begin, end; /* in the word */
	uint32_t *ids, *starts; /* starts: from the word's begin */
	size_t count, cap;
};

static int window_room(struct window *w, size_t bytes, struct ipf_error *err)
{
	if (bytes <= w->cap)
		return 0;
	uint32_t *ids = realloc(w->ids, bytes * sizeof *ids);
	if (ids)
		w->ids = ids;
	uint32_t *starts = realloc(w->starts, bytes * sizeof *starts);
	if (starts)
		w->starts = starts;
	if (!ids || !starts)
		return ipf_error_set(err, IPF_SYSTEM, "out of memory");
	w->cap = bytes;
	return 0;
}

/* Encodes word[begin, begin + size), a bit less where that would cut a character. */
static int encode_window(const struct bpe *b, struct window *w, const char *word, size_t len, size_t begin, size_t size,
                         struct ipf_error *err)
{
	w->begin = begin;
	w->end = size < len - begin ? begin + size : len;
	while (w->end < len && !b->vocabulary->byte_mode && ((unsigned char)word[w->end] & 0xc0) == 0x80)
		w->end--;
	if (window_room(w, w->end - begin, err) < 0)
		return -1;
	if (b->every_byte && w->end - begin <= BPE_SHORT) {
		w->count = bpe_merge_byte_spans(b, word, begin, w->end - begin, w->ids, w->starts);
		return 0;
	}
	w->count = bpe_symbol_spans(b, word, w->begin, w->end, w->end == len, w->ids, w->starts);
	w->count = w->count <= BPE_SHORT ? bpe_merge_spans(b, w->ids, w->starts, w->count)
	                                 : bpe_merge_heap(b, w->ids, w->starts, w->count);
	return w->count == SIZE_MAX ? ipf_error_set(err, IPF_SYSTEM, "out of memory") : 0;
}

/* The text of the next window is that of the last one (runs of a character, repeated patterns): so are its tokens. */
static bool repeat_window(struct window *next, const struct window *last, const char *word, size_t begin, struct ipf_error *err)
{
	size_t size = last->end - last->begin;
	if (memcmp(word + begin, word + last->begin, size) != 0 || window_room(next, last->count, err) < 0)
		return false;
	next->begin = begin;
	next->end = begin + size;
	next->count = last->count;
	memcpy(next->ids, last->ids, last->count * sizeof *last->ids);
	for (size_t i = 0; i < last->count; i++)
		next->starts[i] = (uint32_t)(last->starts[i] - last->begin + begin);
	return true;
}

/* The first token that both have, not the last of `a` (it may go on behind the window). */
static bool common_token(const struct window *a, size_t from, const struct window *b, size_t *in_a, size_t *in_b)
{
	size_t i = from, j = 0;
	while (i + 1 < a->count && j < b->count) {
		if (a->starts[i] < b->starts[j]) {
			i++;
		} else if (a->starts[i] > b->starts[j]) {
			j++;
		} else if (a->ids[i] == b->ids[j] && j + 1 < b->count && a->starts[i + 1] == b->starts[j + 1]) {
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

/* Where the next window may begin: a token's start that leaves about `overlap` bytes. */
static size_t border_before_end(const struct window *w, size_t overlap)
{
	size_t k = w->count - 1;
	while (k > 1 && w->end - w->starts[k] < overlap)
		k--;
	return k;
}

static int next_window(const struct bpe *b, struct window *last, struct window *next, const char *word, size_t len, size_t size,
                       struct token_ids *ids, struct ipf_error *err)
{
	for (size_t overlap = size / 4; overlap < size; overlap += size / 3) {
		size_t in_last, in_next, k = last->count > 2 ? border_before_end(last, overlap) : 0;
		if (k == 0)
			return 0;
		bool whole = last->end - last->begin <= len - last->starts[k];
		if (!(whole && repeat_window(next, last, word, last->starts[k], err)) &&
		    encode_window(b, next, word, len, last->starts[k], size, err) < 0)
			return -1;
		if (!common_token(last, k, next, &in_last, &in_next))
			continue;
		if (!token_ids_grow(ids, in_last))
			return ipf_error_set(err, IPF_SYSTEM, "out of memory");
		memcpy(ids->ids + ids->count, last->ids, in_last * sizeof *last->ids);
		ids->count += in_last;
		next->count -= in_next;
		memmove(next->ids, next->ids + in_next, next->count * sizeof *next->ids);
		memmove(next->starts, next->starts + in_next, next->count * sizeof *next->starts);
		next->begin = next->starts[0];
		return 1;
	}
	return 0;
}

int bpe_encode_long(const struct bpe *b, const char *word, size_t len, struct token_ids *ids, struct ipf_error *err)
{
	struct window windows[2] = {{0}};
	struct window *last = &windows[0], *next = &windows[1];
	/* Symbols of an affix belong to the word's ends alone: no windows then. */
	size_t size = b->affixes ? len : WINDOW;
	int status;

	if (len > UINT32_MAX - 1)
		return ipf_error_set(err, IPF_INPUT, "a word of more than 4 GiB");
	status = encode_window(b, last, word, len, 0, size, err);
	while (status == 0 && last->end < len) {
		int moved = next_window(b, last, next, word, len, size, ids, err);
		if (moved < 0) {
			status = -1;
		} else if (moved) {
			struct window *swap = last;
			last = next;
			next = swap;
		} else {
			size *= 2;
			status = encode_window(b, last, word, len, last->begin, size, err);
		}
	}
	if (status == 0 && !token_ids_grow(ids, last->count))
		status = ipf_error_set(err, IPF_SYSTEM, "out of memory");
	if (status == 0 && last->count) {
		memcpy(ids->ids + ids->count, last->ids, last->count * sizeof *last->ids);
		ids->count += last->count;
	}
	for (int i = 0; i < 2; i++) {
		free(windows[i].ids);
		free(windows[i].starts);
	}
	return status;
}
