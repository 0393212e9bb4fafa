#include "body/body_renderer.h"

#include "absent.h"
#include "api/form.h"
#include "canary/canary.h"
#include "requests/chat_parts.h"
#include "json/jout.h"
#include "job/agent_names.h"
#include "redact.h"
#include "requests/prompt.h"
#include "protobuf/grpc_wire.h"
#include "protobuf/protobuf.h"
#include "body/body_template.h"
#include "body/recorded_answer.h"

#include <stdlib.h>
#include <string.h>

/* Canaries have a template that lets their answers end by themselves. */
enum { EVERY, FREE, TEMPLATES };

struct body_renderer {
	struct body_template templates[TEMPLATES];
	const struct body_template *template; /* that of the request at hand */
	char *model;                          /* JSON; NULL: the trace's */
	char *default_model;                  /* JSON; of requests without one; NULL */
	bool measure_prompt, live, recorded_answers;
	int64_t prompt_bytes;
	struct prompt prompt, outer; /* `outer` holds the messages a PART_EACH iterates over */
	jdoc_id message;             /* in outer.doc: the one being written */
	struct chat_part part;       /* its content's */
	struct jdoc tools, format;
	struct slice previous;     /* JSON: see body_renderer_continue */
	struct agent_names agents; /* the request's */
	struct jdoc own;           /* the request's own members of its body */
	struct jdoc inputs;
	jdoc_id input;              /* in `inputs`: the one being written */
	jdoc_id tool;               /* in `tools`: the one being written */
	jdoc_id call;               /* in outer.doc: the tool call being written; JDOC_NONE: a result is */
	struct prompt_each results; /* from `message` on, if it is a result */
	struct jdoc arguments;
	json_t *roles; /* for the PART_EACH being written */
	struct buffer scratch;
	const struct protobuf_schema *protobuf; /* NULL: the body is JSON */
	int message_type;
	struct buffer json; /* the source of a protobuf message or a form */
	struct jdoc json_doc;
};

/* One rendering. */
struct filling {
	struct body_renderer *r;
	const struct trace_request *q;
	struct slice context;
	struct ipf_error *err;
};

int body_renderer_new(struct body_renderer **renderer, json_t *request, const struct body_renderer_options *options,
                      struct ipf_error *err)
{
	*renderer = NULL;
	struct body_renderer *r = calloc(1, sizeof *r);
	if (!r)
		return ipf_error_memory(err);
	r->measure_prompt = options->measure_prompt;
	r->live = options->live;
	r->recorded_answers = options->recorded_answers;
	r->protobuf = options->protobuf;
	r->message_type = options->message;
	struct body_renderer_options free_end = *options;
	free_end.free_end = true;
	r->template = &r->templates[EVERY];
	int result = body_template_compile(&r->templates[EVERY], request, options, err);
	if (result == 0)
		result = body_template_compile(&r->templates[FREE], request, &free_end, err);
	if (result == 0 && options->model && !(r->model = quote_text(options->model, "")))
		result = ipf_error_set(err, IPF_USAGE, "--model: not UTF-8");
	if (result == 0)
		*renderer = r;
	else
		body_renderer_free(r);
	return result;
}

void body_renderer_free(struct body_renderer *r)
{
	if (!r)
		return;
	template_part_release(&r->templates[EVERY].body);
	template_part_release(&r->templates[FREE].body);
	free(r->model);
	free(r->default_model);
	prompt_release(&r->prompt);
	prompt_release(&r->outer);
	jdoc_release(&r->inputs);
	jdoc_release(&r->tools);
	jdoc_release(&r->format);
	jdoc_release(&r->own);
	jdoc_release(&r->arguments);
	agent_names_release(&r->agents);
	buffer_release(&r->scratch);
	buffer_release(&r->json);
	jdoc_release(&r->json_doc);
	free(r);
}

/* ---- filling in ---- */

struct slice body_renderer_model(const struct body_renderer *r, const struct trace_request *q)
{
	return r->model ? slice_of(r->model) : q->model.data ? q->model : slice_of(r->default_model);
}

int body_renderer_set_default_model(struct body_renderer *r, const char *model, struct ipf_error *err)
{
	free(r->default_model);
	r->default_model = quote_text(model, "");
	return r->default_model ? 0 : ipf_error_set(err, IPF_USAGE, "--model: not UTF-8");
}

/* A member of {"type": "json_schema", "json_schema": {"name", "schema"}}; JDOC_NONE if the format is another or absent.
 */
static jdoc_id schema_member(struct filling *f, const char *member)
{
	struct jdoc *doc = &f->r->format;
	struct slice format = f->q->response_format;
	if (!format.data || jdoc_parse(doc, format.data, format.len, f->err) < 0)
		return JDOC_NONE;
	return jdoc_get(doc, jdoc_get(doc, JDOC_ROOT, "json_schema"), member);
}

static jdoc_id tool_member(const struct body_renderer *r, enum template_field field)
{
	return chat_parts_tool_member(&r->tools, r->tool,
	                              field == FIELD_TOOL_NAME          ? "name"
	                              : field == FIELD_TOOL_DESCRIPTION ? "description"
	                                                                : "parameters");
}

/* A field of the tool call being written, or of its result; JDOC_NONE. */
static jdoc_id call_member(const struct body_renderer *r, enum template_field field)
{
	const struct jdoc *doc = &r->outer.doc;
	const bool result = r->call == JDOC_NONE;
	if (field == FIELD_CALL_ARGUMENTS || field == FIELD_CALL_ARGUMENTS_TEXT)
		return chat_parts_tool_member(doc, r->call, "arguments");
	if (field == FIELD_CALL_ID)
		return result ? jdoc_get(doc, r->message, "tool_call_id") : jdoc_get(doc, r->call, "id");
	return result ? chat_parts_result_name(doc, JDOC_ROOT, r->message) : chat_parts_tool_member(doc, r->call, "name");
}

/* The arguments as an object, from an object or the text of one; anything else is empty. */
static void write_arguments(struct body_renderer *r, struct buffer *body)
{
	const struct jdoc *doc = &r->outer.doc;
	struct ipf_error ignored = {0};
	jdoc_id node = call_member(r, FIELD_CALL_ARGUMENTS);
	if (jdoc_type_of(doc, node) == JDOC_MAP) {
		buffer_slice(body, jdoc_raw(doc, node));
		return;
	}
	buffer_clear(&r->scratch);
	if (jdoc_type_of(doc, node) == JDOC_TEXT)
		jdoc_text(doc, node, &r->scratch);
	if (r->scratch.len && jdoc_parse(&r->arguments, r->scratch.data, r->scratch.len, &ignored) == 0 &&
	    jdoc_type_of(&r->arguments, JDOC_ROOT) == JDOC_MAP)
		buffer_slice(body, jdoc_raw(&r->arguments, JDOC_ROOT));
	else
		buffer_text(body, "{}");
}

/* The arguments as a text: as the trace has it, or the JSON of an object; "{}" if there are none. */
static void write_arguments_text(struct body_renderer *r, struct buffer *body)
{
	const struct jdoc *doc = &r->outer.doc;
	struct jout w = {.out = body};
	jdoc_id node = call_member(r, FIELD_CALL_ARGUMENTS);
	if (jdoc_type_of(doc, node) == JDOC_TEXT && !jdoc_text_empty(doc, node))
		buffer_slice(body, jdoc_raw(doc, node));
	else
		jout_string(&w, jdoc_type_of(doc, node) == JDOC_MAP ? jdoc_raw(doc, node) : slice_of("{}"));
}

/* The first recording of the messages whose data are there, in `outer`: true. */
static bool first_audio(struct filling *f, struct slice *media_type, struct slice *data)
{
	struct prompt *outer = &f->r->outer;
	struct prompt_each e;
	if (!f->q->messages.data || prompt_each(outer, f->q, f->context, PROMPT_ALL, &e, f->err) < 0)
		return false;
	while (prompt_step(&e)) {
		struct chat_parts_each each = chat_parts_each(&outer->doc, e.each.value);
		while (chat_parts_next(&each, &f->r->part))
			if (f->r->part.kind == CHAT_PART_AUDIO && chat_parts_data(&outer->doc, &f->r->part, media_type, data))
				return true;
	}
	return false;
}

/* Has the request a field to be sent as in the trace? */
static bool is_set(const struct trace_request *q, enum template_field field)
{
	switch (field) {
	case FIELD_PROMPT_TOKEN_IDS:
		return q->prompt_token_ids.data;
	case FIELD_INPUTS:
		return q->inputs.data;
	case FIELD_INPUT_TEXTS:
		return trace_inputs_are_texts(q);
	case FIELD_QUERY:
		return q->query.data;
	case FIELD_TOOLS:
		return q->tools.data;
	case FIELD_ID:
		return q->id.data;
	case FIELD_SESSION:
		return q->session.data;
	case FIELD_INPUT_TOKENS:
		return q->input_tokens != IPF_ABSENT;
	case FIELD_ANSWER_TOKEN_IDS:
		return q->answer_token_ids.data;
	case FIELD_RESPONSE_FORMAT:
		return q->response_format.data;
	default:
		return false;
	}
}

/* Has the message or the part being written a field? */
static bool message_has(struct filling *f, enum template_field field)
{
	struct slice media_type, data;
	const struct jdoc *doc = &f->r->outer.doc;
	switch (field) {
	case FIELD_HAS_IMAGE:
		return chat_parts_has_image(doc, f->r->message);
	case FIELD_HAS_MEDIA:
		return chat_parts_has_media(doc, f->r->message);
	case FIELD_HAS_CALLS:
		return chat_parts_calls(doc, f->r->message) != JDOC_NONE;
	case FIELD_TEXT_OF_PART:
		return f->r->part.text != JDOC_NONE;
	case FIELD_URL:
		return f->r->part.url != JDOC_NONE;
	default: /* FIELD_MEDIA_TYPE, FIELD_DATA */
		return chat_parts_data(doc, &f->r->part, &media_type, &data);
	}
}

static bool present(struct filling *f, enum template_field field)
{
	struct slice media_type, data;
	const struct trace_request *q = f->q;
	bool text = q->messages.data || q->prompt.data;
	switch (field) {
	case FIELD_PREVIOUS:
		return f->r->previous.data;
	case FIELD_AGENT:
		return f->r->agents.agent.data;
	case FIELD_PARENT_AGENT:
		return f->r->agents.parent.data;
	case FIELD_TOKEN_IDS_WANTED:
		return f->r->live && q->session.data && q->prompt_token_ids.data;
	case FIELD_OUTPUT_TOKENS:
		return body_renderer_asked_tokens(f->r, q) != IPF_ABSENT;
	case FIELD_MODEL:
		return body_renderer_model(f->r, q).data;
	case FIELD_ADAPTER:
		return !f->r->model && q->model.data;
	case FIELD_MESSAGES:
	case FIELD_TURNS:
	case FIELD_PROMPT_TEXT:
		return text;
	case FIELD_SYSTEM:
		return prompt_has_system(&f->r->prompt, q, f->context, f->err) == 1;
	case FIELD_PROMPT:
		return text || q->prompt_token_ids.data;
	case FIELD_RESPONSE_SCHEMA:
		return schema_member(f, "schema") != JDOC_NONE;
	case FIELD_RESPONSE_SCHEMA_NAME:
		return schema_member(f, "name") != JDOC_NONE;
	case FIELD_MESSAGE:
	case FIELD_ROLE:
	case FIELD_CONTENT:
	case FIELD_INPUT:
		return true;
	case FIELD_AUDIO:
		return first_audio(f, &media_type, &data);
	case FIELD_CALL_ID:
	case FIELD_CALL_NAME:
		return call_member(f->r, field) != JDOC_NONE;
	case FIELD_CALL_ARGUMENTS:
	case FIELD_CALL_ARGUMENTS_TEXT:
		return true;
	case FIELD_HAS_IMAGE:
	case FIELD_HAS_MEDIA:
	case FIELD_HAS_CALLS:
	case FIELD_TEXT_OF_PART:
	case FIELD_URL:
	case FIELD_MEDIA_TYPE:
	case FIELD_DATA:
		return message_has(f, field);
	case FIELD_TOOL_NAME:
	case FIELD_TOOL_DESCRIPTION:
	case FIELD_TOOL_PARAMETERS:
		return tool_member(f->r, field) != JDOC_NONE;
	default:
		return is_set(q, field);
	}
}

static bool part_present(struct filling *f, const struct template_part *p)
{
	if (p->kind == PART_FIELD)
		return present(f, p->field);
	if (p->kind == PART_EACH)
		return p->over == OVER_PARTS || p->over == OVER_RESULTS ||
		       present(f, p->over == OVER_TOOLS    ? FIELD_TOOLS
		                  : p->over == OVER_INPUTS ? FIELD_INPUTS
		                                           : FIELD_MESSAGES);
	if (p->kind == PART_IF)
		return part_present(f, &p->parts[0]) && part_present(f, &p->parts[1]);
	for (size_t i = 0; p->kind == PART_FIRST; i++) {
		if (i == p->count)
			return false;
		if (part_present(f, &p->parts[i]))
			return true;
	}
	return true;
}

/* Sets prompt_bytes from the prompt just written. */
static int measure_prompt(struct body_renderer *r, struct slice json, struct ipf_error *err)
{
	buffer_clear(&r->scratch);
	if (jdoc_parse(&r->prompt.doc, json.data, json.len, err) < 0)
		return -1;
	jdoc_text(&r->prompt.doc, JDOC_ROOT, &r->scratch);
	r->prompt_bytes = jdoc_type_of(&r->prompt.doc, JDOC_ROOT) == JDOC_TEXT ? (int64_t)r->scratch.len : IPF_ABSENT;
	return 0;
}

static int write_prompt(struct filling *f, enum template_field field, struct buffer *body)
{
	size_t begin = body->len;
	const struct trace_request *q = f->q;
	if (field == FIELD_PROMPT && !q->prompt.data && !q->messages.data)
		prompt_token_ids(q, f->context, body);
	else if (prompt_text(&f->r->prompt, q, f->context, body, f->err) < 0)
		return -1;
	if (!f->r->measure_prompt || body->failed)
		return 0;
	return measure_prompt(f->r, (struct slice){body->data + begin, body->len - begin}, f->err);
}

static void write_role(struct body_renderer *r, struct buffer *body)
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

static void write_data(struct body_renderer *r, enum template_field field, struct buffer *body)
{
	struct slice media_type, data;
	if (!chat_parts_data(&r->outer.doc, &r->part, &media_type, &data))
		return;
	buffer_byte(body, '"');
	if (field == FIELD_MEDIA_TYPE && r->part.data != JDOC_NONE)
		buffer_text(body, "audio/");
	buffer_slice(body, field == FIELD_DATA ? data : media_type);
	buffer_byte(body, '"');
}

static void write_audio(struct filling *f, struct buffer *body)
{
	struct slice media_type, data;
	if (!first_audio(f, &media_type, &data))
		return;
	buffer_text(body, f->r->part.data != JDOC_NONE ? "{\"media_type\":\"audio/" : "{\"media_type\":\"");
	buffer_slice(body, media_type);
	buffer_text(body, "\",\"data\":\"");
	buffer_slice(body, data);
	buffer_text(body, "\"}");
}

/* The JSON value of a field, of the request or of the message or tool being written. */
static struct slice json_value(struct filling *f, enum template_field field)
{
	const struct body_renderer *r = f->r;
	const struct trace_request *q = f->q;
	const struct jdoc *messages = &r->outer.doc;
	switch (field) {
	case FIELD_MODEL:
	case FIELD_ADAPTER:
		return body_renderer_model(r, q);
	case FIELD_MESSAGES:
		return prompt_messages(&f->r->prompt, q, f->context);
	case FIELD_INPUTS:
	case FIELD_INPUT_TEXTS:
		return q->inputs;
	case FIELD_QUERY:
		return q->query;
	case FIELD_PREVIOUS:
		return r->previous;
	case FIELD_ANSWER_TOKEN_IDS:
		return q->answer_token_ids;
	case FIELD_INPUT:
		return jdoc_raw(&r->inputs, r->input);
	case FIELD_TOOLS:
		return q->tools;
	case FIELD_ID:
		return q->id;
	case FIELD_SESSION:
		return q->session;
	case FIELD_AGENT:
		return r->agents.agent;
	case FIELD_PARENT_AGENT:
		return r->agents.parent;
	case FIELD_RESPONSE_FORMAT:
		return q->response_format;
	case FIELD_RESPONSE_SCHEMA:
		return jdoc_raw(&r->format, schema_member(f, "schema"));
	case FIELD_RESPONSE_SCHEMA_NAME:
		return jdoc_raw(&r->format, schema_member(f, "name"));
	case FIELD_MESSAGE:
		return jdoc_raw(messages, r->message);
	case FIELD_HAS_IMAGE:
	case FIELD_HAS_MEDIA:
	case FIELD_HAS_CALLS:
	case FIELD_TOKEN_IDS_WANTED:
		return slice_of("true");
	case FIELD_TEXT_OF_PART:
		return jdoc_raw(messages, r->part.text);
	case FIELD_URL:
		return jdoc_raw(messages, r->part.url);
	case FIELD_CALL_ID:
	case FIELD_CALL_NAME:
		return jdoc_raw(messages, call_member(r, field));
	default: /* those of tools */
		return jdoc_raw(&r->tools, tool_member(r, field));
	}
}

static int write_field(struct filling *f, enum template_field field, struct buffer *body)
{
	struct jout w = {.out = body};
	struct prompt *p = &f->r->prompt;
	switch (field) {
	case FIELD_TURNS:
		return prompt_turns(p, f->q, f->context, body, f->err);
	case FIELD_SYSTEM:
		return prompt_system(p, f->q, f->context, body, f->err);
	case FIELD_PROMPT:
	case FIELD_PROMPT_TEXT:
		return write_prompt(f, field, body);
	case FIELD_PROMPT_TOKEN_IDS:
		prompt_token_ids(f->q, f->context, body);
		break;
	case FIELD_INPUT_TOKENS:
		jout_int(&w, f->q->input_tokens);
		break;
	case FIELD_OUTPUT_TOKENS:
		jout_int(&w, body_renderer_asked_tokens(f->r, f->q));
		break;
	case FIELD_ROLE:
		write_role(f->r, body);
		break;
	case FIELD_CALL_ARGUMENTS:
		write_arguments(f->r, body);
		break;
	case FIELD_CALL_ARGUMENTS_TEXT:
		write_arguments_text(f->r, body);
		break;
	case FIELD_CONTENT:
		prompt_content(&f->r->outer.doc, f->r->message, body);
		break;
	case FIELD_MEDIA_TYPE:
	case FIELD_DATA:
		write_data(f->r, field, body);
		break;
	case FIELD_AUDIO:
		write_audio(f, body);
		break;
	default:
		buffer_slice(body, json_value(f, field));
	}
	return 0;
}

static int write_part(struct filling *f, const struct template_part *p, struct buffer *body);

/* The request's own member of this name, if the part is one of the body itself; JDOC_NONE: it has none. */
static jdoc_id own_member(const struct filling *f, const struct template_part *p)
{
	if (!f->q->body.data || !p->key)
		return JDOC_NONE;
	const struct jdoc *own = &f->r->own;
	struct buffer *name = &f->r->scratch;
	buffer_clear(name);
	buffer_append(name, p->key + 1, strlen(p->key) - 3); /* without quotes and colon */
	for (struct jdoc_each e = jdoc_each(own, JDOC_ROOT); !name->failed && jdoc_step(&e);)
		if (jdoc_text_is(own, e.key, name->data)) /* however it is written there */
			return e.value;
	return JDOC_NONE;
}

static void write_own(const struct filling *f, bool first, struct buffer *body)
{
	const struct jdoc *own = &f->r->own;
	for (struct jdoc_each e = jdoc_each(own, JDOC_ROOT); jdoc_step(&e); first = false) {
		if (!first)
			buffer_byte(body, ',');
		buffer_slice(body, jdoc_raw(own, e.key));
		buffer_byte(body, ':');
		buffer_slice(body, jdoc_raw(own, e.value));
	}
}

static int write_inside(struct filling *f, const struct template_part *p, struct buffer *body)
{
	bool first = true, whole = p == &f->r->template->body && f->q->body.data;
	buffer_byte(body, p->kind == PART_MAP ? '{' : '[');
	for (size_t i = 0; i < p->count; i++) {
		const struct template_part *inner = &p->parts[i];
		if (!part_present(f, inner) || (whole && own_member(f, inner) != JDOC_NONE))
			continue;
		if (!first)
			buffer_byte(body, ',');
		first = false;
		if (inner->key)
			buffer_text(body, inner->key);
		if (write_part(f, inner, body) < 0)
			return -1;
	}
	if (whole)
		write_own(f, first, body);
	buffer_byte(body, p->kind == PART_MAP ? '}' : ']');
	return 0;
}

static int write_first(struct filling *f, const struct template_part *p, struct buffer *body)
{
	for (size_t i = 0; i < p->count; i++)
		if (part_present(f, &p->parts[i]))
			return write_part(f, &p->parts[i], body);
	return 0;
}

/* The JSON of a value, as a text. */
static int write_text(struct filling *f, const struct template_part *p, struct buffer *body)
{
	struct buffer inside = {0};
	struct jout w = {.out = body};
	int result = write_part(f, &p->parts[0], &inside);
	jout_string(&w, buffer_all(&inside));
	body->failed |= inside.failed;
	buffer_release(&inside);
	return result;
}

static void separate(struct buffer *body, bool *first)
{
	if (!*first)
		buffer_byte(body, ',');
	*first = false;
}

static int each_call(struct filling *f, const struct template_part *as, bool *first, struct buffer *body)
{
	struct body_renderer *r = f->r;
	const struct jdoc *doc = &r->outer.doc;
	for (struct jdoc_each e = jdoc_each(doc, chat_parts_calls(doc, r->message)); jdoc_step(&e);) {
		separate(body, first);
		r->call = e.value;
		if (write_part(f, as, body) < 0)
			return -1;
	}
	r->call = JDOC_NONE;
	return 0;
}

/* Is there anything but empty texts? */
static bool has_content(const struct jdoc *doc, jdoc_id message)
{
	struct chat_parts_each each = chat_parts_each(doc, message);
	struct chat_part part;
	while (chat_parts_next(&each, &part))
		if (part.kind != CHAT_PART_TEXT || !jdoc_text_empty(doc, part.text))
			return true;
	return false;
}

/* The elements of a message: one, and one for each of its calls if the template has one for these. A message without
 * content has only those of its calls. */
static int write_message(struct filling *f, const struct template_part *p, bool *first, struct buffer *body)
{
	const struct jdoc *doc = &f->r->outer.doc;
	const jdoc_id message = f->r->message;
	const struct template_part *call = &p->parts[EACH_CALL];
	const bool calls = template_part_given(call) && chat_parts_calls(doc, message) != JDOC_NONE;
	const int as = !chat_parts_is_result(doc, message)            ? EACH_MESSAGE
	               : template_part_given(&p->parts[EACH_RESULT])  ? EACH_RESULT
	               : template_part_given(&p->parts[EACH_RESULTS]) ? EACH_RESULTS
	                                                              : EACH_MESSAGE;
	if (!calls || has_content(doc, message)) {
		separate(body, first);
		if (write_part(f, &p->parts[as], body) < 0)
			return -1;
	}
	return calls ? each_call(f, call, first, body) : 0;
}

static int each_message(struct filling *f, const struct template_part *p, struct buffer *body)
{
	struct body_renderer *r = f->r;
	struct prompt_each e;
	bool first = true;
	r->outer.call_ids = p->call_ids;
	if (prompt_each(&r->outer, f->q, f->context, p->over == OVER_TURNS ? PROMPT_TURNS : PROMPT_ALL, &e, f->err) < 0)
		return -1;
	r->roles = p->roles;
	r->call = JDOC_NONE;
	while (prompt_step(&e)) {
		r->message = e.each.value;
		r->results = e;
		if (write_message(f, p, &first, body) < 0)
			return -1;
		struct prompt_each next = e; /* results written together */
		while (template_part_given(&p->parts[EACH_RESULTS]) && chat_parts_is_result(&r->outer.doc, e.each.value) &&
		       prompt_step(&next) && chat_parts_is_result(&r->outer.doc, next.each.value))
			e = next;
	}
	return 0;
}

/* From the message being written on. */
static int each_result(struct filling *f, const struct template_part *p, struct buffer *body)
{
	struct prompt_each e = f->r->results;
	bool first = true;
	do {
		separate(body, &first);
		f->r->message = e.each.value;
		if (write_part(f, &p->parts[0], body) < 0)
			return -1;
	} while (prompt_step(&e) && chat_parts_is_result(&f->r->outer.doc, e.each.value));
	return 0;
}

/* Texts the template does not name are left out, and empty ones beside calls; parts of other types are copied
 * unchanged. */
static int each_part(struct filling *f, const struct template_part *p, struct buffer *body)
{
	const struct jdoc *doc = &f->r->outer.doc;
	const bool calls = template_part_given(&p->parts[PART_CALL]) && chat_parts_calls(doc, f->r->message) != JDOC_NONE;
	struct chat_parts_each each = chat_parts_each(doc, f->r->message);
	bool first = true;
	while (chat_parts_next(&each, &f->r->part)) {
		enum chat_part_kind kind = f->r->part.kind;
		const struct template_part *as = kind == CHAT_PART_OTHER ? NULL : &p->parts[kind];
		bool wanted = as && template_part_given(as);
		if (kind == CHAT_PART_TEXT && (!wanted || (calls && jdoc_text_empty(doc, f->r->part.text))))
			continue;
		separate(body, &first);
		if (!wanted)
			buffer_slice(body, jdoc_raw(doc, f->r->part.whole));
		else if (write_part(f, as, body) < 0)
			return -1;
	}
	return calls ? each_call(f, &p->parts[PART_CALL], &first, body) : 0;
}

/* A tool other than a function is copied unchanged. */
static int each_tool(struct filling *f, const struct template_part *p, struct buffer *body)
{
	struct jdoc *doc = &f->r->tools;
	bool first = true;
	if (jdoc_parse(doc, f->q->tools.data, f->q->tools.len, f->err) < 0)
		return -1;
	for (struct jdoc_each e = jdoc_each(doc, JDOC_ROOT); jdoc_step(&e);) {
		separate(body, &first);
		f->r->tool = e.value;
		if (tool_member(f->r, FIELD_TOOL_NAME) == JDOC_NONE)
			buffer_slice(body, jdoc_raw(doc, e.value));
		else if (write_part(f, &p->parts[0], body) < 0)
			return -1;
	}
	return 0;
}

static int each_input(struct filling *f, const struct template_part *p, struct buffer *body)
{
	struct jdoc *doc = &f->r->inputs;
	bool first = true;
	if (jdoc_parse(doc, f->q->inputs.data, f->q->inputs.len, f->err) < 0)
		return -1;
	for (struct jdoc_each e = jdoc_each(doc, JDOC_ROOT); jdoc_step(&e);) {
		separate(body, &first);
		f->r->input = e.value;
		if (write_part(f, &p->parts[0], body) < 0)
			return -1;
	}
	return 0;
}

static int write_each(struct filling *f, const struct template_part *p, struct buffer *body)
{
	buffer_byte(body, '[');
	int result = p->over == OVER_PARTS     ? each_part(f, p, body)
	             : p->over == OVER_TOOLS   ? each_tool(f, p, body)
	             : p->over == OVER_INPUTS  ? each_input(f, p, body)
	             : p->over == OVER_RESULTS ? each_result(f, p, body)
	                                       : each_message(f, p, body);
	buffer_byte(body, ']');
	return result;
}

static int write_part(struct filling *f, const struct template_part *p, struct buffer *body)
{
	switch (p->kind) {
	case PART_RAW:
		buffer_text(body, p->raw);
		return 0;
	case PART_FIELD:
		return write_field(f, p->field, body);
	case PART_FIRST:
		return write_first(f, p, body);
	case PART_IF:
		return write_part(f, &p->parts[1], body);
	case PART_TEXT:
		return write_text(f, p, body);
	case PART_EACH:
		return write_each(f, p, body);
	case PART_MAP:
	case PART_LIST:
		break;
	}
	return write_inside(f, p, body);
}

/* Inputs are ranked for a query: both the API and the request have one, or neither. */
static int check_query(const struct body_renderer *r, const struct trace_request *q, struct ipf_error *err)
{
	if (q->query.data && !r->template->carries[FIELD_QUERY])
		return ipf_error_set(err, IPF_INPUT, "query: this API does not rank inputs for a query");
	if (!q->query.data && r->template->carries[FIELD_QUERY])
		return ipf_error_set(err, IPF_INPUT, "query: missing: this API ranks inputs for a query");
	return 0;
}

/* Members of the body from other members of the request are not replaced. */
static int check_own(struct filling *f)
{
	struct body_renderer *r = f->r;
	if (!f->q->body.data)
		return 0;
	if (jdoc_parse(&r->own, f->q->body.data, f->q->body.len, f->err) < 0)
		return -1;
	if (r->template->body.kind != PART_MAP)
		return ipf_error_set(f->err, IPF_INPUT, "body: the body of this API takes no further members");
	for (size_t i = 0; i < r->template->body.count; i++) {
		const struct template_part *p = &r->template->body.parts[i];
		if (p->kind != PART_RAW && own_member(f, p) != JDOC_NONE)
			return ipf_error_set(f->err, IPF_INPUT, "body: %.*s: other members of the request set it",
			                     (int)strlen(p->key) - 1, p->key);
	}
	return 0;
}

int body_renderer_check(struct body_renderer *r, const struct trace_request *q, struct ipf_error *err)
{
	static const enum template_field prompts[] = {FIELD_MESSAGES,         FIELD_PROMPT, FIELD_PROMPT_TEXT,
	                                              FIELD_PROMPT_TOKEN_IDS, FIELD_INPUTS, FIELD_INPUT_TEXTS};
	r->template = &r->templates[canary_is_tagged(q->tags, &r->own) ? FREE : EVERY];
	const bool *carries = r->template->carries;
	struct filling f = {.r = r, .q = q, .err = err};
	bool wanted = false, carried = false;
	for (size_t i = 0; i < sizeof prompts / sizeof *prompts; i++) {
		wanted |= carries[prompts[i]];
		carried |= carries[prompts[i]] && present(&f, prompts[i]);
	}
	if (!trace_prompt(q).data)
		return ipf_error_set(err, IPF_INPUT, "prompt: the trace has only lengths (it was made with --prompt none)");
	if (wanted && !carried)
		return ipf_error_set(err, IPF_INPUT, "%s: this API does not accept this kind of prompt",
		                     q->inputs.data             ? "inputs"
		                     : q->prompt_token_ids.data ? "prompt_token_ids"
		                                                : "prompt");
	if (carries[FIELD_AUDIO] && !present(&f, FIELD_AUDIO) && !err->kind)
		return ipf_error_set(err, IPF_INPUT, "messages: expected a recording, which this API transcribes (--audio)");
	if (err->kind || check_query(r, q, err) < 0)
		return -1;
	if (r->recorded_answers && r->template == &r->templates[EVERY] && recorded_answer_check(q, err) < 0)
		return -1;
	return check_own(&f);
}

/* Encodes the rendered JSON as a protobuf message in a gRPC frame. */
static int encode_protobuf(struct body_renderer *r, struct buffer *body, struct ipf_error *err)
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

static int encode_form(struct body_renderer *r, struct buffer *body, struct ipf_error *err)
{
	buffer_clear(body);
	return r->json.failed ? ipf_error_memory(err) : form_write(&r->json_doc, buffer_all(&r->json), body, err);
}

int body_renderer_render(struct body_renderer *r, const struct trace_request *q, struct slice context,
                         struct buffer *body, struct ipf_error *err)
{
	struct filling f = {.r = r, .q = q, .context = context, .err = err};
	if (body_renderer_check(r, q, err) < 0)
		return -1;
	struct buffer *json = r->protobuf || r->template->form ? &r->json : body;
	buffer_clear(json);
	if ((r->template->carries[FIELD_AGENT] || r->template->carries[FIELD_PARENT_AGENT]) &&
	    !agent_names_find(&r->agents, q->session, q->tags))
		return ipf_error_memory(err);
	r->prompt_bytes = IPF_ABSENT;
	if (write_part(&f, &r->template->body, json) < 0 || err->kind ||
	    (r->protobuf && encode_protobuf(r, body, err) < 0) || (r->template->form && encode_form(r, body, err) < 0))
		return -1;
	bool failed = body->failed || r->prompt.messages.failed || r->outer.messages.failed || r->scratch.failed;
	return failed ? ipf_error_memory(err) : 0;
}

bool body_renderer_can_continue(const struct body_renderer *r)
{
	return r->template->carries[FIELD_PREVIOUS];
}

bool body_renderer_sends_messages(const struct body_renderer *r)
{
	return r->template->carries[FIELD_MESSAGE];
}

void body_renderer_continue(struct body_renderer *r, struct slice id)
{
	r->previous = id;
}

struct slice body_renderer_json(const struct body_renderer *r)
{
	return r->protobuf || r->template->form ? buffer_all(&r->json) : (struct slice){0};
}

int64_t body_renderer_asked_tokens(const struct body_renderer *r, const struct trace_request *q)
{
	return q->output_tokens == IPF_ABSENT && r->recorded_answers ? q->answer_tokens : q->output_tokens;
}

int64_t body_renderer_asked_outputs(const struct body_renderer *r, const struct trace_request *q)
{
	int64_t limit = r->template->outputs_limit;
	return limit != IPF_ABSENT && q->inputs_count != IPF_ABSENT && limit < q->inputs_count ? limit : IPF_ABSENT;
}

int64_t body_renderer_prompt_bytes(const struct body_renderer *r)
{
	return r->prompt_bytes;
}

int body_renderer_add_param(json_t *params, const char *text, struct ipf_error *err)
{
	const char *equals = strchr(text, '=');
	if (!equals || equals == text)
		return ipf_error_set(err, IPF_USAGE, "--param: expected KEY=JSON, got %zu bytes without a key", strlen(text));
	char *key = slice_dup((struct slice){text, (size_t)(equals - text)});
	json_error_t why;
	json_t *value = json_loads(equals + 1, JSON_DECODE_ANY, &why);
	if (!value)
		ipf_error_set(err, IPF_USAGE, "--param: %s: expected JSON (strings in double quotes), got \"%s\"",
		              key ? key : "", key && redact_param_is_public(key) ? equals + 1 : REDACTED);
	else if (!key || json_object_set(params, key, value) < 0)
		ipf_error_set(err, IPF_USAGE, "--param: \"%.*s\": the key is not UTF-8", (int)(equals - text), text);
	json_decref(value);
	free(key);
	return err->kind ? -1 : 0;
}
