/* Spans of OpenTelemetry's GenAI conventions: session files ({"spans": [{"span_id", "start_time", "attributes": {…}}]})
 * and OTLP in JSON
 * ({"resourceSpans": [{"scopeSpans": [{"spans": [{"spanId", "startTimeUnixNano", "attributes": [{"key",
 * "value"}]}]}]}]}).
 *
 * A span that calls a model is a request; its session is the conversation that it names, else its trace. What it waited
 * for is not recorded but implied: for the calls whose answers are in its prompt; where there is none, for the one that
 * had ended last before it began. Calls that overlap are asked side by side.
 */
#include "sources/detect_format.h"
#include "sources/otel.h"
#include "sources/record_fields.h"

#include "absent.h"
#include "clock.h"
#include "json/jout.h"

#include <stdlib.h>
#include <string.h>

#define ANSWER_MIN 12 /* bytes: a shorter answer in a prompt says nothing */

/* A call, held until all of them are there. */
struct call {
	struct draft *draft;
	int64_t start_ns, end_ns;
	size_t index;
};

struct state {
	struct call *calls;
	size_t count, cap;
};

static int open_source(void **opened, const struct source_settings *settings, struct ipf_error *err)
{
	(void)settings;
	return source_state(opened, sizeof(struct state), err);
}

static void close_source(void *opened)
{
	struct state *s = opened;
	if (!s)
		return;
	for (size_t i = 0; i < s->count; i++)
		free(s->calls[i].draft);
	free(s->calls);
	free(s);
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

static bool keep_call(struct state *s, const struct draft *d, int64_t start_ns, int64_t end_ns)
{
	if (s->count == s->cap) {
		size_t cap = s->cap ? s->cap * 2 : 64;
		struct call *calls = reallocarray(s->calls, cap, sizeof *calls);
		if (!calls)
			return false;
		s->calls = calls;
		s->cap = cap;
	}
	struct draft *copy = draft_clone(d);
	if (copy) {
		s->calls[s->count] = (struct call){copy, start_ns, end_ns, s->count};
		s->count++;
	}
	return copy != NULL;
}

/* What it asked, and what was answered. */
static int take_texts(const struct otel_span *span, struct draft *d, struct draft_request *r, struct ipf_error *err)
{
	int64_t asked = otel_number(span, d, "gen_ai.request.max_tokens");
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
		r->output_tokens = asked;
		r->answer = (struct slice){0};
	}
	return otel_messages(d, otel_text(span, d, "gen_ai.system_instructions"),
	                     otel_text(span, d, "gen_ai.input.messages"), err);
}

static int take_span(struct state *s, const struct source_record *record, const struct otel_span *span,
                     struct sink *sink, struct ipf_error *err)
{
	struct draft *d = &sink->draft;
	int64_t start_ns, end_ns;
	draft_reset(d);
	d->number = record->number;
	if (!calls_a_model(span, d))
		return 0;
	if (otel_times(span, d, &start_ns, &end_ns, err) < 0)
		return -1;
	struct draft_request *r = draft_request(d);
	if (!r || take_texts(span, d, r, err) < 0)
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
	r->id = draft_join(d, d->session, "/", id.len > 0 ? id : draft_format(d, "#%zu", s->count));
	d->failed |= !d->failed && !keep_call(s, d, start_ns, end_ns);
	return 0;
}

static int one_record(void *opened, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	struct otel_each each;
	struct otel_span span;
	if (need_map(record->json, JDOC_ROOT, "record", err) < 0)
		return -1;
	if (!otel_begin(&each, record->json))
		return ipf_error_set(err, IPF_INPUT, "neither spans nor resourceSpans");
	while (otel_next(&each, &span))
		if (take_span(opened, record, &span, sink, err) < 0)
			return -1;
	return 0;
}

/* ---- what waits for what ---- */

static int by_session_and_start(const void *a, const void *b)
{
	const struct call *x = a, *y = b;
	struct slice m = x->draft->session, n = y->draft->session;
	int order = memcmp(m.data, n.data, m.len < n.len ? m.len : n.len);
	if (order || m.len != n.len)
		return order ? order : m.len < n.len ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

static bool has_answer(const struct draft *asks, struct slice answer)
{
	for (size_t i = 0; i < asks->message_count && answer.len > 0; i++) {
		struct slice text = asks->messages[i].text;
		if (slice_equal(text, answer) ||
		    (answer.len >= ANSWER_MIN && text.data && memmem(text.data, text.len, answer.data, answer.len)))
			return true;
	}
	return false;
}

/* Writes the ids of those that call `at` waits for, of the calls of its session from `first` on. */
static int64_t write_parents(const struct call *calls, size_t first, size_t at, struct jout *w)
{
	int64_t end_ns = IPF_ABSENT;
	size_t last = at;
	jout_begin_list(w);
	for (size_t i = first; i < at; i++) {
		if (calls[i].end_ns > calls[at].start_ns)
			continue;
		if (last == at || calls[i].end_ns >= calls[last].end_ns)
			last = i;
		if (has_answer(calls[at].draft, calls[i].draft->requests[0].answer)) {
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

static int end_source(void *opened, struct sink *sink, struct ipf_error *err)
{
	struct state *s = opened;
	struct buffer parents = {0};
	int64_t zero_ns = INT64_MAX;
	size_t first = 0;
	int status = 0;
	if (s->count)
		qsort(s->calls, s->count, sizeof *s->calls, by_session_and_start);
	for (size_t i = 0; i < s->count; i++)
		zero_ns = s->calls[i].start_ns < zero_ns ? s->calls[i].start_ns : zero_ns;
	for (size_t i = 0; i < s->count && status == 0; i++) {
		struct call *call = &s->calls[i];
		struct draft_request *r = &call->draft->requests[0];
		struct jout w = {.out = &parents};
		if (!slice_equal(call->draft->session, s->calls[first].draft->session))
			first = i;
		buffer_clear(&parents);
		int64_t ended_ns = write_parents(s->calls, first, i, &w);
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

static bool knows(const struct sniff *sniff)
{
	return sniff_has(sniff, "resourceSpans") || (sniff_has(sniff, "spans") && sniff_text(sniff, "\"attributes\""));
}

const struct source_format source_otel = {
	.name = "otel",
	.about = "OpenTelemetry's GenAI spans: session files and OTLP in JSON",
	.kind = SOURCE_TRACE,
	.unit = UNIT_JSON,
	.traits = HAS_TIMES | HAS_SESSIONS | GATHERS | MAKES_TEXT,
	.filled = "prose of the recorded length where there are no messages",
	.open = open_source,
	.knows = knows,
	.record = one_record,
	.end = end_source,
	.close = close_source,
};
