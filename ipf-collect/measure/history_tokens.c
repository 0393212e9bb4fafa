#include "measure/history_tokens.h"

#include "absent.h"

#include <stdlib.h>

#define BUCKETS 65536

/* A turn another one may continue. */
struct past_turn {
	const void *input;
	int64_t n;
	int64_t input_tokens, output_tokens;
	int64_t text_tokens; /* the tokenizer's count for the answer's text; IPF_ABSENT: not known */
	struct buffer ids;   /* ids of its prompt and its answer; empty: the server did not list both */
	bool continued;
	struct past_turn *in_bucket, *newer, *older;
};

struct history_tokens {
	struct past_turn *buckets[BUCKETS];
	struct past_turn *oldest, *newest; /* those that have been continued are older than all others … */
	struct past_turn *continued;       /* … up to here; NULL: none has */
	size_t bytes;
};

struct history_tokens *history_tokens_new(void)
{
	return calloc(1, sizeof(struct history_tokens));
}

static struct past_turn **find(struct history_tokens *h, const void *input, int64_t n)
{
	struct past_turn **at = &h->buckets[(uint64_t)n % BUCKETS];
	while (*at && ((*at)->n != n || (*at)->input != input))
		at = &(*at)->in_bucket;
	return at;
}

static void unlink_turn(struct history_tokens *h, const struct past_turn *t)
{
	*(t->older ? &t->older->newer : &h->oldest) = t->newer;
	*(t->newer ? &t->newer->older : &h->newest) = t->older;
}

/* It is forgotten before those that have not been continued. */
static void note_continued(struct history_tokens *h, struct past_turn *t)
{
	if (t->continued)
		return;
	unlink_turn(h, t);
	t->continued = true;
	t->older = h->continued;
	t->newer = h->continued ? h->continued->newer : h->oldest;
	*(t->older ? &t->older->newer : &h->oldest) = t;
	*(t->newer ? &t->newer->older : &h->newest) = t;
	h->continued = t;
}

static void forget(struct history_tokens *h, struct past_turn **at)
{
	struct past_turn *t = *at;
	*at = t->in_bucket;
	if (h->continued == t)
		h->continued = t->older;
	unlink_turn(h, t);
	h->bytes -= sizeof *t + t->ids.cap;
	buffer_release(&t->ids);
	free(t);
}

void history_tokens_free(struct history_tokens *h)
{
	while (h && h->oldest)
		forget(h, find(h, h->oldest->input, h->oldest->n));
	free(h);
}

static int64_t count_ids(struct slice ids)
{
	int64_t count = ids.len > 0;
	for (size_t i = 0; i < ids.len; i++)
		count += ids.data[i] == ',';
	return count;
}

int64_t history_tokens_alike(struct slice a, struct slice b)
{
	size_t same = 0, least = a.len < b.len ? a.len : b.len;
	while (same < least && a.data[same] == b.data[same])
		same++;
	const bool ends = (same == a.len || a.data[same] == ',') && (same == b.len || b.data[same] == ',');
	while (!ends && same > 0 && a.data[same - 1] != ',') /* within an id */
		same--;
	return count_ids((struct slice){a.data, ends || !same ? same : same - 1});
}

/* The text of an answer without reasoning and calls is all a later turn has of it. */
static bool is_text(const struct response *r)
{
	for (size_t i = 0; i < r->events_count; i++)
		if (r->events[i].kind != EVENT_TEXT)
			return false;
	return true;
}

static int keep(struct history_tokens *h, const void *input, const struct response *r, const struct result *row)
{
	struct past_turn *t = calloc(1, sizeof *t), **at = find(h, input, row->n);
	if (!t)
		return -1;
	if (*at)
		forget(h, at);
	at = find(h, input, row->n);
	*t = (struct past_turn){.input = input,
	                        .n = row->n,
	                        .input_tokens = row->input_tokens_usage,
	                        .output_tokens = row->output_tokens,
	                        .text_tokens = r->output_ids.len || !is_text(r) ? IPF_ABSENT : row->output_tokens_tokenizer,
	                        .older = h->newest};
	if (r->prompt_ids.len && r->output_ids.len) {
		buffer_slice(&t->ids, buffer_all(&r->prompt_ids));
		buffer_byte(&t->ids, ',');
		buffer_slice(&t->ids, buffer_all(&r->output_ids));
	}
	*at = t;
	*(h->newest ? &h->newest->newer : &h->oldest) = t;
	h->newest = t;
	h->bytes += sizeof *t + t->ids.cap;
	const bool failed = t->ids.failed;
	while (h->oldest && (failed || h->bytes > HISTORY_BYTES_MOST))
		forget(h, find(h, h->oldest->input, h->oldest->n));
	return failed ? -1 : 0;
}

/* Counts the generated tokens within the cached beginning of the prompt. */
static int64_t cached_answer(const struct past_turn *t, int64_t cached)
{
	if (cached == IPF_ABSENT || t->input_tokens == IPF_ABSENT || t->output_tokens == IPF_ABSENT)
		return IPF_ABSENT;
	const int64_t beyond = cached > t->input_tokens ? cached - t->input_tokens : 0;
	return beyond < t->output_tokens ? beyond : t->output_tokens;
}

static void hold_against(const struct past_turn *t, const struct response *r, struct result *row)
{
	row->history_generated_tokens = t->output_tokens;
	row->history_cached_tokens = cached_answer(t, row->cached_tokens);
	row->history_text_tokens = t->text_tokens;
	if (!t->ids.len || !r->prompt_ids.len)
		return;
	row->history_tokens = count_ids(buffer_all(&t->ids));
	row->history_same_tokens = history_tokens_alike(buffer_all(&t->ids), buffer_all(&r->prompt_ids));
}

int history_tokens_row(struct history_tokens *h, const void *input, const struct record *record,
                       const struct response *r, struct result *row)
{
	struct past_turn **before = record->continues == IPF_ABSENT ? NULL : find(h, input, record->continues);
	if (before && *before) {
		if (row->ok)
			hold_against(*before, r, row);
		note_continued(h, *before);
	}
	return row->ok && row->session.data && row->output_tokens != IPF_ABSENT ? keep(h, input, r, row) : 0;
}
