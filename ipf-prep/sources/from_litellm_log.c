/* litellm-log: the LiteLLM gateway's log of each request.
 *
 * Origin: LiteLLM 1.105 (litellm/types/utils.py: StandardLoggingPayload; litellm/proxy/schema.prisma:
 * LiteLLM_SpendLogs). Two forms, as JSON Lines, a list, or an object a file:
 *
 *     payload    what its callbacks write (S3, GCS, generic API): startTime as a number of seconds, model_parameters
 *     spend log  rows of the table of its proxy, exported: startTime as a date and time, proxy_server_request (the body
 *                of the request) and response, which are objects or texts that hold one, {} if they are not stored
 *
 *     call_type          records of other calls than chats and completions are unusable
 *     startTime          the arrival
 *     request_duration_ms, endTime  the recorded latency: the duration, or else the end less startTime
 *     completionStartTime  the first token; of an answer that was not streamed, the end
 *     model_group        the model that was requested; model, the one that served it, if that is empty
 *     session_id         of a payload also in its metadata; else trace_id, if several requests have it. The session_id
 *                        of a spend log is a trace id
 *     messages, model_parameters or proxy_server_request  the prompt, tools, response_format, the most tokens
 *     prompt_tokens, completion_tokens  0 if not known
 *     response           its first choice is the answer
 *     status             "failure": the request failed
 *
 * A prompt not logged, or redacted or cut by LiteLLM, is a synthetic one of prompt_tokens.
 */
#include "absent.h"
#include "clock.h"
#include "draft/draft_sorter.h"
#include "sort/sort_key.h"
#include "sources/chat_fields.h"
#include "sources/record_fields.h"
#include "sources/recorded_times.h"

#include <stdlib.h>
#include <string.h>

struct state {
	struct time_origin origin;
	struct draft_sorter traced; /* their session is a trace id, which only one request may have; by session */
};

static void close_state(void *opened)
{
	draft_sorter_release(&((struct state *)opened)->traced);
}

static bool generates(const struct jdoc *j, jdoc_id call)
{
	static const char *const calls[] = {"completion",
	                                    "acompletion",
	                                    "text_completion",
	                                    "atext_completion",
	                                    "anthropic_messages",
	                                    "responses",
	                                    "aresponses",
	                                    "generate_content",
	                                    "agenerate_content",
	                                    "generate_content_stream",
	                                    "agenerate_content_stream"};
	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
		if (jdoc_text_is(j, call, calls[i]))
			return true;
	return false;
}

/* Was text in this value replaced by LiteLLM? */
static bool is_altered(struct slice raw)
{
	return raw.data && (memmem(raw.data, raw.len, "redacted-by-litellm", 19) ||
	                    memmem(raw.data, raw.len, "(litellm_truncated skipped ", 27));
}

/* Are these messages of the chat API? Those of the responses API may be calls of tools. */
static bool are_messages(const struct jdoc *j, jdoc_id list)
{
	for (struct jdoc_each e = jdoc_each(j, list); jdoc_step(&e);)
		if (jdoc_type_of(j, jdoc_get(j, e.value, "role")) != JDOC_TEXT)
			return false;
	return jdoc_type_of(j, list) == JDOC_LIST && jdoc_count(j, list) > 0;
}

/* Adds the prompt, if its text is logged and as it was. */
static int add_prompt(struct draft *d, const struct jdoc *j, jdoc_id messages, struct ipf_error *err)
{
	if (is_altered(jdoc_raw(j, messages)))
		return 0;
	if (are_messages(j, messages))
		return chat_prompt(d, j, messages, err);
	if (!jdoc_text_empty(j, messages))
		draft_message(d, ROLE_USER, draft_text(d, j, messages));
	return 0;
}

/* Adds the request without its lengths: from its body if logged, else from `messages` and `model_parameters`.
 */
static int add_request(struct draft *d, const struct jdoc *j, struct jdoc *body, struct ipf_error *err)
{
	int stored = field_object(d, j, JDOC_ROOT, "proxy_server_request", body, err);
	struct draft_request *r = stored < 0 ? NULL : draft_request(d);
	if (!r)
		return stored < 0 ? -1 : 0;
	const struct jdoc *from = stored ? body : j;
	jdoc_id messages = jdoc_get(from, JDOC_ROOT, "messages");
	if (messages == JDOC_NONE)
		messages = jdoc_get(from, JDOC_ROOT, "prompt");
	return chat_parameters(d, from, stored ? JDOC_ROOT : jdoc_get(j, JDOC_ROOT, "model_parameters"), r, err) < 0
	           ? -1
	           : add_prompt(d, from, messages, err);
}

/* A number of tokens other than 0, which stands for an unknown number. */
static int read_tokens(const struct jdoc *j, const char *key, int64_t *tokens, struct ipf_error *err)
{
	int64_t logged = 0;
	if (field_tokens(j, JDOC_ROOT, key, &logged, err) < 0)
		return -1;
	if (logged > 0)
		*tokens = logged;
	return 0;
}

/* The answer's text, if it is logged and as it was. Anything else in `response` is of another API. */
static void read_answer(struct draft *d, const struct jdoc *j, struct jdoc *answer, struct draft_request *r)
{
	struct ipf_error ignored = {0};
	if (is_altered(jdoc_raw(j, jdoc_get(j, JDOC_ROOT, "response"))) ||
	    field_object(d, j, JDOC_ROOT, "response", answer, &ignored) <= 0)
		return;
	jdoc_id choice = jdoc_at(answer, jdoc_get(answer, JDOC_ROOT, "choices"), 0);
	jdoc_id content = jdoc_get(answer, jdoc_get(answer, choice, "message"), "content");
	r->answer = chat_content(d, answer, content != JDOC_NONE ? content : jdoc_get(answer, choice, "text"));
}

/* Reads an unknown name from a possibly empty member. */
static int find_name(struct draft *d, const struct jdoc *j, jdoc_id map, const char *key, struct slice *name,
                     struct ipf_error *err)
{
	jdoc_id node = jdoc_get(j, map, key);
	if (name->data || jdoc_is_null(j, node) || jdoc_text_is(j, node, ""))
		return 0;
	return node_name(d, j, node, key, name, err);
}

/* The session of a record: 1 if it is a trace id, 0, or -1. */
static int read_session(struct draft *d, const struct jdoc *j, struct ipf_error *err)
{
	jdoc_id metadata = jdoc_get(j, JDOC_ROOT, "metadata"), given = jdoc_get(j, metadata, "requester_metadata");
	if (find_name(d, j, JDOC_ROOT, "session_id", &d->session, err) < 0)
		return -1;
	if (jdoc_get(j, JDOC_ROOT, "trace_id") == JDOC_NONE)
		return d->session.data != NULL;
	if (find_name(d, j, metadata, "session_id", &d->session, err) < 0 ||
	    find_name(d, j, given, "session_id", &d->session, err) < 0)
		return -1;
	return d->session.data ? 0 : find_name(d, j, JDOC_ROOT, "trace_id", &d->session, err);
}

static int read_latencies(const struct jdoc *j, int64_t start_ns, struct draft_request *r, struct ipf_error *err)
{
	struct recorded_times times = RECORDED_TIMES_NONE;
	int64_t end_ns, first_ns;
	int timed = field_duration(j, JDOC_ROOT, "request_duration_ms", NS_PER_MS, &times.e2e_ns, err),
		ended = field_time(j, JDOC_ROOT, "endTime", NS_PER_S, &end_ns, err),
		begun = field_time(j, JDOC_ROOT, "completionStartTime", NS_PER_S, &first_ns, err);
	if (timed < 0 || ended < 0 || begun < 0)
		return -1;
	if (timed == 0 && ended > 0)
		times.e2e_ns = end_ns - start_ns;
	jdoc_id stream = jdoc_get(j, JDOC_ROOT, "stream"); /* a spend log does not say it */
	if (begun > 0 && (stream == JDOC_NONE || slice_is(jdoc_raw(j, stream), "true")))
		times.ttft_ns = first_ns - start_ns;
	recorded_times_set_possible(r, &times);
	return 0;
}

static int read_call(struct state *s, const struct jdoc *j, struct jdoc inner[2], struct sink *sink,
                     struct ipf_error *err)
{
	struct draft *d = &sink->draft;
	struct slice model = {0};
	int64_t ns;
	if (need_time(j, JDOC_ROOT, "startTime", NS_PER_S, &ns, err) < 0 || add_request(d, j, &inner[0], err) < 0)
		return -1;
	if (d->failed)
		return 0;
	struct draft_request *r = &d->requests[0];
	int traced = read_session(d, j, err);
	if (traced < 0 || read_tokens(j, "prompt_tokens", &r->input_tokens, err) < 0 ||
	    read_tokens(j, "completion_tokens", &r->output_tokens, err) < 0 ||
	    find_name(d, j, JDOC_ROOT, "model_group", &model, err) < 0 ||
	    find_name(d, j, JDOC_ROOT, "model", &model, err) < 0)
		return -1;
	r->model = model.data ? model : r->model;
	read_answer(d, j, &inner[1], r);
	r->failed = jdoc_text_is(j, jdoc_get(j, JDOC_ROOT, "status"), "failure");
	if (read_latencies(j, ns, r, err) < 0)
		return -1;
	if (r->count == 0 && r->input_tokens == IPF_ABSENT) {
		sink->unusable(sink, "neither the prompt nor its length");
		return 0;
	}
	r->at_ns = since_origin(&s->origin, ns);
	if (!traced)
		return sink->take(sink, d, err);
	if (d->failed)
		return 0;
	int64_t index = (int64_t)s->traced.records.records;
	sort_key_text(&s->traced.key, d->session);
	return draft_sorter_add(&s->traced, &index, sizeof index, d, err);
}

static int read_record(void *opened, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	const struct jdoc *j = record->json;
	struct jdoc inner[2] = {0};
	jdoc_watch(&inner[0]);
	if (need_object(j, JDOC_ROOT, "record", err) < 0)
		return -1;
	if (!generates(j, jdoc_get(j, JDOC_ROOT, "call_type"))) {
		sink->no_request(sink, "neither a chat nor a completion");
		return 0;
	}
	int status = read_call(opened, j, inner, sink, err);
	record_notes_members(sink->notes, "/proxy_server_request", &inner[0]);
	jdoc_release(&inner[0]);
	jdoc_release(&inner[1]);
	return status;
}

/* A draft waiting for the next one, by which it is known whether its trace has several. */
struct waiting {
	struct draft *draft; /* NULL: none */
	int64_t index;
	bool several;
};

/* Adds the draft waiting to those in the order of the data. */
static int put_back(struct waiting *w, struct draft_sorter *to, struct ipf_error *err)
{
	if (!w->draft)
		return 0;
	if (!w->several)
		w->draft->session = (struct slice){0};
	sort_key_number(&to->key, w->index);
	int status = draft_sorter_add(to, NULL, 0, w->draft, err);
	free(w->draft);
	w->draft = NULL;
	return status;
}

/* A trace id names a session if several requests have it. */
static int find_sessions(struct draft_sorter *traced, struct draft *d, struct draft_sorter *to, struct ipf_error *err)
{
	struct waiting waiting = {0};
	int64_t index;
	int got = draft_sorter_begin(traced, err);
	while (got == 0 && (got = draft_sorter_next(traced, &index, sizeof index, d, err)) > 0) {
		bool same = waiting.draft && slice_equal(waiting.draft->session, d->session);
		waiting.several |= same;
		got = put_back(&waiting, to, err);
		waiting = (struct waiting){.draft = got == 0 ? draft_clone(d) : NULL, .index = index, .several = same};
		if (got == 0 && !waiting.draft)
			got = ipf_error_memory(err);
	}
	int last = put_back(&waiting, to, err);
	return got < 0 ? -1 : last;
}

static int finish(void *opened, struct sink *sink, struct ipf_error *err)
{
	struct draft_sorter *traced = &((struct state *)opened)->traced, in_order = {0};
	struct draft d = {0};
	int got = find_sessions(traced, &d, &in_order, err);
	draft_sorter_release(traced);
	if (got == 0)
		got = draft_sorter_begin(&in_order, err);
	while (got == 0 && !sink->full && (got = draft_sorter_next(&in_order, NULL, 0, &d, err)) > 0)
		got = sink->take(sink, &d, err);
	draft_release(&d);
	draft_sorter_release(&in_order);
	return got;
}

static bool recognises(const struct sniff *sniff)
{
	return sniff_members(sniff, "call_type startTime endTime") &&
	       (sniff_members(sniff, "trace_id") || sniff_members(sniff, "request_id"));
}

const struct source_format source_litellm_log = {
	.name = "litellm-log",
	.about = "log of the LiteLLM gateway: payloads of its callbacks, or its table of spend logs, as JSON",
	.kind = SOURCE_TRACE,
	.unit = UNIT_JSON,
	.ignored = "created_at messages",
	.traits = HAS_TIMES | HAS_SESSIONS | GATHERS | MAKES_TEXT,
	.filled = "prose of the logged length, if the prompt was not logged, or not as a whole",
	.state_size = sizeof(struct state),
	.read_record = read_record,
	.finish = finish,
	.recognises = recognises,
	.close = close_state,
};
