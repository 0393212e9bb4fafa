/* mlperf-agentic: agentic conversations of MLPerf.
 *
 * Origin: github.com/mlcommons/endpoints, examples/11_Edge_Agentic_Example. JSON Lines, a turn a line, the turns of a
 * conversation next to each other:
 *
 *     conversation_id  the conversation
 *     role             user, assistant or tool
 *     content          text (user, assistant)
 *     system           system message (user; optional)
 *     tools            tools of the conversation (user; optional)
 *     reasoning_content, tool_calls  (assistant; optional)
 *     tool_results     list of {"tool_call_id", "content"} (tool)
 *     delay_seconds    how long the tool took (tool; optional)
 *
 * A request has the messages before an assistant's turn (agent_turns.h). `turn` is ignored.
 */
#include "absent.h"
#include "clock.h"
#include "sources/agent_turns.h"
#include "sources/chat_fields.h"
#include "sources/sniff.h"
#include "sources/record_fields.h"

struct state {
	struct draft draft; /* the conversation in progress */
	int64_t number;     /* its first record's */
	struct agent_turns turns;
};

static int open_state(void *opened, const struct source_settings *settings, struct ipf_error *err)
{
	struct state *s = opened;
	(void)err;
	s->turns = (struct agent_turns){.draft = &s->draft, .tokens = settings->tokens, .wait_ns = IPF_ABSENT};
	return 0;
}

static void close_state(void *opened)
{
	struct state *s = opened;
	draft_release(&s->draft);
	buffer_release(&s->turns.text);
}

static int end_conversation(struct state *s, struct sink *sink, struct ipf_error *err)
{
	struct draft *d = &s->draft;
	int status = 0;
	agent_turns_end(&s->turns);
	if (d->count > 0 && !d->failed) {
		d->number = s->number;
		d->chain = true;
		status = sink->take(sink, d, err);
	}
	sink->draft.failed |= d->failed;
	draft_reset(d);
	return status;
}

static int read_user(struct state *s, const struct jdoc *j, struct ipf_error *err)
{
	struct draft *d = &s->draft;
	struct slice content, system;
	if (need_text(d, j, JDOC_ROOT, "content", &content, err) < 0 ||
	    field_text(d, j, JDOC_ROOT, "system", &system, err) < 0)
		return -1;
	struct slice tools = chat_tools(d, j, jdoc_get(j, JDOC_ROOT, "tools"));
	struct draft_request *r = agent_turns_request(&s->turns);
	if (!r)
		return 0;
	if (tools.data)
		r->tools = s->turns.tools = tools;
	if (system.len > 0)
		agent_turns_add(&s->turns, ROLE_SYSTEM, system);
	agent_turns_add(&s->turns, ROLE_USER, content);
	return 0;
}

static int read_tool(struct state *s, const struct jdoc *j, struct ipf_error *err)
{
	struct draft *d = &s->draft;
	jdoc_id results;
	int64_t delay_ns = 0;
	if (need_list(j, JDOC_ROOT, "tool_results", &results, err) < 0 ||
	    field_duration(j, JDOC_ROOT, "delay_seconds", NS_PER_S, &delay_ns, err) < 0)
		return -1;
	struct draft_request *r = agent_turns_request(&s->turns);
	if (!r)
		return 0;
	s->turns.asked = true;
	r->wait_ns = (r->wait_ns == IPF_ABSENT ? 0 : r->wait_ns) + delay_ns;
	for (struct jdoc_each e = jdoc_each(j, results); jdoc_step(&e);) {
		jdoc_id content = jdoc_get(j, e.value, "content");
		agent_turns_result(&s->turns, jdoc_raw(j, jdoc_get(j, e.value, "tool_call_id")), draft_text(d, j, content),
		                   jdoc_raw(j, content));
	}
	return 0;
}

static int read_assistant(struct state *s, const struct jdoc *j, struct ipf_error *err)
{
	struct draft *d = &s->draft;
	struct agent_answer answer = {0};
	jdoc_id calls = jdoc_get(j, JDOC_ROOT, "tool_calls");
	if (field_text(d, j, JDOC_ROOT, "content", &answer.content, err) < 0 ||
	    field_text(d, j, JDOC_ROOT, "reasoning_content", &answer.reasoning, err) < 0)
		return -1;
	if (!s->turns.asked)
		return ipf_error_set(err, IPF_INPUT, "role: expected user or tool before another assistant, got \"assistant\"");
	answer.call_tokens = agent_turns_call_tokens(&s->turns, j, calls);
	if (jdoc_count(j, calls) > 0)
		answer.calls = jdoc_raw(j, calls);
	agent_turns_answer(&s->turns, &answer);
	return 0;
}

static int read_record(void *opened, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	struct state *s = opened;
	const struct jdoc *j = record->json;
	struct slice id;
	if (need_object(j, JDOC_ROOT, "record", err) < 0 ||
	    need_name(&sink->draft, j, JDOC_ROOT, "conversation_id", &id, err) < 0)
		return -1;
	if (!slice_equal(s->draft.session, id)) {
		if (end_conversation(s, sink, err) < 0)
			return -1;
		s->number = record->number;
		s->draft.session = draft_keep(&s->draft, id);
	}
	jdoc_id role = jdoc_get(j, JDOC_ROOT, "role");
	int status = jdoc_text_is(j, role, "user")        ? read_user(s, j, err)
	             : jdoc_text_is(j, role, "tool")      ? read_tool(s, j, err)
	             : jdoc_text_is(j, role, "assistant") ? read_assistant(s, j, err)
	                                                  : jdoc_expected(j, role, "role", "user, assistant or tool", err);
	sink->draft.failed |= s->draft.failed;
	return status;
}

static int finish(void *opened, struct sink *sink, struct ipf_error *err)
{
	return end_conversation(opened, sink, err);
}

static bool recognises(const struct sniff *sniff)
{
	return sniff_members(sniff, "conversation_id turn role");
}

const struct source_format source_mlperf_agentic = {
	.name = "mlperf-agentic",
	.about = "MLPerf agentic conversations (JSON Lines): turns of user, assistant and tools, with tool delays",
	.kind = SOURCE_TRACE,
	.unit = UNIT_JSON,
	.traits = HAS_SESSIONS,
	.state_size = sizeof(struct state),
	.open = open_state,
	.read_record = read_record,
	.finish = finish,
	.recognises = recognises,
	.close = close_state,
};
