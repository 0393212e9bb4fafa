#include "run/probe.h"

#include "absent.h"
#include "protobuf/grpc_wire.h"
#include "protobuf/protobuf.h"
#include "cli/units.h"
#include "job/agent_names.h"
#include "redact.h"
#include "safe_text.h"
#include "utf8.h"

#include <string.h>

#define READS_SHOWN 24
#define BYTES_SHOWN 2000 /* in a read or a body */

int probe_schedule(struct generated_input *schedule, struct ipf_error *err)
{
	static const int64_t at_once = 0;
	const struct schedule_stage stage = {.name = (char *)"probe",
	                                     .kind = (char *)"burst",
	                                     .spec = (char *)"burst:n=1",
	                                     .end_ns = IPF_ABSENT,
	                                     .slots = IPF_ABSENT,
	                                     .arrivals = 1,
	                                     .rate = 0,
	                                     .measured = true};
	return generated_input_schedule(schedule, &stage, &at_once, err);
}

/* ---- showing ---- */

/* How much of a text is shown: never a part of a character. */
static size_t shown_length(struct slice text)
{
	size_t len = text.len < BYTES_SHOWN ? text.len : BYTES_SHOWN;
	for (size_t back = 1; len < text.len && back < 4; back++)
		if (utf8_character(text.data + len - back, text.len - len + back) > back)
			return len - back;
	return len;
}

/* Shows text line by line, each after a mark. */
static void show_text(FILE *to, const char *mark, struct slice text)
{
	size_t most = text.data ? shown_length(text) : 0;
	for (size_t at = 0; at < most;) {
		const char *newline = memchr(text.data + at, '\n', most - at);
		size_t end = newline ? (size_t)(newline - text.data) : most, len = end - at;
		if (len && text.data[end - 1] == '\r')
			len--;
		fputs(mark, to);
		safe_text_write(to, (struct slice){text.data + at, len});
		fputc('\n', to);
		at = end + 1;
	}
	if (most < text.len)
		fprintf(to, "%s… %zu more bytes\n", mark, text.len - most);
}

/* Shows gRPC messages with the numbers and wire types of their fields: their names are unknown here. */
static void show_messages(FILE *to, struct slice body)
{
	struct buffer text = {0};
	struct slice message;
	bool compressed;
	int got = 0;
	for (size_t at = 0, next, n = 1; at < body.len && n <= READS_SHOWN; at = next, n++) {
		got = grpc_frame(body, at, &compressed, &message, &next);
		if (got <= 0) {
			fprintf(to, "* %zu bytes of an incomplete message\n", body.len - at);
			break;
		}
		fprintf(to, "* message %zu: %zu bytes%s\n", n, message.len, compressed ? ", compressed" : "");
		buffer_clear(&text);
		if (!compressed)
			protobuf_dump(message, 2, &text);
		show_text(to, "* ", buffer_all(&text));
	}
	buffer_release(&text);
}

static int show_headers(FILE *to, const struct curl_slist *list, struct ipf_error *err)
{
	struct buffer line = {0};
	for (; list; list = list->next) {
		buffer_clear(&line);
		redact_header(list->data, &line);
		show_text(to, "> ", line.failed ? slice_of(REDACTED) : buffer_all(&line));
	}
	int result = line.failed ? ipf_error_memory(err) : 0;
	buffer_release(&line);
	return result;
}

/* Shows the body by the renderer `public`; redacted: it leaves secrets out. */
static int show_body(FILE *to, struct body_renderer *public, bool redacted, const struct trace_request *q,
                     struct ipf_error *err)
{
	struct buffer body = {0};
	struct ipf_error misfit = {0};
	/* "[redacted]" may not fit the type of a field in a gRPC message */
	int result = body_renderer_render(public, q, (struct slice){0}, &body, redacted ? &misfit : err);
	struct slice json = body_renderer_json(public);
	if (result == 0 || (redacted && json.data)) {
		show_text(to, "> ", json.data ? json : buffer_all(&body));
		if (json.data && !redacted)
			show_messages(to, buffer_all(&body));
		result = 0;
	} else if (redacted) {
		result = ipf_error_set(err, misfit.kind, "%s", misfit.text);
	}
	buffer_release(&body);
	return result;
}

static int show_address(const struct endpoint *t, const struct trace_request *q, struct slice model, struct buffer *url,
                        struct curl_slist **headers, struct ipf_error *err)
{
	struct agent_names names = {0};
	if (!agent_names_find(&names, q->session, q->tags))
		return ipf_error_memory(err);
	const struct request_variables variables = {.id = q->id,
	                                            .session = q->session,
	                                            .agent = names.agent,
	                                            .parent_agent = names.parent,
	                                            .model = model,
	                                            .headers = q->headers};
	int result = endpoint_address(t, &variables, url, headers, err);
	agent_names_release(&names);
	return result;
}

static int show(FILE *to, const struct probe_options *o, const struct trace_request *q, struct ipf_error *err)
{
	const struct endpoint *t = o->endpoint;
	struct buffer body = {0}, url = {0}, address = {0};
	struct curl_slist *headers = NULL;
	struct slice model = body_renderer_model(o->renderer, q);
	int result = body_renderer_render(o->renderer, q, (struct slice){0}, &body, err);
	if (result == 0)
		result = show_address(t, q, model, &url, &headers, err);
	if (result == 0)
		result = endpoint_shown_url(t, 0, model, &address, err);
	if (result == 0) {
		fprintf(to, "> %s ", t->method);
		safe_text_write(to, buffer_all(&address));
		fputc('\n', to);
		result = show_headers(to, headers || t->varying ? headers : t->headers, err);
	}
	if (result == 0) {
		if (t->signer)
			fputs("> Authorization: " REDACTED "\n", to);
		fputs(">\n", to);
		result = show_body(to, o->shown, o->redacted, q, err);
	}
	curl_slist_free_all(headers);
	buffer_release(&body);
	buffer_release(&url);
	buffer_release(&address);
	return result;
}

int probe_show_request(FILE *to, const struct probe_options *o, const char *trace, struct ipf_error *err)
{
	struct trace_reader *reader;
	struct trace_request q;
	if (trace_reader_open(&reader, trace, err) < 0)
		return -1;
	int got = trace_reader_next(reader, &q, err);
	int result = got == 1 ? show(to, o, &q, err) : got;
	trace_reader_close(reader);
	return result;
}

static void show_response_headers(FILE *to, struct slice headers)
{
	struct jdoc doc = {0};
	struct ipf_error ignored = {0};
	struct buffer text = {0};
	if (headers.data && jdoc_parse(&doc, headers.data, headers.len, &ignored) == 0)
		for (struct jdoc_each e = jdoc_each(&doc, JDOC_ROOT); jdoc_step(&e);) {
			jdoc_text(&doc, e.key, &text);
			buffer_text(&text, ": ");
			jdoc_text(&doc, e.value, &text);
			buffer_byte(&text, '\n');
		}
	show_text(to, "< ", buffer_all(&text));
	buffer_release(&text);
	jdoc_release(&doc);
}

/* Shows the kind once, also if the text begins with it. */
static void show_error(FILE *to, const char *kind, struct slice text)
{
	size_t len = strlen(kind);
	bool repeats = text.len > len && !memcmp(text.data, kind, len) && text.data[len] == ':';
	fprintf(to, "* %s%s%s\n", repeats ? "" : kind, repeats ? "" : ": ", shown_slice(text).text);
}

void probe_show_response(FILE *to, const struct record *record, bool messages)
{
	char time[32];
	size_t at = 0;
	if (record->status != IPF_ABSENT)
		fprintf(to, "< status %lld, after %s\n", (long long)record->status,
		        format_duration(record->first_byte_ns - record->start_ns, time));
	show_response_headers(to, record->headers);
	for (size_t i = 0; i < record->reads_count && at < record->body.len; i++) {
		size_t len = (size_t)record->reads[i].bytes < record->body.len - at ? (size_t)record->reads[i].bytes
		                                                                    : record->body.len - at;
		if (i == READS_SHOWN) {
			fprintf(to, "* %zu more reads, %zu bytes\n", record->reads_count - i, record->body.len - at);
			break;
		}
		fprintf(to, "* %zu bytes after %s\n", len, format_duration(record->reads[i].t_ns - record->start_ns, time));
		if (!messages)
			show_text(to, "< ", (struct slice){record->body.data + at, len});
		at += len;
	}
	if (messages)
		show_messages(to, record->body);
	if (record->error != RECORD_OK)
		show_error(to, record_error_name(record->error), record->error_text);
	fprintf(to, "* ended after %s\n", format_duration(record->end_ns - record->start_ns, time));
	fflush(to);
}
