/* TraceLab: rounds of agent sessions, a model call each. Either a CSV with session_id, prefix_len, input_len,
 * output_len and tool_wait_after_ms (and arrival_time in milliseconds, of the session), or the recorded rounds as JSON
 * with prefix_tokens, newly_append_tokens, output_tokens and timing_events.
 *
 * The prompt of a round is the first prefix_len tokens of the session's context (its prompts and answers so far), and
 * input_len tokens that are new. What a first round finds in the cache is shared by all sessions.
 */
#include "sources/detect_format.h"
#include "sources/prompt_pieces.h"
#include "sources/record_fields.h"

#include "absent.h"
#include "clock.h"
#include "cli/times.h"

#include <stdlib.h>
#include <string.h>

#define SHARED_TOKENS 512 /* a piece of what all sessions begin with */

struct session {
	struct slice name; /* its data is malloc'd */
	struct prompt_pieces context;
	uint64_t pieces; /* made so far: numbers their ids */
	int64_t end_ns;  /* of the round before; IPF_ABSENT */
	int64_t wait_ns; /* after the round before; IPF_ABSENT */
	int64_t rounds;
};

struct state {
	int session, arrival, prefix, input, output, wait; /* columns; arrival and wait may be -1 */
	struct session *sessions;
	size_t count, cap, last;
	int64_t first_ns;
};

static int open_source(void **opened, const struct source_settings *settings, struct ipf_error *err)
{
	struct state *s = calloc(1, sizeof *s);
	(void)settings;
	if (!s)
		return ipf_error_memory(err);
	s->first_ns = IPF_ABSENT;
	*opened = s;
	return 0;
}

static void forget_sessions(struct state *s)
{
	for (size_t i = 0; i < s->count; i++) {
		free((char *)(uintptr_t)s->sessions[i].name.data);
		prompt_pieces_release(&s->sessions[i].context);
	}
	s->count = 0;
}

static void close_source(void *opened)
{
	struct state *s = opened;
	if (!s)
		return;
	forget_sessions(s);
	free(s->sessions);
	free(s);
}

static int begin_file(void *opened, const struct csv *csv, struct ipf_error *err)
{
	struct state *s = opened;
	forget_sessions(s);
	if (!csv)
		return 0;
	s->arrival = csv_column(csv, "arrival_time");
	s->wait = csv_column(csv, "tool_wait_after_ms");
	s->session = csv_column(csv, "session_id");
	if (s->session < 0 && (s->session = csv_column(csv, "id")) < 0)
		return ipf_error_set(err, IPF_INPUT, "the header has no column session_id");
	return need_column(csv, "prefix_len", &s->prefix, err) < 0 || need_column(csv, "input_len", &s->input, err) < 0 ||
	               need_column(csv, "output_len", &s->output, err) < 0
	           ? -1
	           : 0;
}

static struct session *find_session(struct state *s, struct slice name)
{
	if (s->last < s->count && slice_equal(s->sessions[s->last].name, name))
		return &s->sessions[s->last];
	for (size_t i = s->count; i-- > 0;)
		if (slice_equal(s->sessions[i].name, name))
			return &s->sessions[s->last = i];
	if (s->count == s->cap) {
		size_t cap = s->cap ? s->cap * 2 : 64;
		struct session *sessions = reallocarray(s->sessions, cap, sizeof *sessions);
		if (!sessions)
			return NULL;
		s->sessions = sessions;
		s->cap = cap;
	}
	char *copy = slice_dup(name);
	if (!copy)
		return NULL;
	s->sessions[s->count] = (struct session){.name = {copy, name.len}, .end_ns = IPF_ABSENT, .wait_ns = IPF_ABSENT};
	return &s->sessions[s->last = s->count++];
}

/* The request of a round, and the session's context after it. */
static int take_round(struct session *session, const struct source_record *record, int64_t prefix, int64_t input,
                      int64_t output, struct sink *sink, struct ipf_error *err)
{
	struct draft *d = &sink->draft;
	struct draft_request *r = &d->requests[0];
	struct prompt_pieces *context = &session->context;
	if (prefix > INT32_MAX || input > INT32_MAX || output > INT32_MAX)
		return ipf_error_set(err, IPF_INPUT, "more than %d tokens", INT32_MAX);
	prompt_pieces_cut(context, prefix);
	if (session->rounds == 0)
		for (uint64_t i = 0; context->tokens < prefix && !context->failed; i++) {
			int64_t left = prefix - context->tokens;
			prompt_pieces_add(context, piece_id(slice_of("shared"), i), SHARED_TOKENS);
			if (left < SHARED_TOKENS)
				prompt_pieces_cut(context, prefix);
		}
	else /* found in the cache, but not of this session's making as far as it is recorded */
		prompt_pieces_add(context, piece_id(session->name, session->pieces++), prefix - context->tokens);
	prompt_pieces_add(context, piece_id(session->name, session->pieces++), input);
	r->input_tokens = prefix + input;
	r->output_tokens = output;
	prompt_pieces_give(context, d, &r->blocks);
	prompt_pieces_add(context, piece_id(session->name, session->pieces++), output);
	d->failed |= context->failed;
	d->session = record->file_index
	                 ? draft_format(d, "%d:%.*s", record->file_index, (int)session->name.len, session->name.data)
	                 : draft_keep(d, session->name);
	session->rounds++;
	return sink->take(sink, d, err);
}

static int one_row(struct state *s, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	const struct csv *csv = record->csv;
	struct draft_request *r = draft_request(&sink->draft);
	struct session *session = r ? find_session(s, csv->fields[s->session]) : NULL;
	int64_t prefix, input, output, wait_ns = IPF_ABSENT;
	if (!session) {
		sink->draft.failed = true;
		return 0;
	}
	if (csv_count(csv, s->prefix, &prefix, err) < 0 || csv_count(csv, s->input, &input, err) < 0 ||
	    csv_count(csv, s->output, &output, err) < 0 ||
	    (s->wait >= 0 && csv_time(csv, s->wait, NS_PER_MS, &wait_ns, err) < 0) ||
	    (s->arrival >= 0 && session->rounds == 0 && csv_time(csv, s->arrival, NS_PER_MS, &r->at_ns, err) < 0))
		return -1;
	r->wait_ns = session->wait_ns;
	session->wait_ns = wait_ns;
	return take_round(session, record, prefix, input, output, sink, err);
}

/* When a round began (its first event) and ended (its last): absent where it has no events. */
static int round_times(struct draft *d, const struct jdoc *j, int64_t *begin_ns, int64_t *end_ns, struct ipf_error *err)
{
	*begin_ns = *end_ns = IPF_ABSENT;
	for (struct jdoc_each e = jdoc_each(j, jdoc_get(j, JDOC_ROOT, "timing_events")); jdoc_step(&e);) {
		int64_t ns;
		jdoc_id type = jdoc_get(j, e.value, "event_type");
		int got = record_fields_time(d, j, e.value, "timestamp", NS_PER_S, &ns, err);
		if (got < 0)
			return -1;
		if (got == 0)
			continue;
		bool asks = jdoc_text_is(j, type, "user_message") || jdoc_text_is(j, type, "tool_result");
		if (asks ? *begin_ns == IPF_ABSENT || *end_ns == IPF_ABSENT : *begin_ns == IPF_ABSENT)
			*begin_ns = ns; /* the last thing that was asked before the first that was answered */
		if (!asks)
			*end_ns = ns;
	}
	return 0;
}

static int one_round(struct state *s, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	const struct jdoc *j = record->json;
	struct draft *d = &sink->draft;
	struct slice name, model;
	int64_t prefix = 0, input, output, begin_ns, end_ns;
	struct draft_request *r = draft_request(d);
	if (!r)
		return 0;
	if (need_text(d, j, JDOC_ROOT, "session_id", &name, err) < 0 ||
	    jdoc_get_uint(j, JDOC_ROOT, "prefix_tokens", &prefix, err) < 0 ||
	    need_uint(j, JDOC_ROOT, "newly_append_tokens", &input, err) < 0 ||
	    need_uint(j, JDOC_ROOT, "output_tokens", &output, err) < 0 || round_times(d, j, &begin_ns, &end_ns, err) < 0 ||
	    record_fields_text(d, j, JDOC_ROOT, "model", &model, err) < 0)
		return -1;
	struct session *session = find_session(s, name);
	if (!session) {
		d->failed = true;
		return 0;
	}
	if (begin_ns != IPF_ABSENT) {
		if (s->first_ns == IPF_ABSENT)
			s->first_ns = begin_ns;
		r->at_ns = begin_ns - s->first_ns;
		if (session->end_ns != IPF_ABSENT)
			r->wait_ns = begin_ns > session->end_ns ? begin_ns - session->end_ns : 0;
	}
	session->end_ns = end_ns;
	r->tags = model_tag(d, model);
	return take_round(session, record, prefix, input, output, sink, err);
}

static int one_record(void *opened, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	if (record->csv)
		return one_row(opened, record, sink, err);
	return need_map(record->json, JDOC_ROOT, "record", err) < 0 ? -1 : one_round(opened, record, sink, err);
}

static bool knows(const struct sniff *sniff)
{
	return sniff_columns(sniff, "prefix_len input_len output_len") ||
	       sniff_has(sniff, "session_id newly_append_tokens");
}

const struct source_format source_tracelab = {
	.name = "tracelab",
	.about = "TraceLab's agent sessions: rounds as CSV or JSON, each with the part of the context that it keeps",
	.kind = SOURCE_TRACE,
	.unit = UNIT_TABLE,
	.traits = HAS_TIMES | HAS_SESSIONS | GATHERS | MAKES_TEXT,
	.filled = "prose of the recorded length; what a round keeps of its session's context is the same text",
	.open = open_source,
	.begin = begin_file,
	.knows = knows,
	.record = one_record,
	.close = close_source,
};
