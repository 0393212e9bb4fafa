/* otel: spans following OpenTelemetry's conventions for generative AI (gen_ai.…), from v1.26 to v1.44.
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
 * A span calling a model is a request. These attributes are read:
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
 *     gen_ai.response.time_to_first_chunk, gen_ai.latency.time_to_first_token (vLLM),
 *       gen_ai.server.time_to_first_token (OpenLIT; not if gen_ai.request.is_stream is false)  the recorded time to the
 *       first token, in seconds
 *     gen_ai.latency.e2e (vLLM)                 the recorded latency, in seconds; default: from the span's start to its
 *       end
 *     error.type                                the call failed; so does the status ERROR, or the finish reason error
 *
 * The missing members of a span are taken from its events and from the log records with its ids, which may come before
 * or after it and in other files. gen_ai.client.inference.operation.details has the same attributes,
 * gen_ai.content.prompt and .completion have some of them, gen_ai.system.message, .user.message, .assistant.message,
 * .tool.message and gen_ai.choice are messages. Details of a span in no file are a request arriving at the time of the
 * record.
 *
 * The wait of a call is not recorded but implied: it waits for the calls whose answers are in its prompt, or, if there
 * are none, the last call ending before it began. Calls overlapping are sent in parallel. All other spans are ignored.
 */
#include "absent.h"
#include "array.h"
#include "clock.h"
#include "draft/draft_sorter.h"
#include "input/otlp_messages.h"
#include "json/jout.h"
#include "memory_limit.h"
#include "safe_text.h"
#include "sort/sort_key.h"
#include "sources/otel_messages.h"
#include "sources/otel_spans.h"
#include "sources/record_fields.h"
#include "sources/recorded_times.h"
#include "sources/sniff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define KEPT_LEAST ((size_t)1 << 20) /* bytes: always allowed for one call or session */
#define ANSWER_MIN 12                /* bytes: a shorter answer may be part of a prompt by coincidence */

/* The members of a call in an event or log record. */
enum event { EVENT_OTHER, EVENT_DETAILS, EVENT_MESSAGE, EVENT_ANSWER };

/* Before a draft of a call or a statement; the id of its request is its key: the ids of trace and span, separated by a
 * line feed. */
struct facts {
	int64_t start_ns, end_ns, most_tokens;
	int64_t index; /* a call's: in the order of the data, from 0 */
	int64_t event; /* a statement's: an enum event */
};

struct state {
	struct draft_sorter calls;      /* by key */
	struct draft_sorter statements; /* events and log records, by key and time */
	struct draft_sorter requests;   /* calls with their events, by session and time */
	int64_t call_count;
	int64_t zero_ns; /* when the first request began */
	int64_t strays;  /* messages of calls missing from the files */
};

static void close_state(void *opened)
{
	struct state *s = opened;
	draft_sorter_release(&s->calls);
	draft_sorter_release(&s->statements);
	draft_sorter_release(&s->requests);
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

/* The first of two attributes there is. */
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

static bool number_of(struct slice text, double *number)
{
	struct jdoc parsed = {0};
	struct ipf_error ignored = {0};
	bool got = text.len > 0 && jdoc_parse(&parsed, text.data, text.len, &ignored) == 0 &&
	           jdoc_to_double(&parsed, JDOC_ROOT, number);
	jdoc_release(&parsed);
	return got;
}

/* The seconds in the first of these attributes with some; IPF_ABSENT. */
static int64_t recorded_ns(const struct otel_item *item, struct draft *d, const char *const *keys)
{
	const double most_s = (double)(NS_PER_YEAR / NS_PER_S);
	double seconds;
	for (; *keys; keys++)
		if (number_of(otel_text(item, d, *keys), &seconds) && seconds >= 0 && seconds <= most_s)
			return llround(seconds * (double)NS_PER_S);
	return IPF_ABSENT;
}

static void read_latencies(const struct otel_item *item, struct draft *d, struct draft_request *r)
{
	static const char *const first[] = {"gen_ai.response.time_to_first_chunk", "gen_ai.latency.time_to_first_token",
	                                    "gen_ai.server.time_to_first_token", NULL},
							 *const last[] = {"gen_ai.latency.e2e", NULL};
	if (!slice_is(otel_text(item, d, "gen_ai.request.is_stream"), "false"))
		r->recorded_ttft_ns = recorded_ns(item, d, first);
	r->recorded_e2e_ns = recorded_ns(item, d, last);
}

/* Recorded values outside the request. */
static struct slice tags_of(const struct otel_item *item, struct draft *d)
{
	struct slice model = otel_text(item, d, "gen_ai.request.model");
	struct slice provider = either_text(item, d, "gen_ai.provider.name", "gen_ai.system");
	struct slice ttft = otel_text(item, d, "gen_ai.response.time_to_first_chunk");
	struct buffer out = {0};
	struct jout w = {.out = &out};
	double number;
	jout_begin_map(&w);
	if (model.len > 0)
		jout_member_string(&w, "model", model);
	if (provider.len > 0)
		jout_member_string(&w, "provider", provider);
	jout_member_int(&w, "cached_tokens", otel_number(item, d, "gen_ai.usage.cache_read.input_tokens"));
	if (number_of(ttft, &number))
		jout_member_double(&w, "ttft_s", number);
	jout_end_map(&w);
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

/* Adds attributes to the request. */
static int read_attributes(const struct otel_item *item, struct draft *d, int64_t *most_tokens, struct ipf_error *err)
{
	struct draft_request *r = &d->requests[0];
	*most_tokens = otel_number(item, d, "gen_ai.request.max_tokens");
	r->input_tokens = either_number(item, d, "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens");
	r->output_tokens = either_number(item, d, "gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens");
	read_latencies(item, d, r);
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

/* Makes a request of an event or log record, in an empty draft. Sets *event to its kind. */
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

/* Keeps the draft, of the span or log record with these ids. */
static int keep(struct state *s, const struct otel_item *ids, const struct source_record *record, struct draft *d,
                struct facts *facts, struct ipf_error *err)
{
	bool call = facts->event == EVENT_OTHER;
	if (!ids->otlp && d->session.len == 0)
		d->session = draft_text(d, ids->json, jdoc_get(ids->json, JDOC_ROOT, "session_id"));
	d->session = own_name(ids, record, d, d->session);
	d->requests[0].id = draft_join(d, own_name(ids, record, d, otel_trace(ids, d)), "\n", otel_id(ids, d));
	if (d->failed)
		return 0;
	/* here, since calls are completed and sorted when their place is no longer known */
	if (draft_check_names(d, err) < 0 || draft_check_lengths(d, err) < 0)
		return -1;
	facts->index = call ? s->call_count++ : 0;
	struct draft_sorter *to = call ? &s->calls : &s->statements;
	sort_key_text(&to->key, d->requests[0].id);
	if (!call)
		sort_key_number(&to->key, facts->start_ns);
	return draft_sorter_add(to, facts, sizeof *facts, d, err);
}

static int read_statement(struct state *s, const struct source_record *record, const struct otel_item *item,
                          const struct otel_item *ids, struct draft *d, struct ipf_error *err)
{
	struct facts facts = {0};
	enum event event;
	draft_begin(d, record->number, 0);
	struct slice operation = otel_text(item, d, "gen_ai.operation.name");
	if (read_event(item, d, &event, &facts.most_tokens, err) < 0)
		return -1;
	if (d->failed || event == EVENT_OTHER || (operation.data && !is_call(operation)))
		return 0;
	if (otel_times(item, &facts.start_ns, &facts.end_ns, err) < 0)
		return -1;
	facts.event = event;
	return keep(s, ids, record, d, &facts, err);
}

static int read_span(struct state *s, const struct source_record *record, const struct otel_item *span, struct draft *d,
                     struct ipf_error *err)
{
	struct facts facts = {.event = EVENT_OTHER};
	draft_begin(d, record->number, 0);
	if (!calls_a_model(span, d))
		return 0;
	if (otel_times(span, &facts.start_ns, &facts.end_ns, err) < 0)
		return -1;
	if (!draft_request(d))
		return 0;
	if (read_attributes(span, d, &facts.most_tokens, err) < 0)
		return -1;
	d->requests[0].failed |= otel_failed(span);
	if (d->requests[0].recorded_e2e_ns == IPF_ABSENT && facts.end_ns > facts.start_ns)
		d->requests[0].recorded_e2e_ns = facts.end_ns - facts.start_ns;
	if (keep(s, span, record, d, &facts, err) < 0)
		return -1;
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

/* ---- calls with their events ---- */

/* The statements with one key, in the order of their times. */
struct statement {
	struct facts facts;
	struct draft *draft;
};
struct statements {
	struct statement *items;
	size_t count, cap, bytes;
};

static void empty_statements(struct statements *all)
{
	for (size_t i = 0; i < all->count; i++)
		free(all->items[i].draft);
	all->count = all->bytes = 0;
}

static int too_large(const char *what, struct slice name, struct ipf_error *err)
{
	return ipf_error_set(err, IPF_USAGE, "%s \"%s\" takes more memory than a sixth of --memory", what,
	                     shown_slice(name).text);
}

static int add_statement(struct statements *all, const struct facts *facts, const struct draft *d,
                         struct ipf_error *err)
{
	struct statement added = {.facts = *facts, .draft = draft_clone(d)};
	if (!added.draft)
		return ipf_error_memory(err);
	if (!array_room(all->items, all->cap, all->count + 1)) {
		free(added.draft);
		return ipf_error_memory(err);
	}
	all->items[all->count++] = added;
	return 0;
}

/* Adds missing members to the request in `d`. Texts stay those of `from`. */
static void add_facts(struct draft *d, int64_t *most_tokens, const struct facts *from, const struct draft *f,
                      bool messages)
{
	const struct draft_request *said = &f->requests[0];
	struct draft_request *r = &d->requests[0];
	r->input_tokens = r->input_tokens == IPF_ABSENT ? said->input_tokens : r->input_tokens;
	r->output_tokens = r->output_tokens == IPF_ABSENT ? said->output_tokens : r->output_tokens;
	r->recorded_ttft_ns = r->recorded_ttft_ns == IPF_ABSENT ? said->recorded_ttft_ns : r->recorded_ttft_ns;
	r->recorded_e2e_ns = r->recorded_e2e_ns == IPF_ABSENT ? said->recorded_e2e_ns : r->recorded_e2e_ns;
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

/* Completes a call, in the scratch draft, with its event, which becomes EVENT_OTHER. false: it has neither messages nor
 * their length. */
static bool make_whole(struct statements *said, const struct facts *facts, const struct draft *call, struct draft *d)
{
	int64_t most_tokens = IPF_ABSENT;
	draft_begin(d, call->number, 0);
	if (!draft_request(d))
		return true;
	add_facts(d, &most_tokens, facts, call, true);
	for (enum event event = EVENT_DETAILS; event <= EVENT_ANSWER; event++) {
		bool open = d->requests[0].count == 0;
		for (size_t i = 0; i < said->count; i++) {
			struct statement *at = &said->items[i];
			if (at->facts.event != (int64_t)event)
				continue;
			add_facts(d, &most_tokens, &at->facts, at->draft,
			          event == EVENT_DETAILS ? d->requests[0].count == 0 : open);
			at->facts.event = EVENT_OTHER;
		}
	}
	struct draft_request *r = &d->requests[0];
	if (r->output_tokens == IPF_ABSENT && r->answer.len == 0) {
		r->output_tokens = most_tokens;
		r->answer = (struct slice){0};
	}
	const struct recorded_times times = {.ttft_ns = r->recorded_ttft_ns, .e2e_ns = r->recorded_e2e_ns};
	r->recorded_ttft_ns = r->recorded_e2e_ns = IPF_ABSENT;
	recorded_times_set_possible(r, &times);
	return r->count > 0 || r->input_tokens != IPF_ABSENT;
}

static void name_call(const struct facts *facts, struct slice key, struct draft *d)
{
	const char *separator = memchr(key.data, '\n', key.len);
	struct slice trace = {key.data, separator ? (size_t)(separator - key.data) : 0}, id = {"", 0};
	if (separator)
		id = (struct slice){separator + 1, key.len - trace.len - 1};
	if (d->session.len == 0)
		d->session = trace.len > 0 ? trace : draft_format(d, "%lld", (long long)d->number);
	if (id.len == 0)
		id = draft_format(d, "#%lld", (long long)facts->index);
	d->requests[0].id = draft_join(d, d->session, "/", id);
}

/* Adds a call to the requests, completed by its events; another one is counted. */
static int add_call(struct state *s, struct statements *said, const struct facts *facts, const struct draft *call,
                    struct sink *sink, struct ipf_error *err)
{
	struct draft *d = &sink->draft;
	bool whole = make_whole(said, facts, call, d);
	if (d->failed)
		return 0;
	if (!whole) {
		sink->unusable(sink, "neither messages nor their length");
		return 0;
	}
	name_call(facts, call->requests[0].id, d);
	s->zero_ns = facts->start_ns < s->zero_ns ? facts->start_ns : s->zero_ns;
	sort_key_text(&s->requests.key, d->session);
	sort_key_number(&s->requests.key, facts->start_ns);
	sort_key_number(&s->requests.key, facts->index);
	return draft_sorter_add(&s->requests, facts, sizeof *facts, d, err);
}

/* Details of a call whose span is in no file are a call. */
static int add_details(struct state *s, struct statements *said, struct sink *sink, struct ipf_error *err)
{
	int status = 0;
	for (size_t i = 0; i < said->count && status == 0; i++) {
		struct statement *at = &said->items[i];
		s->strays += at->facts.event == EVENT_MESSAGE || at->facts.event == EVENT_ANSWER;
		if (at->facts.event != EVENT_DETAILS)
			continue;
		struct facts facts = at->facts;
		facts.end_ns = facts.start_ns;
		facts.index = s->call_count++;
		at->facts.event = EVENT_OTHER;
		status = add_call(s, said, &facts, at->draft, sink, err);
	}
	return status;
}

/* The sorter's next record. */
struct cursor {
	struct draft_sorter *from;
	bool there;
	struct facts facts;
	struct draft draft; /* the id of its request is the key */
};

static int advance(struct cursor *c, struct ipf_error *err)
{
	int got = draft_sorter_next(c->from, &c->facts, sizeof c->facts, &c->draft, err);
	c->there = got > 0;
	return got < 0 ? -1 : 0;
}

static int begin(struct cursor *c, struct draft_sorter *from, struct ipf_error *err)
{
	c->from = from;
	return draft_sorter_begin(from, err) < 0 ? -1 : advance(c, err);
}

static bool is_at(const struct cursor *c, struct slice key)
{
	return c->there && slice_equal(c->draft.requests[0].id, key);
}

struct join {
	struct cursor call, statement;
	struct buffer key; /* joined */
	struct statements said;
};

static int compare(struct slice a, struct slice b)
{
	int order = memcmp(a.data, b.data, a.len < b.len ? a.len : b.len);
	return order ? order : a.len < b.len ? -1 : a.len > b.len;
}

/* Selects the first key of both. */
static void select_key(struct join *j)
{
	const struct slice *call = j->call.there ? &j->call.draft.requests[0].id : NULL;
	const struct slice *statement = j->statement.there ? &j->statement.draft.requests[0].id : NULL;
	buffer_clear(&j->key);
	buffer_slice(&j->key, !statement || (call && compare(*call, *statement) < 0) ? *call : *statement);
}

/* Does the record have the ids of a trace and of a span? */
static bool has_ids(struct slice key)
{
	return key.len > 0 && key.data[0] != '\n' && key.data[key.len - 1] != '\n';
}

/* Reads the statements with the selected key. If it lacks an id, they belong to no call: details are calls. */
static int read_statements(struct state *s, struct join *j, struct sink *sink, struct ipf_error *err)
{
	struct cursor *at = &j->statement;
	empty_statements(&j->said);
	while (is_at(at, buffer_all(&j->key))) {
		j->said.bytes += at->from->record_bytes;
		if (j->said.bytes > memory_limit_share() && j->said.bytes > KEPT_LEAST)
			return too_large("an event of the call", buffer_all(&j->key), err);
		if (add_statement(&j->said, &at->facts, &at->draft, err) < 0)
			return -1;
		if (!has_ids(buffer_all(&j->key))) {
			if (add_details(s, &j->said, sink, err) < 0)
				return -1;
			empty_statements(&j->said);
		}
		if (advance(at, err) < 0)
			return -1;
	}
	return 0;
}

static int join_key(struct state *s, struct join *j, struct sink *sink, struct ipf_error *err)
{
	struct cursor *at = &j->call;
	select_key(j);
	if (j->key.failed)
		return ipf_error_memory(err);
	if (read_statements(s, j, sink, err) < 0)
		return -1;
	while (is_at(at, buffer_all(&j->key)))
		if (add_call(s, &j->said, &at->facts, &at->draft, sink, err) < 0 || advance(at, err) < 0)
			return -1;
	return add_details(s, &j->said, sink, err);
}

static int join_all(struct state *s, struct sink *sink, struct ipf_error *err)
{
	struct join j = {0};
	int status = begin(&j.call, &s->calls, err) < 0 ? -1 : begin(&j.statement, &s->statements, err);
	while (status == 0 && (j.call.there || j.statement.there) && !sink->draft.failed)
		status = join_key(s, &j, sink, err);
	for (; s->strays > 0; s->strays--)
		sink->unusable(sink, "a message of a call missing from the files");
	empty_statements(&j.said);
	free(j.said.items);
	buffer_release(&j.key);
	draft_release(&j.call.draft);
	draft_release(&j.statement.draft);
	draft_sorter_release(&s->calls);
	draft_sorter_release(&s->statements);
	return status;
}

/* ---- dependencies ---- */

/* The earlier calls' members for later calls of a session; texts begin at these places of `texts`. */
struct earlier {
	int64_t end_ns;
	size_t id, answer, end;
};
struct session {
	struct buffer name, texts;
	struct earlier *calls;
	size_t count, cap;
};

static struct slice id_of(const struct session *session, const struct earlier *call)
{
	return (struct slice){session->texts.data + call->id, call->answer - call->id};
}

static struct slice answer_text(const struct session *session, const struct earlier *call)
{
	return (struct slice){session->texts.data + call->answer, call->end - call->answer};
}

/* Begins another session if the draft is not of this one. */
static void find_session(struct session *session, const struct draft *d)
{
	if (session->count > 0 && slice_equal(d->session, buffer_all(&session->name)))
		return;
	buffer_clear(&session->name);
	buffer_slice(&session->name, d->session);
	buffer_clear(&session->texts);
	session->count = 0;
}

static int add_earlier(struct session *session, const struct draft *d, int64_t end_ns, struct ipf_error *err)
{
	const struct draft_request *r = &d->requests[0];
	struct earlier call = {.end_ns = end_ns, .id = session->texts.len};
	size_t bytes = session->texts.len + session->cap * sizeof call;
	if (bytes > memory_limit_share() && bytes > KEPT_LEAST)
		return too_large("the session", d->session, err);
	if (!array_room(session->calls, session->cap, session->count + 1))
		return ipf_error_memory(err);
	buffer_slice(&session->texts, r->id);
	call.answer = session->texts.len;
	buffer_slice(&session->texts, r->answer);
	call.end = session->texts.len;
	session->calls[session->count++] = call;
	return session->texts.failed || session->name.failed ? ipf_error_memory(err) : 0;
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

/* Writes the ids of the earlier calls of the session a call waits for: the first one if none had ended. Returns when
 * the last of them ended; IPF_ABSENT if it waits for none. */
static int64_t write_parents(const struct session *session, const struct draft *d, int64_t start_ns, struct jout *w)
{
	const struct earlier *last = NULL;
	int64_t end_ns = IPF_ABSENT;
	jout_begin_list(w);
	for (size_t i = 0; i < session->count; i++) {
		const struct earlier *call = &session->calls[i];
		if (call->end_ns > start_ns)
			continue;
		if (!last || call->end_ns >= last->end_ns)
			last = call;
		if (prompt_has_answer(d, answer_text(session, call))) {
			jout_string(w, id_of(session, call));
			end_ns = call->end_ns > end_ns ? call->end_ns : end_ns;
		}
	}
	if (!last && session->count > 0)
		last = session->calls;
	if (end_ns == IPF_ABSENT && last) {
		jout_string(w, id_of(session, last));
		end_ns = last->end_ns;
	}
	jout_end_list(w);
	return end_ns;
}

static int take_call(struct state *s, struct session *session, const struct facts *facts, struct draft *d,
                     struct sink *sink, struct ipf_error *err)
{
	struct draft_request *r = &d->requests[0];
	struct buffer parents = {0};
	struct jout w = {.out = &parents};
	find_session(session, d);
	int64_t ended_ns = write_parents(session, d, facts->start_ns, &w);
	if (add_earlier(session, d, facts->end_ns, err) < 0) {
		buffer_release(&parents);
		return -1;
	}
	r->at_ns = facts->start_ns - s->zero_ns;
	r->wait_ns = ended_ns == IPF_ABSENT ? IPF_ABSENT : ended_ns > facts->start_ns ? 0 : facts->start_ns - ended_ns;
	if (ended_ns != IPF_ABSENT && ended_ns > facts->start_ns)
		sink->inexact(sink, "it began while the first one was running, and waits for its end instead");
	r->after = session->count > 1 ? buffer_all(&parents) : (struct slice){0};
	int status = parents.failed ? ipf_error_memory(err) : sink->take(sink, d, err);
	buffer_release(&parents);
	return status;
}

static int finish(void *opened, struct sink *sink, struct ipf_error *err)
{
	struct state *s = opened;
	struct session session = {0};
	struct draft d = {0};
	struct facts facts;
	s->zero_ns = INT64_MAX;
	int got = join_all(s, sink, err);
	if (got == 0)
		got = draft_sorter_begin(&s->requests, err);
	while (got == 0 && !sink->draft.failed &&
	       (got = draft_sorter_next(&s->requests, &facts, sizeof facts, &d, err)) > 0)
		got = take_call(s, &session, &facts, &d, sink, err);
	draft_release(&d);
	buffer_release(&session.name);
	buffer_release(&session.texts);
	free(session.calls);
	return got;
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
