/* otel: spans that follow OpenTelemetry's conventions for generative AI (gen_ai.…), from v1.26 to v1.44.
 *
 * Origin: opentelemetry.io/docs/specs/semconv/gen-ai; session files of github.com/kubernetes-sigs/inference-perf
 * (examples/otel/test_traces) and those of Exgentic's agent-llm-traces; OTLP as in
 * github.com/open-telemetry/opentelemetry-proto, in protocol buffers (input/otlp_messages.h) or in JSON. Formats:
 *
 *     {"spans": [{"span_id", "start_time", "end_time", "attributes": {…}}, …]}
 *     {"resourceSpans": [{"scopeSpans": [{"spans": [{"spanId", "startTimeUnixNano", "endTimeUnixNano",
 *       "attributes": [{"key", "value"}, …], "events": […]}, …]}, …]}, …]}
 *     {"resourceLogs": [{"scopeLogs": [{"logRecords": [{"traceId", "spanId", "eventName", "body", "attributes"}, …]}…
 *
 * A span that calls a model is a request. These attributes are read:
 *
 *     gen_ai.operation.name                     chat, text_completion and generate_content are calls
 *     gen_ai.conversation.id                    the session (default: `session_id` of a session file, or the trace's
 * id) gen_ai.system_instructions, gen_ai.input.messages, gen_ai.prompt  the prompt gen_ai.output.text,
 * gen_ai.output.messages, gen_ai.completion  the answer gen_ai.tool.definitions                   the tools
 *     gen_ai.output.type                        json: the response format (also gen_ai.openai.request.response_format)
 *     gen_ai.usage.input_tokens, .output_tokens (also prompt_tokens, completion_tokens)
 *     gen_ai.request.max_tokens                 length of the answer, if nothing else gives it
 *     gen_ai.request.model, gen_ai.provider.name or gen_ai.system, gen_ai.usage.cache_read.input_tokens,
 *       gen_ai.response.time_to_first_chunk     become the tags "model", "provider", "cached_tokens" and "ttft_s"
 *     error.type                                the call failed; so does the status ERROR, or the finish reason error
 *
 * What a span lacks is taken from its events and from the log records with its ids, which may come before or after it
 * and in other files: gen_ai.client.inference.operation.details has the same attributes, gen_ai.content.prompt and
 * .completion have some of them, gen_ai.system.message, .user.message, .assistant.message, .tool.message and
 * gen_ai.choice are messages. Details of a span that is in no file are a request that arrived at the time of the
 * record.
 *
 * What a call waited for is not recorded but implied: the calls whose answers are in its prompt, or, if there are none,
 * the last call that ended before it began. Calls that overlap are sent in parallel. All other spans are ignored.
 */
#include "absent.h"
#include "input/otlp_messages.h"
#include "json/jout.h"
#include "sources/kept_drafts.h"
#include "sources/otel_messages.h"
#include "sources/otel_spans.h"
#include "sources/record_fields.h"
#include "sources/sniff.h"

#include <stdlib.h>
#include <string.h>

#define ANSWER_MIN 12 /* bytes: a shorter answer may be part of a prompt by coincidence */

/* What an event or log record says of a call. */
enum event { EVENT_OTHER, EVENT_DETAILS, EVENT_MESSAGE, EVENT_ANSWER };

struct state {
	struct kept_drafts calls;      /* key: the ids of trace and span, separated by a line feed */
	struct kept_drafts statements; /* events and log records; key: of their span; end_ns: an enum event */
	size_t left_out;               /* calls that were no requests */
};

static void close_state(void *opened)
{
	struct state *s = opened;
	kept_drafts_release(&s->calls);
	kept_drafts_release(&s->statements);
}

/* ---- attributes ---- */

static bool is_call(struct slice operation)
{
	return slice_is(operation, "chat") || slice_is(operation, "text_completion") ||
	       slice_is(operation, "generate_content");
}

static bool calls_a_model(const struct otel_item *span, struct draft *d)
{
	static const char *const signs[] = {"gen_ai.input.messages", "gen_ai.prompt", "gen_ai.usage.output_tokens",
	                                    "gen_ai.usage.completion_tokens"};
	struct slice operation = otel_text(span, d, "gen_ai.operation.name");
	for (size_t i = 0; i < sizeof signs / sizeof *signs && !operation.data; i++)
		if (otel_text(span, d, signs[i]).data)
			return true;
	return is_call(operation);
}

/* The first of two attributes that there is. */
static struct slice either_text(const struct otel_item *item, struct draft *d, const char *key, const char *other)
{
	struct slice text = otel_text(item, d, key);
	return text.data ? text : otel_text(item, d, other);
}

static int64_t either_number(const struct otel_item *item, struct draft *d, const char *key, const char *other)
{
	int64_t number = otel_number(item, d, key);
	return number != IPF_ABSENT ? number : otel_number(item, d, other);
}

/* What was recorded of the call but is not part of the request. */
static struct slice tags_of(const struct otel_item *item, struct draft *d)
{
	struct slice model = otel_text(item, d, "gen_ai.request.model");
	struct slice provider = either_text(item, d, "gen_ai.provider.name", "gen_ai.system");
	struct slice ttft = otel_text(item, d, "gen_ai.response.time_to_first_chunk");
	struct buffer out = {0};
	struct jout w = {.out = &out};
	double number;
	struct jdoc parsed = {0};
	struct ipf_error ignored = {0};
	jout_begin_map(&w);
	if (model.len > 0)
		jout_member_string(&w, "model", model);
	if (provider.len > 0)
		jout_member_string(&w, "provider", provider);
	jout_member_int(&w, "cached_tokens", otel_number(item, d, "gen_ai.usage.cache_read.input_tokens"));
	if (ttft.len > 0 && jdoc_parse(&parsed, ttft.data, ttft.len, &ignored) == 0 &&
	    jdoc_to_double(&parsed, JDOC_ROOT, &number))
		jout_member_double(&w, "ttft_s", number);
	jout_end_map(&w);
	jdoc_release(&parsed);
	return tags_written(d, &out);
}

static struct slice answer_of(const struct otel_item *item, struct draft *d)
{
	struct slice text = otel_text(item, d, "gen_ai.output.text");
	struct slice messages = either_text(item, d, "gen_ai.output.messages", "gen_ai.completion");
	if (text.data || !messages.data)
		return text;
	text = otel_answer(d, messages);
	return text.data || (messages.len > 0 && *messages.data == '[') ? text : messages;
}

/* Adds to the request what attributes say of it. */
static int read_attributes(const struct otel_item *item, struct draft *d, int64_t *most_tokens, struct ipf_error *err)
{
	struct draft_request *r = &d->requests[0];
	*most_tokens = otel_number(item, d, "gen_ai.request.max_tokens");
	r->input_tokens = either_number(item, d, "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens");
	r->output_tokens = either_number(item, d, "gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens");
	r->tags = tags_of(item, d);
	r->tools = otel_tools(d, otel_text(item, d, "gen_ai.tool.definitions"));
	r->response_format = otel_response_format(
		either_text(item, d, "gen_ai.output.type", "gen_ai.openai.request.response_format"));
	r->answer = answer_of(item, d);
	r->failed = otel_text(item, d, "error.type").data ||
	            slice_is(otel_text(item, d, "gen_ai.response.finish_reasons"), "[\"error\"]");
	d->session = otel_text(item, d, "gen_ai.conversation.id");
	struct slice messages = otel_text(item, d, "gen_ai.input.messages");
	if (!messages.data)
		otel_prompt(d, otel_text(item, d, "gen_ai.prompt"));
	return otel_messages(d, otel_text(item, d, "gen_ai.system_instructions"), messages, err);
}

/* ---- events and log records ---- */

static const struct event_name {
	const char *name;
	enum event event;
	const char *role;
} event_names[] = {
	{"gen_ai.client.inference.operation.details", EVENT_DETAILS, NULL},
	{"gen_ai.content.prompt", EVENT_DETAILS, NULL},
	{"gen_ai.content.completion", EVENT_DETAILS, NULL},
	{"gen_ai.system.message", EVENT_MESSAGE, "system"},
	{"gen_ai.user.message", EVENT_MESSAGE, "user"},
	{"gen_ai.assistant.message", EVENT_MESSAGE, "assistant"},
	{"gen_ai.tool.message", EVENT_MESSAGE, "tool"},
	{"gen_ai.choice", EVENT_ANSWER, NULL},
};

/* Makes a request of what an event or log record says, in an empty draft. Sets *event to what it is. */
static int read_event(const struct otel_item *item, struct draft *d, enum event *event, int64_t *most_tokens,
                      struct ipf_error *err)
{
	struct slice name = otel_name(item, d);
	size_t i = 0, count = sizeof event_names / sizeof *event_names;
	while (i < count && !slice_is(name, event_names[i].name))
		i++;
	*event = i < count ? event_names[i].event : EVENT_OTHER;
	*most_tokens = IPF_ABSENT;
	if (*event == EVENT_OTHER || !draft_request(d))
		return 0;
	if (*event == EVENT_DETAILS)
		return read_attributes(item, d, most_tokens, err);
	if (*event == EVENT_MESSAGE)
		otel_event_message(d, event_names[i].role, otel_body(item, d));
	else
		d->requests[0].answer = otel_event_answer(d, otel_body(item, d));
	return 0;
}

/* ---- reading ---- */

/* The file of a session knows nothing of the ids of other files. */
static struct slice own_name(const struct otel_item *item, const struct source_record *record, struct draft *d,
                             struct slice name)
{
	return item->otlp || name.len == 0 ? name : name_in_file(d, record->file_index, name);
}

/* Keeps the draft, of the span or log record that has these ids. */
static void keep(struct kept_drafts *kept, const struct otel_item *ids, const struct source_record *record,
                 struct draft *d, struct kept_draft values)
{
	struct slice key = draft_join(d, own_name(ids, record, d, otel_trace(ids, d)), "\n", otel_id(ids, d));
	if (!ids->otlp && d->session.len == 0)
		d->session = draft_text(d, ids->json, jdoc_get(ids->json, JDOC_ROOT, "session_id"));
	d->session = own_name(ids, record, d, d->session);
	struct kept_draft *added = d->failed ? NULL : kept_drafts_add(kept, d);
	if (added) {
		added->start_ns = values.start_ns;
		added->end_ns = values.end_ns;
		added->most_tokens = values.most_tokens;
		added->key = strndup(key.data, key.len);
	}
	d->failed |= !added || !added->key;
}

static int read_statement(struct state *s, const struct source_record *record, const struct otel_item *item,
                          const struct otel_item *ids, struct draft *d, struct ipf_error *err)
{
	struct kept_draft values = {0};
	enum event event;
	draft_begin(d, record->number, 0);
	struct slice operation = otel_text(item, d, "gen_ai.operation.name");
	if (read_event(item, d, &event, &values.most_tokens, err) < 0)
		return -1;
	if (event == EVENT_OTHER || (operation.data && !is_call(operation)))
		return 0;
	if (otel_times(item, &values.start_ns, &values.end_ns, err) < 0)
		return -1;
	values.end_ns = event;
	keep(&s->statements, ids, record, d, values);
	return 0;
}

static int read_span(struct state *s, const struct source_record *record, const struct otel_item *span, struct draft *d,
                     struct ipf_error *err)
{
	struct kept_draft values = {0};
	draft_begin(d, record->number, 0);
	if (!calls_a_model(span, d))
		return 0;
	if (otel_times(span, &values.start_ns, &values.end_ns, err) < 0)
		return -1;
	if (!draft_request(d))
		return 0;
	if (read_attributes(span, d, &values.most_tokens, err) < 0)
		return -1;
	d->requests[0].failed |= otel_failed(span);
	keep(&s->calls, span, record, d, values);
	for (struct jdoc_each e = otel_events(span); jdoc_step(&e);) {
		struct otel_item event = {span->json, e.value, OTEL_EVENT, span->otlp};
		if (read_statement(s, record, &event, span, d, err) < 0)
			return -1;
	}
	return 0;
}

static int read_record(void *opened, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	struct otel_each each;
	struct otel_item item;
	if (need_object(record->json, JDOC_ROOT, "record", err) < 0)
		return -1;
	if (!otel_begin(&each, record->json))
		return ipf_error_set(err, IPF_INPUT, "expected a list of spans, resourceSpans or resourceLogs, found none");
	while (otel_next(&each, &item))
		if ((item.kind == OTEL_SPAN ? read_span(opened, record, &item, &sink->draft, err)
		                            : read_statement(opened, record, &item, &item, &sink->draft, err)) < 0)
			return -1;
	return 0;
}

/* ---- calls with what was said of them ---- */

static int by_key_and_time(const void *a, const void *b)
{
	const struct kept_draft *x = a, *y = b;
	int order = strcmp(x->key, y->key);
	if (order)
		return order;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

/* The first statement with this key, in their order; their number if there is none, or if an id is missing. */
static size_t first_statement(const struct kept_drafts *statements, const char *key)
{
	size_t low = 0, high = statements->count;
	if (*key == '\n' || key[strlen(key) - 1] == '\n')
		return high;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (strcmp(statements->items[middle].key, key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Adds to the request in `d` what is not yet known of it. Texts stay those of `from`. */
static void add_facts(struct draft *d, int64_t *most_tokens, const struct kept_draft *from, bool messages)
{
	const struct draft *f = from->draft;
	const struct draft_request *said = &f->requests[0];
	struct draft_request *r = &d->requests[0];
	r->input_tokens = r->input_tokens == IPF_ABSENT ? said->input_tokens : r->input_tokens;
	r->output_tokens = r->output_tokens == IPF_ABSENT ? said->output_tokens : r->output_tokens;
	*most_tokens = *most_tokens == IPF_ABSENT ? from->most_tokens : *most_tokens;
	r->answer = r->answer.len == 0 ? said->answer : r->answer;
	r->tools = r->tools.data ? r->tools : said->tools;
	r->response_format = r->response_format.data ? r->response_format : said->response_format;
	r->tags = r->tags.data ? r->tags : said->tags;
	r->failed |= said->failed;
	d->session = d->session.len > 0 ? d->session : f->session;
	for (size_t i = 0; i < f->message_count && messages; i++) {
		struct draft_message *m = draft_message(d, f->messages[i].role, f->messages[i].text);
		if (m)
			m->json = f->messages[i].json;
	}
}

/* Makes a call whole, in the scratch draft, with what was said of it, which becomes EVENT_OTHER. false: it has neither
 * messages nor their length. */
static bool make_whole(struct state *s, const struct kept_draft *call, struct draft *d)
{
	int64_t most_tokens = IPF_ABSENT;
	draft_begin(d, call->draft->number, 0);
	if (!draft_request(d))
		return true;
	add_facts(d, &most_tokens, call, true);
	for (enum event event = EVENT_DETAILS; event <= EVENT_ANSWER; event++) {
		bool open = d->requests[0].count == 0;
		for (size_t i = first_statement(&s->statements, call->key); i < s->statements.count; i++) {
			struct kept_draft *at = &s->statements.items[i];
			if (strcmp(at->key, call->key) != 0)
				break;
			if (at->end_ns != (int64_t)event)
				continue;
			add_facts(d, &most_tokens, at, event == EVENT_DETAILS ? d->requests[0].count == 0 : open);
			at->end_ns = EVENT_OTHER;
		}
	}
	struct draft_request *r = &d->requests[0];
	if (r->output_tokens == IPF_ABSENT && r->answer.len == 0) {
		r->output_tokens = most_tokens;
		r->answer = (struct slice){0};
	}
	return r->count > 0 || r->input_tokens != IPF_ABSENT;
}

static void name_call(const struct kept_draft *call, struct draft *d)
{
	const char *separator = strchr(call->key, '\n');
	struct slice trace = {call->key, separator ? (size_t)(separator - call->key) : 0};
	struct slice id = slice_of(separator ? separator + 1 : "");
	if (d->session.len == 0)
		d->session = trace.len > 0 ? trace : draft_format(d, "%lld", (long long)d->number);
	if (id.len == 0)
		id = draft_format(d, "#%zu", call->index);
	d->requests[0].id = draft_join(d, d->session, "/", id);
}

/* Makes all calls from the one at `first` whole. Those that are no requests are counted and left out. */
static void make_calls_whole(struct state *s, size_t first, struct sink *sink)
{
	struct draft *d = &sink->draft;
	size_t left = first;
	for (size_t i = first; i < s->calls.count && !d->failed; i++) {
		struct kept_draft *call = &s->calls.items[i];
		struct draft *whole = NULL;
		if (make_whole(s, call, d) && !d->failed) {
			name_call(call, d);
			whole = draft_clone(d);
			d->failed |= !whole;
		} else if (!d->failed) {
			sink->unusable(sink, "neither messages nor their length");
		}
		free(call->draft);
		call->draft = whole;
		struct kept_draft moved = *call;
		*call = s->calls.items[left];
		s->calls.items[left] = moved;
		left += whole != NULL;
	}
	for (size_t i = left; i < s->calls.count; i++) {
		free(s->calls.items[i].draft);
		free(s->calls.items[i].key);
	}
	s->left_out += s->calls.count - left;
	s->calls.count = left;
}

/* Details of a call whose span is in no file are a call. */
static void add_details(struct state *s, struct sink *sink)
{
	for (size_t i = 0; i < s->statements.count && !sink->draft.failed; i++) {
		struct kept_draft *said = &s->statements.items[i];
		if (said->end_ns == EVENT_MESSAGE || said->end_ns == EVENT_ANSWER)
			sink->unusable(sink, "a message of a call that is not in the files");
		if (said->end_ns != EVENT_DETAILS)
			continue;
		struct kept_draft *call = kept_drafts_add(&s->calls, said->draft);
		sink->draft.failed |= !call;
		if (!call)
			return;
		call->index += s->left_out;
		call->start_ns = call->end_ns = said->start_ns;
		call->most_tokens = said->most_tokens;
		call->key = said->key;
		said->key = strdup(call->key);
		make_calls_whole(s, s->calls.count - 1, sink);
		said->end_ns = EVENT_OTHER;
	}
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

/* Writes the ids of the calls that call `at` waits for, out of its session's calls from `first` on: the first one if
 * none had ended. Returns when the last of them ended; IPF_ABSENT if it waits for none. */
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
	if (last == at)
		last = first;
	if (end_ns == IPF_ABSENT && last != at) {
		jout_string(w, calls[last].draft->requests[0].id);
		end_ns = calls[last].end_ns;
	}
	jout_end_list(w);
	return end_ns;
}

static int finish(void *opened, struct sink *sink, struct ipf_error *err)
{
	struct state *s = opened;
	struct kept_drafts *calls = &s->calls;
	struct buffer parents = {0};
	int64_t zero_ns = INT64_MAX;
	size_t first = 0;
	int status = 0;
	if (s->statements.count)
		qsort(s->statements.items, s->statements.count, sizeof *s->statements.items, by_key_and_time);
	make_calls_whole(s, 0, sink);
	add_details(s, sink);
	if (calls->count)
		qsort(calls->items, calls->count, sizeof *calls->items, by_session_and_start);
	for (size_t i = 0; i < calls->count; i++)
		zero_ns = calls->items[i].start_ns < zero_ns ? calls->items[i].start_ns : zero_ns;
	for (size_t i = 0; i < calls->count && status == 0 && !sink->draft.failed; i++) {
		struct kept_draft *call = &calls->items[i];
		struct draft_request *r = &call->draft->requests[0];
		struct jout w = {.out = &parents};
		if (!slice_equal(call->draft->session, calls->items[first].draft->session))
			first = i;
		buffer_clear(&parents);
		int64_t ended_ns = write_parents(calls->items, first, i, &w);
		r->at_ns = call->start_ns - zero_ns;
		r->wait_ns = ended_ns == IPF_ABSENT ? IPF_ABSENT : ended_ns > call->start_ns ? 0 : call->start_ns - ended_ns;
		if (ended_ns != IPF_ABSENT && ended_ns > call->start_ns)
			sink->inexact(sink, "it began while the first one was running, and waits for its end instead");
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
	return otlp_begins(sniff->head) || sniff_members(sniff, "resourceSpans") ||
	       (sniff_members(sniff, "resourceLogs") && sniff_text(sniff, "gen_ai.")) ||
	       (sniff_members(sniff, "spans") && sniff_text(sniff, "\"attributes\""));
}

const struct source_format source_otel = {
	.name = "otel",
	.about = "OpenTelemetry spans and events for generative AI: session files, or OTLP",
	.kind = SOURCE_TRACE,
	.unit = UNIT_OTLP,
	.ignored = "/spans/*/start_time",
	.traits = HAS_TIMES | HAS_SESSIONS | GATHERS | MAKES_TEXT,
	.filled = "prose of the recorded length where there are no messages",
	.state_size = sizeof(struct state),
	.read_record = read_record,
	.finish = finish,
	.recognises = recognises,
	.close = close_state,
};
