#include "stream/trace.h"

#include "stream/fields.h"

#include <stdlib.h>
#include <string.h>

struct trace_reader {
	struct stream_reader *stream;
	struct jdoc doc;
	bool lengths_only; /* the header says so: no request has a prompt */
};

#define FIELD(name_, type_, member_)                                                                                   \
	{                                                                                                                  \
		name_, type_, offsetof(struct trace_request, member_), false                                                   \
	}
static const struct field fields[] = {
	{"id", FIELD_TEXT, offsetof(struct trace_request, id), true},
	FIELD("messages", FIELD_LIST, messages),
	FIELD("prompt", FIELD_TEXT, prompt),
	FIELD("prompt_token_ids", FIELD_LIST, prompt_token_ids),
	FIELD("input_tokens", FIELD_UINT, input_tokens),
	FIELD("output_tokens", FIELD_UINT, output_tokens),
	FIELD("at_ns", FIELD_UINT, at_ns),
	FIELD("session", FIELD_TEXT, session),
	FIELD("turn", FIELD_UINT, turn),
	FIELD("wait_ns", FIELD_UINT, wait_ns),
	FIELD("parents", FIELD_LIST, parents),
	FIELD("model", FIELD_TEXT, model),
	FIELD("tools", FIELD_LIST, tools),
	FIELD("response_format", FIELD_MAP, response_format),
	FIELD("blocks", FIELD_MAP, blocks),
	FIELD("slo", FIELD_MAP, slo),
	FIELD("answer", FIELD_TEXT, answer),
};
enum { FIELDS = sizeof fields / sizeof *fields };

bool trace_has_parents(const struct trace_request *request)
{
	return request->parents.data && !slice_is(request->parents, "[]");
}

void trace_request_init(struct trace_request *request)
{
	fields_init(fields, FIELDS, request);
	request->tags = (struct slice){0};
	request->context_session = false;
}

void trace_request_write(const struct trace_request *request, struct buffer *line)
{
	struct jout w = {.out = line};
	buffer_clear(line);
	jout_begin_map(&w);
	fields_write(fields, FIELDS, request, &w);
	jout_member_value(&w, "tags", request->tags);
	if (request->context_session)
		jout_member_string(&w, "context", slice_of("session"));
	jout_end_map(&w);
}

int trace_reader_open(struct trace_reader **reader, const char *path, struct ipf_error *err)
{
	*reader = NULL;
	struct trace_reader *r = calloc(1, sizeof *r);
	if (!r)
		return ipf_error_memory(err);
	if (stream_reader_open(&r->stream, path, "trace", err) < 0) {
		free(r);
		return -1;
	}
	const char *prompts = json_string_value(json_object_get(stream_reader_header(r->stream), "prompts"));
	r->lengths_only = prompts && strcmp(prompts, "none") == 0;
	*reader = r;
	return 0;
}

static int parse(struct trace_reader *r, struct slice line, struct trace_request *request, struct ipf_error *err)
{
	if (jdoc_parse(&r->doc, line.data, line.len, err) < 0 ||
	    fields_read(fields, FIELDS, request, &r->doc, JDOC_ROOT, err) < 0)
		return -1;
	jdoc_id tags = jdoc_get(&r->doc, JDOC_ROOT, "tags"), context = jdoc_get(&r->doc, JDOC_ROOT, "context");
	request->tags = jdoc_is_null(&r->doc, tags) ? (struct slice){0} : jdoc_raw(&r->doc, tags);
	request->context_session = jdoc_text_is(&r->doc, context, "session");
	if (!jdoc_is_null(&r->doc, context) && !request->context_session)
		return jdoc_expected(&r->doc, context, "context", "\"session\"", err);
	if (request->context_session && (!request->session.data || !request->messages.data))
		return ipf_error_set(err, IPF_INPUT, "context: \"session\" needs session and messages");
	int prompts = !!request->messages.data + !!request->prompt.data + !!request->prompt_token_ids.data;
	if (prompts != 1 && !(prompts == 0 && r->lengths_only))
		return ipf_error_set(err, IPF_INPUT,
		                     prompts ? "messages, prompt and prompt_token_ids: only one of them may be there"
		                             : "messages, prompt or prompt_token_ids: missing");
	return 1;
}

int trace_reader_next(struct trace_reader *r, struct trace_request *request, struct ipf_error *err)
{
	struct slice line;
	int got = stream_reader_next(r->stream, &line, err);
	if (got == 1 && (got = parse(r, line, request, err)) < 0)
		ipf_error_place(err, stream_reader_name(r->stream), stream_reader_line(r->stream));
	return got;
}

int trace_reader_rewind(struct trace_reader *r, struct ipf_error *err)
{
	return stream_reader_rewind(r->stream, err);
}

struct stream_reader *trace_reader_stream(struct trace_reader *r)
{
	return r->stream;
}

void trace_reader_close(struct trace_reader *r)
{
	if (!r)
		return;
	stream_reader_close(r->stream);
	jdoc_release(&r->doc);
	free(r);
}
