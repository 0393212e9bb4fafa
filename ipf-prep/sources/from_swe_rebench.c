/* swe-rebench: agents' trajectories on tasks of software engineering, as messages of the chat API.
 *
 * Origin: huggingface.co/datasets/nebius/SWE-rebench-openhands-trajectories (OpenHands with function calling); others
 * are published with the same columns, such as nvidia/SWE-Zero-openhands-trajectories. Parquet or JSON, a row for each
 * trajectory:
 *
 *     trajectory_id  the session
 *     trajectory     list of messages in order:
 *         role           system, user, assistant or tool
 *         content        text, or a list of parts with texts
 *         tool_calls     of the assistant: list of {"id", "type", "function": {"name", "arguments"}}, or null
 *         tool_call_id   of a tool
 *     tools          the tools of all requests (optional)
 *     instance_id    the task; becomes the tag "task" (optional)
 *
 * A request has the messages before a message of the assistant (agent_turns.h). There are no times. Columns of Parquet
 * have the members of all rows: null ones are dropped. Other members are ignored.
 */
#include "absent.h"
#include "json/jout.h"
#include "sources/agent_turns.h"
#include "sources/chat_fields.h"
#include "sources/record_fields.h"
#include "sources/sniff.h"

struct state {
	struct agent_turns turns;
};

static int open_state(void *opened, const struct source_settings *settings, struct ipf_error *err)
{
	(void)err;
	((struct state *)opened)->turns.tokens = settings->tokens;
	return 0;
}

static void close_state(void *opened)
{
	buffer_release(&((struct state *)opened)->turns.text);
}

static int read_answer(struct agent_turns *t, const struct jdoc *j, jdoc_id message, struct slice content,
                       struct ipf_error *err)
{
	jdoc_id calls = jdoc_get(j, message, "tool_calls");
	if (!jdoc_is_null(j, calls) && jdoc_type_of(j, calls) != JDOC_LIST)
		return jdoc_expected(j, calls, "tool_calls", "a list", err);
	struct agent_answer answer = {.content = content, .call_tokens = agent_turns_call_tokens(t, j, calls)};
	if (jdoc_count(j, calls) > 0)
		answer.calls = chat_without_nulls(t->draft, j, calls);
	agent_turns_answer(t, &answer);
	return 0;
}

/* The content is the text a tool gave; its JSON is written anew, since it may be in parts. */
static int read_result(struct agent_turns *t, const struct jdoc *j, jdoc_id message, struct slice content,
                       struct ipf_error *err)
{
	jdoc_id id = jdoc_get(j, message, "tool_call_id");
	struct buffer text = {0};
	struct jout w = {.out = &text};
	if (jdoc_type_of(j, id) != JDOC_TEXT)
		return jdoc_expected(j, id, "tool_call_id", "a string", err);
	jout_string(&w, content);
	agent_turns_result(t, jdoc_raw(j, id), content, draft_take_buffer(t->draft, &text));
	return 0;
}

static int read_message(struct agent_turns *t, const struct jdoc *j, jdoc_id message, struct ipf_error *err)
{
	jdoc_id role = jdoc_get(j, message, "role"), content = jdoc_get(j, message, "content");
	if (!jdoc_is_null(j, content) && jdoc_type_of(j, content) != JDOC_TEXT && jdoc_type_of(j, content) != JDOC_LIST)
		return jdoc_expected(j, content, "content", "a string or a list of parts", err);
	struct slice text = chat_content(t->draft, j, content);
	if (!text.data)
		text = slice_of("");
	if (jdoc_text_is(j, role, "system"))
		agent_turns_add(t, ROLE_SYSTEM, text);
	else if (jdoc_text_is(j, role, "user"))
		agent_turns_add(t, ROLE_USER, text);
	else if (jdoc_text_is(j, role, "tool"))
		return read_result(t, j, message, text, err);
	else if (!jdoc_text_is(j, role, "assistant"))
		return jdoc_expected(j, role, "role", "system, user, assistant or tool", err);
	else if (t->draft->message_count == 0)
		return jdoc_expected(j, role, "role", "system or user first", err);
	else
		return read_answer(t, j, message, text, err);
	return 0;
}

static int read_messages(struct agent_turns *t, const struct jdoc *j, jdoc_id list, struct ipf_error *err)
{
	struct ipf_error wrong = {0};
	uint32_t at = 0;
	for (struct jdoc_each e = jdoc_each(j, list); jdoc_step(&e) && !t->draft->failed; at++)
		if (read_message(t, j, e.value, &wrong) < 0)
			return ipf_error_set(err, IPF_INPUT, "trajectory/%u/%s", at, wrong.text);
	return 0;
}

static struct slice read_tools(struct draft *d, const struct jdoc *j, jdoc_id node)
{
	struct jdoc inner = {0};
	struct ipf_error ignored = {0};
	struct slice tools = {0}, plain = chat_without_nulls(d, j, node);
	if (plain.data && jdoc_parse(&inner, plain.data, plain.len, &ignored) == 0)
		tools = chat_tools(d, &inner, JDOC_ROOT);
	jdoc_release(&inner);
	return tools;
}

static int read_record(void *opened, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	struct agent_turns *t = &((struct state *)opened)->turns;
	const struct jdoc *j = record->json;
	struct draft *d = &sink->draft;
	struct slice task;
	jdoc_id list;
	*t = (struct agent_turns){.draft = d, .tokens = t->tokens, .wait_ns = IPF_ABSENT, .text = t->text};
	if (need_object(j, JDOC_ROOT, "record", err) < 0 ||
	    need_name(d, j, JDOC_ROOT, "trajectory_id", &d->session, err) < 0 ||
	    field_name(d, j, JDOC_ROOT, "instance_id", &task, err) < 0 ||
	    need_list(j, JDOC_ROOT, "trajectory", &list, err) < 0)
		return -1;
	t->tools = read_tools(d, j, jdoc_get(j, JDOC_ROOT, "tools"));
	if (read_messages(t, j, list, err) < 0)
		return -1;
	agent_turns_end(t);
	d->failed |= t->text.failed;
	if (d->count == 0 && !d->failed)
		sink->unusable(sink, "no answer");
	if (d->count == 0 || d->failed)
		return 0;
	d->chain = true;
	struct slice tags = text_tag(d, "task", task);
	for (size_t i = 0; i < d->count; i++)
		d->requests[i].tags = tags;
	return sink->take(sink, d, err);
}

static bool recognises(const struct sniff *sniff)
{
	return sniff_members(sniff, "trajectory_id trajectory");
}

const struct source_format source_swe_rebench = {
	.name = "swe-rebench",
	.about = "agents' trajectories on software tasks (Parquet or JSON; SWE-rebench-OpenHands): messages, tools, calls",
	.kind = SOURCE_TRACE,
	.unit = UNIT_JSON,
	.traits = HAS_SESSIONS,
	.state_size = sizeof(struct state),
	.open = open_state,
	.read_record = read_record,
	.recognises = recognises,
	.close = close_state,
};
