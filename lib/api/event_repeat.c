#include "api/event_repeat.h"

#include "json/bytes8.h"
#include "utf8.h"

#include <string.h>

void event_repeat_forget(struct event_repeat *e)
{
	e->like = (struct slice){0};
}

static bool any_mentions(const struct api_pointers *from, struct slice key)
{
	for (size_t i = 0; i < from->count; i++)
		if (api_pointer_mentions(from->list[i], key))
			return true;
	return from->sum && any_mentions(from->sum, key);
}

static bool any_depends(const struct api_pointers *from, struct slice key)
{
	for (size_t i = 0; i < from->count; i++)
		if (api_pointer_depends(from->list[i], key))
			return true;
	return false;
}

/* Whether only the pointers to text look at members of this name. */
static bool only_text(const struct api_response *r, struct slice key)
{
	const struct api_pointers *texts[] = {&r->text, &r->reasoning, &r->tools};
	const struct api_pointers *others[] = {
		&r->prefix_len,       &r->data,          &r->finish,    &r->error,    &r->input_tokens, &r->output_tokens,
		&r->reasoning_tokens, &r->cached_tokens, &r->token_ids, &r->end_when, &r->role};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (any_depends(texts[i], key))
			return false;
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (any_mentions(others[i], key))
			return false;
	for (size_t i = 0; i < API_DETAILS; i++)
		if (any_mentions(&r->details[i], key))
			return false;
	for (size_t i = 0; i < API_SERVER_TIMES; i++)
		if (any_mentions(&r->times[i].at, key) || any_mentions(&r->times[i].from, key))
			return false;
	for (size_t i = 0; i < r->finish_words_count; i++)
		if (strchr("{[", *r->finish_words[i].server))
			return false;
	return true;
}

void event_repeat_learn(struct event_repeat *e, const struct api_response *format, const struct jdoc *doc,
                        struct slice data, jdoc_id node)
{
	jdoc_id key = jdoc_key_of(doc, node);
	struct slice name = jdoc_raw(doc, key);
	event_repeat_forget(e);
	if (format->text_mode != API_DELTA || format->text_after || key == JDOC_NONE || doc->nodes[key].escaped ||
	    doc->nodes[node].escaped || !only_text(format, (struct slice){name.data + 1, name.len - 2}))
		return;
	e->like = data;
	e->text_at = doc->nodes[node].begin + 1;
	e->text_end = doc->nodes[node].end - 1;
}

/* A text of a JSON string without escapes, of which JSON allows all. */
static bool is_plain(struct slice piece)
{
	size_t i = 0;
	uint64_t not_ascii = 0;
	for (; piece.len - i >= 8; i += 8) {
		uint64_t word = bytes8_load(piece.data + i);
		if (bytes8_escaped(word))
			return false;
		not_ascii |= word & BYTES8_HIGHS;
	}
	for (; i < piece.len; i++) {
		unsigned char c = (unsigned char)piece.data[i];
		if (c < 0x20 || c == '"' || c == '\\')
			return false;
		not_ascii |= c & 0x80;
	}
	return !not_ascii || utf8_valid(piece.data, piece.len, NULL);
}

bool event_repeat_find(const struct event_repeat *e, struct slice data, struct slice *piece)
{
	size_t head = e->text_at, tail = e->like.len - e->text_end;
	if (!e->like.data || data.len <= head + tail || memcmp(data.data, e->like.data, head) != 0 ||
	    memcmp(data.data + data.len - tail, e->like.data + e->text_end, tail) != 0)
		return false;
	*piece = (struct slice){data.data + head, data.len - head - tail};
	return is_plain(*piece);
}
