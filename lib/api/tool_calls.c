#include "api/tool_calls.h"

#include "absent.h"

#include <stdlib.h>

struct adding {
	struct tool_calls *calls;
	const struct api_call_places *places;
};

static void release_call(struct tool_call *call)
{
	buffer_release(&call->id);
	buffer_release(&call->name);
	buffer_release(&call->arguments);
}

static struct tool_call *new_call(struct tool_calls *calls, int64_t index)
{
	if (calls->count == TOOL_CALLS_MOST)
		return NULL;
	if (calls->count == calls->cap) {
		size_t cap = calls->cap ? 2 * calls->cap : 4;
		struct tool_call *list = realloc(calls->list, cap * sizeof *list);
		if (!list) {
			calls->failed = true;
			return NULL;
		}
		calls->list = list;
		calls->cap = cap;
	}
	struct tool_call *call = &calls->list[calls->count++];
	*call = (struct tool_call){.index = index};
	return call;
}

/* The call that the piece belongs to. A piece without an index that has a name begins one; NULL: it belongs to none. */
static struct tool_call *call_of(struct tool_calls *calls, int64_t index, bool named)
{
	for (size_t i = calls->count; index != IPF_ABSENT && i-- > 0;)
		if (calls->list[i].index == index)
			return &calls->list[i];
	if (index != IPF_ABSENT || named)
		return new_call(calls, index);
	return calls->count ? &calls->list[calls->count - 1] : NULL;
}

/* Arguments that are no text are a JSON object. */
static void append(struct buffer *to, const struct jdoc *doc, jdoc_id node)
{
	if (jdoc_type_of(doc, node) == JDOC_TEXT)
		jdoc_text(doc, node, to);
	else if (jdoc_type_of(doc, node) == JDOC_MAP)
		buffer_slice(to, jdoc_raw(doc, node));
}

static bool add_piece(const struct jdoc *doc, jdoc_id node, void *data)
{
	struct adding *a = data;
	const struct api_call_places *p = a->places;
	int64_t index;
	jdoc_id id = api_pointers_first(&p->id, doc, node), name = api_pointers_first(&p->name, doc, node),
			arguments = api_pointers_first(&p->arguments, doc, node);
	if (jdoc_type_of(doc, node) != JDOC_MAP || (id == JDOC_NONE && name == JDOC_NONE && arguments == JDOC_NONE))
		return true;
	if (!jdoc_to_int(doc, api_pointers_first(&p->index, doc, node), &index))
		index = IPF_ABSENT;
	struct tool_call *call = call_of(a->calls, index, jdoc_type_of(doc, name) == JDOC_TEXT);
	if (!call)
		return true;
	if (!call->id.len)
		append(&call->id, doc, id);
	append(&call->name, doc, name);
	append(&call->arguments, doc, arguments);
	a->calls->failed |= call->id.failed || call->name.failed || call->arguments.failed;
	return true;
}

void tool_calls_add(struct tool_calls *calls, const struct api_call_places *places, const struct jdoc *doc)
{
	struct adding a = {calls, places};
	for (size_t i = 0; i < places->each.count; i++)
		api_pointer_each(places->each.list[i], doc, JDOC_ROOT, add_piece, &a);
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
