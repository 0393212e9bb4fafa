#include "sources/agent_turns.h"

#include "absent.h"
#include "json/jout.h"

struct draft_request *agent_turns_request(struct agent_turns *t)
{
	struct draft *d = t->draft;
	if (!t->open) {
		struct draft_request *r = draft_request(d);
		if (!r)
			return NULL;
		r->wait_ns = t->wait_ns;
		r->tools = t->tools;
		t->wait_ns = IPF_ABSENT;
		t->open = true;
	}
	return d->failed ? NULL : &d->requests[d->count - 1];
}

void agent_turns_add(struct agent_turns *t, enum role role, struct slice text)
{
	if (!agent_turns_request(t))
		return;
	t->asked |= role != ROLE_SYSTEM;
	draft_message(t->draft, role, draft_keep(t->draft, text));
}

/* Adds the message whose JSON is in `text`. */
static void add_json(struct agent_turns *t, enum role role, struct slice text)
{
	struct draft_message *m = draft_message(t->draft, role, text.data ? draft_keep(t->draft, text) : slice_of(""));
	if (m)
		m->json = draft_keep(t->draft, buffer_all(&t->text));
	t->draft->failed |= t->text.failed;
}

void agent_turns_result(struct agent_turns *t, struct slice call_id, struct slice text, struct slice content)
{
	struct jout w = {.out = &t->text};
	if (!agent_turns_request(t))
		return;
	t->asked = true;
	buffer_clear(&t->text);
	jout_begin_map(&w);
	jout_member_string(&w, "role", slice_of("tool"));
	jout_member_value(&w, "tool_call_id", call_id);
	jout_member_value(&w, "content", content);
	jout_end_map(&w);
	add_json(t, ROLE_USER, text);
}

static int64_t count(const struct agent_turns *t, struct slice text)
{
	return text.data ? token_counter_count(t->tokens, text.data, text.len) : 0;
}

int64_t agent_turns_call_tokens(const struct agent_turns *t, const struct jdoc *j, jdoc_id calls)
{
	int64_t tokens = 0;
	for (struct jdoc_each e = jdoc_each(j, calls); jdoc_step(&e);) {
		jdoc_id function = jdoc_get(j, e.value, "function");
		tokens += count(t, draft_text(t->draft, j, jdoc_get(j, function, "name"))) +
		          count(t, draft_text(t->draft, j, jdoc_get(j, function, "arguments")));
	}
	return tokens;
}

void agent_turns_answer(struct agent_turns *t, const struct agent_answer *answer)
{
	struct draft *d = t->draft;
	struct draft_request *r = agent_turns_request(t);
	if (!r)
		return;
	r->output_tokens = count(t, answer->content) + count(t, answer->reasoning) + answer->call_tokens;
	t->open = t->asked = false;
	if (!agent_turns_request(t)) /* the next request begins with the answer */
		return;
	struct jout w = {.out = &t->text};
	buffer_clear(&t->text);
	jout_begin_map(&w);
	jout_member_string(&w, "role", slice_of("assistant"));
	jout_member_string(&w, "content", answer->content.data ? answer->content : slice_of(""));
	jout_member_value(&w, "tool_calls", answer->calls);
	jout_end_map(&w);
	add_json(t, ROLE_ASSISTANT, answer->content);
	d->failed |= t->text.failed;
}

void agent_turns_end(struct agent_turns *t)
{
	struct draft *d = t->draft;
	if (t->open && d->count > 0)
		d->message_count = d->requests[--d->count].first;
	t->open = t->asked = false;
	t->wait_ns = IPF_ABSENT;
	t->tools = (struct slice){0};
}
