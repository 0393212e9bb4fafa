/* Long words in linear time.
 *
 * A sequence of tokens is the encoding of a text if and only if every two neighbours in it encode to themselves: merges
 * inside a token do not depend on the text outside, and the first merge across a border would show in these two tokens
 * alone. Two overlapping windows of a word, each encoded alone, can thus be joined at any token that both have at the
 * same place: all neighbours in the joined sequence are neighbours in one of the windows.
 *
 * The tail is such a sequence, from some border to the end of the last window; its older part is moved to the output.
 * If a window has no token in common with the tail, windows grow backwards and forwards.
 */
#include "tokenizer/bpe_long.h"

#include "tokenizer/bpe_merge.h"

#include <stdlib.h>
#include <string.h>

#define WINDOW 64 /* initial size in bytes */

struct bpe_window {
	struct bpe_span s;
	size_t cap;
};

static int window_room(struct bpe_window *w, size_t bytes, struct ipf_error *err)
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
		return ipf_error_memory(err);
	w->cap = bytes;
	return 0;
}

/* The tail is moved to the output when it has TAIL_MOST tokens; TAIL_KEPT of them stay. */
#define TAIL_MOST 2048
#define TAIL_KEPT 1024
/* Windows side by side overlap by OVERLAP bytes, and by up to LOOK_BACK more. */
#define OVERLAP   10
#define LOOK_BACK 8
#define CALM      16 /* number of joins after which grown windows shrink */

struct bpe_walk {
	const struct bpe *bpe;
	const char *word;
	size_t len, size; /* size: of a window, in bytes */
	struct bpe_window tail, windows[1 + BPE_SIDE_BY_SIDE];
	struct bpe_window *last,
		*next[BPE_SIDE_BY_SIDE]; /* last: the window the end of the tail comes from, for texts that repeat */
	size_t abreast;              /* number of windows tried at once */
	int calm;
	size_t handed; /* where in `ids` this word begins */
	struct token_ids *ids;
	struct ipf_error *err;
};

/* The start of the character at `at`; in byte mode every place is one. */
static size_t character_start(const struct bpe_walk *w, size_t at)
{
	while (at < w->len && !w->bpe->vocabulary->byte_mode && ((unsigned char)w->word[at] & 0xc0) == 0x80)
		at--;
	return at;
}

/* Fills a window with the unmerged symbols of word[begin, begin + size), a bit less if that would cut a character. */
static int fill_window(const struct bpe_walk *w, struct bpe_window *window, size_t begin, size_t size)
{
	struct bpe_span *s = &window->s;
	s->word = w->word;
	s->begin = begin;
	s->end = character_start(w, size < w->len - begin ? begin + size : w->len);
	s->count = s->end - begin;
	if (window_room(window, s->count, w->err) < 0)
		return -1;
	s->plain = s->count <= BPE_SHORT && bpe_is_plain(w->bpe, w->word + begin, s->count);
	if (!s->plain)
		bpe_symbols(w->bpe, s, s->end == w->len);
	return 0;
}

static int encode_window(const struct bpe_walk *w, struct bpe_window *window, size_t begin, size_t size)
{
	struct bpe_span *s = &window->s;
	if (fill_window(w, window, begin, size) < 0)
		return -1;
	if (s->count > BPE_SHORT)
		s->count = bpe_merge_heap(w->bpe, s->ids, s->starts, s->count);
	else
		bpe_merge_span(w->bpe, s);
	return s->count == SIZE_MAX ? ipf_error_memory(w->err) : 0;
}

/* Finds the first token after the beginning of `b` that both spans have. The last token of a span does not count: it
 * may continue beyond the span. */
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

static int hand_out(struct bpe_walk *w, size_t count)
{
	struct bpe_span *t = &w->tail.s;
	if (count == 0)
		return 0;
	if (!token_ids_grow(w->ids, count))
		return ipf_error_memory(w->err);
	memcpy(w->ids->ids + w->ids->count, t->ids, count * sizeof *t->ids);
	w->ids->count += count;
	t->count -= count;
	memmove(t->ids, t->ids + count, t->count * sizeof *t->ids);
	memmove(t->starts, t->starts + count, t->count * sizeof *t->starts);
	return 0;
}

/* Replaces the tail from token `at` on by the window from token `from` on. */
static int replace_tail(struct bpe_walk *w, size_t at, const struct bpe_span *window, size_t from)
{
	struct bpe_span *t = &w->tail.s;
	size_t more = window->count - from;
	if (window_room(&w->tail, at + more, w->err) < 0)
		return -1;
	if (more) {
		memcpy(t->ids + at, window->ids + from, more * sizeof *t->ids);
		memcpy(t->starts + at, window->starts + from, more * sizeof *t->starts);
	}
	t->count = at + more;
	t->end = window->end;
	return t->count > TAIL_MOST ? hand_out(w, t->count - TAIL_KEPT) : 0;
}

/* 1: the window continues the tail; 0: they have no token in common, or the window does not reach further. */
static int join(struct bpe_walk *w, const struct bpe_window *window)
{
	size_t in_tail, in_window;
	if (window->s.end <= w->tail.s.end || window->s.count == 0 ||
	    !common_token(&w->tail.s, &window->s, &in_tail, &in_window))
		return 0;
	return replace_tail(w, in_tail, &window->s, in_window) < 0 ? -1 : 1;
}

/* Returns the last token of the tail that begins at least `overlap` bytes before the end of the tail and not inside a
 * character, as the tokens of its bytes may. */
static size_t border_before_end(const struct bpe_walk *w, size_t overlap)
{
	const struct bpe_span *t = &w->tail.s;
	size_t k = t->count ? t->count - 1 : 0;
	while (k > 0 && (t->end - t->starts[k] < overlap || character_start(w, t->starts[k]) != t->starts[k]))
		k--;
	return k;
}

static void swap(struct bpe_window **a, struct bpe_window **b)
{
	struct bpe_window *keep = *a;
	*a = *b;
	*b = keep;
}

static bool repeats(const struct bpe_walk *w, size_t begin)
{
	/* a window is up to three bytes shorter if they are part of a character */
	size_t size = w->last->s.end - w->last->s.begin;
	return w->last->s.count && size <= w->size && size + 4 > w->size && size <= w->len - begin &&
	       memcmp(w->word + begin, w->word + w->last->s.begin, size) == 0;
}

/* If the next window has the text of the last one (runs of a character, repeated patterns), it also has its tokens. */
static int repeat_window(struct bpe_walk *w, size_t begin)
{
	const struct bpe_span *last = &w->last->s;
	if (window_room(w->next[0], last->count, w->err) < 0)
		return -1;
	struct bpe_span *next = &w->next[0]->s;
	next->word = w->word;
	next->begin = begin;
	next->end = begin + last->end - last->begin;
	next->count = last->count;
	memcpy(next->ids, last->ids, last->count * sizeof *last->ids);
	for (size_t i = 0; i < last->count; i++)
		next->starts[i] = (uint32_t)(last->starts[i] - last->begin + begin);
	return 0;
}

static int try_window(struct bpe_walk *w, size_t begin, size_t size)
{
	bool repeated = size == w->size && repeats(w, begin);
	int status = repeated ? repeat_window(w, begin) : encode_window(w, w->next[0], begin, size);
	if (status == 0)
		status = join(w, w->next[0]);
	if (status > 0) {
		swap(&w->last, &w->next[0]);
		if (!repeated && w->size > WINDOW && ++w->calm >= CALM) {
			w->size /= 2;
			w->calm = 0;
		}
	}
	return status;
}

/* Doubles the size of the window, half of it behind the end of the tail. If the tail does not reach back far enough,
 * starts again from the beginning of the word. */
static int grow(struct bpe_walk *w)
{
	for (;;) {
		w->size *= 2;
		w->calm = 0;
		size_t k = border_before_end(w, w->size / 2);
		if (k > 0) {
			int status = try_window(w, w->tail.s.starts[k], w->size);
			if (status)
				return status;
			continue;
		}
		/* No token is before the beginning of the word: a window beginning there needs no token in common. */
		w->ids->count = w->handed;
		w->tail.s.count = 0;
		if (encode_window(w, w->next[0], 0, w->size) < 0 || replace_tail(w, 0, &w->next[0]->s, 0) < 0)
			return -1;
		swap(&w->last, &w->next[0]);
		return 1;
	}
}

/* Moves on by one window, from the border of a token; windows grow if necessary. */
static int step_one(struct bpe_walk *w)
{
	size_t size = w->size;
	for (size_t overlap = size / 4; overlap < size; overlap += size / 3) {
		size_t k = w->tail.s.count > 2 ? border_before_end(w, overlap) : 0;
		int status = k ? try_window(w, w->tail.s.starts[k], size) : 0;
		if (status)
			return status;
		if (!k)
			break;
	}
	return grow(w);
}

/* Returns the most likely border of tokens among the last places up to `at`: between two bytes making no pair, or the
 * pair that merges last. Windows beginning there soon have a token in common with others. */
static size_t likely_border(const struct bpe *b, const char *word, size_t at)
{
	const unsigned char *s = (const unsigned char *)word;
	size_t best = at;
	for (size_t i = at; i > at - LOOK_BACK; i--)
		if (b->byte_pairs[s[i - 1] << 8 | s[i]] > b->byte_pairs[s[best - 1] << 8 | s[best]])
			best = i;
	return best;
}

/* Moves on by several windows at once, from any place. 1: at least the first one could be joined; 0: take one step
 * instead. */
static int step_abreast(struct bpe_walk *w)
{
	size_t tail_end = w->tail.s.end, filled = 0, joined = 0;
	struct bpe_span *spans[BPE_SIDE_BY_SIDE];
	int status = 1;
	if (w->size > BPE_SHORT || w->len - tail_end < 2 * w->size || tail_end < w->size)
		return 0;
	if (repeats(w, character_start(w, tail_end - w->size / 4)))
		return 0;
	for (size_t end = tail_end; filled < w->abreast && (filled == 0 || w->len - end >= w->size); filled++) {
		size_t begin = character_start(w, likely_border(w->bpe, w->word, end - OVERLAP));
		if (fill_window(w, w->next[filled], begin, w->size) < 0)
			return -1;
		spans[filled] = &w->next[filled]->s;
		end = spans[filled]->end;
	}
	bpe_merge_spans(w->bpe, spans, filled);
	while (status > 0 && joined < filled) {
		status = join(w, w->next[joined]);
		if (status > 0)
			swap(&w->last, &w->next[joined++]);
	}
	w->abreast = joined < filled ? 2 : BPE_SIDE_BY_SIDE;
	return status < 0 ? -1 : joined > 0;
}

static int walk(struct bpe_walk *w)
{
	if (encode_window(w, w->last, 0, w->size) < 0 || replace_tail(w, 0, &w->last->s, 0) < 0)
		return -1;
	while (w->tail.s.end < w->len) {
		int moved = step_abreast(w);
		if (moved < 0 || (moved == 0 && step_one(w) < 0))
			return -1;
	}
	return hand_out(w, w->tail.s.count);
}

int bpe_encode_long(const struct bpe *b, const char *word, size_t len, struct token_ids *ids, struct ipf_error *err)
{
	/* The symbols of an affix occur at the ends of the word only: no windows then. */
	struct bpe_walk w = {.bpe = b,
	                     .word = word,
	                     .len = len,
	                     .size = b->affixes ? len : WINDOW,
	                     .handed = ids->count,
	                     .ids = ids,
	                     .err = err};
	if (len > UINT32_MAX - 1)
		return ipf_error_set(err, IPF_INPUT, "a word is longer than 4 GiB");
	w.abreast = BPE_SIDE_BY_SIDE;
	w.last = &w.windows[0];
	for (int i = 0; i < BPE_SIDE_BY_SIDE; i++)
		w.next[i] = &w.windows[i + 1];
	int status = walk(&w);
	free(w.tail.s.ids);
	free(w.tail.s.starts);
	for (int i = 0; i <= BPE_SIDE_BY_SIDE; i++) {
		free(w.windows[i].s.ids);
		free(w.windows[i].s.starts);
	}
	return status;
}
