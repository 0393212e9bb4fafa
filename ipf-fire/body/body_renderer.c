#include "body/body_renderer.h"

#include "absent.h"
#include "body/chat_parts.h"
#include "json/jout.h"
#include "body/prompt.h"
#include "protobuf/grpc_wire.h"
#include "protobuf/protobuf.h"
#include "body/body_template.h"

#include <stdlib.h>
#include <string.h>

struct renderer {
	struct part body;
	char *model; /* JSON; NULL: the trace's */
	bool carries[FIELDS];
	bool measure_prompt;
	int64_t prompt_bytes;
	struct prompt prompt, outer; /* `outer` holds the messages that EACH goes through */
	jdoc_id message;             /* in outer.doc: the one that is being written */
	struct chat_parts_part part; /* of its content */
	struct jdoc tools, format;
	jdoc_id tool;  /* in tools: the one that is being written */
	json_t *roles; /* of the EACH that is being written */
	struct buffer scratch;
	const struct protobuf_schema *protobuf; /* NULL: the body is JSON */
	int message_type;
	struct buffer json; /* what the message was made of */
	struct jdoc json_doc;
};

/* What is filled in. */
struct filling {
	struct renderer *r;
	const struct trace_request *q;
	struct slice context;
	struct ipf_error *err;
};

int renderer_new(struct renderer **renderer, json_t *request, const struct body_renderer_options *options,
                 struct ipf_error *err)
{
	*renderer = NULL;
	struct renderer *r = calloc(1, sizeof *r);
	if (!r)
		return ipf_error_memory(err);
	r->measure_prompt = options->measure_prompt;
	r->protobuf = options->protobuf;
	r->message_type = options->message;
	int result = body_template_compile(&r->body, r->carries, request, options, err);
	if (result == 0 && options->model && !(r->model = dump_text(options->model, "")))
		result = ipf_error_set(err, IPF_USAGE, "--model: not UTF-8");
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
	jdoc_release(&r->tools);
	jdoc_release(&r->format);
	buffer_release(&r->scratch);
	buffer_release(&r->json);
	jdoc_release(&r->json_doc);
	free(r);
}

/* ---- sessions ---- */

void session_append(struct buffer *context, const struct trace_request *q)
{
	prompt_append_turn(context, q);
	if (q->answer.data)
		session_answer(context, q->answer);
}

void session_answer(struct buffer *context, struct slice answer)
{
	if (context->len)
		buffer_byte(context, ',');
	buffer_text(context, "{\"role\":\"assistant\",\"content\":");
	buffer_slice(context, answer);
	buffer_byte(context, '}');
}

/* ---- filling in ---- */

struct slice renderer_model(const struct renderer *r, const struct trace_request *q)
{
	return r->model ? slice_of(r->model) : q->model;
}

/* Of {"type": "json_schema", "json_schema": {"name", "schema"}}; JDOC_NONE where the format is another, or absent. */
static jdoc_id schema_member(struct filling *f, const char *member)
{
	struct jdoc *doc = &f->r->format;
	struct slice format = f->q->response_format;
	if (!format.data || jdoc_parse(doc, format.data, format.len, f->err) < 0)
		return JDOC_NONE;
	return jdoc_get(doc, jdoc_get(doc, JDOC_ROOT, "json_schema"), member);
}

static jdoc_id tool_member(const struct renderer *r, enum field field)
{
	return chat_parts_function(&r->tools, r->tool,
	                           field == TOOL_NAME          ? "name"
	                           : field == TOOL_DESCRIPTION ? "description"
	                                                       : "parameters");
}

static bool present(struct filling *f, enum field field)
{
	struct slice media_type, data;
	const struct trace_request *q = f->q;
	bool text = q->messages.data || q->prompt.data;
	switch (field) {
	case MODEL:
		return renderer_model(f->r, q).data;
	case ADAPTER:
		return !f->r->model && q->model.data;
	case MESSAGES:
	case TURNS:
	case PROMPT_TEXT:
		return text;
	case SYSTEM:
		return prompt_has_system(&f->r->prompt, q, f->context, f->err) == 1;
	case PROMPT:
		return text || q->prompt_token_ids.data;
	case PROMPT_TOKEN_IDS:
		return q->prompt_token_ids.data;
	case TOOLS:
		return q->tools.data;
	case ID:
		return q->id.data;
	case SESSION:
		return q->session.data;
	case INPUT_TOKENS:
		return q->input_tokens != IPF_ABSENT;
	case OUTPUT_TOKENS:
		return q->output_tokens != IPF_ABSENT;
	case RESPONSE_FORMAT:
		return q->response_format.data;
	case RESPONSE_SCHEMA:
		return schema_member(f, "schema") != JDOC_NONE;
	case RESPONSE_SCHEMA_NAME:
		return schema_member(f, "name") != JDOC_NONE;
	case MESSAGE:
	case ROLE:
	case CONTENT:
		return true;
	case HAS_IMAGE:
		return chat_parts_has_image(&f->r->outer.doc, f->r->message);
	case TEXT_OF_PART:
		return f->r->part.text != JDOC_NONE;
	case URL:
		return f->r->part.url != JDOC_NONE;
	case MEDIA_TYPE:
	case DATA:
		return chat_parts_data(&f->r->outer.doc, f->r->part.url, &media_type, &data);
	case TOOL_NAME:
	case TOOL_DESCRIPTION:
	case TOOL_PARAMETERS:
		return tool_member(f->r, field) != JDOC_NONE;
	case FIELDS:
		break;
	}
	return false;
}

static bool part_present(struct filling *f, const struct part *p)
{
	if (p->kind == FIELD)
		return present(f, p->field);
	if (p->kind == EACH)
		return p->over == OVER_PARTS || present(f, p->over == OVER_TOOLS ? TOOLS : MESSAGES);
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
	json_object_foreach(r->roles, name, other) if (jdoc_text_is(&r->outer.doc, role, name))
	{
		struct jout w = {.out = body};
		jout_string0(&w, json_string_value(other));
		return;
	}
	buffer_slice(body, raw);
}

static void write_data(struct renderer *r, enum field field, struct buffer *body)
{
	struct slice media_type, data;
	if (!chat_parts_data(&r->outer.doc, r->part.url, &media_type, &data))
		return;
	buffer_byte(body, '"');
	buffer_slice(body, field == DATA ? data : media_type);
	buffer_byte(body, '"');
}

static int write_field(struct filling *f, enum field field, struct buffer *body)
{
	struct jout w = {.out = body};
	struct prompt *p = &f->r->prompt;
	const struct trace_request *q = f->q;
	switch (field) {
	case MODEL:
	case ADAPTER:
		buffer_slice(body, renderer_model(f->r, q));
		break;
	case MESSAGES:
		buffer_slice(body, prompt_messages(p, q, f->context));
		break;
	case TURNS:
		return prompt_turns(p, q, f->context, body, f->err);
	case SYSTEM:
		return prompt_system(p, q, f->context, body, f->err);
	case PROMPT:
	case PROMPT_TEXT:
		return write_prompt(f, field, body);
	case PROMPT_TOKEN_IDS:
		buffer_slice(body, q->prompt_token_ids);
		break;
	case TOOLS:
		buffer_slice(body, q->tools);
		break;
	case ID:
		buffer_slice(body, q->id);
		break;
	case SESSION:
		buffer_slice(body, q->session);
		break;
	case INPUT_TOKENS:
		jout_int(&w, q->input_tokens);
		break;
	case OUTPUT_TOKENS:
		jout_int(&w, q->output_tokens);
		break;
	case MESSAGE:
		buffer_slice(body, jdoc_raw(&f->r->outer.doc, f->r->message));
		break;
	case ROLE:
		write_role(f->r, body);
		break;
	case CONTENT:
		prompt_content(&f->r->outer.doc, f->r->message, body);
		break;
	case RESPONSE_FORMAT:
		buffer_slice(body, q->response_format);
		break;
	case RESPONSE_SCHEMA:
		buffer_slice(body, jdoc_raw(&f->r->format, schema_member(f, "schema")));
		break;
	case RESPONSE_SCHEMA_NAME:
		buffer_slice(body, jdoc_raw(&f->r->format, schema_member(f, "name")));
		break;
	case HAS_IMAGE:
		buffer_text(body, "true");
		break;
	case TEXT_OF_PART:
		buffer_slice(body, jdoc_raw(&f->r->outer.doc, f->r->part.text));
		break;
	case URL:
		buffer_slice(body, jdoc_raw(&f->r->outer.doc, f->r->part.url));
		break;
	case MEDIA_TYPE:
	case DATA:
		write_data(f->r, field, body);
		break;
	case TOOL_NAME:
	case TOOL_DESCRIPTION:
	case TOOL_PARAMETERS:
		buffer_slice(body, jdoc_raw(&f->r->tools, tool_member(f->r, field)));
		break;
	case FIELDS:
		break;
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

static void between(struct buffer *body, bool *first)
{
	if (!*first)
		buffer_byte(body, ',');
	*first = false;
}

static int each_message(struct filling *f, const struct part *p, struct buffer *body)
{
	struct prompt_each e;
	bool first = true;
	if (prompt_each(&f->r->outer, f->q, f->context, p->over == OVER_TURNS ? PROMPT_TURNS : PROMPT_ALL, &e, f->err) < 0)
		return -1;
	f->r->roles = p->roles;
	while (prompt_step(&e)) {
		between(body, &first);
		f->r->message = e.each.value;
		if (write_part(f, &p->parts[0], body) < 0)
			return -1;
	}
	return 0;
}

/* Texts that the template does not ask for are left out; what it cannot know goes as it stands. */
static int each_part(struct filling *f, const struct part *p, struct buffer *body)
{
	const struct jdoc *doc = &f->r->outer.doc;
	struct chat_parts_parts parts = chat_parts_parts(doc, f->r->message);
	bool first = true;
	while (chat_parts_step(&parts, &f->r->part)) {
		const struct part *as = &p->parts[f->r->part.url != JDOC_NONE];
		bool known = f->r->part.url != JDOC_NONE || f->r->part.text != JDOC_NONE, wanted = as->kind != RAW || as->raw;
		if (known && !wanted && f->r->part.url == JDOC_NONE)
			continue;
		between(body, &first);
		if (!known || !wanted)
			buffer_slice(body, jdoc_raw(doc, f->r->part.whole));
		else if (write_part(f, as, body) < 0)
			return -1;
	}
	return 0;
}

/* What is no function goes as it stands. */
static int each_tool(struct filling *f, const struct part *p, struct buffer *body)
{
	struct jdoc *doc = &f->r->tools;
	bool first = true;
	if (jdoc_parse(doc, f->q->tools.data, f->q->tools.len, f->err) < 0)
		return -1;
	for (struct jdoc_each e = jdoc_each(doc, JDOC_ROOT); jdoc_step(&e);) {
		between(body, &first);
		f->r->tool = e.value;
		if (tool_member(f->r, TOOL_NAME) == JDOC_NONE)
			buffer_slice(body, jdoc_raw(doc, e.value));
		else if (write_part(f, &p->parts[0], body) < 0)
			return -1;
	}
	return 0;
}

static int write_each(struct filling *f, const struct part *p, struct buffer *body)
{
	buffer_byte(body, '[');
	int result = p->over == OVER_PARTS   ? each_part(f, p, body)
	             : p->over == OVER_TOOLS ? each_tool(f, p, body)
	                                     : each_message(f, p, body);
	buffer_byte(body, ']');
	return result;
}

static int write_part(struct filling *f, const struct part *p, struct buffer *body)
{
	switch (p->kind) {
	case RAW:
		buffer_text(body, p->raw);
		return 0;
	case FIELD:
		return write_field(f, p->field, body);
	case FIRST:
		return write_first(f, p, body);
	case IF:
		return write_part(f, &p->parts[1], body);
	case TEXT:
		return write_text(f, p, body);
	case EACH:
		return write_each(f, p, body);
	case MAP:
	case LIST:
		break;
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
	if (!q->messages.data && !q->prompt.data && !q->prompt_token_ids.data)
		return ipf_error_set(err, IPF_INPUT, "prompt: the trace has only lengths (it was made with --prompt none)");
	if (wanted && !carried)
		return ipf_error_set(err, IPF_INPUT, "%s: this API takes no such prompt",
		                     q->prompt_token_ids.data ? "prompt_token_ids" : "prompt");
	return 0;
}

/* The JSON that was rendered as a message of gRPC, in its frame. */
static int wrap(struct renderer *r, struct buffer *body, struct ipf_error *err)
{
	char prefix[GRPC_PREFIX] = "";
	buffer_clear(body);
	buffer_append(body, prefix, sizeof prefix);
	if (r->json.failed)
		return ipf_error_memory(err);
	if (protobuf_encode(r->protobuf, r->message_type, &r->json_doc, buffer_all(&r->json), body, err) < 0)
		return -1;
	grpc_prefix(body->len - sizeof prefix, prefix);
	memcpy(body->data, prefix, sizeof prefix);
	return 0;
}

int renderer_body(struct renderer *r, const struct trace_request *q, struct slice context, struct buffer *body,
                  struct ipf_error *err)
{
	struct filling f = {.r = r, .q = q, .context = context, .err = err};
	if (renderer_check(r, q, err) < 0)
		return -1;
	struct buffer *json = r->protobuf ? &r->json : body;
	buffer_clear(json);
	r->prompt_bytes = IPF_ABSENT;
	if (write_part(&f, &r->body, json) < 0 || err->kind || (r->protobuf && wrap(r, body, err) < 0))
		return -1;
	bool failed = body->failed || r->prompt.messages.failed || r->outer.messages.failed || r->scratch.failed;
	return failed ? ipf_error_memory(err) : 0;
}

struct slice renderer_json(const struct renderer *r)
{
	return r->protobuf ? buffer_all(&r->json) : (struct slice){0};
}

int64_t renderer_prompt_bytes(const struct renderer *r)
{
	return r->prompt_bytes;
}
