#include "api/event_repeat.h"

#include "json/bytes8.h"
#include "utf8.h"

#include <string.h>

void event_repeat_forget(struct event_repeat *e)
{
	e->like = e->before = (struct slice){0};
}

void event_repeat_set_aside(struct event_repeat *e)
{
	if (e->like.data)
		e->before = e->like;
	e->like = (struct slice){0};
}

/* ---- the members in question ---- */

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

/* Whether something else than the pointers to text looks at members of this name. */
static bool others_mention(const struct api_response *r, struct slice key)
{
	const struct api_pointers *others[] = {
		&r->prefix_len,       &r->data,          &r->finish,    &r->error,    &r->input_tokens, &r->output_tokens,
		&r->reasoning_tokens, &r->cached_tokens, &r->token_ids, &r->end_when, &r->role,         &r->total_tokens,
		&r->hidden_reasoning, &r->choice};
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (any_mentions(others[i], key))
			return true;
	for (size_t i = 0; i < API_DETAILS; i++)
		if (any_mentions(&r->details[i], key))
			return true;
	for (size_t i = 0; i < API_SERVER_TIMES; i++)
		if (any_mentions(&r->times[i].at, key) || any_mentions(&r->times[i].from, key))
			return true;
	for (size_t i = 0; i < r->finish_words_count; i++)
		if (strchr("{[", *r->finish_words[i].server))
			return true;
	return false;
}

/* Whether only the pointers to text look at members of this name. */
static bool only_text(const struct api_response *r, struct slice key)
{
	const struct api_pointers *texts[] = {&r->text, &r->reasoning, &r->tools};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (any_depends(texts[i], key))
			return false;
	return !others_mention(r, key);
}

/* Whether nothing does. */
static bool is_ignored(const struct api_response *r, struct slice key)
{
	const struct api_pointers *rest[] = {&r->text, &r->reasoning,     &r->tools,      &r->outputs,     &r->output_index,
	                                     &r->id,   &r->calls.choices, &r->calls.each, &r->calls.single};
	for (size_t i = 0; i < sizeof rest / sizeof *rest; i++)
		if (any_mentions(rest[i], key))
			return false;
	return !others_mention(r, key);
}

static bool keep_name(char to[EVENT_REPEAT_NAME], struct slice name)
{
	if (name.len >= EVENT_REPEAT_NAME)
		return false;
	memcpy(to, name.data, name.len);
	to[name.len] = '\0';
	return true;
}

/* The same for the name of a text, which is nearly always that of the text before. */
static bool is_only_text(struct event_repeat *e, const struct api_response *format, struct slice name)
{
	if (e->format == format && slice_is(name, e->text_name))
		return e->only_text;
	if (e->format != format)
		e->others_count = 0;
	bool only = only_text(format, name);
	e->format = keep_name(e->text_name, name) ? format : NULL;
	e->only_text = only;
	return only;
}

/* ---- learning ---- */

static struct slice key_text(const struct jdoc *doc, jdoc_id key)
{
	struct slice raw = jdoc_raw(doc, key);
	return (struct slice){raw.data + 1, raw.len - 2};
}

/* May a value like this one be another one, as far as its form goes? */
static bool may_differ(const struct jdoc *doc, jdoc_id value)
{
	struct slice raw = jdoc_raw(doc, value);
	if (jdoc_type_of(doc, value) == JDOC_TEXT)
		return !doc->nodes[value].escaped;
	if (jdoc_type_of(doc, value) != JDOC_NUMBER)
		return false;
	for (size_t i = 0; i < raw.len; i++)
		if (raw.data[i] < '0' || raw.data[i] > '9')
			return false;
	return true;
}

/* The member of the event itself in which this byte is, if it is one that nothing looks at, may differ from now on. */
static void learn_other(struct event_repeat *e, const struct jdoc *doc, size_t at)
{
	for (struct jdoc_each each = jdoc_each(doc, JDOC_ROOT); jdoc_step(&each);) {
		const struct jdoc_node *value = &doc->nodes[each.value];
		if (at < value->begin || at >= value->end)
			continue;
		struct slice name = key_text(doc, each.key);
		if (e->others_count < EVENT_REPEAT_OTHERS && !doc->nodes[each.key].escaped && may_differ(doc, each.value) &&
		    is_ignored(e->format, name) && keep_name(e->others[e->others_count], name))
			e->others_count++;
		return;
	}
}

/* Where do the events differ, first and last? */
static void compare(struct event_repeat *e, const struct jdoc *doc, struct slice data)
{
	struct slice old = e->before;
	size_t most = data.len < old.len ? data.len : old.len, same = 0, back = 0;
	while (same < most && data.data[same] == old.data[same])
		same++;
	while (back < most - same && data.data[data.len - 1 - back] == old.data[old.len - 1 - back])
		back++;
	learn_other(e, doc, same);
	if (data.len - 1 - back > same)
		learn_other(e, doc, data.len - 1 - back);
}

static bool is_other(const struct event_repeat *e, const struct jdoc *doc, jdoc_id key)
{
	for (size_t i = 0; i < e->others_count; i++)
		if (jdoc_text_is(doc, key, e->others[i]))
			return true;
	return false;
}

static void add_gap(struct event_repeat *e, const struct jdoc *doc, jdoc_id node, bool text)
{
	const struct jdoc_node *value = &doc->nodes[node];
	uint32_t quote = value->type == JDOC_TEXT;
	e->gaps[e->gaps_count++] = (struct event_repeat_gap){
		.begin = value->begin + quote, .end = value->end - quote, .digits = !quote, .text = text};
}

/* The parts that may differ, in their order. Names are not in the list twice, but may be in an event. */
static void find_gaps(struct event_repeat *e, const struct jdoc *doc, jdoc_id text)
{
	bool done = false;
	e->gaps_count = 0;
	for (struct jdoc_each each = jdoc_each(doc, JDOC_ROOT); e->others_count && jdoc_step(&each);) {
		if (!done && doc->nodes[each.value].begin > doc->nodes[text].begin) {
			add_gap(e, doc, text, true);
			done = true;
		}
		if (e->gaps_count + !done <= EVENT_REPEAT_OTHERS && is_other(e, doc, each.key) && may_differ(doc, each.value))
			add_gap(e, doc, each.value, false);
	}
	if (!done)
		add_gap(e, doc, text, true);
}

void event_repeat_learn(struct event_repeat *e, const struct api_response *format, const struct jdoc *doc,
                        struct slice data, jdoc_id node)
{
	jdoc_id key = jdoc_key_of(doc, node);
	if (e->like.data)
		event_repeat_set_aside(e);
	if (format->text_mode != API_DELTA || format->text_after || key == JDOC_NONE || doc->nodes[key].escaped ||
	    doc->nodes[node].escaped || !is_only_text(e, format, key_text(doc, key)))
		return;
	if (e->before.data && e->format)
		compare(e, doc, data);
	e->like = data;
	find_gaps(e, doc, node);
}

/* ---- finding ---- */

/* How many bytes of a JSON string without escapes begin here; SIZE_MAX: they are not UTF-8. */
static size_t plain_length(const char *at, size_t len)
{
	size_t i = 0;
	uint64_t not_ascii = 0, marks = 0;
	for (; len - i >= 8 && !marks; i += marks ? bytes8_first(marks) : 8) {
		uint64_t word = bytes8_load(at + i);
		marks = bytes8_escaped(word);
		not_ascii |= word; /* and perhaps some bytes behind the text */
	}
	for (; i < len && !marks; i++) {
		unsigned char c = (unsigned char)at[i];
		if (c < 0x20 || c == '"' || c == '\\')
			break;
		not_ascii |= (uint64_t)c;
	}
	return !(not_ascii & BYTES8_HIGHS) || utf8_valid(at, i, NULL) ? i : SIZE_MAX;
}

/* A whole number as JSON has it: without zeros before it. */
static size_t digits_length(const char *at, size_t len)
{
	size_t i = 0;
	while (i < len && at[i] >= '0' && at[i] <= '9')
		i++;
	return i > 1 && at[0] == '0' ? SIZE_MAX : i;
}

bool event_repeat_find(const struct event_repeat *e, struct slice data, struct slice *piece)
{
	struct slice like = e->like;
	size_t from = 0, at = 0; /* the common beginning of `like` and `data` so far */
	if (!like.data)
		return false;
	for (const struct event_repeat_gap *gap = e->gaps; gap < e->gaps + e->gaps_count; gap++) {
		size_t same = gap->begin - from;
		if (data.len - at < same || memcmp(data.data + at, like.data + from, same) != 0)
			return false;
		at += same;
		from = gap->end;
		size_t len = gap->digits ? digits_length(data.data + at, data.len - at)
		                         : plain_length(data.data + at, data.len - at);
		if (len == SIZE_MAX || (!len && (gap->text || gap->digits)))
			return false;
		if (gap->text)
			*piece = (struct slice){data.data + at, len};
		at += len;
	}
	return data.len - at == like.len - from && memcmp(data.data + at, like.data + from, data.len - at) == 0;
}
