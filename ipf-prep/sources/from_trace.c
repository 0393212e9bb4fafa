/* trace: the traces ipf-prep itself writes, ipf-trace(5), to fill or to select from.
 *
 * All members of a request in a trace are kept: prompts, lengths, arrivals, sessions and their waits, models, tools,
 * formats, tags, objectives. Requests of only lengths (the header says "prompts":"none") get synthetic prompts, block
 * by block. A trace with token ids instead of text cannot be read.
 *
 * The requests of a session follow each other in a trace, so one session at a time is in memory. Lengths estimated are
 * counted again if there is a tokenizer and a text.
 */
#include "stream/trace.h"

#include "absent.h"
#include "json/jout.h"
#include "sources/chat_fields.h"
#include "sources/record_fields.h"
#include "sources/sniff.h"
#include "token_count.h"

#include <string.h>

struct state {
	const struct token_counter *tokens;
	struct draft draft; /* the session at hand, or the request of none; count 0: there is none */
	struct jdoc doc;
	int64_t context;     /* tokens the next request of the session begins with */
	bool begun;          /* a header was read, and its trailer was not */
	bool lengths_only;   /* its requests have no prompts */
	bool estimated;      /* its lengths are */
	struct buffer file;  /* its name, with a \0 */
	int64_t line, lines; /* the last record's; requests since the header */
};

static int open_state(void *opened, const struct source_settings *settings, struct ipf_error *err)
{
	(void)err;
	((struct state *)opened)->tokens = settings->tokens;
	return 0;
}

static void close_state(void *opened)
{
	struct state *s = opened;
	draft_release(&s->draft);
	jdoc_release(&s->doc);
	buffer_release(&s->file);
}

/* Hands over the ended session. */
static int hand_over(struct state *s, struct sink *sink, struct ipf_error *err)
{
	struct draft *d = &s->draft;
	int status = d->failed ? ipf_error_memory(err) : d->count ? sink->take(sink, d, err) : 0;
	draft_reset(d);
	return status;
}

/* ---- a request ---- */

/* The list's own sizes; blocks may be partial anywhere. */
static int read_sizes(struct draft *d, const struct jdoc *j, jdoc_id list, struct draft_blocks *b,
                      struct ipf_error *err)
{
	if (jdoc_count(j, list) != b->count)
		return ipf_error_set(err, IPF_INPUT, "blocks.tokens: expected a length for each of %zu ids, got %u", b->count,
		                     jdoc_count(j, list));
	int64_t *sizes = (int64_t *)draft_ids(d, 2 * b->count);
	size_t at = 0;
	for (struct jdoc_each e = jdoc_each(j, list); sizes && jdoc_step(&e); at += 2) {
		if (!jdoc_to_int(j, e.value, &sizes[at]) || sizes[at] < 1 || !token_count_is_possible(sizes[at]))
			return jdoc_expected(j, e.value, "blocks.tokens", "lengths of 1 or more", err);
		sizes[at + 1] = sizes[at];
	}
	b->sizes = sizes;
	return 0;
}

static int read_blocks(struct draft *d, const struct jdoc *j, struct draft_blocks *b, struct ipf_error *err)
{
	jdoc_id blocks = jdoc_get(j, JDOC_ROOT, "blocks"), tokens = jdoc_get(j, blocks, "tokens");
	if (jdoc_is_null(j, blocks))
		return 0;
	if (need_block_ids(d, j, blocks, "ids", b, err) < 0 || field_text(d, j, blocks, "scope", &b->scope, err) < 0)
		return -1;
	if (jdoc_type_of(j, tokens) == JDOC_LIST)
		return read_sizes(d, j, tokens, b, err);
	if (!jdoc_to_int(j, tokens, &b->tokens) || b->tokens < 1 || !token_count_is_possible(b->tokens))
		return jdoc_expected(j, tokens, "blocks.tokens", "a length of 1 or more, or a list", err);
	return 0;
}

static int read_inputs(struct draft *d, const struct jdoc *j, const struct trace_request *from, struct ipf_error *err)
{
	if (!trace_inputs_are_texts(from))
		return ipf_error_set(err, IPF_INPUT, "inputs: token ids cannot be read: make the trace with texts");
	d->requests[d->count - 1].batch = true;
	if (from->query.data)
		draft_message(d, ROLE_SYSTEM, draft_text(d, j, jdoc_get(j, JDOC_ROOT, "query")));
	for (struct jdoc_each e = jdoc_each(j, jdoc_get(j, JDOC_ROOT, "inputs")); jdoc_step(&e);)
		draft_message(d, ROLE_USER, draft_text(d, j, e.value));
	return 0;
}

static int read_prompt(struct draft *d, const struct jdoc *j, const struct trace_request *from, struct ipf_error *err)
{
	if (from->prompt_token_ids.data)
		return ipf_error_set(err, IPF_INPUT,
		                     "prompt_token_ids: a prompt of token ids cannot be read: make the trace with messages");
	if (from->inputs.data)
		return read_inputs(d, j, from, err);
	if (from->messages.data)
		return chat_prompt(d, j, jdoc_get(j, JDOC_ROOT, "messages"), err);
	if (from->prompt.data)
		draft_message(d, ROLE_USER, draft_text(d, j, jdoc_get(j, JDOC_ROOT, "prompt")));
	return 0;
}

/* A turn of a conversation has the length of the whole prompt; a draft, the new part's. */
static void set_length(struct state *s, struct draft_request *r, const struct trace_request *from)
{
	const bool has_text = r->count > 0, again = s->estimated && token_counter_is_exact(s->tokens) && has_text;
	const struct slice answer = r->answer;
	r->input_tokens = again ? IPF_ABSENT : from->input_tokens;
	if (!from->context_session || r->input_tokens == IPF_ABSENT)
		return;
	r->input_tokens -= s->context;
	s->context = from->input_tokens + (answer.data ? token_counter_count(s->tokens, answer.data, answer.len) : 0);
	if (r->input_tokens < 0)
		r->input_tokens = has_text ? IPF_ABSENT : 0;
}

/* Those of a further file, by the names its requests have. */
static struct slice own_parents(struct draft *d, int file, const struct jdoc *j, struct slice parents)
{
	struct buffer list = {0};
	struct jout w = {.out = &list};
	if (!file || !parents.data)
		return parents;
	jout_begin_list(&w);
	for (struct jdoc_each e = jdoc_each(j, jdoc_get(j, JDOC_ROOT, "parents")); jdoc_step(&e);)
		jout_string(&w, name_in_file(d, file, draft_text(d, j, e.value)));
	jout_end_list(&w);
	return draft_take_buffer(d, &list);
}

static int read_request(struct state *s, int file, const struct trace_request *from, struct ipf_error *err)
{
	struct draft *d = &s->draft;
	const struct jdoc *j = &s->doc;
	struct draft_request *r = draft_request(d);
	if (!r)
		return 0;
	r->output_tokens = from->output_tokens;
	r->at_ns = from->at_ns;
	r->wait_ns = from->wait_ns;
	r->hang_up_ns = from->hang_up_ns;
	r->recorded_ttft_ns = from->recorded_ttft_ns;
	r->recorded_e2e_ns = from->recorded_e2e_ns;
	r->id = name_in_file(d, file, draft_text(d, j, jdoc_get(j, JDOC_ROOT, "id")));
	r->model = draft_text(d, j, jdoc_get(j, JDOC_ROOT, "model"));
	r->after = own_parents(d, file, j, from->parents);
	r->tools = from->tools;
	r->response_format = from->response_format;
	r->body = from->body;
	r->tags = from->tags;
	r->slo = from->slo;
	r->failed = slice_is(jdoc_raw(j, jdoc_get(j, jdoc_get(j, JDOC_ROOT, "tags"), "failed")), "true");
	if (read_blocks(d, j, &r->blocks, err) < 0 || read_prompt(d, j, from, err) < 0)
		return -1;
	r->answer = draft_text(d, j, jdoc_get(j, JDOC_ROOT, "answer"));
	set_length(s, r, from);
	return 0;
}

/* Is a record the next request of the session at hand? */
static bool goes_on(const struct draft *d, const struct jdoc *j, struct slice session)
{
	const bool chain = jdoc_text_is(j, jdoc_get(j, JDOC_ROOT, "context"), "session");
	int64_t turn;
	return d->count && session.data && slice_equal(d->session, session) && d->chain == chain &&
	       (!jdoc_to_int(j, jdoc_get(j, JDOC_ROOT, "turn"), &turn) || turn == d->turn + (int64_t)d->count);
}

static void begin_session(struct state *s, const struct source_record *record, struct slice session)
{
	const struct jdoc *j = record->json;
	struct draft *d = &s->draft;
	draft_begin(d, record->number, 0);
	s->context = 0;
	d->session = session.data ? draft_keep(d, session) : session;
	d->chain = jdoc_text_is(j, jdoc_get(j, JDOC_ROOT, "context"), "session");
	if (!jdoc_to_int(j, jdoc_get(j, JDOC_ROOT, "turn"), &d->turn))
		d->turn = 0;
}

/* The line is kept with the session, since texts are borrowed from it. A bad request leaves nothing. */
static int add_request(struct state *s, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	struct draft *d = &s->draft;
	struct trace_request from;
	const struct jdoc *j = record->json;
	struct draft *scratch = &sink->draft;
	const struct slice session = name_in_file(scratch, record->file_index,
	                                          draft_text(scratch, j, jdoc_get(j, JDOC_ROOT, "session")));
	if (!goes_on(d, j, session)) {
		if (hand_over(s, sink, err) < 0)
			return -1;
		begin_session(s, record, session);
	}
	const size_t count = d->count, messages = d->message_count;
	const struct slice line = draft_keep(d, jdoc_raw(j, JDOC_ROOT));
	if (!line.data)
		return ipf_error_memory(err);
	if (trace_request_parse(&s->doc, line, s->lengths_only, &from, err) == 0 &&
	    read_request(s, record->file_index, &from, err) == 0)
		return 0;
	d->count = count;
	d->message_count = messages;
	return -1;
}

/* ---- header and trailer ---- */

/* A trace ending without a trailer was cut. */
static int check_end(const struct state *s, struct ipf_error *err)
{
	return s->begun ? ipf_error_at(err, IPF_CUT, s->file.data, s->line,
	                               "the trace was cut after %lld requests: no trailer", (long long)s->lines)
	                : 0;
}

static int read_header(struct state *s, const struct source_record *record, struct ipf_error *err)
{
	const struct jdoc *j = record->json;
	const jdoc_id kind = jdoc_get(j, JDOC_ROOT, "ipf"), tokenizer = jdoc_get(j, JDOC_ROOT, "tokenizer");
	int64_t version = 1;
	if (!jdoc_text_is(j, kind, "trace"))
		return jdoc_expected(j, kind, "ipf", "\"trace\", the header of a request trace", err);
	if (jdoc_get_int(j, JDOC_ROOT, "version", &version, err) < 0)
		return -1;
	if (version > 1)
		return ipf_error_set(err, IPF_INPUT, "version: expected 1, got %lld: a newer ipf-prep wrote it",
		                     (long long)version);
	s->lengths_only = jdoc_text_is(j, jdoc_get(j, JDOC_ROOT, "prompts"), "none");
	s->estimated = slice_is(jdoc_raw(j, jdoc_get(j, tokenizer, "exact")), "false");
	s->begun = true;
	s->line = record->line;
	s->lines = 0;
	buffer_clear(&s->file);
	buffer_append(&s->file, record->file, strlen(record->file) + 1);
	return s->file.failed ? ipf_error_memory(err) : 0;
}

static int read_trailer(struct state *s, const struct jdoc *j, jdoc_id end, struct ipf_error *err)
{
	int64_t lines = s->lines;
	s->begun = false;
	if (jdoc_get_int(j, end, "lines", &lines, err) < 0)
		return -1;
	return lines == s->lines
	           ? 0
	           : ipf_error_set(err, IPF_INPUT, "end.lines: expected %lld, the requests before it, got %lld",
	                           (long long)s->lines, (long long)lines);
}

static int read_record(void *opened, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	struct state *s = opened;
	const struct jdoc *j = record->json;
	const jdoc_id end = jdoc_get(j, JDOC_ROOT, "end");
	if (need_object(j, JDOC_ROOT, "record", err) < 0)
		return -1;
	if (jdoc_get(j, JDOC_ROOT, "ipf") != JDOC_NONE || !s->begun) {
		if (hand_over(s, sink, err) < 0 || check_end(s, err) < 0)
			return -1;
		return read_header(s, record, err);
	}
	s->line = record->line;
	if (end != JDOC_NONE)
		return read_trailer(s, j, end, err);
	s->lines++;
	return add_request(s, record, sink, err);
}

static int finish(void *opened, struct sink *sink, struct ipf_error *err)
{
	struct state *s = opened;
	return hand_over(s, sink, err) < 0 ? -1 : check_end(s, err);
}

static bool recognises(const struct sniff *sniff)
{
	return sniff->json && jdoc_text_is(sniff->json, jdoc_get(sniff->json, JDOC_ROOT, "ipf"), "trace");
}

const struct source_format source_trace = {
	.name = "trace",
	.about = "traces of ipf-prep: prompts, or filled lengths and shared blocks; arrivals, sessions, parents",
	.kind = SOURCE_TRACE,
	.unit = UNIT_JSON,
	.ignored = "seed created", /* the header's */
	.traits = HAS_TIMES | KEEPS_START | HAS_SESSIONS | MAKES_TEXT | HAS_BLOCKS,
	.filled = "the prompts of the trace; where it has none, prose of their length, block by block from its id",
	.state_size = sizeof(struct state),
	.open = open_state,
	.read_record = read_record,
	.finish = finish,
	.recognises = recognises,
	.close = close_state,
};
