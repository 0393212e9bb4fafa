/* openai-log: the log of a proxy in front of a server with OpenAI's API.
 *
 * There is no common format. This one reads JSON Lines with the body of each request and, if logged, of its response,
 * under any of these names:
 *
 *     time      timestamp, time, ts, start_time or created_at: a date and time, or a number since 1970 in seconds,
 *               milliseconds, microseconds or nanoseconds, told apart by its size
 *     request   request, request_body or body: an object, or a string that holds one
 *     response  response or response_body: likewise
 *     status    status or status_code: HTTP status; 400 and above: the request failed
 *     session   session_id or conversation_id
 *
 * Lengths are those of the response's usage, answers those of its first choice. Arrivals count from the first record
 * that has a time. All other members are ignored.
 */
#include "clock.h"
#include "sources/chat_fields.h"
#include "sources/sniff.h"
#include "sources/record_fields.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const char *const time_names[] = {"timestamp", "time", "ts", "start_time", "created_at"};
static const char *const request_names[] = {"request", "request_body", "body"};
static const char *const response_names[] = {"response", "response_body"};
static const char *const status_names[] = {"status", "status_code"};
static const char *const session_names[] = {"session_id", "conversation_id"};

/* The first of these names that the record has; NULL. */
static const char *first_of(const struct jdoc *j, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!jdoc_is_null(j, jdoc_get(j, JDOC_ROOT, names[i])))
			return names[i];
	return NULL;
}

/* A number is in seconds, or in the largest smaller unit in which it is before the year 5138. 1, 0, -1. */
static int read_time(const struct jdoc *j, const char *name, int64_t *ns, struct ipf_error *err)
{
	double number;
	int64_t unit = NS_PER_S;
	if (!name)
		return 0;
	jdoc_id node = jdoc_get(j, JDOC_ROOT, name);
	if (jdoc_to_double(j, node, &number))
		unit = number < 1e11 ? NS_PER_S : number < 1e14 ? NS_PER_MS : number < 1e17 ? NS_PER_US : 1;
	return field_time(j, JDOC_ROOT, name, unit, ns, err);
}

static int read_bodies(struct time_origin *origin, const struct jdoc *j, struct jdoc *request, struct jdoc *answer,
                       struct sink *sink, struct ipf_error *err)
{
	struct draft *d = &sink->draft;
	const char *asked = first_of(j, request_names, COUNT(request_names)),
			   *status = first_of(j, status_names, COUNT(status_names));
	const char *session = first_of(j, session_names, COUNT(session_names));
	int64_t ns, code;
	int got = field_object(d, j, JDOC_ROOT, asked, request, err);
	if (got <= 0)
		return got < 0 ? -1 : ipf_error_set(err, IPF_INPUT, "request: missing (also as request_body or body)");
	got = chat_request_body(d, request, JDOC_ROOT, err);
	if (got <= 0) {
		if (got == 0)
			sink->unusable(sink, "neither messages nor a prompt");
		return got;
	}
	if (d->failed)
		return 0;
	struct draft_request *r = &d->requests[0];
	int timed = read_time(j, first_of(j, time_names, COUNT(time_names)), &ns, err);
	int answered = field_object(d, j, JDOC_ROOT, first_of(j, response_names, COUNT(response_names)), answer, err);
	if (timed < 0 || answered < 0 || (answered && chat_response_body(d, answer, JDOC_ROOT, r, err) < 0) ||
	    (session && field_name(d, j, JDOC_ROOT, session, &d->session, err) < 0))
		return -1;
	if (status && jdoc_to_int(j, jdoc_get(j, JDOC_ROOT, status), &code))
		r->failed |= code >= 400;
	if (timed)
		r->at_ns = since_origin(origin, ns);
	return sink->take(sink, d, err);
}

static int read_record(void *opened, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	struct jdoc request = {0}, answer = {0};
	if (need_object(record->json, JDOC_ROOT, "record", err) < 0)
		return -1;
	int status = read_bodies(opened, record->json, &request, &answer, sink, err);
	jdoc_release(&request);
	jdoc_release(&answer);
	return status;
}

static bool recognises(const struct sniff *sniff)
{
	return sniff->json && first_of(sniff->json, request_names, COUNT(request_names)) &&
	       first_of(sniff->json, time_names, COUNT(time_names)) &&
	       (sniff_text(sniff, "messages") || sniff_text(sniff, "prompt"));
}

const struct source_format source_openai_log = {
	.name = "openai-log",
	.about = "log of a proxy in front of an OpenAI-style server (JSON Lines): arrivals, request and response bodies",
	.kind = SOURCE_TRACE,
	.unit = UNIT_JSON,
	.traits = HAS_TIMES | HAS_SESSIONS | GATHERS,
	.state_size = sizeof(struct time_origin),
	.read_record = read_record,
	.recognises = recognises,
};
