#include "clock.h"
#include "json/jdoc.h"
#include "json/jout.h"
#include "library.h"
#include "stream/stream.h"
#include "stream/trace.h"
#include "utf8.h"

#include <ipf/streams.h>

#include <stdlib.h>

struct ipf_writer {
	struct stream_writer *stream;
	struct jdoc doc;
	struct buffer line;
	char kind[16];
};

/* ---- opening ---- */

static int is_kind(const char *kind)
{
	return !strcmp(kind, "trace") || !strcmp(kind, "schedule") || !strcmp(kind, "records") || !strcmp(kind, "results");
}

/* The user's members must not replace those every header has. */
static int add_members(json_t *header, const char *text, struct ipf_error *err)
{
	json_error_t why;
	json_t *more = text ? json_loads(text, JSON_REJECT_DUPLICATES, &why) : NULL;
	const char *name;
	json_t *value;
	int bad = 0;
	if (text && !json_is_object(more)) {
		json_decref(more);
		return ipf_error_set(err, IPF_USAGE, "header: expected a JSON object%s%s", more ? "" : ": ",
		                     more ? "" : why.text);
	}
	json_object_foreach(more, name, value)
	{
		if (json_object_get(header, name))
			bad = ipf_error_set(err, IPF_USAGE, "header: %s is the library's", name);
		else if (json_object_set(header, name, value) < 0)
			bad = ipf_error_memory(err);
	}
	json_decref(more);
	return bad;
}

static json_t *make_header(const char *kind, const char *tool, const char *more, struct ipf_error *err)
{
	char now[32];
	clock_format(clock_wall(), now);
	json_t *header = json_pack("{s:s, s:i, s:s, s:s}", "ipf", kind, "version", 1, "tool", tool, "created", now);
	if (!header)
		ipf_error_memory(err);
	else if (add_members(header, more, err) < 0)
		json_decref(header), header = NULL;
	return header;
}

int ipf_writer_open(struct ipf_writer **writer, const char *path, const char *kind, const char *tool,
                    const char *header, struct ipf_error *err)
{
	library_begin();
	*writer = NULL;
	if (!is_kind(kind))
		return ipf_error_set(err, IPF_USAGE, "kind: expected trace, schedule, records or results, got \"%s\"", kind);
	if (!tool || !utf8_valid(tool, strlen(tool), NULL))
		return ipf_error_set(err, IPF_USAGE, "tool: expected the name of a program");
	json_t *json = make_header(kind, tool, header, err);
	if (!json)
		return -1;
	struct ipf_writer *w = calloc(1, sizeof *w);
	int status = w ? stream_writer_open(&w->stream, path, json, err) : ipf_error_memory(err);
	json_decref(json);
	if (status < 0) {
		free(w);
		return -1;
	}
	strcpy(w->kind, kind);
	*writer = w;
	return 0;
}

/* ---- lines ---- */

int ipf_writer_line(struct ipf_writer *w, const char *json, struct ipf_error *err)
{
	library_begin();
	size_t len = strlen(json);
	if (jdoc_parse(&w->doc, json, len, err) < 0)
		return -1;
	if (jdoc_type_of(&w->doc, JDOC_ROOT) != JDOC_MAP || strpbrk(json, "\r\n"))
		return ipf_error_set(err, IPF_USAGE, "line: expected one JSON object on one line");
	buffer_clear(&w->line);
	buffer_append(&w->line, json, len);
	return stream_writer_line(w->stream, &w->line, err);
}

static int check_texts(const struct ipf_request *q, struct ipf_error *err)
{
	const struct {
		const char *name, *text;
	} texts[] = {
		{"id", q->id}, {"prompt", q->prompt}, {"session", q->session}, {"model", q->model}, {"query", q->query}};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (texts[i].text && !utf8_valid(texts[i].text, strlen(texts[i].text), NULL))
			return ipf_error_set(err, IPF_USAGE, "%s: expected UTF-8", texts[i].name);
	return 0;
}

/* Each must be one value, so the line has no other members than it seems to have. */
static int check_json(struct jdoc *doc, const struct ipf_request *q, struct ipf_error *err)
{
	const struct {
		const char *name, *text;
	} values[] = {{"messages", q->messages},
	              {"prompt_token_ids", q->prompt_token_ids},
	              {"tags", q->tags},
	              {"slo", q->slo},
	              {"inputs", q->inputs}};
	for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
		struct ipf_error why = {0};
		const char *text = values[i].text;
		if (text && (jdoc_parse(doc, text, strlen(text), &why) < 0 || strpbrk(text, "\r\n")))
			return ipf_error_set(err, IPF_USAGE, "%s: expected JSON on one line%s%s", values[i].name,
			                     why.kind ? ": " : "", why.text);
	}
	return 0;
}

static void render(const struct ipf_request *q, struct buffer *line)
{
	struct jout w = {.out = line};
	buffer_clear(line);
	jout_begin_map(&w);
	jout_member_string(&w, "id", slice_of(q->id));
	jout_member_value(&w, "messages", slice_of(q->messages));
	jout_member_string(&w, "prompt", slice_of(q->prompt));
	jout_member_value(&w, "prompt_token_ids", slice_of(q->prompt_token_ids));
	jout_member_value(&w, "inputs", slice_of(q->inputs));
	jout_member_string(&w, "query", slice_of(q->query));
	jout_member_int(&w, "input_tokens", q->input_tokens);
	jout_member_int(&w, "output_tokens", q->output_tokens);
	jout_member_int(&w, "at_ns", q->at_ns);
	jout_member_string(&w, "session", slice_of(q->session));
	jout_member_int(&w, "turn", q->turn);
	jout_member_int(&w, "wait_ns", q->wait_ns);
	jout_member_string(&w, "model", slice_of(q->model));
	jout_member_value(&w, "slo", slice_of(q->slo));
	jout_member_value(&w, "tags", slice_of(q->tags));
	jout_end_map(&w);
}

int ipf_writer_request(struct ipf_writer *w, const struct ipf_request *request, struct ipf_error *err)
{
	struct ipf_request q = IPF_REQUEST_INIT;
	struct trace_request read;
	struct ipf_error why = {0};
	library_begin();
	if (strcmp(w->kind, "trace") != 0)
		return ipf_error_set(err, IPF_USAGE, "a request is a line of a trace: this stream is of kind %s", w->kind);
	if (request->size > sizeof q || request->size < offsetof(struct ipf_request, wait_ns))
		return ipf_error_set(err, IPF_USAGE, "size: expected that of IPF_REQUEST_INIT, got %zu", request->size);
	memcpy(&q, request, request->size);
	if (check_texts(&q, err) < 0 || check_json(&w->doc, &q, err) < 0)
		return -1;
	render(&q, &w->line);
	if (w->line.failed)
		return ipf_error_memory(err);
	if (trace_request_parse(&w->doc, buffer_all(&w->line), false, &read, &why) < 0)
		return ipf_error_set(err, IPF_USAGE, "%s", why.text);
	return stream_writer_line(w->stream, &w->line, err);
}

/* ---- the end ---- */

static void release(struct ipf_writer *w)
{
	jdoc_release(&w->doc);
	buffer_release(&w->line);
	free(w);
}

int ipf_writer_flush(struct ipf_writer *w, struct ipf_error *err)
{
	library_begin();
	return stream_writer_flush(w->stream, err);
}

int ipf_writer_close(struct ipf_writer *w, struct ipf_error *err)
{
	library_begin();
	int status = stream_writer_close(w->stream, NULL, err);
	release(w);
	return status;
}

void ipf_writer_abandon(struct ipf_writer *w)
{
	if (!w)
		return;
	stream_writer_abandon(w->stream);
	release(w);
}
