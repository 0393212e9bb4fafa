#include "sources/api_bodies.h"

#include "json/jout.h"
#include "sources/chat_fields.h"
#include "sources/record_fields.h"

/* ---- messages of the chat API ---- */

/* A message being collected from parts. */
struct parts {
	enum role role;
	struct slice text;
	struct slice calls; /* JSON of tool calls, with commas between */
};

static void add_text(struct draft *d, struct parts *p, struct slice text)
{
	p->text = draft_append(d, p->text, "\n", text);
}

/* Arguments are an object, or a string holding one: the chat API has the string. */
static void add_call(struct draft *d, const struct jdoc *j, struct parts *p, struct slice id, jdoc_id name,
                     jdoc_id arguments)
{
	struct buffer out = {0};
	struct jout w = {.out = &out};
	struct slice given = jdoc_type_of(j, arguments) == JDOC_TEXT ? draft_text(d, j, arguments) : jdoc_raw(j, arguments);
	jout_begin_map(&w);
	jout_member_string(&w, "id", id);
	jout_member_string(&w, "type", slice_of("function"));
	jout_key(&w, "function");
	jout_begin_map(&w);
	jout_member_string(&w, "name", draft_text(d, j, name));
	jout_member_string(&w, "arguments", given.data ? given : slice_of("{}"));
	jout_end_map(&w);
	jout_end_map(&w);
	p->calls = draft_append(d, p->calls, ",", draft_take_buffer(d, &out));
}

/* Adds the collected parts, if there are any. */
static void end_message(struct draft *d, struct parts *p)
{
	struct buffer out = {0};
	struct jout w = {.out = &out};
	if (p->text.len > 0 || p->calls.len > 0) {
		struct draft_message *m = draft_message(d, p->role, draft_append(d, p->text, "\n", p->calls));
		if (m && p->calls.len > 0) {
			jout_begin_map(&w);
			jout_member_string(&w, "role", slice_of("assistant"));
			if (p->text.len > 0)
				jout_member_string(&w, "content", p->text);
			jout_member_value(&w, "tool_calls",
			                  draft_join(d, draft_join(d, slice_of("["), "", p->calls), "", slice_of("]")));
			jout_end_map(&w);
			m->json = draft_take_buffer(d, &out);
		}
	}
	p->text = p->calls = (struct slice){0};
}

static void add_result(struct draft *d, struct slice id, struct slice text)
{
	struct buffer out = {0};
	struct jout w = {.out = &out};
	struct draft_message *m = draft_message(d, ROLE_USER, text);
	if (!m)
		return;
	jout_begin_map(&w);
	jout_member_string(&w, "role", slice_of("tool"));
	jout_member_string(&w, "tool_call_id", id);
	jout_member_string(&w, "content", text);
	jout_end_map(&w);
	m->json = draft_take_buffer(d, &out);
}

static enum role role_of(const struct jdoc *j, jdoc_id role)
{
	return jdoc_text_is(j, role, "assistant") || jdoc_text_is(j, role, "model")    ? ROLE_ASSISTANT
	       : jdoc_text_is(j, role, "system") || jdoc_text_is(j, role, "developer") ? ROLE_SYSTEM
	                                                                               : ROLE_USER;
}

/* ---- Anthropic ---- */

/* Chat messages may have content in parts, too: these types only Anthropic has. */
static bool has_anthropic_parts(const struct jdoc *j, jdoc_id messages)
{
	for (struct jdoc_each e = jdoc_each(j, messages); jdoc_step(&e);)
		for (struct jdoc_each part = jdoc_each(j, jdoc_get(j, e.value, "content")); jdoc_step(&part);) {
			jdoc_id type = jdoc_get(j, part.value, "type");
			if (jdoc_text_is(j, type, "tool_use") || jdoc_text_is(j, type, "tool_result") ||
			    jdoc_text_is(j, type, "thinking") || jdoc_get(j, part.value, "cache_control") != JDOC_NONE)
				return true;
		}
	return false;
}

static void add_anthropic_message(struct draft *d, const struct jdoc *j, jdoc_id message)
{
	jdoc_id content = jdoc_get(j, message, "content");
	struct parts p = {.role = role_of(j, jdoc_get(j, message, "role"))};
	if (jdoc_type_of(j, content) == JDOC_TEXT)
		add_text(d, &p, draft_text(d, j, content));
	for (struct jdoc_each e = jdoc_each(j, content); jdoc_step(&e);) {
		jdoc_id type = jdoc_get(j, e.value, "type");
		if (jdoc_text_is(j, type, "tool_use")) {
			add_call(d, j, &p, draft_text(d, j, jdoc_get(j, e.value, "id")), jdoc_get(j, e.value, "name"),
			         jdoc_get(j, e.value, "input"));
		} else if (jdoc_text_is(j, type, "tool_result")) {
			end_message(d, &p);
			add_result(d, draft_text(d, j, jdoc_get(j, e.value, "tool_use_id")),
			           chat_content(d, j, jdoc_get(j, e.value, "content")));
		} else {
			add_text(d, &p, draft_text(d, j, jdoc_get(j, e.value, "text")));
		}
	}
	end_message(d, &p);
}

/* ---- Responses ---- */

static void add_item(struct draft *d, const struct jdoc *j, jdoc_id item, struct parts *p)
{
	jdoc_id type = jdoc_get(j, item, "type");
	struct slice call = draft_text(d, j, jdoc_get(j, item, "call_id"));
	if (jdoc_text_is(j, type, "function_call")) {
		if (p->role != ROLE_ASSISTANT)
			end_message(d, p);
		p->role = ROLE_ASSISTANT;
		add_call(d, j, p, call, jdoc_get(j, item, "name"), jdoc_get(j, item, "arguments"));
		return;
	}
	end_message(d, p);
	if (jdoc_text_is(j, type, "function_call_output")) {
		add_result(d, call, chat_content(d, j, jdoc_get(j, item, "output")));
		return;
	}
	p->role = role_of(j, jdoc_get(j, item, "role"));
	add_text(d, p, chat_content(d, j, jdoc_get(j, item, "content")));
}

static void add_input(struct draft *d, const struct jdoc *j, jdoc_id input)
{
	struct parts p = {.role = ROLE_USER};
	if (jdoc_type_of(j, input) == JDOC_TEXT)
		add_text(d, &p, draft_text(d, j, input));
	for (struct jdoc_each e = jdoc_each(j, input); jdoc_step(&e);)
		add_item(d, j, e.value, &p);
	end_message(d, &p);
}

/* ---- Gemini ---- */

static struct slice gemini_text(struct draft *d, const struct jdoc *j, jdoc_id content)
{
	struct slice all = {0};
	for (struct jdoc_each e = jdoc_each(j, jdoc_get(j, content, "parts")); jdoc_step(&e);)
		all = draft_append(d, all, "\n", draft_text(d, j, jdoc_get(j, e.value, "text")));
	return all;
}

/* Gemini's calls have no ids: a call and its result are found by their name. */
static void add_gemini_content(struct draft *d, const struct jdoc *j, jdoc_id content)
{
	struct parts p = {.role = role_of(j, jdoc_get(j, content, "role"))};
	for (struct jdoc_each e = jdoc_each(j, jdoc_get(j, content, "parts")); jdoc_step(&e);) {
		jdoc_id call = jdoc_get(j, e.value, "functionCall"), result = jdoc_get(j, e.value, "functionResponse");
		if (call != JDOC_NONE) {
			jdoc_id name = jdoc_get(j, call, "name");
			add_call(d, j, &p, draft_join(d, slice_of("call"), "_", draft_text(d, j, name)), name,
			         jdoc_get(j, call, "args"));
		} else if (result != JDOC_NONE) {
			end_message(d, &p);
			add_result(d, draft_join(d, slice_of("call"), "_", draft_text(d, j, jdoc_get(j, result, "name"))),
			           jdoc_raw(j, jdoc_get(j, result, "response")));
		} else {
			add_text(d, &p, draft_text(d, j, jdoc_get(j, e.value, "text")));
		}
	}
	end_message(d, &p);
}

/* ---- a request ---- */

/* The system message beside the messages, or before the input. */
static void add_system(struct draft *d, const struct jdoc *j, jdoc_id body)
{
	const char *name;
	jdoc_id system = member_of_kind(j, body, MEMBER_SYSTEM, &name);
	if (system == JDOC_NONE)
		system = jdoc_get(j, body, "instructions");
	struct slice text = jdoc_type_of(j, system) == JDOC_MAP ? gemini_text(d, j, system) : chat_content(d, j, system);
	if (text.len > 0)
		draft_message(d, ROLE_SYSTEM, text);
}

/* 1, 0 or -1, as api_request_body(). */
static int add_prompt(struct draft *d, const struct jdoc *j, jdoc_id body, struct ipf_error *err)
{
	jdoc_id messages = jdoc_get(j, body, "messages"), prompt = jdoc_get(j, body, "prompt");
	jdoc_id contents = jdoc_get(j, body, "contents"), input = jdoc_get(j, body, "input");
	if (messages != JDOC_NONE && !has_anthropic_parts(j, messages))
		return chat_prompt(d, j, messages, err) < 0 ? -1 : 1;
	if (messages != JDOC_NONE) {
		for (struct jdoc_each e = jdoc_each(j, messages); jdoc_step(&e);)
			add_anthropic_message(d, j, e.value);
	} else if (!jdoc_text_empty(j, prompt)) {
		draft_message(d, ROLE_USER, draft_text(d, j, prompt));
	} else if (jdoc_type_of(j, contents) == JDOC_LIST) {
		for (struct jdoc_each e = jdoc_each(j, contents); jdoc_step(&e);)
			add_gemini_content(d, j, e.value);
	} else if (!jdoc_is_null(j, input)) {
		add_input(d, j, input);
	} else {
		return 0;
	}
	return d->message_count > 0 || d->failed;
}

int api_request_body(struct draft *d, const struct jdoc *j, jdoc_id body, struct ipf_error *err)
{
	if (!draft_request(d))
		return 1;
	add_system(d, j, body);
	int got = add_prompt(d, j, body, err);
	if (got <= 0 || d->failed)
		return got;
	return chat_parameters(d, j, body, &d->requests[d->count - 1], err) < 0 ? -1 : 1;
}

int api_embeddings_body(struct draft *d, const struct jdoc *j, jdoc_id body, struct ipf_error *err)
{
	jdoc_id input = jdoc_get(j, body, "input");
	struct draft_request *r = draft_request(d);
	if (!r || field_text(d, j, body, "model", &r->model, err) < 0)
		return r ? -1 : 1;
	r->batch = true;
	if (jdoc_type_of(j, input) == JDOC_TEXT)
		draft_message(d, ROLE_USER, draft_text(d, j, input));
	for (struct jdoc_each e = jdoc_each(j, input); jdoc_step(&e);) {
		if (jdoc_type_of(j, e.value) != JDOC_TEXT)
			return jdoc_expected(j, e.value, "input", "a string, or a list of strings", err);
		draft_message(d, ROLE_USER, draft_text(d, j, e.value));
	}
	return d->message_count > 0;
}

/* ---- a response ---- */

/* The tokens of a usage under any API's names. Anthropic does not count cached tokens as input. */
static int read_usage(const struct jdoc *j, jdoc_id usage, struct draft_request *r, struct ipf_error *err)
{
	static const char *const cached[] = {"cache_read_input_tokens", "cache_creation_input_tokens"};
	int64_t more;
	if (field_tokens(j, usage, "prompt_tokens", &r->input_tokens, err) < 0 ||
	    field_tokens(j, usage, "completion_tokens", &r->output_tokens, err) < 0 ||
	    field_tokens(j, usage, "output_tokens", &r->output_tokens, err) < 0 ||
	    field_tokens(j, usage, "promptTokenCount", &r->input_tokens, err) < 0 ||
	    field_tokens(j, usage, "candidatesTokenCount", &r->output_tokens, err) < 0)
		return -1;
	int got = field_tokens(j, usage, "input_tokens", &r->input_tokens, err);
	for (size_t i = 0; got == 1 && i < sizeof cached / sizeof *cached; i++) {
		int also = field_tokens(j, usage, cached[i], &more, err);
		if (also == 1)
			r->input_tokens += more;
		got = also < 0 ? -1 : 1;
	}
	if (got < 0)
		return -1;
	got = field_tokens(j, usage, "thoughtsTokenCount", &more, err);
	if (got == 1 && r->output_tokens != IPF_ABSENT)
		r->output_tokens += more;
	return got < 0 ? -1 : 0;
}

/* The text of an answer as a whole, or of an event: where each API has it. */
static struct slice answer_text(struct draft *d, const struct jdoc *j, jdoc_id body)
{
	jdoc_id choice = jdoc_at(j, jdoc_get(j, body, "choices"), 0), delta = jdoc_get(j, body, "delta");
	jdoc_id message = jdoc_get(j, choice, "message"), candidate = jdoc_at(j, jdoc_get(j, body, "candidates"), 0);
	struct slice all = {0};
	if (choice != JDOC_NONE) {
		jdoc_id content = jdoc_get(j, message != JDOC_NONE ? message : jdoc_get(j, choice, "delta"), "content");
		return chat_content(d, j, content != JDOC_NONE ? content : jdoc_get(j, choice, "text"));
	}
	if (candidate != JDOC_NONE)
		return gemini_text(d, j, jdoc_get(j, candidate, "content"));
	if (jdoc_type_of(j, delta) == JDOC_TEXT) /* Responses: one kind of event has text of the answer */
		return jdoc_text_is(j, jdoc_get(j, body, "type"), "response.output_text.delta") ? draft_text(d, j, delta) : all;
	if (delta != JDOC_NONE)
		return draft_text(d, j, jdoc_get(j, delta, "text"));
	if (jdoc_get(j, body, "content") != JDOC_NONE)
		return chat_content(d, j, jdoc_get(j, body, "content"));
	for (struct jdoc_each e = jdoc_each(j, jdoc_get(j, body, "output")); jdoc_step(&e);)
		all = draft_append(d, all, "\n", chat_content(d, j, jdoc_get(j, e.value, "content")));
	return all;
}

int api_response_body(struct draft *d, const struct jdoc *j, jdoc_id body, struct draft_request *r,
                      struct ipf_error *err)
{
	/* Events of a stream have the usage within their subject. */
	static const char *const around[] = {"message", "response"};
	if (read_usage(j, jdoc_get(j, body, "usage"), r, err) < 0 ||
	    read_usage(j, jdoc_get(j, body, "usageMetadata"), r, err) < 0)
		return -1;
	for (size_t i = 0; i < sizeof around / sizeof *around; i++)
		if (read_usage(j, jdoc_get(j, jdoc_get(j, body, around[i]), "usage"), r, err) < 0)
			return -1;
	r->answer = answer_text(d, j, body);
	r->failed |= !jdoc_is_null(j, jdoc_get(j, body, "error"));
	return 0;
}
