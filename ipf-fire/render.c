#include "render.h"

#include "jout.h"

#include <stdlib.h>
#include <string.h>

enum field { MODEL, MESSAGES, PROMPT, PROMPT_TOKEN_IDS, TOOLS, ID, SESSION, INPUT_TOKENS, OUTPUT_TOKENS, FIELDS };

static const char *const field_names[FIELDS] = {
	"model", "messages", "prompt", "prompt_token_ids", "tools", "id", "session", "input_tokens", "output_tokens",
};

/* The template, compiled: what holds no field is text already. */
struct part {
	enum { RAW, FIELD, MAP, LIST } kind;
	char *key;          /* `"name":`, within a map */
	char *raw;
	enum field field;
	struct part *parts;
	size_t count;
};

struct renderer {
	struct part body;
	char *model;        /* JSON; NULL: the trace's */
	bool carries[FIELDS];
	struct jdoc doc;
	struct buffer messages;
};

/* ---- compiling ---- */

static void part_release(struct part *p)
{
	free(p->key);
	free(p->raw);
	for (size_t i = 0; i < p->count; i++)
		part_release(&p->parts[i]);
	free(p->parts);
}

static bool has_field(json_t *value)
{
	const char *key, *text = json_string_value(value);
	json_t *inner;
	size_t i;
	if (text && text[0] == '$')
		return true;
	json_object_foreach(value, key, inner)
		if (has_field(inner))
			return true;
	json_array_foreach(value, i, inner)
		if (has_field(inner))
			return true;
	return false;
}

static char *dump(json_t *value)
{
	return json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
}

static char *dump_text(const char *text, const char *after)
{
	json_t *value = json_string(text);
	char *quoted = value ? dump(value) : NULL, *all = NULL;
	if (quoted && (all = malloc(strlen(quoted) + strlen(after) + 1)))
		strcat(strcpy(all, quoted), after);
	free(quoted);
	json_decref(value);
	return all;
}

static int compile(struct renderer *r, struct part *p, const char *key, json_t *value, struct ipf_error *err);

static int compile_inside(struct renderer *r, struct part *p, json_t *value, struct ipf_error *err)
{
	const char *key;
	json_t *inner;
	size_t i, count = p->kind == MAP ? json_object_size(value) : json_array_size(value);
	p->parts = calloc(count ? count : 1, sizeof *p->parts);
	if (!p->parts)
		return ipf_error_set(err, IPF_SYSTEM, "out of memory");
	json_object_foreach(value, key, inner)
		if (compile(r, &p->parts[p->count++], key, inner, err) < 0)
			return -1;
	json_array_foreach(value, i, inner)
		if (compile(r, &p->parts[p->count++], NULL, inner, err) < 0)
			return -1;
	return 0;
}

static int compile(struct renderer *r, struct part *p, const char *key, json_t *value, struct ipf_error *err)
{
	const char *text = json_string_value(value);
	if (key && !(p->key = dump_text(key, ":")))
		return ipf_error_set(err, IPF_SYSTEM, "out of memory");
	if (text && text[0] == '$' && text[1] != '$') {
		p->kind = FIELD;
		while (p->field < FIELDS && strcmp(field_names[p->field], text + 1) != 0)
			p->field++;
		if (p->field == FIELDS)
			return ipf_error_set(err, IPF_INPUT, "%s: unknown field \"%s\"", key ? key : "body", text);
		r->carries[p->field] = true;
		return 0;
	}
	if (has_field(value) && !text) {
		p->kind = json_is_object(value) ? MAP : LIST;
		return compile_inside(r, p, value, err);
	}
	p->kind = RAW;
	p->raw = text && text[0] == '$' ? dump_text(text + 1, "") : dump(value);
	return p->raw ? 0 : ipf_error_set(err, IPF_SYSTEM, "out of memory");
}

/* A copy in which no text is taken for a field. */
static json_t *as_it_stands(json_t *value)
{
	json_t *copy, *inner;
	const char *key;
	size_t i;
	if (json_is_object(value)) {
		copy = json_object();
		json_object_foreach(value, key, inner)
			json_object_set_new(copy, key, as_it_stands(inner));
		return copy;
	}
	if (json_is_array(value)) {
		copy = json_array();
		json_array_foreach(value, i, inner)
			json_array_append_new(copy, as_it_stands(inner));
		return copy;
	}
	const char *text = json_string_value(value);
	return text && text[0] == '$' ? json_sprintf("$%s", text) : json_incref(value);
}

static json_t *merge(json_t *request, const struct render_options *options, struct ipf_error *err)
{
	json_t *body = json_deep_copy(json_object_get(request, "body")), *exact = json_object_get(request, "exact_output"), *value;
	json_t *mode = json_object_get(request, options->streamed ? "stream" : "whole");
	const char *key;
	if (options->exact_output && !json_is_object(exact)) {
		json_decref(body);
		ipf_error_set(err, IPF_USAGE, "--exact-output: this API has no way to ask for an exact length");
		return NULL;
	}
	int bad = mode ? json_object_update_recursive(body, mode) : 0;
	if (options->exact_output)
		bad |= json_object_update_recursive(body, exact);
	json_object_foreach(options->params, key, value)
		bad |= json_object_set_new(body, key, as_it_stands(value));
	if (!body || bad) {
		json_decref(body);
		ipf_error_set(err, IPF_SYSTEM, "out of memory");
		return NULL;
	}
	return body;
}

int renderer_new(struct renderer **renderer, json_t *request, const struct render_options *options, struct ipf_error *err)
{
	*renderer = NULL;
	struct renderer *r = calloc(1, sizeof *r);
	if (!r)
		return ipf_error_set(err, IPF_SYSTEM, "out of memory");
	json_t *body = merge(request, options, err);
	int result = body ? compile(r, &r->body, NULL, body, err) : -1;
	if (result == 0 && options->model && !(r->model = dump_text(options->model, "")))
		result = ipf_error_set(err, IPF_USAGE, "--model: not UTF-8");
	json_decref(body);
	if (result == 0)
		*renderer = r;
	else
		renderer_free(r);
	return result;
}

void renderer_free(struct renderer *r)
{
	if (!r)
		return;
	part_release(&r->body);
	free(r->model);
	jdoc_release(&r->doc);
	buffer_release(&r->messages);
	free(r);
}

/* ---- prompts ---- */

static void comma(struct buffer *list, size_t before)
{
	if (list->len > before && list->data[list->len - 1] != '[')
		buffer_byte(list, ',');
}

static void append_turn(struct buffer *list, const struct trace_request *q)
{
	if (q->messages.data) {
		struct slice inside = {q->messages.data + 1, q->messages.len - 2};
		while (inside.len && strchr(" \t\r\n", *inside.data)) {
			inside.data++;
			inside.len--;
		}
		if (!inside.len)
			return;
		comma(list, 0);
		buffer_slice(list, inside);
	} else if (q->prompt.data) {
		comma(list, 0);
		buffer_text(list, "{\"role\":\"user\",\"content\":");
		buffer_slice(list, q->prompt);
		buffer_byte(list, '}');
	}
}

void session_append(struct buffer *context, const struct trace_request *q)
{
	append_turn(context, q);
	if (!q->answer.data)
		return;
	comma(context, 0);
	buffer_text(context, "{\"role\":\"assistant\",\"content\":");
	buffer_slice(context, q->answer);
	buffer_byte(context, '}');
}

/* All messages as a list, in r->messages; false where there are none. */
static bool gather_messages(struct renderer *r, const struct trace_request *q, struct slice context)
{
	if (!q->messages.data && !q->prompt.data)
		return false;
	buffer_clear(&r->messages);
	buffer_byte(&r->messages, '[');
	buffer_slice(&r->messages, context);
	append_turn(&r->messages, q);
	buffer_byte(&r->messages, ']');
	return true;
}

/* A text's characters as they stand between its quotes. */
static void append_inside(struct renderer *r, jdoc_id text, struct buffer *body, bool *first)
{
	struct slice raw = jdoc_raw(&r->doc, text);
	if (raw.len <= 2)
		return;
	if (!*first)
		buffer_text(body, "\\n\\n");
	*first = false;
	buffer_append(body, raw.data + 1, raw.len - 2);
}

/* The messages' contents joined; a content may be a list of parts, of which the texts count. */
static int join_messages(struct renderer *r, struct buffer *body, struct ipf_error *err)
{
	bool first = true;
	if (jdoc_parse(&r->doc, r->messages.data, r->messages.len, err) < 0)
		return -1;
	buffer_byte(body, '"');
	for (struct jdoc_each e = jdoc_each(&r->doc, JDOC_ROOT); jdoc_step(&e);) {
		jdoc_id content = jdoc_get(&r->doc, e.value, "content");
		if (content != JDOC_NONE && jdoc_type_of(&r->doc, content) == JDOC_TEXT)
			append_inside(r, content, body, &first);
		else if (content != JDOC_NONE && jdoc_type_of(&r->doc, content) == JDOC_LIST)
			for (struct jdoc_each p = jdoc_each(&r->doc, content); jdoc_step(&p);) {
				jdoc_id text = jdoc_get(&r->doc, p.value, "text");
				if (text != JDOC_NONE && jdoc_type_of(&r->doc, text) == JDOC_TEXT)
					append_inside(r, text, body, &first);
			}
	}
	buffer_byte(body, '"');
	return 0;
}

static int write_prompt(struct renderer *r, const struct trace_request *q, struct slice context, struct buffer *body,
                        struct ipf_error *err)
{
	if (q->prompt.data && !context.len)
		buffer_slice(body, q->prompt);
	else if (gather_messages(r, q, context))
		return join_messages(r, body, err);
	else
		buffer_slice(body, q->prompt_token_ids);
	return 0;
}

/* ---- filling in ---- */

struct slice renderer_model(const struct renderer *r, const struct trace_request *q)
{
	return r->model ? slice_of(r->model) : q->model;
}

static bool present(const struct renderer *r, enum field field, const struct trace_request *q)
{
	switch (field) {
	case MODEL: return renderer_model(r, q).data;
	case MESSAGES: return q->messages.data || q->prompt.data;
	case PROMPT: return q->messages.data || q->prompt.data || q->prompt_token_ids.data;
	case PROMPT_TOKEN_IDS: return q->prompt_token_ids.data;
	case TOOLS: return q->tools.data;
	case ID: return q->id.data;
	case SESSION: return q->session.data;
	case INPUT_TOKENS: return q->input_tokens != IPF_ABSENT;
	case OUTPUT_TOKENS: return q->output_tokens != IPF_ABSENT;
	case FIELDS: break;
	}
	return false;
}

static int write_field(struct renderer *r, enum field field, const struct trace_request *q, struct slice context, struct buffer *body,
                       struct ipf_error *err)
{
	struct jout w = {.out = body};
	switch (field) {
	case MODEL: buffer_slice(body, renderer_model(r, q)); break;
	case MESSAGES:
		if (!context.len && q->messages.data) {
			buffer_slice(body, q->messages);
		} else {
			gather_messages(r, q, context);
			buffer_slice(body, buffer_all(&r->messages));
		}
		break;
	case PROMPT: return write_prompt(r, q, context, body, err);
	case PROMPT_TOKEN_IDS: buffer_slice(body, q->prompt_token_ids); break;
	case TOOLS: buffer_slice(body, q->tools); break;
	case ID: buffer_slice(body, q->id); break;
	case SESSION: buffer_slice(body, q->session); break;
	case INPUT_TOKENS: jout_int(&w, q->input_tokens); break;
	case OUTPUT_TOKENS: jout_int(&w, q->output_tokens); break;
	case FIELDS: break;
	}
	return 0;
}

static int write_part(struct renderer *r, const struct part *p, const struct trace_request *q, struct slice context,
                      struct buffer *body, struct ipf_error *err)
{
	if (p->kind == RAW) {
		buffer_text(body, p->raw);
		return 0;
	}
	if (p->kind == FIELD)
		return write_field(r, p->field, q, context, body, err);
	bool first = true;
	buffer_byte(body, p->kind == MAP ? '{' : '[');
	for (size_t i = 0; i < p->count; i++) {
		const struct part *inner = &p->parts[i];
		if (inner->kind == FIELD && !present(r, inner->field, q))
			continue;
		if (!first)
			buffer_byte(body, ',');
		first = false;
		if (inner->key)
			buffer_text(body, inner->key);
		if (write_part(r, inner, q, context, body, err) < 0)
			return -1;
	}
	buffer_byte(body, p->kind == MAP ? '}' : ']');
	return 0;
}

int renderer_check(const struct renderer *r, const struct trace_request *q, struct ipf_error *err)
{
	static const enum field prompts[] = {MESSAGES, PROMPT, PROMPT_TOKEN_IDS};
	bool wanted = false, carried = false;
	for (size_t i = 0; i < 3; i++) {
		wanted |= r->carries[prompts[i]];
		carried |= r->carries[prompts[i]] && present(r, prompts[i], q);
	}
	if (wanted && !carried)
		return ipf_error_set(err, IPF_INPUT, "%s: this API takes no such prompt", q->prompt_token_ids.data ? "prompt_token_ids" : "prompt");
	return 0;
}

int renderer_body(struct renderer *r, const struct trace_request *q, struct slice context, struct buffer *body,
                  struct ipf_error *err)
{
	if (renderer_check(r, q, err) < 0)
		return -1;
	buffer_clear(body);
	if (write_part(r, &r->body, q, context, body, err) < 0)
		return -1;
	return body->failed || r->messages.failed ? ipf_error_set(err, IPF_SYSTEM, "out of memory") : 0;
}

int param_parse(json_t *params, const char *text, struct ipf_error *err)
{
	const char *equals = strchr(text, '=');
	if (!equals || equals == text)
		return ipf_error_set(err, IPF_USAGE, "--param: expected KEY=JSON, got \"%s\"", text);
	char *key = slice_dup((struct slice){text, (size_t)(equals - text)});
	json_error_t why;
	json_t *value = json_loads(equals + 1, JSON_DECODE_ANY, &why);
	if (!value)
		ipf_error_set(err, IPF_USAGE, "--param: %s: expected JSON (texts in quotes), got \"%s\"", key ? key : "", equals + 1);
	else if (!key || json_object_set(params, key, value) < 0)
		ipf_error_set(err, IPF_USAGE, "--param: \"%s\": not a name", text);
	json_decref(value);
	free(key);
	return err->kind ? -1 : 0;
}
