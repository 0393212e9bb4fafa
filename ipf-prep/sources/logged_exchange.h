/* A request and its response as a proxy logged them: bodies for api_bodies.h.
 *
 *     struct logged_exchange logged = {
 *         .json = record->json, .request = request, .request_name = "body", .start_ns = start_ns};
 *     return logged_exchange_take(&logged, &origin, sink, err);
 *
 * Lengths are those of the response's usage; without usage, the answer's is counted from its text, and without text,
 * the requested maximum is used.
 */
#ifndef PREP_LOGGED_EXCHANGE_H
#define PREP_LOGGED_EXCHANGE_H

#include "sources/record_fields.h"
#include "sources/recorded_times.h"

struct logged_exchange {
	const struct jdoc *json;
	/* An object, or a string holding one; "" or JDOC_NONE: it was not logged. The response can also be a string holding
	 * the server-sent events of a stream. */
	jdoc_id request, response;
	const char *request_name, *response_name; /* in errors */
	/* Instead of both, if `json` is NULL: the bytes of the bodies. A request other than JSON is then unusable. */
	struct slice request_text, response_text;
	struct slice session, id;              /* absent or empty: none */
	bool embeddings;                       /* the request asks for those of its input */
	int64_t start_ns;                      /* the arrival, since 1970; IPF_ABSENT */
	int64_t output_tokens;                 /* if the response does not say it; 0: not logged */
	int64_t hang_up_ns;                    /* how long afterwards the client disconnected; 0: it did not */
	struct slice headers;                  /* JSON: a map of those to send again; absent: none */
	const struct recorded_times *recorded; /* its latencies; NULL: not recorded */
	bool failed;
	bool response_cut; /* the response may be cut; if it is not JSON, it is ignored, as it is if the request failed */
};

/* Hands the exchange to the sink, or counts it as unusable if it has no prompt. 0 or -1. */
int logged_exchange_take(const struct logged_exchange *logged, struct time_origin *origin, struct sink *sink,
                         struct ipf_error *err);

#endif
