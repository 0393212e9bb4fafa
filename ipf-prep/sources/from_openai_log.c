/* openai-log: the log of a proxy in front of a server with OpenAI's API.
 *
 * There is no common format. This one reads JSON Lines with the body of each request and, if logged, of its response,
 * under any of these names:
 *
 *     time      timestamp, time, ts, start_time or created_at: a date and time, or a number since 1970 in seconds,
 *               milliseconds, microseconds or nanoseconds, told apart by its size
 *     end       end_time, likewise: without a time, the arrival is end_time less the duration (nginx logs at the end)
 *     duration  request_time or duration: a number of seconds
 *     request   request, request_body or body: an object, or a string that holds one
 *     response  response or response_body: likewise, or a string that holds the events of a stream
 *     status    status or status_code: HTTP status; 400 and above: the request failed
 *     completion  request_completion: "" (nginx): the answer was not sent to its end, since the client disconnected
 *     session   session_id or conversation_id
 *     length    completion_tokens: of the answer, if there is no response (EvalScope's workload_trace)
 *
 * The client also disconnected if the status is 499 (nginx, before an answer); how long after the start, the duration
 * says. Such a request did not fail.
 *
 * Lengths and answers are as in logged_exchange.h. Arrivals count from the first record that has a time. All other
 * members are ignored.
 */
#include "absent.h"
#include "clock.h"
#include "sources/logged_exchange.h"
#include "sources/sniff.h"

#define CLIENT_CLOSED_REQUEST 499 /* nginx's own */

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const char *const time_names[] = {"timestamp", "time", "ts", "start_time", "created_at"};
static const char *const end_names[] = {"end_time"};
static const char *const duration_names[] = {"request_time", "duration"};
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

/* 1, 0, -1. */
static int read_time(const struct jdoc *j, const char *name, int64_t *ns, struct ipf_error *err)
{
	return name ? field_time(j, JDOC_ROOT, name, NS_PER_S, ns, err) : 0;
}

/* The arrival: logged, or the end less the duration; IPF_ABSENT. */
static int read_start(const struct jdoc *j, int64_t *start_ns, struct ipf_error *err)
{
	const char *duration = first_of(j, duration_names, COUNT(duration_names));
	int64_t end_ns, duration_ns;
	*start_ns = IPF_ABSENT;
	int timed = read_time(j, first_of(j, time_names, COUNT(time_names)), start_ns, err);
	if (timed != 0)
		return timed < 0 ? -1 : 0;
	timed = read_time(j, first_of(j, end_names, COUNT(end_names)), &end_ns, err);
	if (timed <= 0)
		return timed;
	if (!duration)
		return ipf_error_set(err, IPF_INPUT, "request_time: missing (also as duration): end_time is no arrival");
	if (need_duration(j, JDOC_ROOT, duration, NS_PER_S, &duration_ns, err) < 0)
		return -1;
	if (__builtin_sub_overflow(end_ns, duration_ns, start_ns) || !time_is_possible(*start_ns))
		return ipf_error_set(err, IPF_INPUT, "%s: before all times that are possible", duration);
	return 0;
}

/* 0: the client stayed, or it is not known when it left. */
static int read_hang_up(const struct jdoc *j, int64_t status, int64_t *hang_up_ns, struct ipf_error *err)
{
	const char *duration = first_of(j, duration_names, COUNT(duration_names));
	const bool cut = jdoc_text_is(j, jdoc_get(j, JDOC_ROOT, "request_completion"), "") && status < 400;
	*hang_up_ns = 0;
	if (!duration || (status != CLIENT_CLOSED_REQUEST && !cut))
		return 0;
	return need_duration(j, JDOC_ROOT, duration, NS_PER_S, hang_up_ns, err);
}

static int read_record(void *opened, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	const struct jdoc *j = record->json;
	if (need_object(j, JDOC_ROOT, "record", err) < 0)
		return -1;
	const char *session = first_of(j, session_names, COUNT(session_names)),
			   *status = first_of(j, status_names, COUNT(status_names));
	struct logged_exchange logged = {.json = j,
	                                 .request_name = first_of(j, request_names, COUNT(request_names)),
	                                 .response_name = first_of(j, response_names, COUNT(response_names))};
	int64_t code = 0;
	if (!logged.request_name)
		return ipf_error_set(err, IPF_INPUT, "request: missing (also as request_body or body)");
	logged.request = jdoc_get(j, JDOC_ROOT, logged.request_name);
	logged.response = logged.response_name ? jdoc_get(j, JDOC_ROOT, logged.response_name) : JDOC_NONE;
	if (status && !jdoc_to_int(j, jdoc_get(j, JDOC_ROOT, status), &code))
		code = 0;
	/* A proxy that logs a header writes "" if the request lacks it. */
	bool named = session && !slice_is(jdoc_raw(j, jdoc_get(j, JDOC_ROOT, session)), "\"\"");
	if (read_start(j, &logged.start_ns, err) < 0 || read_hang_up(j, code, &logged.hang_up_ns, err) < 0 ||
	    field_tokens(j, JDOC_ROOT, "completion_tokens", &logged.output_tokens, err) < 0 ||
	    (named && field_name(&sink->draft, j, JDOC_ROOT, session, &logged.session, err) < 0))
		return -1;
	logged.failed = code >= 400 && !logged.hang_up_ns;
	return logged_exchange_take(&logged, opened, sink, err);
}

static bool recognises(const struct sniff *sniff)
{
	return sniff->json && first_of(sniff->json, request_names, COUNT(request_names)) &&
	       (first_of(sniff->json, time_names, COUNT(time_names)) ||
	        first_of(sniff->json, end_names, COUNT(end_names))) &&
	       (sniff_text(sniff, "messages") || sniff_text(sniff, "prompt") || sniff_text(sniff, "contents") ||
	        sniff_text(sniff, "input"));
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
