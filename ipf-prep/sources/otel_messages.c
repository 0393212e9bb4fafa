#include "sources/otel_messages.h"

#include "json/jout.h"
#include "sources/chat_fields.h"
#include "sources/record_fields.h"

#include <string.h>

/* Is it JSON with something in it, an object or a list? Its texts are then valid as long as the draft's. */
static bool parse_json(struct jdoc *inner, struct slice text)
{
	struct ipf_error ignored = {0};
	if (text.len == 0 || (*text.data != '[' && *text.data != '{') ||
	    jdoc_parse(inner, text.data, text.len, &ignored) < 0)
		return false;
	put_on_one_line(text); /* a request takes parts of it verbatim */
	return true;
}

/* ---- the text of a message ---- */

static jdoc_id body_of(const struct jdoc *j, jdoc_id message)
{
	jdoc_id parts = jdoc_get(j, message, "parts");
	return parts != JDOC_NONE ? parts : jdoc_get(j, message, "content");
}

/* The texts of a list of parts, joined; or the text of a string content. */
static struct slice parts_text(struct draft *d, const struct jdoc *j, jdoc_id parts)
{
	struct slice all = {0};
	if (jdoc_type_of(j, parts) != JDOC_LIST)
		return draft_text(d, j, parts);
	for (struct jdoc_each e = jdoc_each(j, parts); jdoc_step(&e);) {
		jdoc_id type = jdoc_get(j, e.value, "type"), content = jdoc_get(j, e.value, "content");
		if (type != JDOC_NONE && !jdoc_text_is(j, type, "text"))
			continue;
		struct slice text = draft_text(d, j, content != JDOC_NONE ? content : jdoc_get(j, e.value, "text"));
		all = draft_append(d, all, "\n", text);
	}
	return all;
}

/* The same of an event's content, which may be a list of parts in a string. */
static struct slice content_text(struct draft *d, const struct jdoc *j, jdoc_id content)
{
	struct slice text = parts_text(d, j, content);
	struct jdoc inner = {0};
	if (jdoc_type_of(j, content) == JDOC_TEXT && parse_json(&inner, text) &&
	    jdoc_type_of(&inner, jdoc_at(&inner, JDOC_ROOT, 0)) == JDOC_MAP) {
		struct slice parts = parts_text(d, &inner, JDOC_ROOT);
		text = parts.data ? parts : text;
	}
	jdoc_release(&inner);
	return text;
}

/* ---- tools in messages ---- */

/* The function a call names: of a part {"type":"tool_call"}, or of a call in the form of the chat API. */
static jdoc_id function_of(const struct jdoc *j, jdoc_id call)
{
	jdoc_id function = jdoc_get(j, call, "function");
	return function != JDOC_NONE                                     ? function
	       : jdoc_text_is(j, jdoc_get(j, call, "type"), "tool_call") ? call
	                                                                 : JDOC_NONE;
}

static bool has_calls(const struct jdoc *j, jdoc_id list)
{
	for (struct jdoc_each e = jdoc_each(j, list); jdoc_step(&e);)
		if (function_of(j, e.value) != JDOC_NONE)
			return true;
	return false;
}

/* Writes a message with tool calls as the chat API takes it. */
static void write_calls(const struct jdoc *j, jdoc_id calls, struct slice text, struct jout *w)
{
	jout_begin_map(w);
	jout_member_string(w, "role", slice_of("assistant"));
	jout_member_string(w, "content", text.data ? text : slice_of(""));
	jout_key(w, "tool_calls");
	jout_begin_list(w);
	for (struct jdoc_each e = jdoc_each(j, calls); jdoc_step(&e);) {
		jdoc_id function = function_of(j, e.value), arguments = jdoc_get(j, function, "arguments");
		if (function == JDOC_NONE)
			continue;
		jout_begin_map(w);
		jout_member_value(w, "id", jdoc_raw(j, jdoc_get(j, e.value, "id")));
		jout_member_string(w, "type", slice_of("function"));
		jout_key(w, "function");
		jout_begin_map(w);
		jout_member_value(w, "name", jdoc_raw(j, jdoc_get(j, function, "name")));
		jout_key(w, "arguments");
		if (jdoc_type_of(j, arguments) == JDOC_TEXT)
			jout_value(w, jdoc_raw(j, arguments));
		else
			jout_string(w, jdoc_is_null(j, arguments) ? slice_of("{}") : jdoc_raw(j, arguments));
		jout_end_map(w);
		jout_end_map(w);
	}
	jout_end_list(w);
	jout_end_map(w);
}

/* Adds the message with the result of a tool. */
static void add_result(struct draft *d, struct slice id, struct slice text)
{
	struct buffer line = {0};
	struct jout w = {.out = &line};
	jout_begin_map(&w);
	jout_member_string(&w, "role", slice_of("tool"));
	jout_member_value(&w, "tool_call_id", id);
	jout_member_string(&w, "content", text.data ? text : slice_of(""));
	jout_end_map(&w);
	struct draft_message *m = draft_message(d, ROLE_USER, draft_keep(d, text));
	struct slice json = draft_take_buffer(d, &line);
	if (m)
		m->json = json;
}

/* Adds a message for each part with a tool's result. false: there is none. */
static bool add_results(struct draft *d, const struct jdoc *j, jdoc_id parts)
{
	bool any = false;
	for (struct jdoc_each e = jdoc_each(j, parts); jdoc_step(&e);) {
		jdoc_id result = jdoc_get(j, e.value, "result");
		if (!jdoc_text_is(j, jdoc_get(j, e.value, "type"), "tool_call_response"))
			continue;
		if (result == JDOC_NONE)
			result = jdoc_get(j, e.value, "response");
		any = true;
		add_result(d, jdoc_raw(j, jdoc_get(j, e.value, "id")),
		           jdoc_type_of(j, result) == JDOC_TEXT ? draft_text(d, j, result)
		           : jdoc_is_null(j, result)            ? (struct slice){0}
		                                                : jdoc_raw(j, result));
	}
	return any;
}

/* ---- a message ---- */

static enum role speaker_of(const struct jdoc *j, jdoc_id role)
{
	if (jdoc_text_is(j, role, "assistant") || jdoc_text_is(j, role, "model"))
		return ROLE_ASSISTANT;
	return jdoc_text_is(j, role, "system") || jdoc_text_is(j, role, "developer") ? ROLE_SYSTEM : ROLE_USER;
}

static void add_calls(struct draft *d, const struct jdoc *j, jdoc_id calls, struct slice text)
{
	struct buffer line = {0};
	struct jout w = {.out = &line};
	write_calls(j, calls, text, &w);
	struct draft_message *m = draft_message(d, ROLE_ASSISTANT, text.data ? text : slice_of(""));
	struct slice json = draft_take_buffer(d, &line);
	if (m)
		m->json = json;
}

static void add_message(struct draft *d, const struct jdoc *j, jdoc_id message)
{
	jdoc_id role = jdoc_get(j, message, "role"), body = body_of(j, message);
	if (jdoc_type_of(j, body) == JDOC_LIST && add_results(d, j, body))
		return;
	struct slice text = parts_text(d, j, body);
	if (jdoc_type_of(j, body) == JDOC_LIST && has_calls(j, body)) {
		add_calls(d, j, body, text);
		return;
	}
	struct draft_message *m = draft_message(d, speaker_of(j, role), text.data ? text : slice_of(""));
	if (m && (jdoc_get(j, message, "tool_calls") != JDOC_NONE || jdoc_text_is(j, role, "tool")))
		m->json = jdoc_raw(j, message);
}

int otel_messages(struct draft *d, struct slice system, struct slice messages, struct ipf_error *err)
{
	struct jdoc inner = {0};
	struct ipf_error wrong = {0};
	int status = 0;
	struct slice parts = parse_json(&inner, system) ? parts_text(d, &inner, JDOC_ROOT) : system;
	if (system.len > 0)
		draft_message(d, ROLE_SYSTEM, parts.data ? parts : system);
	if (messages.len > 0 && jdoc_parse(&inner, messages.data, messages.len, &wrong) < 0) {
		status = ipf_error_set(err, IPF_INPUT, "gen_ai.input.messages: %s", wrong.text);
	} else if (messages.len > 0) {
		put_on_one_line(messages);
		if (jdoc_type_of(&inner, JDOC_ROOT) != JDOC_LIST)
			status = jdoc_expected(&inner, JDOC_ROOT, "gen_ai.input.messages", "a list", err);
		for (struct jdoc_each e = jdoc_each(&inner, JDOC_ROOT); status == 0 && jdoc_step(&e);)
			add_message(d, &inner, e.value);
	}
	jdoc_release(&inner);
	return status;
}

void otel_prompt(struct draft *d, struct slice prompt)
{
	struct jdoc inner = {0};
	if (parse_json(&inner, prompt) && jdoc_type_of(&inner, jdoc_at(&inner, JDOC_ROOT, 0)) == JDOC_MAP)
		for (struct jdoc_each e = jdoc_each(&inner, JDOC_ROOT); jdoc_step(&e);)
			add_message(d, &inner, e.value);
	else if (prompt.len > 0)
		draft_message(d, ROLE_USER, prompt);
	jdoc_release(&inner);
}

struct slice otel_answer(struct draft *d, struct slice messages)
{
	struct jdoc inner = {0};
	struct slice text = {0};
	if (parse_json(&inner, messages))
		for (struct jdoc_each e = jdoc_each(&inner, JDOC_ROOT); text.len == 0 && jdoc_step(&e);)
			text = parts_text(d, &inner, body_of(&inner, e.value));
	jdoc_release(&inner);
	return text;
}

/* ---- events as messages ---- */

/* Were the arguments of the calls captured? */
static bool has_arguments(const struct jdoc *j, jdoc_id calls)
{
	for (struct jdoc_each e = jdoc_each(j, calls); jdoc_step(&e);)
		if (!jdoc_is_null(j, jdoc_get(j, function_of(j, e.value), "arguments")))
			return true;
	return false;
}

void otel_event_message(struct draft *d, const char *role, struct slice body)
{
	struct jdoc inner = {0}, calls_text = {0};
	const struct jdoc *j = &inner;
	if (!parse_json(&inner, body)) {
		if (body.len > 0)
			draft_message(d, strcmp(role, "system") == 0 ? ROLE_SYSTEM : ROLE_USER, body);
		return;
	}
	jdoc_id calls = jdoc_get(j, JDOC_ROOT, "tool_calls"), id = jdoc_get(j, JDOC_ROOT, "id");
	jdoc_id said = jdoc_get(j, JDOC_ROOT, "role");
	struct slice text = content_text(d, j, body_of(j, JDOC_ROOT));
	bool from_assistant = strcmp(role, "assistant") == 0;
	if (jdoc_type_of(j, calls) == JDOC_TEXT && parse_json(&calls_text, draft_text(d, j, calls))) {
		j = &calls_text; /* attributes of an event cannot be lists of objects */
		calls = JDOC_ROOT;
	}
	if (strcmp(role, "tool") == 0 && text.data)
		add_result(d, jdoc_raw(&inner, id != JDOC_NONE ? id : jdoc_get(&inner, JDOC_ROOT, "tool_call_id")), text);
	else if (from_assistant && has_calls(j, calls) && has_arguments(j, calls))
		add_calls(d, j, calls, text);
	else if (text.data && (from_assistant || strcmp(role, "system") == 0))
		draft_message(d, from_assistant ? ROLE_ASSISTANT : ROLE_SYSTEM, text);
	else if (text.data && strcmp(role, "user") == 0)
		draft_message(d, speaker_of(&inner, said), text);
	jdoc_release(&inner);
	jdoc_release(&calls_text);
}

struct slice otel_event_answer(struct draft *d, struct slice body)
{
	struct jdoc inner = {0};
	struct slice text = {0};
	int64_t index = 0;
	if (!parse_json(&inner, body))
		return body;
	jdoc_id message = jdoc_get(&inner, JDOC_ROOT, "message");
	if (jdoc_type_of(&inner, message) != JDOC_TEXT)
		message = body_of(&inner, message != JDOC_NONE ? message : JDOC_ROOT);
	jdoc_to_int(&inner, jdoc_get(&inner, JDOC_ROOT, "index"), &index);
	if (index == 0)
		text = content_text(d, &inner, message);
	jdoc_release(&inner);
	return text;
}

/* ---- tools and formats ---- */

struct slice otel_tools(struct draft *d, struct slice definitions)
{
	struct jdoc inner = {0};
	struct slice tools = parse_json(&inner, definitions) ? chat_tools(d, &inner, JDOC_ROOT) : (struct slice){0};
	jdoc_release(&inner);
	return tools;
}

struct slice otel_response_format(struct slice type)
{
	bool json = slice_is(type, "json") || slice_is(type, "json_object") || slice_is(type, "json_schema");
	return json ? slice_of("{\"type\":\"json_object\"}") : (struct slice){0};
}
