#include "stream/trace.h"

#include "stream/fields.h"
#include "stream/media_file.h"
#include "stream/own_parts.h"

#include <stdlib.h>
#include <string.h>

struct trace_reader {
	struct stream_reader *stream;
	struct jdoc doc;
	bool lengths_only; /* "prompts":"none" in the header: no request has a prompt */
};

#define UINT(member_)   FIELD(FIELD_UINT, struct trace_request, member_)
#define TOKENS(member_) FIELD(FIELD_TOKENS, struct trace_request, member_)
#define TEXT(member_)   FIELD(FIELD_TEXT, struct trace_request, member_)
#define NAME(member_)   FIELD(FIELD_NAME, struct trace_request, member_)
#define LIST(member_)   FIELD(FIELD_LIST, struct trace_request, member_)
#define MAP(member_)    FIELD(FIELD_MAP, struct trace_request, member_)
static const struct field fields[] = {
	REQUIRED_FIELD(FIELD_TEXT, struct trace_request, id),
	LIST(messages),
	TEXT(prompt),
	LIST(prompt_token_ids),
	LIST(inputs),
	TEXT(query),
	TOKENS(input_tokens),
	TOKENS(output_tokens),
	UINT(at_ns),
	NAME(session),
	UINT(turn),
	UINT(wait_ns),
	UINT(hang_up_ns),
	UINT(recorded_ttft_ns),
	UINT(recorded_e2e_ns),
	LIST(parents),
	NAME(model),
	LIST(tools),
	MAP(response_format),
	MAP(blocks),
	MAP(slo),
	LIST(media),
	MAP(headers),
	MAP(body),
	TEXT(answer),
	LIST(answer_token_ids),
};
enum { FIELDS = sizeof fields / sizeof *fields };
const struct field_table trace_fields = FIELD_TABLE(fields);

struct slice trace_prompt(const struct trace_request *request)
{
	return request->messages.data           ? request->messages
	       : request->prompt_token_ids.data ? request->prompt_token_ids
	       : request->inputs.data           ? request->inputs
	                                        : request->prompt;
}

struct slice trace_answer(const struct trace_request *request)
{
	return request->answer.data ? request->answer : request->answer_token_ids;
}

bool trace_inputs_are_texts(const struct trace_request *request)
{
	size_t i = 1; /* after the bracket */
	while (i < request->inputs.len && strchr(" \t\r\n", request->inputs.data[i]))
		i++;
	return i < request->inputs.len && request->inputs.data[i] == '"';
}

int trace_refuse_inputs(const struct trace_request *request, const char *why, struct ipf_error *err)
{
	return request->inputs.data ? ipf_error_set(err, IPF_INPUT, "inputs: %s", why) : 0;
}

bool trace_has_parents(const struct trace_request *request)
{
	return request->parents.data && !slice_is(request->parents, "[]");
}

void trace_request_init(struct trace_request *request)
{
	fields_init(fields, FIELDS, request);
	request->tags = (struct slice){0};
	request->inputs_count = request->answer_tokens = IPF_ABSENT;
	request->context_session = false;
}

void trace_request_write(const struct trace_request *request, struct buffer *line)
{
	struct jout w = {.out = line};
	buffer_clear(line);
	jout_begin_map(&w);
	/* the first two are the id and the messages, which alone have media */
	fields_write(fields, 2, request, &w);
	const size_t rest = line->len;
	fields_write(fields + 2, FIELDS - 2, request, &w);
	jout_member_value(&w, "tags", request->tags);
	if (request->context_session)
		jout_member_string(&w, "context", slice_of("session"));
	jout_end_map(&w);
	media_hide_marks(line, rest);
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

/* Texts, or lists of token ids; texts if they are ranked for a query. */
static int check_inputs(const struct jdoc *doc, struct trace_request *request, struct ipf_error *err)
{
	jdoc_id inputs = jdoc_get(doc, JDOC_ROOT, "inputs");
	request->inputs_count = IPF_ABSENT;
	if (request->query.data && !request->inputs.data)
		return ipf_error_set(err, IPF_INPUT, "query: requires inputs, the texts that are ranked for it");
	if (!request->inputs.data)
		return 0;
	if (request->session.data)
		return ipf_error_set(err, IPF_INPUT, "inputs: not allowed in a session");
	enum jdoc_type kind = JDOC_NULL;
	for (struct jdoc_each e = jdoc_each(doc, inputs); jdoc_step(&e);) {
		enum jdoc_type type = jdoc_type_of(doc, e.value);
		if ((type != JDOC_TEXT && (type != JDOC_LIST || request->query.data)) || (kind != JDOC_NULL && type != kind))
			return jdoc_expected(
				doc, e.value, "inputs",
				request->query.data ? "texts, as there is a query" : "texts only, or lists of token ids only", err);
		kind = type;
	}
	request->inputs_count = jdoc_count(doc, inputs);
	return request->inputs_count ? 0 : jdoc_expected(doc, inputs, "inputs", "at least one text", err);
}

/* A turn and the answer to it have one form, in which they continue the turns before. */
static int check_context(const struct trace_request *request, struct ipf_error *err)
{
	const bool ids = request->prompt_token_ids.data;
	if (request->context_session && (!request->session.data || (!request->messages.data && !ids)))
		return ipf_error_set(err, IPF_INPUT, "context: \"session\" requires session, and messages or prompt_token_ids");
	if (request->answer_token_ids.data && !ids)
		return ipf_error_set(err, IPF_INPUT, "answer_token_ids: requires prompt_token_ids");
	if (request->answer.data && ids && request->context_session)
		return ipf_error_set(err, IPF_INPUT, "answer: that of a turn of token ids is answer_token_ids");
	return 0;
}

static int check_recorded(const struct trace_request *request, struct ipf_error *err)
{
	if (request->recorded_ttft_ns == IPF_ABSENT || request->recorded_e2e_ns == IPF_ABSENT ||
	    request->recorded_ttft_ns <= request->recorded_e2e_ns)
		return 0;
	return ipf_error_set(err, IPF_INPUT, "recorded_ttft_ns: expected at most recorded_e2e_ns, %lld, got %lld",
	                     (long long)request->recorded_e2e_ns, (long long)request->recorded_ttft_ns);
}

int trace_request_parse(struct jdoc *doc, struct slice line, bool lengths_only, struct trace_request *request,
                        struct ipf_error *err)
{
	if (jdoc_parse(doc, line.data, line.len, err) < 0 || fields_read(fields, FIELDS, request, doc, JDOC_ROOT, err) < 0)
		return -1;
	jdoc_id tags = jdoc_get(doc, JDOC_ROOT, "tags"), context = jdoc_get(doc, JDOC_ROOT, "context");
	if (!jdoc_is_safe(doc, tags))
		return jdoc_expected(doc, tags, "tags", "names and values without control characters", err);
	if ((request->headers.data && own_headers_check(doc, jdoc_get(doc, JDOC_ROOT, "headers"), err) < 0) ||
	    (request->body.data && own_body_check(doc, jdoc_get(doc, JDOC_ROOT, "body"), err) < 0))
		return -1;
	request->tags = jdoc_is_null(doc, tags) ? (struct slice){0} : jdoc_raw(doc, tags);
	request->context_session = jdoc_text_is(doc, context, "session");
	if (!jdoc_is_null(doc, context) && !request->context_session)
		return jdoc_expected(doc, context, "context", "\"session\"", err);
	request->answer_tokens = request->answer_token_ids.data
	                             ? jdoc_count(doc, jdoc_get(doc, JDOC_ROOT, "answer_token_ids"))
	                             : IPF_ABSENT;
	if (check_context(request, err) < 0 || check_recorded(request, err) < 0)
		return -1;
	if (check_inputs(doc, request, err) < 0)
		return -1;
	int prompts = !!request->messages.data + !!request->prompt.data + !!request->prompt_token_ids.data +
	              !!request->inputs.data;
	if (prompts != 1 && !(prompts == 0 && lengths_only))
		return ipf_error_set(err, IPF_INPUT,
		                     prompts ? "messages, prompt, prompt_token_ids, inputs: expected one of them, got several"
		                             : "messages, prompt, prompt_token_ids, inputs: expected one of them, got none");
	if (!prompts && request->input_tokens == IPF_ABSENT)
		return ipf_error_set(err, IPF_INPUT,
		                     "input_tokens: expected the length of a prompt that is not in the trace, got none");
	return 0;
}

int trace_reader_next(struct trace_reader *r, struct trace_request *request, struct ipf_error *err)
{
	struct slice line;
	int got = stream_reader_next(r->stream, &line, err);
	if (got == 1 && trace_request_parse(&r->doc, line, r->lengths_only, request, err) < 0) {
		ipf_error_place(err, stream_reader_name(r->stream), stream_reader_line(r->stream));
		got = -1;
	}
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
