/* otel: spans that follow OpenTelemetry's conventions for generative AI (gen_ai.…).
 *
 * Origin: opentelemetry.io/docs/specs/semconv/gen-ai; session files of github.com/kubernetes-sigs/inference-perf
 * (examples/otel/test_traces); OTLP in JSON as in github.com/open-telemetry/opentelemetry-proto. Two formats:
 *
 *     {"spans": [{"span_id", "start_time", "end_time", "attributes": {…}}, …]}
 *     {"resourceSpans": [{"scopeSpans": [{"spans": [{"spanId", "startTimeUnixNano", "endTimeUnixNano",
 *       "attributes": [{"key", "value"}, …]}, …]}, …]}, …]}
 *
 * A span that calls a model is a request. These attributes are read:
 *
 *     gen_ai.operation.name                     chat, text_completion and generate_content are calls
 *     gen_ai.conversation.id                    the session (default: the trace's id)
 *     gen_ai.system_instructions, gen_ai.input.messages  the prompt
 *     gen_ai.output.text or .output.messages    the answer
 *     gen_ai.usage.input_tokens, .output_tokens (also prompt_tokens, completion_tokens)
 *     gen_ai.request.max_tokens                 length of the answer, if nothing else gives it
 *     gen_ai.request.model                      becomes the tag "model"
 *     error.type                                the call failed; so does the status ERROR
 *
 * What a call waited for is not recorded but implied: the calls whose answers are in its prompt, or, if there are none,
 * the last call that ended before it began. Calls that overlap are sent in parallel. All other spans are ignored.
 */
#include "absent.h"
#include "json/jout.h"
#include "sources/sniff.h"
#include "sources/kept_drafts.h"
#include "sources/otel_spans.h"
#include "sources/record_fields.h"

#include <stdlib.h>
#include <string.h>

#define ANSWER_MIN 12 /* bytes: a shorter answer may be part of a prompt by coincidence */

static void close_state(void *opened)
{
	kept_drafts_release(opened);
}

/* ---- a span ---- */

static bool calls_a_model(const struct otel_span *span, struct draft *d)
{
	struct slice operation = otel_text(span, d, "gen_ai.operation.name");
	if (operation.data)
		return slice_is(operation, "chat") || slice_is(operation, "text_completion") ||
		       slice_is(operation, "generate_content");
	return otel_text(span, d, "gen_ai.input.messages").data || otel_text(span, d, "gen_ai.usage.output_tokens").data ||
	       otel_text(span, d, "gen_ai.usage.completion_tokens").data;
}

/* The prompt, the answer and their lengths. */
static int read_texts(const struct otel_span *span, struct draft *d, struct draft_request *r, struct ipf_error *err)
{
	int64_t max_tokens = otel_number(span, d, "gen_ai.request.max_tokens");
	struct slice output = otel_text(span, d, "gen_ai.output.text"),
				 messages = otel_text(span, d, "gen_ai.output.messages");
	r->input_tokens = otel_number(span, d, "gen_ai.usage.input_tokens");
	if (r->input_tokens == IPF_ABSENT)
		r->input_tokens = otel_number(span, d, "gen_ai.usage.prompt_tokens");
	r->output_tokens = otel_number(span, d, "gen_ai.usage.output_tokens");
	if (r->output_tokens == IPF_ABSENT)
		r->output_tokens = otel_number(span, d, "gen_ai.usage.completion_tokens");
	r->tags = model_tag(d, otel_text(span, d, "gen_ai.request.model"));
	r->answer = output.data ? output : otel_messages_text(d, messages);
	if (r->output_tokens == IPF_ABSENT && r->answer.len == 0) {
		r->output_tokens = max_tokens;
		r->answer = (struct slice){0};
	}
	return otel_messages(d, otel_text(span, d, "gen_ai.system_instructions"),
	                     otel_text(span, d, "gen_ai.input.messages"), err);
}

static int read_span(struct kept_drafts *calls, const struct source_record *record, const struct otel_span *span,
                     struct sink *sink, struct ipf_error *err)
{
	struct draft *d = &sink->draft;
	int64_t start_ns, end_ns;
	draft_begin(d, record->number, 0);
	if (!calls_a_model(span, d))
		return 0;
	if (otel_times(span, &start_ns, &end_ns, err) < 0)
		return -1;
	struct draft_request *r = draft_request(d);
	if (!r || read_texts(span, d, r, err) < 0)
		return -(r != NULL);
	r = &d->requests[0];
	r->failed = otel_failed(span) || otel_text(span, d, "error.type").data;
	if (r->count == 0 && r->input_tokens == IPF_ABSENT) {
		sink->unusable(sink, "neither messages nor their length");
		return 0;
	}
	struct slice session = otel_text(span, d, "gen_ai.conversation.id");
	d->session = session.len > 0 ? session : otel_trace(span, d);
	if (d->session.len == 0)
		d->session = draft_format(d, "%lld", (long long)record->number);
	if (record->file_index)
		d->session = draft_join(d, draft_format(d, "%d", record->file_index), ":", d->session);
	struct slice id = otel_id(span, d);
	r->id = draft_join(d, d->session, "/", id.len > 0 ? id : draft_format(d, "#%zu", calls->count));
	struct kept_draft *call = d->failed ? NULL : kept_drafts_add(calls, d);
	if (call) {
		call->start_ns = start_ns;
		call->end_ns = end_ns;
	}
	d->failed |= !call;
	return 0;
}

static int read_record(void *opened, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	struct otel_each each;
	struct otel_span span;
	if (need_object(record->json, JDOC_ROOT, "record", err) < 0)
		return -1;
	if (!otel_begin(&each, record->json))
		return ipf_error_set(err, IPF_INPUT, "expected a list of spans or resourceSpans, found neither");
	while (otel_next(&each, &span))
		if (read_span(opened, record, &span, sink, err) < 0)
			return -1;
	return 0;
}

/* ---- dependencies ---- */

static int by_session_and_start(const void *a, const void *b)
{
	const struct kept_draft *x = a, *y = b;
	struct slice m = x->draft->session, n = y->draft->session;
	int order = memcmp(m.data, n.data, m.len < n.len ? m.len : n.len);
	if (order || m.len != n.len)
		return order ? order : m.len < n.len ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

/* Does an answer occur in the prompt of a request? */
static bool prompt_has_answer(const struct draft *request, struct slice answer)
{
	for (size_t i = 0; i < request->message_count && answer.len > 0; i++) {
		struct slice text = request->messages[i].text;
		if (slice_equal(text, answer) ||
		    (answer.len >= ANSWER_MIN && text.data && memmem(text.data, text.len, answer.data, answer.len)))
			return true;
	}
	return false;
}

/* Writes the ids of the calls that call `at` waits for, out of its session's calls from `first` on. Returns when the
 * last of them ended; IPF_ABSENT if it waits for none. */
static int64_t write_parents(const struct kept_draft *calls, size_t first, size_t at, struct jout *w)
{
	int64_t end_ns = IPF_ABSENT;
	size_t last = at;
	jout_begin_list(w);
	for (size_t i = first; i < at; i++) {
		if (calls[i].end_ns > calls[at].start_ns)
			continue;
		if (last == at || calls[i].end_ns >= calls[last].end_ns)
			last = i;
		if (prompt_has_answer(calls[at].draft, calls[i].draft->requests[0].answer)) {
			jout_string(w, calls[i].draft->requests[0].id);
			end_ns = calls[i].end_ns > end_ns ? calls[i].end_ns : end_ns;
		}
	}
	if (end_ns == IPF_ABSENT && last != at) {
		jout_string(w, calls[last].draft->requests[0].id);
		end_ns = calls[last].end_ns;
	}
	jout_end_list(w);
	return end_ns;
}

static int finish(void *opened, struct sink *sink, struct ipf_error *err)
{
	struct kept_drafts *calls = opened;
	struct buffer parents = {0};
	int64_t zero_ns = INT64_MAX;
	size_t first = 0;
	int status = 0;
	if (calls->count)
		qsort(calls->items, calls->count, sizeof *calls->items, by_session_and_start);
	for (size_t i = 0; i < calls->count; i++)
		zero_ns = calls->items[i].start_ns < zero_ns ? calls->items[i].start_ns : zero_ns;
	for (size_t i = 0; i < calls->count && status == 0; i++) {
		struct kept_draft *call = &calls->items[i];
		struct draft_request *r = &call->draft->requests[0];
		struct jout w = {.out = &parents};
		if (!slice_equal(call->draft->session, calls->items[first].draft->session))
			first = i;
		buffer_clear(&parents);
		int64_t ended_ns = write_parents(calls->items, first, i, &w);
		r->at_ns = call->start_ns - zero_ns;
		r->wait_ns = ended_ns == IPF_ABSENT ? IPF_ABSENT : call->start_ns - ended_ns;
		r->after = i > first ? buffer_all(&parents) : (struct slice){0};
		sink->draft.failed |= parents.failed;
		status = sink->draft.failed ? 0 : sink->take(sink, call->draft, err);
		r->after = (struct slice){0};
	}
	buffer_release(&parents);
	return status;
}

static bool recognises(const struct sniff *sniff)
{
	return sniff_members(sniff, "resourceSpans") ||
	       (sniff_members(sniff, "spans") && sniff_text(sniff, "\"attributes\""));
}

const struct source_format source_otel = {
	.name = "otel",
	.about = "OpenTelemetry spans for generative AI: session files, or OTLP in JSON",
	.kind = SOURCE_TRACE,
	.unit = UNIT_JSON,
	.traits = HAS_TIMES | HAS_SESSIONS | GATHERS | MAKES_TEXT,
	.filled = "prose of the recorded length where there are no messages",
	.state_size = sizeof(struct kept_drafts),
	.read_record = read_record,
	.finish = finish,
	.recognises = recognises,
	.close = close_state,
};
