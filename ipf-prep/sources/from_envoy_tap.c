/* envoy-tap: files of Envoy's tap filter, which has both bodies of each request.
 *
 * Origin: envoy.filters.http.tap with the sink file_per_tap and the format JSON_BODY_AS_STRING, Envoy 1.40
 * (HttpBufferedTrace in envoy/data/tap/v3/http.proto). A file, or a line of JSON Lines, is a request:
 *
 *     {"http_buffered_trace": {
 *       "request":  {"headers": [{"key", "value"}, …], "body": {"as_string", "truncated"}, "headers_received_time"},
 *       "response": the same}}
 *
 *     headers_received_time  the arrival, in microseconds; there with record_headers_received_time: true
 *     body                   logged_exchange.h says what is read; a request whose body is cut is left out
 *     headers                the session (session_headers below); :status of 400 and above, or no response: it failed
 *
 * Files are named by random numbers: the trace is sorted by arrival.
 */
#include "absent.h"
#include "clock.h"
#include "sources/logged_exchange.h"
#include "sources/sniff.h"

/* In the order in which they are tried; Envoy has names of headers in lower case. */
static const char *const session_headers[] = {"x-session", "x-session-id", "session-id", "session_id",
                                              "x-conversation-id"};

/* The value of a header of a request or response; JDOC_NONE. */
static jdoc_id header(const struct jdoc *j, jdoc_id message, const char *name)
{
	for (struct jdoc_each e = jdoc_each(j, jdoc_get(j, message, "headers")); jdoc_step(&e);)
		if (jdoc_text_is(j, jdoc_get(j, e.value, "key"), name))
			return jdoc_get(j, e.value, "value");
	return JDOC_NONE;
}

static int read_body(const struct jdoc *j, jdoc_id message, const char *name, jdoc_id *text, bool *cut,
                     struct ipf_error *err)
{
	jdoc_id body = jdoc_get(j, message, "body");
	*text = jdoc_get(j, body, "as_string");
	if (*text == JDOC_NONE && jdoc_get(j, body, "as_bytes") != JDOC_NONE)
		return ipf_error_set(err, IPF_INPUT, "%s: missing, found as_bytes: the sink's format is JSON_BODY_AS_STRING",
		                     name);
	return jdoc_get_bool(j, body, "truncated", cut, err);
}

static int read_request(const struct jdoc *j, jdoc_id request, struct draft *d, struct logged_exchange *logged,
                        bool *cut, struct ipf_error *err)
{
	logged->start_ns = IPF_ABSENT;
	if (need_object(j, request, "http_buffered_trace/request", err) < 0 ||
	    read_body(j, request, logged->request_name, &logged->request, cut, err) < 0 ||
	    field_time(j, request, "headers_received_time", NS_PER_S, &logged->start_ns, err) < 0)
		return -1;
	for (size_t i = 0; i < sizeof session_headers / sizeof *session_headers && !logged->session.data; i++) {
		jdoc_id named = header(j, request, session_headers[i]);
		if (!jdoc_text_empty(j, named))
			logged->session = draft_text(d, j, named);
	}
	return 0;
}

static int read_response(const struct jdoc *j, jdoc_id response, struct draft *d, struct logged_exchange *logged,
                         struct ipf_error *err)
{
	struct slice status = draft_text(d, j, header(j, response, ":status"));
	jdoc_id encoding = header(j, response, "content-encoding");
	logged->failed = status.len != 3 || status.data[0] > '3';
	if (read_body(j, response, logged->response_name, &logged->response, &logged->response_cut, err) < 0)
		return -1;
	logged->response_cut |= encoding != JDOC_NONE && !jdoc_text_is(j, encoding, "identity");
	return 0;
}

static int read_record(void *opened, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	const struct jdoc *j = record->json;
	struct logged_exchange logged = {.json = j,
	                                 .request_name = "http_buffered_trace/request/body/as_string",
	                                 .response_name = "http_buffered_trace/response/body/as_string"};
	bool cut = false;
	if (need_object(j, JDOC_ROOT, "record", err) < 0)
		return -1;
	jdoc_id trace = jdoc_get(j, JDOC_ROOT, "http_buffered_trace");
	jdoc_id request = jdoc_get(j, trace, "request"), response = jdoc_get(j, trace, "response");
	if (need_object(j, trace, "http_buffered_trace", err) < 0 ||
	    read_request(j, request, &sink->draft, &logged, &cut, err) < 0 ||
	    read_response(j, response, &sink->draft, &logged, err) < 0)
		return -1;
	if (cut) {
		sink->unusable(sink, "the request's body is cut (max_buffered_rx_bytes)");
		return 0;
	}
	return logged_exchange_take(&logged, opened, sink, err);
}

static bool recognises(const struct sniff *sniff)
{
	return sniff_members(sniff, "http_buffered_trace");
}

const struct source_format source_envoy_tap = {
	.name = "envoy-tap",
	.about = "files of Envoy's tap filter (a folder of JSON files): arrivals, sessions, request and response bodies",
	.kind = SOURCE_TRACE,
	.unit = UNIT_JSON,
	.traits = HAS_TIMES | HAS_SESSIONS | GATHERS,
	.state_size = sizeof(struct time_origin),
	.read_record = read_record,
	.recognises = recognises,
};
