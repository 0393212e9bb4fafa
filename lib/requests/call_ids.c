#include "requests/call_ids.h"

#include "array.h"
#include "requests/chat_parts.h"
#include "json/jout.h"
#include "name_set.h"

#include <stdlib.h>
#include <string.h>

static struct slice text_at(const struct call_ids *ids, size_t begin, size_t len)
{
	return len ? (struct slice){ids->texts.data + begin, len} : (struct slice){"", 0};
}

static struct slice recorded(const struct call_ids *ids, const struct call_id *id)
{
	return text_at(ids, id->recorded, id->recorded_len);
}

static struct slice sent(const struct call_ids *ids, const struct call_id *id)
{
	return text_at(ids, id->sent, id->sent_len);
}

/* Appends the text of a node to `texts`; 0: it is no text, or an empty one. */
static size_t keep_text(struct call_ids *ids, jdoc_id node)
{
	const size_t before = ids->texts.len;
	if (jdoc_type_of(&ids->doc, node) == JDOC_TEXT)
		jdoc_text(&ids->doc, node, &ids->texts);
	return ids->texts.len - before;
}

/* ---- calls ---- */

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

/* Appends the id the call would like to have: its own, in the characters allowed. */
static void append_wanted(struct call_ids *ids, struct call_id *id, enum call_ids_rule rule)
{
	id->sent = ids->texts.len;
	buffer_clear(&ids->scratch);
	buffer_slice(&ids->scratch, recorded(ids, id));
	for (size_t i = 0; i < ids->scratch.len && rule == CALL_IDS_WORD; i++)
		if (!is_word(ids->scratch.data[i])) {
			ids->scratch.data[i] = '_';
			ids->changed = true;
		}
	buffer_slice(&ids->texts, buffer_all(&ids->scratch));
	id->sent_len = id->recorded_len;
}

static void add_call(struct call_ids *ids, jdoc_id call, enum call_ids_rule rule, struct name_set *used)
{
	if (!array_room(ids->calls, ids->cap, ids->count + 1)) {
		ids->failed = true;
		return;
	}
	struct call_id *id = &ids->calls[ids->count];
	*id = (struct call_id){.recorded = ids->texts.len, .call = call};
	id->recorded_len = keep_text(ids, jdoc_get(&ids->doc, call, "id"));
	append_wanted(ids, id, rule);
	for (size_t number = ids->count + 1; !id->sent_len || (!name_set_add(used, sent(ids, id)) && !used->failed);
	     number++) {
		ids->changed = true;
		ids->texts.len = id->sent;
		buffer_format(&ids->texts, "call%05zu", number);
		id->sent_len = ids->texts.len - id->sent;
		if (ids->texts.failed)
			break;
	}
	ids->count++;
}

/* ---- results ---- */

static bool same_name(const struct call_ids *ids, jdoc_id result, jdoc_id call)
{
	jdoc_id name = jdoc_get(&ids->doc, result, "name");
	return jdoc_type_of(&ids->doc, name) != JDOC_TEXT ||
	       slice_equal(jdoc_raw(&ids->doc, name), jdoc_raw(&ids->doc, chat_parts_tool_member(&ids->doc, call, "name")));
}

/* The first call of the group that waits for a result and has this id; "": one of this name that has none. */
static size_t waiting(const struct call_ids *ids, struct slice id, jdoc_id result)
{
	for (size_t i = ids->group; i < ids->count; i++)
		if (!ids->calls[i].answered && slice_equal(recorded(ids, &ids->calls[i]), id) &&
		    (id.len || same_name(ids, result, ids->calls[i].call)))
			return i;
	return SIZE_MAX;
}

/* Which call a result is of. */
static size_t call_of(const struct call_ids *ids, struct slice id, jdoc_id result)
{
	size_t found = waiting(ids, id, result);
	for (size_t i = ids->count; id.len && found == SIZE_MAX && i-- > 0;) /* an earlier message's, or a second result */
		if (slice_equal(recorded(ids, &ids->calls[i]), id))
			return i;
	if (id.len)
		return found != SIZE_MAX ? found : waiting(ids, (struct slice){ids->texts.data, 0}, result);
	for (size_t i = ids->group; found == SIZE_MAX && i < ids->count; i++)
		if (!ids->calls[i].answered && same_name(ids, result, ids->calls[i].call))
			return i;
	return found;
}

static void add_result(struct call_ids *ids, jdoc_id message)
{
	const size_t begin = ids->texts.len;
	if (!array_room(ids->results, ids->results_cap, ids->results_count + 1)) {
		ids->failed = true;
		return;
	}
	const size_t len = keep_text(ids, jdoc_get(&ids->doc, message, "tool_call_id"));
	const size_t call = ids->texts.failed ? SIZE_MAX : call_of(ids, text_at(ids, begin, len), message);
	ids->results[ids->results_count++] = call;
	if (call == SIZE_MAX)
		return;
	ids->calls[call].answered = true;
	ids->changed |= !slice_equal(sent(ids, &ids->calls[call]), text_at(ids, begin, len));
}

static bool is_tool(const struct jdoc *doc, jdoc_id message)
{
	return jdoc_text_is(doc, jdoc_get(doc, message, "role"), "tool");
}

/* Fills `calls` and `results`, in their order. */
static void assign(struct call_ids *ids, enum call_ids_rule rule)
{
	struct name_set used = {0};
	const struct jdoc *doc = &ids->doc;
	for (struct jdoc_each e = jdoc_each(doc, JDOC_ROOT); !ids->failed && jdoc_step(&e);) {
		jdoc_id calls = chat_parts_calls(doc, e.value);
		if (calls != JDOC_NONE)
			ids->group = ids->count;
		for (struct jdoc_each c = jdoc_each(doc, calls); !ids->failed && jdoc_step(&c);)
			add_call(ids, c.value, rule, &used);
		if (is_tool(doc, e.value))
			add_result(ids, e.value);
	}
	ids->failed |= used.failed || ids->texts.failed || ids->scratch.failed;
	name_set_release(&used);
}

/* ---- writing ---- */

/* The map with another value of the member, or with one if it has none. */
static void write_map(const struct call_ids *ids, struct jout *w, jdoc_id map, const char *member, struct slice id)
{
	bool there = false;
	if (jdoc_type_of(&ids->doc, map) != JDOC_MAP) {
		jout_value(w, jdoc_raw(&ids->doc, map));
		return;
	}
	jout_begin_map(w);
	for (struct jdoc_each e = jdoc_each(&ids->doc, map); jdoc_step(&e);) {
		const bool replaced = jdoc_text_is(&ids->doc, e.key, member);
		jout_value(w, jdoc_raw(&ids->doc, e.key));
		buffer_byte(w->out, ':');
		w->comma = false;
		if (replaced)
			jout_string(w, id);
		else
			jout_value(w, jdoc_raw(&ids->doc, e.value));
		there |= replaced;
	}
	if (!there)
		jout_member_string(w, member, id);
	jout_end_map(w);
}

static void write_calls(const struct call_ids *ids, struct jout *w, jdoc_id message, size_t *call)
{
	jdoc_id calls = chat_parts_calls(&ids->doc, message);
	jout_begin_map(w);
	for (struct jdoc_each e = jdoc_each(&ids->doc, message); jdoc_step(&e);) {
		jout_value(w, jdoc_raw(&ids->doc, e.key));
		buffer_byte(w->out, ':');
		w->comma = false;
		if (e.value != calls) {
			jout_value(w, jdoc_raw(&ids->doc, e.value));
			continue;
		}
		jout_begin_list(w);
		for (struct jdoc_each c = jdoc_each(&ids->doc, calls); jdoc_step(&c); ++*call)
			write_map(ids, w, c.value, "id", sent(ids, &ids->calls[*call]));
		jout_end_list(w);
	}
	jout_end_map(w);
}

static void write_list(struct call_ids *ids)
{
	struct jout w = {.out = &ids->list};
	size_t call = 0, result = 0;
	buffer_clear(&ids->list);
	jout_begin_list(&w);
	for (struct jdoc_each e = jdoc_each(&ids->doc, JDOC_ROOT); jdoc_step(&e);) {
		const size_t of = is_tool(&ids->doc, e.value) ? ids->results[result++] : SIZE_MAX;
		if (chat_parts_calls(&ids->doc, e.value) != JDOC_NONE)
			write_calls(ids, &w, e.value, &call);
		else if (of != SIZE_MAX)
			write_map(ids, &w, e.value, "tool_call_id", sent(ids, &ids->calls[of]));
		else
			jout_value(&w, jdoc_raw(&ids->doc, e.value));
	}
	jout_end_list(&w);
}

struct slice call_ids_repair(struct call_ids *ids, struct slice messages, enum call_ids_rule rule)
{
	static const char mark[] = "\"tool_calls\"";
	struct ipf_error why = {0};
	if (!messages.data || !memmem(messages.data, messages.len, mark, sizeof mark - 1))
		return messages;
	if (jdoc_parse(&ids->doc, messages.data, messages.len, &why) < 0)
		return why.kind == IPF_SYSTEM ? (struct slice){0} : messages;
	buffer_clear(&ids->texts);
	ids->count = ids->group = ids->results_count = 0;
	ids->changed = ids->failed = false;
	assign(ids, rule);
	if (!ids->failed && ids->changed)
		write_list(ids);
	if (ids->failed || ids->list.failed)
		return (struct slice){0};
	return ids->changed ? buffer_all(&ids->list) : messages;
}

void call_ids_release(struct call_ids *ids)
{
	jdoc_release(&ids->doc);
	buffer_release(&ids->texts);
	buffer_release(&ids->list);
	buffer_release(&ids->scratch);
	free(ids->calls);
	free(ids->results);
	*ids = (struct call_ids){0};
}
