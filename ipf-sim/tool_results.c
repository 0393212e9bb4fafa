#include "tool_results.h"

#include <stdlib.h>
#include <string.h>

/* The calls of the last answer by their ids, in order of these: an answer may have thousands. */
struct open_call {
	struct slice id;
	uint32_t open; /* the calls with this id that have no result yet */
};
struct open_calls {
	struct open_call *calls;
	size_t count, open;
};

static int by_id(const void *a, const void *b)
{
	const struct slice *x = &((const struct open_call *)a)->id, *y = &((const struct open_call *)b)->id;
	int order = memcmp(x->data ? x->data : "", y->data ? y->data : "", x->len < y->len ? x->len : y->len);
	return order ? order : (x->len > y->len) - (x->len < y->len);
}

static int refuse_open(const struct open_calls *open, struct ipf_error *err)
{
	for (size_t i = 0; open->open && i < open->count; i++)
		if (open->calls[i].open)
			return ipf_error_set(err, IPF_INPUT, "messages: a tool call without a result: %.*s",
			                     (int)open->calls[i].id.len, open->calls[i].id.data);
	return 0;
}

static int take_result(struct open_calls *open, const struct jdoc *doc, jdoc_id message, struct ipf_error *err)
{
	struct open_call result = {.id = jdoc_raw(doc, jdoc_get(doc, message, "tool_call_id"))};
	struct open_call *call = result.id.data && open->count
	                             ? bsearch(&result, open->calls, open->count, sizeof result, by_id)
	                             : NULL;
	if (!call || !call->open)
		return ipf_error_set(err, IPF_INPUT, "messages: a result without a tool call: %.*s", (int)result.id.len,
		                     result.id.data ? result.id.data : "");
	call->open--;
	open->open--;
	return 0;
}

/* Calls in order, one for each id. */
static void sort_calls(struct open_calls *open, size_t count)
{
	qsort(open->calls, count, sizeof *open->calls, by_id);
	open->count = 0;
	for (size_t i = 0; i < count; i++)
		if (open->count && by_id(&open->calls[open->count - 1], &open->calls[i]) == 0)
			open->calls[open->count - 1].open++;
		else
			open->calls[open->count++] = open->calls[i];
	open->open = count;
}

static int open_calls(struct open_calls *open, const struct jdoc *doc, jdoc_id message, struct ipf_error *err)
{
	jdoc_id calls = jdoc_get(doc, message, "tool_calls"), content = jdoc_get(doc, message, "content");
	uint32_t count = jdoc_type_of(doc, calls) == JDOC_LIST ? jdoc_count(doc, calls) : 0;
	bool nothing = jdoc_is_null(doc, content) ||
	               (jdoc_type_of(doc, content) == JDOC_TEXT && jdoc_text_empty(doc, content));
	if (!count && nothing)
		return ipf_error_set(err, IPF_INPUT, "messages: an answer with neither content nor tool calls");
	struct open_call *room = realloc(open->calls, (count + 1) * sizeof *room);
	if (!room)
		return ipf_error_memory(err);
	open->calls = room;
	size_t taken = 0;
	for (struct jdoc_each e = jdoc_each(doc, calls); taken < count && jdoc_step(&e);)
		room[taken++] = (struct open_call){.id = jdoc_raw(doc, jdoc_get(doc, e.value, "id")), .open = 1};
	sort_calls(open, taken);
	return 0;
}

static int check_message(struct open_calls *open, const struct jdoc *doc, jdoc_id message, bool after_answer,
                         struct ipf_error *err)
{
	jdoc_id role = jdoc_get(doc, message, "role");
	if (jdoc_text_is(doc, role, "tool"))
		return take_result(open, doc, message, err);
	if (refuse_open(open, err) < 0)
		return -1;
	if (!jdoc_text_is(doc, role, "assistant"))
		return 0;
	if (after_answer)
		return ipf_error_set(err, IPF_INPUT, "messages: two answers, one after the other");
	return open_calls(open, doc, message, err);
}

int tool_results_check(const struct jdoc *doc, jdoc_id messages, struct ipf_error *err)
{
	struct open_calls open = {0};
	bool after_answer = false;
	int result = 0;
	for (struct jdoc_each e = jdoc_each(doc, messages); result == 0 && jdoc_step(&e);) {
		result = check_message(&open, doc, e.value, after_answer, err);
		after_answer = jdoc_text_is(doc, jdoc_get(doc, e.value, "role"), "assistant");
	}
	if (result == 0)
		result = refuse_open(&open, err);
	free(open.calls);
	return result;
}
