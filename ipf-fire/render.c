#include "render.h"

#include "jout.h"
#include "prompt.h"

#include <stdlib.h>
#include <string.h>

enum field {
	MODEL, ADAPTER, MESSAGES, TURNS, SYSTEM, PROMPT, PROMPT_TEXT, PROMPT_TOKEN_IDS, TOOLS, ID, SESSION, INPUT_TOKENS, OUTPUT_TOKENS,
	ROLE, CONTENT, FIELDS
};

static const char *const field_names[FIELDS] = {
	"model", "adapter", "messages", "turns", "system", "prompt", "prompt_text", "prompt_token_ids", "tools", "id", "session",
	"input_tokens", "output_tokens", "role", "content",
};

/* The template, compiled: what holds no field is text already. */
struct part {
	enum { RAW, FIELD, MAP, LIST, FIRST, IF, TEXT, EACH } kind;
	char *key;          /* `"name":`, within a map */
	char *raw;
	enum field field;
	struct part *parts; /* TEXT, EACH: one */
	size_t count;
	bool turns;         /* EACH: without the system's messages */
	json_t *roles;      /* EACH: a server's own names for them; NULL */
};

struct renderer {
	struct part body;
	char *model;        /* JSON; NULL: the trace's */
	bool carries[FIELDS];
	bool measure_prompt;
	int64_t prompt_bytes;
	struct prompt prompt, outer; /* `outer` holds the messages that EACH goes through */
	jdoc_id message;    /* in outer.doc: the one that is being written */
	json_t *roles;      /* of the EACH that is being written */
	struct buffer scratch;
};

/* What is filled in. */
struct filling {
	struct renderer *r;
	const struct trace_request *q;
	struct slice context;
	struct ipf_error *err;
};

/* ---- compiling ---- */

static void part_release(struct part *p)
{
	free(p->key);
	free(p->raw);
	for (size_t i = 0; i < p->count; i++)
		part_release(&p->parts[i]);
	free(p->parts);
	json_decref(p->roles);
}

static bool is_operator(const char *key)
{
	return !strcmp(key, "$first") || !strcmp(key, "$if") || !strcmp(key, "$json") || !strcmp(key, "$each") || !strcmp(key, "$raw");
}

static bool has_field(json_t *value)
{
	const char *key, *text = json_string_value(value);
	json_t *inner;
	size_t i;
	if (text && text[0] == '$')
		return true;
	json_object_foreach(value, key, inner)
		if (is_operator(key) || has_field(inner))
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

static int compile_field(struct renderer *r, struct part *p, const char *key, const char *text, struct ipf_error *err)
{
	p->kind = FIELD;
	while (p->field < FIELDS && strcmp(field_names[p->field], text + 1) != 0)
		p->field++;
	if (p->field == FIELDS)
		return ipf_error_set(err, IPF_INPUT, "%s: unknown field \"%s\"", key ? key : "body", text);
	r->carries[p->field == TURNS ? MESSAGES : p->field] = true;
	return 0;
}

static int compile_one(struct renderer *r, struct part *p, json_t *inner, struct ipf_error *err)
{
	p->parts = calloc(1, sizeof *p->parts);
	if (!p->parts)
		return ipf_error_set(err, IPF_SYSTEM, "out of memory");
	p->count = 1;
	return compile(r, p->parts, NULL, inner, err);
}

/* {"$first": …}, {"$if": …}, {"$json": …}, {"$each": …}, {"$raw": …} */
static int compile_operator(struct renderer *r, struct part *p, json_t *value, struct ipf_error *err)
{
	json_t *first = json_object_get(value, "$first"), *text = json_object_get(value, "$json"), *raw = json_object_get(value, "$raw");
	if (raw) {
		p->kind = RAW;
		p->raw = dump(raw);
		return p->raw ? 0 : ipf_error_set(err, IPF_SYSTEM, "out of memory");
	}
	if (first) {
		p->kind = FIRST;
		return compile_inside(r, p, first, err);
	}
	if (json_object_get(value, "$if")) {
		p->kind = IF; /* the condition, and what it stands before */
		json_t *both = json_pack("[O, O]", json_object_get(value, "$if"), json_object_get(value, "then"));
		int result = compile_inside(r, p, both, err);
		json_decref(both);
		return result;
	}
	p->kind = text ? TEXT : EACH;
	if (text)
		return compile_one(r, p, text, err);
	const char *of = json_string_value(json_object_get(value, "$each"));
	p->turns = of && !strcmp(of, "turns");
	p->roles = json_incref(json_object_get(value, "roles"));
	r->carries[MESSAGES] = true;
	return compile_one(r, p, json_object_get(value, "as"), err);
}

static int compile(struct renderer *r, struct part *p, const char *key, json_t *value, struct ipf_error *err)
{
	const char *text = json_string_value(value);
	if (key && !(p->key = dump_text(key, ":")))
		return ipf_error_set(err, IPF_SYSTEM, "out of memory");
	if (text && text[0] == '$' && text[1] != '$')
		return compile_field(r, p, key, text, err);
	const char *name;
	json_t *inner;
	json_object_foreach(value, name, inner)
		if (is_operator(name))
			return compile_operator(r, p, value, err);
	if (has_field(value) && !text) {
		p->kind = json_is_object(value) ? MAP : LIST;
		return compile_inside(r, p, value, err);
	}
	p->kind = RAW;
	p->raw = text && text[0] == '$' ? dump_text(text + 1, "") : dump(value);
	return p->raw ? 0 : ipf_error_set(err, IPF_SYSTEM, "out of memory");
}

/* The map at a JSON Pointer into the body, made where it is missing; NULL where something else is in its way. `len`: of the pointer. */
static json_t *map_at(json_t *body, const char *pointer, size_t len)
{
	const char *end = pointer + len;
	while (body && pointer < end) {
		size_t part = strcspn(pointer + 1, "/");
		if (pointer + 1 + part > end)
			part = (size_t)(end - pointer - 1);
		char *key = slice_dup((struct slice){pointer + 1, part});
		json_t *inner = key && json_is_array(body) ? json_array_get(body, strtoul(key, NULL, 10)) : key ? json_object_get(body, key) : NULL;
		if (key && !inner && json_is_object(body)) {
			inner = json_object();
			json_object_set_new(body, key, inner);
		}
		free(key);
		body = inner;
		pointer += 1 + part;
	}
	return json_is_object(body) ? body : NULL;
}

/* The user's own parameters: where the API has them, or where a KEY that begins with a slash says. They hold no fields. */
static int add_params(json_t *body, json_t *request, json_t *params, struct ipf_error *err)
{
	const char *home = json_string_value(json_object_get(request, "params")), *key;
	json_t *value;
	json_object_foreach(params, key, value) {
		const char *slash = *key == '/' ? strrchr(key, '/') : NULL;
		json_t *map = slash ? map_at(body, key, (size_t)(slash - key)) : map_at(body, home ? home : "", home ? strlen(home) : 0);
		if (!map)
			return ipf_error_set(err, IPF_USAGE, "--param: %s: there is no map to put it into", key);
		if (json_object_set_new(map, slash ? slash + 1 : key, json_pack("{s:O}", "$raw", value)) < 0)
			return ipf_error_set(err, IPF_SYSTEM, "out of memory");
	}
	return 0;
}

static json_t *merge(json_t *request, const struct render_options *options, struct ipf_error *err)
{
	json_t *body = json_deep_copy(json_object_get(request, "body")), *exact = json_object_get(request, "exact_output");
	json_t *mode = json_object_get(request, options->streamed ? "stream" : "whole");
	if (options->exact_output && !json_is_object(exact)) {
		json_decref(body);
		ipf_error_set(err, IPF_USAGE, "--exact-output: this API has no way to ask for an exact length");
		return NULL;
	}
	int bad = mode ? json_object_update_recursive(body, mode) : 0;
	if (options->exact_output)
		bad |= json_object_update_recursive(body, exact);
	if (!body || bad)
		ipf_error_set(err, IPF_SYSTEM, "out of memory");
	if (!body || bad || add_params(body, request, options->params, err) < 0) {
		json_decref(body);
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
	r->measure_prompt = options->measure_prompt;
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
	prompt_release(&r->prompt);
	prompt_release(&r->outer);
	buffer_release(&r->scratch);
	free(r);
}

/* ---- sessions ---- */

void session_append(struct buffer *context, const struct trace_request *q)
{
	prompt_append_turn(context, q);
	if (!q->answer.data)
		return;
	if (context->len)
		buffer_byte(context, ',');
	buffer_text(context, "{\"role\":\"assistant\",\"content\":");
	buffer_slice(context, q->answer);
	buffer_byte(context, '}');
}

/* ---- filling in ---- */

struct slice renderer_model(const struct renderer *r, const struct trace_request *q)
{
	return r->model ? slice_of(r->model) : q->model;
}

static bool present(struct filling *f, enum field field)
{
	const struct trace_request *q = f->q;
	bool text = q->messages.data || q->prompt.data;
	switch (field) {
	case MODEL: return renderer_model(f->r, q).data;
	case ADAPTER: return !f->r->model && q->model.data;
	case MESSAGES: case TURNS: case PROMPT_TEXT: return text;
	case SYSTEM: return prompt_has_system(&f->r->prompt, q, f->context, f->err) == 1;
	case PROMPT: return text || q->prompt_token_ids.data;
	case PROMPT_TOKEN_IDS: return q->prompt_token_ids.data;
	case TOOLS: return q->tools.data;
	case ID: return q->id.data;
	case SESSION: return q->session.data;
	case INPUT_TOKENS: return q->input_tokens != IPF_ABSENT;
	case OUTPUT_TOKENS: return q->output_tokens != IPF_ABSENT;
	case ROLE: case CONTENT: return true;
	case FIELDS: break;
	}
	return false;
}

static bool part_present(struct filling *f, const struct part *p)
{
	if (p->kind == FIELD)
		return present(f, p->field);
	if (p->kind == EACH)
		return present(f, MESSAGES);
	if (p->kind == IF)
		return part_present(f, &p->parts[0]) && part_present(f, &p->parts[1]);
	for (size_t i = 0; p->kind == FIRST; i++) {
		if (i == p->count)
			return false;
		if (part_present(f, &p->parts[i]))
			return true;
	}
	return true;
}

/* How long the prompt that was just written is as text. */
static int measure_prompt(struct renderer *r, struct slice json, struct ipf_error *err)
{
	buffer_clear(&r->scratch);
	if (jdoc_parse(&r->prompt.doc, json.data, json.len, err) < 0)
		return -1;
	jdoc_text(&r->prompt.doc, JDOC_ROOT, &r->scratch);
	r->prompt_bytes = jdoc_type_of(&r->prompt.doc, JDOC_ROOT) == JDOC_TEXT ? (int64_t)r->scratch.len : IPF_ABSENT;
	return 0;
}

static int write_prompt(struct filling *f, enum field field, struct buffer *body)
{
	size_t begin = body->len;
	const struct trace_request *q = f->q;
	if (field == PROMPT && !q->prompt.data && !q->messages.data)
		buffer_slice(body, q->prompt_token_ids);
	else if (prompt_text(&f->r->prompt, q, f->context, body, f->err) < 0)
		return -1;
	if (!f->r->measure_prompt || body->failed)
		return 0;
	return measure_prompt(f->r, (struct slice){body->data + begin, body->len - begin}, f->err);
}

static void write_role(struct renderer *r, struct buffer *body)
{
	jdoc_id role = jdoc_get(&r->outer.doc, r->message, "role");
	struct slice raw = role == JDOC_NONE ? slice_of("\"user\"") : jdoc_raw(&r->outer.doc, role);
	const char *name;
	json_t *other;
	json_object_foreach(r->roles, name, other)
		if (jdoc_text_is(&r->outer.doc, role, name)) {
			struct jout w = {.out = body};
			jout_string0(&w, json_string_value(other));
			return;
		}
	buffer_slice(body, raw);
}

static int write_field(struct filling *f, enum field field, struct buffer *body)
{
	struct jout w = {.out = body};
	struct prompt *p = &f->r->prompt;
	const struct trace_request *q = f->q;
	switch (field) {
	case MODEL: case ADAPTER: buffer_slice(body, renderer_model(f->r, q)); break;
	case MESSAGES: buffer_slice(body, prompt_messages(p, q, f->context)); break;
	case TURNS: return prompt_turns(p, q, f->context, body, f->err);
	case SYSTEM: return prompt_system(p, q, f->context, body, f->err);
	case PROMPT: case PROMPT_TEXT: return write_prompt(f, field, body);
	case PROMPT_TOKEN_IDS: buffer_slice(body, q->prompt_token_ids); break;
	case TOOLS: buffer_slice(body, q->tools); break;
	case ID: buffer_slice(body, q->id); break;
	case SESSION: buffer_slice(body, q->session); break;
	case INPUT_TOKENS: jout_int(&w, q->input_tokens); break;
	case OUTPUT_TOKENS: jout_int(&w, q->output_tokens); break;
	case ROLE: write_role(f->r, body); break;
	case CONTENT: prompt_content(&f->r->outer.doc, f->r->message, body); break;
	case FIELDS: break;
	}
	return 0;
}

static int write_part(struct filling *f, const struct part *p, struct buffer *body);

static int write_inside(struct filling *f, const struct part *p, struct buffer *body)
{
	bool first = true;
	buffer_byte(body, p->kind == MAP ? '{' : '[');
	for (size_t i = 0; i < p->count; i++) {
		const struct part *inner = &p->parts[i];
		if (!part_present(f, inner))
			continue;
		if (!first)
			buffer_byte(body, ',');
		first = false;
		if (inner->key)
			buffer_text(body, inner->key);
		if (write_part(f, inner, body) < 0)
			return -1;
	}
	buffer_byte(body, p->kind == MAP ? '}' : ']');
	return 0;
}

static int write_first(struct filling *f, const struct part *p, struct buffer *body)
{
	for (size_t i = 0; i < p->count; i++)
		if (part_present(f, &p->parts[i]))
			return write_part(f, &p->parts[i], body);
	return 0;
}

/* A value as JSON within a text. */
static int write_text(struct filling *f, const struct part *p, struct buffer *body)
{
	struct buffer inside = {0};
	struct jout w = {.out = body};
	int result = write_part(f, &p->parts[0], &inside);
	jout_string(&w, buffer_all(&inside));
	body->failed |= inside.failed;
	buffer_release(&inside);
	return result;
}

static int write_each(struct filling *f, const struct part *p, struct buffer *body)
{
	struct prompt_each e;
	bool first = true;
	if (prompt_each(&f->r->outer, f->q, f->context, p->turns ? PROMPT_TURNS : PROMPT_ALL, &e, f->err) < 0)
		return -1;
	f->r->roles = p->roles;
	buffer_byte(body, '[');
	while (prompt_step(&e)) {
		if (!first)
			buffer_byte(body, ',');
		first = false;
		f->r->message = e.each.value;
		if (write_part(f, &p->parts[0], body) < 0)
			return -1;
	}
	buffer_byte(body, ']');
	return 0;
}

static int write_part(struct filling *f, const struct part *p, struct buffer *body)
{
	switch (p->kind) {
	case RAW: buffer_text(body, p->raw); return 0;
	case FIELD: return write_field(f, p->field, body);
	case FIRST: return write_first(f, p, body);
	case IF: return write_part(f, &p->parts[1], body);
	case TEXT: return write_text(f, p, body);
	case EACH: return write_each(f, p, body);
	case MAP: case LIST: break;
	}
	return write_inside(f, p, body);
}

int renderer_check(struct renderer *r, const struct trace_request *q, struct ipf_error *err)
{
	static const enum field prompts[] = {MESSAGES, PROMPT, PROMPT_TEXT, PROMPT_TOKEN_IDS};
	struct filling f = {.r = r, .q = q, .err = err};
	bool wanted = false, carried = false;
	for (size_t i = 0; i < sizeof prompts / sizeof *prompts; i++) {
		wanted |= r->carries[prompts[i]];
		carried |= r->carries[prompts[i]] && present(&f, prompts[i]);
	}
	if (wanted && !carried)
		return ipf_error_set(err, IPF_INPUT, "%s: this API takes no such prompt", q->prompt_token_ids.data ? "prompt_token_ids" : "prompt");
	return 0;
}

int renderer_body(struct renderer *r, const struct trace_request *q, struct slice context, struct buffer *body,
                  struct ipf_error *err)
{
	struct filling f = {.r = r, .q = q, .context = context, .err = err};
	if (renderer_check(r, q, err) < 0)
		return -1;
	buffer_clear(body);
	r->prompt_bytes = IPF_ABSENT;
	if (write_part(&f, &r->body, body) < 0 || err->kind)
		return -1;
	bool failed = body->failed || r->prompt.messages.failed || r->outer.messages.failed || r->scratch.failed;
	return failed ? ipf_error_set(err, IPF_SYSTEM, "out of memory") : 0;
}

int64_t renderer_prompt_bytes(const struct renderer *r)
{
	return r->prompt_bytes;
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
