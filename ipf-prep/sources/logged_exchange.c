#include "sources/logged_exchange.h"

#include "absent.h"
#include "api/framing.h"
#include "sources/api_bodies.h"

#include <stdio.h>

/* The text of a body; absent if it was not logged. */
static struct slice body_text(struct draft *d, const struct jdoc *j, jdoc_id node)
{
	return jdoc_is_null(j, node)                ? (struct slice){0}
	       : jdoc_type_of(j, node) == JDOC_TEXT ? draft_text(d, j, node)
	                                            : jdoc_raw(j, node);
}

static bool is_object(struct jdoc *inner, struct slice text)
{
	struct ipf_error ignored = {0};
	bool parsed = jdoc_parse(inner, text.data, text.len, &ignored) == 0;
	ipf_error_clear(&ignored);
	return parsed && jdoc_type_of(inner, JDOC_ROOT) == JDOC_MAP;
}

/* Reads a response, or an event of a stream: usage replaces earlier usage, text is added to `text`. */
static int read_answer(struct draft *d, const struct jdoc *answer, struct buffer *text, struct ipf_error *err)
{
	struct draft_request *r = &d->requests[0];
	if (api_response_body(d, answer, JDOC_ROOT, r, err) < 0)
		return -1;
	buffer_append(text, r->answer.data, r->answer.len);
	r->answer = (struct slice){0};
	return 0;
}

/* Reads the events of a stream. Data other than JSON says nothing, among it the end mark and a cut line. */
static int read_events(struct draft *d, struct slice stream, struct jdoc *inner, struct buffer *text,
                       struct ipf_error *err)
{
	struct framing framing = {0};
	struct framing_event event;
	int status = 0;
	framing_begin(&framing, FRAMING_SSE, stream);
	while (status == 0 && framing_next(&framing, &event))
		if (is_object(inner, event.data))
			status = read_answer(d, inner, text, err);
	d->failed |= framing.many.failed;
	framing_release(&framing);
	return status;
}

static int read_response(const struct logged_exchange *logged, struct draft *d, struct jdoc *inner, struct buffer *text,
                         struct ipf_error *err)
{
	int64_t requested = logged->output_tokens ? logged->output_tokens : d->requests[0].output_tokens;
	struct slice body = logged->json ? body_text(d, logged->json, logged->response) : logged->response_text;
	int status = 0;
	d->requests[0].output_tokens = IPF_ABSENT;
	if (framing_begins_like_events(body))
		status = read_events(d, body, inner, text, err);
	else if (body.len > 0 && is_object(inner, body))
		status = read_answer(d, inner, text, err);
	else if (body.len > 0 && logged->json && !logged->failed && !logged->response_cut && !logged->hang_up_ns)
		status = jdoc_expected(logged->json, logged->response, logged->response_name, "an object, or a string with one",
		                       err);
	if (text->len > 0)
		d->requests[0].answer = draft_keep(d, buffer_all(text));
	else if (d->requests[0].output_tokens == IPF_ABSENT)
		d->requests[0].output_tokens = requested;
	d->failed |= text->failed;
	return status;
}

static int take(const struct logged_exchange *logged, struct time_origin *origin, struct sink *sink, struct jdoc *inner,
                struct ipf_error *err)
{
	struct draft *d = &sink->draft;
	struct slice body = logged->json ? body_text(d, logged->json, logged->request) : logged->request_text;
	struct buffer text = {0};
	if (body.len == 0) {
		sink->unusable(sink, "the request's body was not logged");
		return 0;
	}
	if (!is_object(inner, body) && !logged->json) {
		sink->unusable(sink, "the request's body is no JSON object");
		return 0;
	}
	if (jdoc_type_of(inner, JDOC_ROOT) != JDOC_MAP)
		return jdoc_expected(logged->json, logged->request, logged->request_name, "an object, or a string with one",
		                     err);
	put_on_one_line(body);
	int got = (logged->embeddings ? api_embeddings_body : api_request_body)(d, inner, JDOC_ROOT, err);
	if (got == 0)
		sink->unusable(sink, "neither messages nor a prompt");
	if (got <= 0 || d->failed)
		return got < 0 ? -1 : 0;
	got = read_response(logged, d, inner + 1, &text, err);
	buffer_release(&text);
	if (got < 0)
		return -1;
	d->session = logged->session;
	d->requests[0].id = logged->id;
	d->requests[0].failed |= logged->failed;
	d->requests[0].headers = logged->headers;
	if (logged->hang_up_ns > 0)
		d->requests[0].hang_up_ns = logged->hang_up_ns;
	if (logged->recorded && recorded_times_set(&d->requests[0], logged->recorded, err) < 0)
		return -1;
	if (logged->start_ns != IPF_ABSENT)
		d->requests[0].at_ns = since_origin(origin, logged->start_ns);
	return sink->take(sink, d, err);
}

int logged_exchange_take(const struct logged_exchange *logged, struct time_origin *origin, struct sink *sink,
                         struct ipf_error *err)
{
	/* The draft borrows texts of the request while the response is read. */
	struct jdoc inner[2] = {{0}, {0}};
	char path[64];
	jdoc_watch(&inner[0]);
	int status = take(logged, origin, sink, inner, err);
	snprintf(path, sizeof path, "/%s", logged->request_name);
	record_notes_members(sink->notes, path, &inner[0]);
	jdoc_release(&inner[0]);
	jdoc_release(&inner[1]);
	return status;
}
