#include "sources/otel_spans.h"

#include "absent.h"
#include "cli/times.h"
#include "clock.h"
#include "json/jout.h"
#include "sources/record_fields.h"

#include <string.h>

/* ---- the spans of a document ---- */

bool otel_begin(struct otel_each *each, const struct jdoc *json)
{
	jdoc_id spans = jdoc_get(json, JDOC_ROOT, "spans"), resources = jdoc_get(json, JDOC_ROOT, "resourceSpans");
	*each = (struct otel_each){.json = json, .otlp = resources != JDOC_NONE};
	each->resources = jdoc_each(json, resources);
	each->scopes = jdoc_each(json, JDOC_NONE);
	each->spans = jdoc_each(json, each->otlp ? JDOC_NONE : spans);
	return jdoc_type_of(json, each->otlp ? resources : spans) == JDOC_LIST;
}

bool otel_next(struct otel_each *each, struct otel_span *span)
{
	while (!jdoc_step(&each->spans)) {
		while (!jdoc_step(&each->scopes)) {
			if (!jdoc_step(&each->resources))
				return false;
			each->scopes = jdoc_each(each->json, jdoc_get(each->json, each->resources.value, "scopeSpans"));
		}
		each->spans = jdoc_each(each->json, jdoc_get(each->json, each->scopes.value, "spans"));
	}
	*span = (struct otel_span){each->json, each->spans.value, each->otlp};
	return true;
}

/* ---- the fields of a span ---- */

static jdoc_id attribute(const struct otel_span *span, const char *key)
{
	static const char *const kinds[] = {"stringValue", "intValue", "doubleValue", "boolValue", "arrayValue"};
	const struct jdoc *j = span->json;
	jdoc_id attributes = jdoc_get(j, span->node, "attributes");
	if (!span->otlp)
		return jdoc_get(j, attributes, key);
	for (struct jdoc_each e = jdoc_each(j, attributes); jdoc_step(&e);) {
		if (!jdoc_text_is(j, jdoc_get(j, e.value, "key"), key))
			continue;
		for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
			jdoc_id value = jdoc_get(j, jdoc_get(j, e.value, "value"), kinds[i]);
			if (value != JDOC_NONE)
				return value;
		}
	}
	return JDOC_NONE;
}

static struct slice text_of(const struct jdoc *j, struct draft *d, jdoc_id node)
{
	if (jdoc_is_null(j, node))
		return (struct slice){0};
	return jdoc_type_of(j, node) == JDOC_TEXT ? draft_text(d, j, node) : jdoc_raw(j, node);
}

struct slice otel_text(const struct otel_span *span, struct draft *d, const char *key)
{
	return text_of(span->json, d, attribute(span, key));
}

int64_t otel_number(const struct otel_span *span, struct draft *d, const char *key)
{
	int64_t value;
	struct slice text = otel_text(span, d, key);
	return text.data && time_from_number(text, 1, &value) == 0 && value >= 0 ? value : IPF_ABSENT;
}

struct slice otel_id(const struct otel_span *span, struct draft *d)
{
	return text_of(span->json, d, jdoc_get(span->json, span->node, span->otlp ? "spanId" : "span_id"));
}

struct slice otel_trace(const struct otel_span *span, struct draft *d)
{
	return text_of(span->json, d, jdoc_get(span->json, span->node, span->otlp ? "traceId" : "trace_id"));
}

bool otel_failed(const struct otel_span *span)
{
	jdoc_id code = jdoc_get(span->json, jdoc_get(span->json, span->node, "status"), "code");
	int64_t number;
	return jdoc_text_is(span->json, code, "STATUS_CODE_ERROR") || jdoc_text_is(span->json, code, "ERROR") ||
	       (jdoc_to_int(span->json, code, &number) && number == 2);
}

int otel_times(const struct otel_span *span, int64_t *start_ns, int64_t *end_ns, struct ipf_error *err)
{
	const char *start = span->otlp ? "startTimeUnixNano" : "start_time";
	const char *end = span->otlp ? "endTimeUnixNano" : "end_time";
	int64_t unit_ns = span->otlp ? 1 : NS_PER_S;
	if (need_time(span->json, span->node, start, unit_ns, start_ns, err) < 0)
		return -1;
	int got = field_time(span->json, span->node, end, unit_ns, end_ns, err);
	if (got == 0)
		*end_ns = *start_ns;
	return got < 0 ? -1 : 0;
}

/* ---- messages ---- */

/* The texts of a list of parts, joined; or the text of a content that is a string. */
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

static jdoc_id body_of(const struct jdoc *j, jdoc_id message)
{
	jdoc_id parts = jdoc_get(j, message, "parts");
	return parts != JDOC_NONE ? parts : jdoc_get(j, message, "content");
}

/* Writes a message with tool calls as the chat API takes it. */
static void write_calls(const struct jdoc *j, jdoc_id parts, struct slice text, struct buffer *out)
{
	struct jout w = {.out = out};
	jout_begin_map(&w);
	jout_member_string(&w, "role", slice_of("assistant"));
	jout_member_string(&w, "content", text.data ? text : slice_of(""));
	jout_key(&w, "tool_calls");
	jout_begin_list(&w);
	for (struct jdoc_each e = jdoc_each(j, parts); jdoc_step(&e);) {
		jdoc_id arguments = jdoc_get(j, e.value, "arguments");
		if (!jdoc_text_is(j, jdoc_get(j, e.value, "type"), "tool_call"))
			continue;
		jout_begin_map(&w);
		jout_member_value(&w, "id", jdoc_raw(j, jdoc_get(j, e.value, "id")));
		jout_member_string(&w, "type", slice_of("function"));
		jout_key(&w, "function");
		jout_begin_map(&w);
		jout_member_value(&w, "name", jdoc_raw(j, jdoc_get(j, e.value, "name")));
		jout_key(&w, "arguments");
		if (jdoc_type_of(j, arguments) == JDOC_TEXT)
			jout_value(&w, jdoc_raw(j, arguments));
		else
			jout_string(&w, arguments != JDOC_NONE ? jdoc_raw(j, arguments) : slice_of("{}"));
		jout_end_map(&w);
		jout_end_map(&w);
	}
	jout_end_list(&w);
	jout_end_map(&w);
}

/* Adds a message for each result of a tool. */
static void add_results(struct draft *d, const struct jdoc *j, jdoc_id parts)
{
	for (struct jdoc_each e = jdoc_each(j, parts); jdoc_step(&e);) {
		jdoc_id result = jdoc_get(j, e.value, "result");
		struct buffer line = {0};
		struct jout w = {.out = &line};
		if (!jdoc_text_is(j, jdoc_get(j, e.value, "type"), "tool_call_response"))
			continue;
		struct slice text = text_of(j, d, result != JDOC_NONE ? result : jdoc_get(j, e.value, "response"));
		jout_begin_map(&w);
		jout_member_string(&w, "role", slice_of("tool"));
		jout_member_value(&w, "tool_call_id", jdoc_raw(j, jdoc_get(j, e.value, "id")));
		jout_member_string(&w, "content", text.data ? text : slice_of(""));
		jout_end_map(&w);
		struct draft_message *m = draft_message(d, ROLE_USER, draft_keep(d, text));
		struct slice json = draft_take_buffer(d, &line);
		if (m)
			m->json = json;
	}
}

static bool has_part(const struct jdoc *j, jdoc_id parts, const char *type)
{
	for (struct jdoc_each e = jdoc_each(j, parts); jdoc_step(&e);)
		if (jdoc_text_is(j, jdoc_get(j, e.value, "type"), type))
			return true;
	return false;
}

static void add_message(struct draft *d, const struct jdoc *j, jdoc_id message)
{
	jdoc_id role = jdoc_get(j, message, "role"), body = body_of(j, message);
	if (jdoc_type_of(j, body) == JDOC_LIST && has_part(j, body, "tool_call_response")) {
		add_results(d, j, body);
		return;
	}
	struct slice text = parts_text(d, j, body);
	enum role speaker = jdoc_text_is(j, role, "assistant") ? ROLE_ASSISTANT
	                    : jdoc_text_is(j, role, "system")  ? ROLE_SYSTEM
	                                                       : ROLE_USER;
	struct draft_message *m = draft_message(d, speaker, text.data ? text : slice_of(""));
	if (m && jdoc_type_of(j, body) == JDOC_LIST && has_part(j, body, "tool_call")) {
		struct buffer line = {0};
		write_calls(j, body, text, &line);
		m->json = draft_take_buffer(d, &line);
	} else if (m && (jdoc_get(j, message, "tool_calls") != JDOC_NONE || jdoc_text_is(j, role, "tool"))) {
		m->json = jdoc_raw(j, message);
	}
}

/* Parses the JSON that an attribute holds; `name` is the attribute's. */
static int parse_attribute(struct jdoc *inner, struct slice text, const char *name, struct ipf_error *err)
{
	struct ipf_error wrong = {0};
	return jdoc_parse(inner, text.data, text.len, &wrong) == 0
	           ? 0
	           : ipf_error_set(err, IPF_INPUT, "%s: %s", name, wrong.text);
}

int otel_messages(struct draft *d, struct slice system, struct slice messages, struct ipf_error *err)
{
	struct jdoc inner = {0};
	int status = 0;
	if (system.len > 0 && (*system.data == '[' || *system.data == '{')) {
		if ((status = parse_attribute(&inner, system, "gen_ai.system_instructions", err)) == 0)
			draft_message(d, ROLE_SYSTEM, parts_text(d, &inner, JDOC_ROOT));
	} else if (system.len > 0) {
		draft_message(d, ROLE_SYSTEM, system);
	}
	if (messages.len > 0 && status == 0 &&
	    (status = parse_attribute(&inner, messages, "gen_ai.input.messages", err)) == 0) {
		if (jdoc_type_of(&inner, JDOC_ROOT) != JDOC_LIST)
			status = jdoc_expected(&inner, JDOC_ROOT, "gen_ai.input.messages", "a list", err);
		for (struct jdoc_each e = jdoc_each(&inner, JDOC_ROOT); jdoc_step(&e);)
			add_message(d, &inner, e.value);
	}
	jdoc_release(&inner);
	return status;
}

struct slice otel_messages_text(struct draft *d, struct slice messages)
{
	struct jdoc inner = {0};
	struct ipf_error ignored = {0};
	struct slice all = {0};
	if (messages.len > 0 && jdoc_parse(&inner, messages.data, messages.len, &ignored) == 0)
		for (struct jdoc_each e = jdoc_each(&inner, JDOC_ROOT); jdoc_step(&e);)
			all = draft_append(d, all, "\n", parts_text(d, &inner, body_of(&inner, e.value)));
	jdoc_release(&inner);
	return all;
}
