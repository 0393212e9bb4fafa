#include "api/tool_calls.h"

#include "absent.h"
#include "array.h"

#include <stdlib.h>

struct adding {
	struct tool_calls *calls;
	const struct api_call_places *places;
	int64_t position, choice; /* the place of a choice among all, and its index */
	bool single;
};

static void release_call(struct tool_call *call)
{
	buffer_release(&call->id);
	buffer_release(&call->name);
	buffer_release(&call->arguments);
}

static struct tool_call *new_call(struct tool_calls *calls, int64_t choice, int64_t index)
{
	if (calls->count == TOOL_CALLS_MOST)
		return NULL;
	if (!array_room(calls->list, calls->cap, calls->count + 1)) {
		calls->failed = true;
		return NULL;
	}
	struct tool_call *call = &calls->list[calls->count++];
	*call = (struct tool_call){.choice = choice, .index = index};
	return call;
}

/* The call of the choice the piece belongs to. A piece without an index with a name begins one, others belong to the
 * latest one; NULL: it belongs to none. */
static struct tool_call *call_of(struct tool_calls *calls, int64_t choice, int64_t index, bool named)
{
	const bool begins = index == IPF_ABSENT && named;
	for (size_t i = calls->count; !begins && i-- > 0;)
		if (calls->list[i].choice == choice && (index == IPF_ABSENT || calls->list[i].index == index))
			return &calls->list[i];
	return begins || index != IPF_ABSENT ? new_call(calls, choice, index) : NULL;
}

/* Arguments that are no text are a JSON object. */
static void append(struct buffer *to, const struct jdoc *doc, jdoc_id node)
{
	if (jdoc_type_of(doc, node) == JDOC_TEXT)
		jdoc_text(doc, node, to);
	else if (jdoc_type_of(doc, node) == JDOC_MAP)
		buffer_slice(to, jdoc_raw(doc, node));
}

/* Some servers repeat empty texts in each event, also of an answer without calls. */
static bool is_empty(const struct jdoc *doc, jdoc_id node)
{
	return node == JDOC_NONE || (jdoc_type_of(doc, node) == JDOC_TEXT && jdoc_raw(doc, node).len <= 2);
}

static bool add_piece(const struct jdoc *doc, jdoc_id node, void *data)
{
	struct adding *a = data;
	const struct api_call_places *p = a->places;
	int64_t index = TOOL_CALL_SINGLE;
	jdoc_id id = api_pointers_first(&p->id, doc, node), name = api_pointers_first(&p->name, doc, node),
			arguments = api_pointers_first(&p->arguments, doc, node);
	if (jdoc_type_of(doc, node) != JDOC_MAP || (is_empty(doc, id) && is_empty(doc, name) && is_empty(doc, arguments)))
		return true;
	if (!a->single && !jdoc_to_int(doc, api_pointers_first(&p->index, doc, node), &index))
		index = IPF_ABSENT;
	struct tool_call *call = call_of(a->calls, a->choice, index, jdoc_type_of(doc, name) == JDOC_TEXT);
	if (!call)
		return true;
	if (!call->id.len)
		append(&call->id, doc, id);
	append(&call->name, doc, name);
	append(&call->arguments, doc, arguments);
	a->calls->failed |= call->id.failed || call->name.failed || call->arguments.failed;
	return true;
}

static bool add_choice(const struct jdoc *doc, jdoc_id node, void *data)
{
	struct adding *a = data;
	const struct api_pointers *lists[] = {&a->places->each, &a->places->single};
	if (!jdoc_to_int(doc, api_pointers_first(&a->places->choice, doc, node), &a->choice))
		a->choice = a->position;
	a->position++;
	for (int k = 0; k < 2; k++) {
		a->single = k == 1;
		for (size_t i = 0; i < lists[k]->count; i++)
			api_pointer_each(lists[k]->list[i], doc, node, add_piece, a);
	}
	return true;
}

void tool_calls_add(struct tool_calls *calls, const struct api_call_places *places, const struct jdoc *doc)
{
	struct adding a = {.calls = calls, .places = places};
	if (!places->choices.count)
		add_choice(doc, JDOC_ROOT, &a);
	for (size_t i = 0; i < places->choices.count; i++)
		api_pointer_each(places->choices.list[i], doc, JDOC_ROOT, add_choice, &a);
}

size_t tool_calls_count(const struct tool_calls *calls)
{
	size_t count = 0;
	for (size_t i = 0; i < calls->count; i++)
		count += calls->list[i].name.len || calls->list[i].arguments.len;
	return count;
}

void tool_calls_keep_one_choice(struct tool_calls *calls)
{
	int64_t first = INT64_MAX;
	size_t kept = 0;
	for (size_t i = 0; i < calls->count; i++)
		if (calls->list[i].choice < first)
			first = calls->list[i].choice;
	for (size_t i = 0; i < calls->count; i++) {
		if (calls->list[i].choice == first)
			calls->list[kept++] = calls->list[i];
		else
			release_call(&calls->list[i]);
	}
	calls->count = kept;
}

void tool_calls_clear(struct tool_calls *calls)
{
	while (calls->count)
		release_call(&calls->list[--calls->count]);
	calls->failed = false;
}

void tool_calls_release(struct tool_calls *calls)
{
	tool_calls_clear(calls);
	free(calls->list);
	*calls = (struct tool_calls){0};
}
