/* MLPerf's agentic conversations: JSON Lines, a turn each, of three kinds: role "user" (content, system, tools),
 * "assistant" (content, reasoning_content, tool_calls) and "tool" (tool_results, delay_seconds: how long the tool
 * took). Lines of a conversation stand together.
 *
 * A request is what leads up to an assistant's turn. Since a recorded answer may be calls of tools, which a text cannot
 * hold, it stands at the beginning of the next request's messages.
 */
#include "sources/detect_format.h"
#include "sources/record_fields.h"

#include "absent.h"
#include "clock.h"
#include "json/jout.h"

#include <stdlib.h>

struct state {
	const struct token_counter *tokens;
	struct draft draft;      /* the conversation under way */
	int64_t number, wait_ns; /* its first record; the tools' time since the last answer */
	struct slice tools;
	bool open;  /* the last request waits for its answer … */
	bool asked; /* … and somebody has asked, or a tool answered, in it */
	struct buffer text;
};

static int open_source(void **opened, const struct source_settings *settings, struct ipf_error *err)
{
	struct state *s = calloc(1, sizeof *s);
	if (!s)
		return ipf_error_memory(err);
	s->tokens = settings->tokens;
	s->wait_ns = IPF_ABSENT;
	*opened = s;
	return 0;
}

static void close_source(void *opened)
{
	struct state *s = opened;
	if (!s)
		return;
	draft_release(&s->draft);
	buffer_release(&s->text);
	free(s);
}

static int end_conversation(struct state *s, struct sink *sink, struct ipf_error *err)
{
	struct draft *d = &s->draft;
	int status = 0;
	if (s->open && d->count > 0) /* nobody answered */
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

/* The request that is being put together. */
static struct draft_request *asking(struct state *s)
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

static int user_turn(struct state *s, const struct jdoc *j, struct ipf_error *err)
{
	struct draft *d = &s->draft;
	struct slice content, system;
	if (need_text(d, j, JDOC_ROOT, "content", &content, err) < 0 ||
	    record_fields_text(d, j, JDOC_ROOT, "system", &system, err) < 0)
		return -1;
	struct slice tools = record_fields_tools(d, j, jdoc_get(j, JDOC_ROOT, "tools"));
	struct draft_request *r = asking(s);
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

static int tool_turn(struct state *s, const struct jdoc *j, struct ipf_error *err)
{
	struct draft *d = &s->draft;
	jdoc_id results;
	int64_t delay_ns = 0;
	if (need_list(j, JDOC_ROOT, "tool_results", &results, err) < 0 ||
	    record_fields_duration(j, JDOC_ROOT, "delay_seconds", NS_PER_S, &delay_ns, err) < 0)
		return -1;
	struct draft_request *r = asking(s);
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

/* What the calls of tools count: names and arguments. */
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

static int assistant_turn(struct state *s, const struct jdoc *j, struct ipf_error *err)
{
	struct draft *d = &s->draft;
	struct slice content, reasoning;
	jdoc_id calls = jdoc_get(j, JDOC_ROOT, "tool_calls");
	if (record_fields_text(d, j, JDOC_ROOT, "content", &content, err) < 0 ||
	    record_fields_text(d, j, JDOC_ROOT, "reasoning_content", &reasoning, err) < 0)
		return -1;
	if (!s->asked)
		return ipf_error_set(err, IPF_INPUT, "role: an assistant's turn that follows none of somebody else");
	struct draft_request *r = &d->requests[d->count - 1];
	r->output_tokens = (content.data ? token_counter_count(s->tokens, content.data, content.len) : 0) +
	                   (reasoning.data ? token_counter_count(s->tokens, reasoning.data, reasoning.len) : 0) +
	                   call_tokens(s, d, j, calls);
	s->open = s->asked = false;
	if (!asking(s)) /* the next request begins with the answer */
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

static int one_record(void *opened, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	struct state *s = opened;
	const struct jdoc *j = record->json;
	struct slice id;
	if (need_map(j, JDOC_ROOT, "record", err) < 0 ||
	    record_fields_name(&sink->draft, j, JDOC_ROOT, "conversation_id", &id, err) < 0)
		return -1;
	if (!id.data)
		return ipf_error_set(err, IPF_INPUT, "conversation_id: missing");
	if (!slice_equal(s->draft.session, id)) {
		if (end_conversation(s, sink, err) < 0)
			return -1;
		s->number = record->number;
		s->draft.session = draft_keep(&s->draft, id);
	}
	jdoc_id role = jdoc_get(j, JDOC_ROOT, "role");
	int status = jdoc_text_is(j, role, "user")        ? user_turn(s, j, err)
	             : jdoc_text_is(j, role, "tool")      ? tool_turn(s, j, err)
	             : jdoc_text_is(j, role, "assistant") ? assistant_turn(s, j, err)
	                                                  : jdoc_expected(j, role, "role", "user, assistant or tool", err);
	sink->draft.failed |= s->draft.failed || s->text.failed;
	return status;
}

static int end_source(void *opened, struct sink *sink, struct ipf_error *err)
{
	return end_conversation(opened, sink, err);
}

static bool knows(const struct sniff *sniff)
{
	return sniff_has(sniff, "conversation_id turn role");
}

const struct source_format source_mlperf_agentic = {
	.name = "mlperf-agentic",
	.about = "MLPerf's agentic conversations (JSON Lines): turns of user, assistant and tools, with their delays",
	.kind = SOURCE_TRACE,
	.unit = UNIT_JSON,
	.traits = HAS_SESSIONS,
	.open = open_source,
	.knows = knows,
	.record = one_record,
	.end = end_source,
	.close = close_source,
};
