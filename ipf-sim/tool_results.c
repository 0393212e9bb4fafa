#include "tool_results.h"

#include <stdlib.h>

/* The calls of the last answer without a result yet, by their ids. */
struct open_calls {
	struct slice *ids;
	size_t count;
};

static int refuse_open(const struct open_calls *open, struct ipf_error *err)
{
	if (!open->count)
		return 0;
	return ipf_error_set(err, IPF_INPUT, "messages: a tool call without a result: %.*s", (int)open->ids[0].len,
	                     open->ids[0].data);
}

static int take_result(struct open_calls *open, const struct jdoc *doc, jdoc_id message, struct ipf_error *err)
{
	struct slice id = jdoc_raw(doc, jdoc_get(doc, message, "tool_call_id"));
	for (size_t i = 0; i < open->count; i++)
		if (id.data && slice_equal(open->ids[i], id)) {
			open->ids[i] = open->ids[--open->count];
			return 0;
		}
	return ipf_error_set(err, IPF_INPUT, "messages: a result without a tool call: %.*s", (int)id.len,
	                     id.data ? id.data : "");
}

static int open_calls(struct open_calls *open, const struct jdoc *doc, jdoc_id message, struct ipf_error *err)
{
	jdoc_id calls = jdoc_get(doc, message, "tool_calls"), content = jdoc_get(doc, message, "content");
	uint32_t count = jdoc_type_of(doc, calls) == JDOC_LIST ? jdoc_count(doc, calls) : 0;
	bool nothing = jdoc_is_null(doc, content) ||
	               (jdoc_type_of(doc, content) == JDOC_TEXT && jdoc_text_empty(doc, content));
	if (!count && nothing)
		return ipf_error_set(err, IPF_INPUT, "messages: an answer with neither content nor tool calls");
	struct slice *ids = realloc(open->ids, (count + 1) * sizeof *ids);
	if (!ids)
		return ipf_error_memory(err);
	open->ids = ids;
	for (uint32_t i = 0; i < count; i++)
		ids[i] = jdoc_raw(doc, jdoc_get(doc, jdoc_at(doc, calls, i), "id"));
	open->count = count;
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
	free(open.ids);
	return result;
}
