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
 * A request is what leads up to an assistant's turn. A recorded answer may consist of tool calls, which a plain text
 * cannot hold; therefore it is not the request's answer but the first message of the next request. The request's
 * output length is the number of tokens in the answer's content, reasoning and calls. `turn` is ignored.
 */
#include "absent.h"
#include "clock.h"
#include "json/jout.h"
#include "sources/chat_fields.h"
#include "sources/sniff.h"
#include "sources/record_fields.h"

struct state {
	const struct token_counter *tokens;
	struct draft draft; /* the conversation in progress */
	int64_t number;     /* of its first record */
	int64_t wait_ns;    /* time that tools took since the last answer; IPF_ABSENT */
	struct slice tools;
	bool open;  /* the last request has no answer yet */
	bool asked; /* and it has a message of the user or of a tool */
	struct buffer text;
};

static int open_state(void *opened, const struct source_settings *settings, struct ipf_error *err)
{
	struct state *s = opened;
	(void)err;
	s->tokens = settings->tokens;
	s->wait_ns = IPF_ABSENT;
	return 0;
}

static void close_state(void *opened)
{
	struct state *s = opened;
	draft_release(&s->draft);
	buffer_release(&s->text);
}

static int end_conversation(struct state *s, struct sink *sink, struct ipf_error *err)
{
	struct draft *d = &s->draft;
	int status = 0;
	if (s->open && d->count > 0) /* it was never answered */
		d->message_count = d->requests[--d->count].first;
	if (d->count > 0 && !d->failed) {
		d->number = s->number;
		d->chain = true;
		status = sink->take(sink, d, err);
	}
	sink->draft.failed |= d->failed;
	draft_reset(d);
	s->open = s->asked = false;
	s->wait_ns = IPF_ABSENT;
	s->tools = (struct slice){0};
	return status;
}

/* The request that has no answer yet; a new one if there is none. NULL when out of memory. */
static struct draft_request *open_request(struct state *s)
{
	struct draft *d = &s->draft;
	if (!s->open) {
		struct draft_request *r = draft_request(d);
		if (!r)
			return NULL;
		r->wait_ns = s->wait_ns;
		r->tools = s->tools;
		s->wait_ns = IPF_ABSENT;
		s->open = true;
	}
	return d->failed ? NULL : &d->requests[d->count - 1];
}

static int read_user(struct state *s, const struct jdoc *j, struct ipf_error *err)
{
	struct draft *d = &s->draft;
	struct slice content, system;
	if (need_text(d, j, JDOC_ROOT, "content", &content, err) < 0 ||
	    field_text(d, j, JDOC_ROOT, "system", &system, err) < 0)
		return -1;
	struct slice tools = chat_tools(d, j, jdoc_get(j, JDOC_ROOT, "tools"));
	struct draft_request *r = open_request(s);
	if (!r)
		return 0;
	s->asked = true;
	if (tools.data)
		r->tools = s->tools = tools;
	if (system.len > 0)
		draft_message(d, ROLE_SYSTEM, draft_keep(d, system));
	draft_message(d, ROLE_USER, draft_keep(d, content));
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
	struct draft_request *r = open_request(s);
	if (!r)
		return 0;
	s->asked = true;
	r->wait_ns = (r->wait_ns == IPF_ABSENT ? 0 : r->wait_ns) + delay_ns;
	for (struct jdoc_each e = jdoc_each(j, results); jdoc_step(&e);) {
		struct jout w = {.out = &s->text};
		buffer_clear(&s->text);
		jout_begin_map(&w);
		jout_member_string(&w, "role", slice_of("tool"));
		jout_member_value(&w, "tool_call_id", jdoc_raw(j, jdoc_get(j, e.value, "tool_call_id")));
		jout_member_value(&w, "content", jdoc_raw(j, jdoc_get(j, e.value, "content")));
		jout_end_map(&w);
		struct draft_message *m = draft_message(d, ROLE_USER,
		                                        draft_keep(d, draft_text(d, j, jdoc_get(j, e.value, "content"))));
		if (m)
			m->json = draft_keep(d, buffer_all(&s->text));
	}
	return 0;
}

/* The tokens of tool calls: names and arguments. */
static int64_t call_tokens(const struct state *s, struct draft *d, const struct jdoc *j, jdoc_id calls)
{
	int64_t count = 0;
	for (struct jdoc_each e = jdoc_each(j, calls); jdoc_step(&e);) {
		jdoc_id function = jdoc_get(j, e.value, "function");
		struct slice name = draft_text(d, j, jdoc_get(j, function, "name")),
					 arguments = draft_text(d, j, jdoc_get(j, function, "arguments"));
		count += (name.data ? token_counter_count(s->tokens, name.data, name.len) : 0) +
		         (arguments.data ? token_counter_count(s->tokens, arguments.data, arguments.len) : 0);
	}
	return count;
}

static int read_assistant(struct state *s, const struct jdoc *j, struct ipf_error *err)
{
	struct draft *d = &s->draft;
	struct slice content, reasoning;
	jdoc_id calls = jdoc_get(j, JDOC_ROOT, "tool_calls");
	if (field_text(d, j, JDOC_ROOT, "content", &content, err) < 0 ||
	    field_text(d, j, JDOC_ROOT, "reasoning_content", &reasoning, err) < 0)
		return -1;
	if (!s->asked)
		return ipf_error_set(err, IPF_INPUT, "role: expected user or tool before another assistant, got \"assistant\"");
	struct draft_request *r = &d->requests[d->count - 1];
	r->output_tokens = (content.data ? token_counter_count(s->tokens, content.data, content.len) : 0) +
	                   (reasoning.data ? token_counter_count(s->tokens, reasoning.data, reasoning.len) : 0) +
	                   call_tokens(s, d, j, calls);
	s->open = s->asked = false;
	if (!open_request(s)) /* the next request begins with the answer */
		return 0;
	struct jout w = {.out = &s->text};
	buffer_clear(&s->text);
	jout_begin_map(&w);
	jout_member_string(&w, "role", slice_of("assistant"));
	jout_member_string(&w, "content", content.data ? content : slice_of(""));
	if (jdoc_count(j, calls) > 0)
		jout_member_value(&w, "tool_calls", jdoc_raw(j, calls));
	jout_end_map(&w);
	struct draft_message *m = draft_message(d, ROLE_ASSISTANT, content.data ? draft_keep(d, content) : slice_of(""));
	if (m)
		m->json = draft_keep(d, buffer_all(&s->text));
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
	sink->draft.failed |= s->draft.failed || s->text.failed;
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
