/* The log of a proxy before a server with OpenAI's API: JSON Lines with a time, the request's body and the answer's.
 * Bodies are objects or texts that hold one. Known names: timestamp, time, ts, start_time, created_at; request,
 * request_body, body; response, response_body; status, status_code; session_id, conversation_id, user.
 */
#include "sources/detect_format.h"
#include "sources/record_fields.h"

#include "absent.h"
#include "clock.h"

#include <stdlib.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const char *const time_names[] = {"timestamp", "time", "ts", "start_time", "created_at"};
static const char *const request_names[] = {"request", "request_body", "body"};
static const char *const response_names[] = {"response", "response_body"};
static const char *const status_names[] = {"status", "status_code"};
static const char *const session_names[] = {"session_id", "conversation_id"};

static int open_source(void **opened, const struct source_settings *settings, struct ipf_error *err)
{
	int64_t *first_ns = malloc(sizeof *first_ns);
	(void)settings;
	if (!first_ns)
		return ipf_error_memory(err);
	*first_ns = IPF_ABSENT;
	*opened = first_ns;
	return 0;
}

static const char *first_of(const struct jdoc *j, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!jdoc_is_null(j, jdoc_get(j, JDOC_ROOT, names[i])))
			return names[i];
	return NULL;
}

/* A body as JSON of its own; its texts are good as long as the draft. 1, 0 where there is none, -1. */
static int take_inner(struct draft *d, const struct jdoc *j, const char *name, struct jdoc *inner,
                      struct ipf_error *err)
{
	jdoc_id node = name ? jdoc_get(j, JDOC_ROOT, name) : JDOC_NONE;
	if (node == JDOC_NONE)
		return 0;
	struct slice text = jdoc_type_of(j, node) == JDOC_TEXT ? draft_text(d, j, node) : jdoc_raw(j, node);
	struct ipf_error wrong = {0};
	if (!text.data || jdoc_parse(inner, text.data, text.len, &wrong) < 0 || jdoc_type_of(inner, JDOC_ROOT) != JDOC_MAP)
		return jdoc_expected(j, node, name, "an object, or a text that holds one", err);
	return 1;
}

/* Seconds, or, where that would be after the year 5000, smaller units. */
static int take_when(struct draft *d, const struct jdoc *j, const char *name, int64_t *ns, struct ipf_error *err)
{
	double number;
	int64_t unit = NS_PER_S;
	if (!name)
		return 0;
	jdoc_id node = jdoc_get(j, JDOC_ROOT, name);
	if (jdoc_to_double(j, node, &number))
		unit = number < 1e11 ? NS_PER_S : number < 1e14 ? NS_PER_MS : number < 1e17 ? NS_PER_US : 1;
	return record_fields_time(d, j, JDOC_ROOT, name, unit, ns, err);
}

static int take_answer(struct draft *d, const struct jdoc *answer, struct draft_request *r, struct ipf_error *err)
{
	jdoc_id usage = jdoc_get(answer, JDOC_ROOT, "usage"),
			choice = jdoc_at(answer, jdoc_get(answer, JDOC_ROOT, "choices"), 0);
	jdoc_id content = jdoc_get(answer, jdoc_get(answer, choice, "message"), "content");
	if (jdoc_get_uint(answer, usage, "prompt_tokens", &r->input_tokens, err) < 0 ||
	    jdoc_get_uint(answer, usage, "completion_tokens", &r->output_tokens, err) < 0)
		return -1;
	r->answer = record_fields_content(d, answer, content != JDOC_NONE ? content : jdoc_get(answer, choice, "text"));
	r->failed = !jdoc_is_null(answer, jdoc_get(answer, JDOC_ROOT, "error"));
	return 0;
}

static int take_record(int64_t *first_ns, const struct jdoc *j, struct jdoc *request, struct jdoc *answer,
                       struct sink *sink, struct ipf_error *err)
{
	struct draft *d = &sink->draft;
	const char *asked = first_of(j, request_names, COUNT(request_names)),
			   *status = first_of(j, status_names, COUNT(status_names));
	const char *session = first_of(j, session_names, COUNT(session_names));
	int64_t ns, code;
	int got = take_inner(d, j, asked, request, err);
	if (got <= 0)
		return got < 0 ? -1 : ipf_error_set(err, IPF_INPUT, "request: missing (none of request, request_body, body)");
	got = record_fields_body(d, request, JDOC_ROOT, err);
	if (got <= 0) {
		if (got == 0)
			sink->unusable(sink, "neither messages nor a prompt");
		return got;
	}
	struct draft_request *r = &d->requests[0];
	int timed = take_when(d, j, first_of(j, time_names, COUNT(time_names)), &ns, err);
	int answered = take_inner(d, j, first_of(j, response_names, COUNT(response_names)), answer, err);
	if (timed < 0 || answered < 0 || (answered && take_answer(d, answer, r, err) < 0) ||
	    (session && record_fields_name(d, j, JDOC_ROOT, session, &d->session, err) < 0))
		return -1;
	if (status && jdoc_to_int(j, jdoc_get(j, JDOC_ROOT, status), &code))
		r->failed |= code >= 400;
	if (timed) {
		if (*first_ns == IPF_ABSENT)
			*first_ns = ns;
		r->at_ns = ns - *first_ns;
	}
	return sink->take(sink, d, err);
}

static int one_record(void *opened, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	struct jdoc request = {0}, answer = {0};
	if (need_map(record->json, JDOC_ROOT, "record", err) < 0)
		return -1;
	int status = take_record(opened, record->json, &request, &answer, sink, err);
	jdoc_release(&request);
	jdoc_release(&answer);
	return status;
}

static bool knows(const struct sniff *sniff)
{
	return sniff->json && first_of(sniff->json, request_names, COUNT(request_names)) &&
	       first_of(sniff->json, time_names, COUNT(time_names)) &&
	       (sniff_text(sniff, "messages") || sniff_text(sniff, "prompt"));
}

const struct source_format source_openai_log = {
	.name = "openai-log",
	.about = "the log of a proxy before an OpenAI-style server (JSON Lines): bodies of requests and answers",
	.kind = SOURCE_TRACE,
	.unit = UNIT_JSON,
	.traits = HAS_TIMES | HAS_SESSIONS | GATHERS,
	.open = open_source,
	.knows = knows,
	.record = one_record,
	.close = free,
};
