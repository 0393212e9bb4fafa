/* tracelab: TraceLab's agent sessions, recorded as rounds; a round is one model call.
 *
 * Origin: github.com/uw-syfi/TraceLab. Either CSV with a header (replay/examples); columns are found by their names:
 *
 *     session_id          the session (also as id)
 *     arrival_time        arrival of the session, in milliseconds; on each of its rows (optional)
 *     prefix_len          how many tokens of the session's context the prompt keeps
 *     input_len           how many tokens the prompt adds to them
 *     output_len          length of the answer, in tokens
 *     tool_wait_after_ms  pause after the answer, in milliseconds (optional)
 *
 * or JSON Lines (example_sessions/sanitized):
 *
 *     session_id, prefix_tokens, newly_append_tokens, output_tokens  the same
 *     timing_events  list of {"event_type", "timestamp"}: a round begins with the last user_message or tool_result
 *                    before the first other event, and ends with its last other event
 *     model          the recorded model; becomes the tag "model"
 *
 * The context of a session is its prompts and answers so far. Prompts are synthetic; the prefix of a first round is
 * text common to all sessions. Other columns and members are ignored.
 */
#include "absent.h"
#include "array.h"
#include "clock.h"
#include "sources/sniff.h"
#include "sources/prompt_pieces.h"
#include "sources/record_fields.h"

#include <stdlib.h>

#define SHARED_TOKENS 512 /* in a piece of the text common to all sessions */

struct session {
	struct slice name; /* allocated */
	struct prompt_pieces context;
	uint64_t pieces; /* how many were made: numbers their ids */
	int64_t end_ns;  /* end of the previous round; IPF_ABSENT if not known */
	int64_t wait_ns; /* pause after the previous round; IPF_ABSENT if not known */
	int64_t rounds;
};

/* The lengths of a round, in tokens. */
struct round_tokens {
	int64_t prefix, input, output;
};

struct state {
	int session, prefix, input, output;
	int arrival, wait; /* -1: there is no such column */
	struct session *sessions;
	size_t count, cap, last;
	struct time_origin origin;
};

static void forget_sessions(struct state *s)
{
	for (size_t i = 0; i < s->count; i++) {
		free((char *)(uintptr_t)s->sessions[i].name.data);
		prompt_pieces_release(&s->sessions[i].context);
	}
	s->count = 0;
}

static void close_state(void *opened)
{
	struct state *s = opened;
	forget_sessions(s);
	free(s->sessions);
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
	if (need_column(csv, "prefix_len", &s->prefix, err) < 0 || need_column(csv, "input_len", &s->input, err) < 0 ||
	    need_column(csv, "output_len", &s->output, err) < 0)
		return -1;
	return 0;
}

static struct session *find_session(struct state *s, struct slice name)
{
	if (s->last < s->count && slice_equal(s->sessions[s->last].name, name))
		return &s->sessions[s->last];
	for (size_t i = s->count; i-- > 0;)
		if (slice_equal(s->sessions[i].name, name))
			return &s->sessions[s->last = i];
	if (!array_room(s->sessions, s->cap, s->count + 1))
		return NULL;
	char *copy = slice_dup(name);
	if (!copy)
		return NULL;
	s->sessions[s->count] = (struct session){.name = {copy, name.len}, .end_ns = IPF_ABSENT, .wait_ns = IPF_ABSENT};
	return &s->sessions[s->last = s->count++];
}

/* Completes the request of a round, and adds the round to the session's context. */
static int take_round(struct session *session, const struct source_record *record, const struct round_tokens *round,
                      struct sink *sink, struct ipf_error *err)
{
	struct draft *d = &sink->draft;
	struct draft_request *r = &d->requests[0];
	struct prompt_pieces *context = &session->context;
	if (round->prefix > INT32_MAX || round->input > INT32_MAX || round->output > INT32_MAX)
		return ipf_error_set(err, IPF_INPUT, "expected at most %d tokens, got %lld + %lld in, %lld out", INT32_MAX,
		                     (long long)round->prefix, (long long)round->input, (long long)round->output);
	prompt_pieces_truncate(context, round->prefix);
	if (session->rounds == 0)
		for (uint64_t i = 0; context->tokens < round->prefix && !context->failed; i++) {
			int64_t left = round->prefix - context->tokens;
			prompt_pieces_add(context, prompt_piece_id(slice_of("shared"), i), SHARED_TOKENS);
			if (left < SHARED_TOKENS)
				prompt_pieces_truncate(context, round->prefix);
		}
	else /* cached text from outside the recorded rounds */
		prompt_pieces_add(context, prompt_piece_id(session->name, session->pieces++), round->prefix - context->tokens);
	prompt_pieces_add(context, prompt_piece_id(session->name, session->pieces++), round->input);
	r->input_tokens = round->prefix + round->input;
	r->output_tokens = round->output;
	prompt_pieces_to_blocks(context, d, &r->blocks);
	prompt_pieces_add(context, prompt_piece_id(session->name, session->pieces++), round->output);
	d->failed |= context->failed;
	d->session = record->file_index
	                 ? draft_format(d, "%d:%.*s", record->file_index, (int)session->name.len, session->name.data)
	                 : draft_keep(d, session->name);
	session->rounds++;
	return sink->take(sink, d, err);
}

static int read_row(struct state *s, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	const struct csv *csv = record->csv;
	struct draft_request *r = draft_request(&sink->draft);
	struct session *session = r ? find_session(s, csv->fields[s->session]) : NULL;
	struct round_tokens round;
	int64_t wait_ns = IPF_ABSENT;
	if (!session) {
		sink->draft.failed = true;
		return 0;
	}
	if (column_tokens(csv, s->prefix, &round.prefix, err) < 0 || column_tokens(csv, s->input, &round.input, err) < 0 ||
	    column_tokens(csv, s->output, &round.output, err) < 0 ||
	    (s->wait >= 0 && column_time(csv, s->wait, NS_PER_MS, &wait_ns, err) < 0) ||
	    (s->arrival >= 0 && session->rounds == 0 && column_time(csv, s->arrival, NS_PER_MS, &r->at_ns, err) < 0))
		return -1;
	r->wait_ns = session->wait_ns;
	session->wait_ns = wait_ns;
	return take_round(session, record, &round, sink, err);
}

/* When a round began and ended; IPF_ABSENT if it has no events. */
static int round_times(const struct jdoc *j, int64_t *begin_ns, int64_t *end_ns, struct ipf_error *err)
{
	*begin_ns = *end_ns = IPF_ABSENT;
	for (struct jdoc_each e = jdoc_each(j, jdoc_get(j, JDOC_ROOT, "timing_events")); jdoc_step(&e);) {
		int64_t ns;
		jdoc_id type = jdoc_get(j, e.value, "event_type");
		int got = field_time(j, e.value, "timestamp", NS_PER_S, &ns, err);
		if (got < 0)
			return -1;
		if (got == 0)
			continue;
		bool input = jdoc_text_is(j, type, "user_message") || jdoc_text_is(j, type, "tool_result");
		if (input ? *begin_ns == IPF_ABSENT || *end_ns == IPF_ABSENT : *begin_ns == IPF_ABSENT)
			*begin_ns = ns; /* the last input before the first output */
		if (!input)
			*end_ns = ns;
	}
	return 0;
}

static int read_round(struct state *s, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	const struct jdoc *j = record->json;
	struct draft *d = &sink->draft;
	struct slice name, model;
	struct round_tokens round = {0};
	int64_t begin_ns, end_ns;
	struct draft_request *r = draft_request(d);
	if (!r)
		return 0;
	if (need_text(d, j, JDOC_ROOT, "session_id", &name, err) < 0 ||
	    field_tokens(j, JDOC_ROOT, "prefix_tokens", &round.prefix, err) < 0 ||
	    need_tokens(j, JDOC_ROOT, "newly_append_tokens", &round.input, err) < 0 ||
	    need_tokens(j, JDOC_ROOT, "output_tokens", &round.output, err) < 0 ||
	    round_times(j, &begin_ns, &end_ns, err) < 0 || field_text(d, j, JDOC_ROOT, "model", &model, err) < 0)
		return -1;
	struct session *session = find_session(s, name);
	if (!session) {
		d->failed = true;
		return 0;
	}
	if (begin_ns != IPF_ABSENT) {
		r->at_ns = since_origin(&s->origin, begin_ns);
		if (session->end_ns != IPF_ABSENT)
			r->wait_ns = begin_ns > session->end_ns ? begin_ns - session->end_ns : 0;
	}
	session->end_ns = end_ns;
	r->tags = model_tag(d, model);
	return take_round(session, record, &round, sink, err);
}

static int read_record(void *opened, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	if (record->csv)
		return read_row(opened, record, sink, err);
	return need_object(record->json, JDOC_ROOT, "record", err) < 0 ? -1 : read_round(opened, record, sink, err);
}

static bool recognises(const struct sniff *sniff)
{
	return sniff_columns(sniff, "prefix_len input_len output_len") ||
	       sniff_members(sniff, "session_id newly_append_tokens");
}

const struct source_format source_tracelab = {
	.name = "tracelab",
	.about = "TraceLab agent sessions: rounds (CSV or JSON) with lengths, and how much context each reuses",
	.kind = SOURCE_TRACE,
	.unit = UNIT_TABLE,
	.ignored = "tools",
	.traits = HAS_TIMES | HAS_SESSIONS | GATHERS | MAKES_TEXT,
	.filled = "prose of the recorded length; the context kept from its session is the same text",
	.state_size = sizeof(struct state),
	.begin_file = begin_file,
	.read_record = read_record,
	.recognises = recognises,
	.close = close_state,
};
