/* sglang-log: the log of an SGLang server.
 *
 * Origin: SGLang's --log-requests (python/sglang/srt/utils/request_logger.py of 2026), in both formats:
 *
 *     [2026-01-30 10:15:02] Receive: obj=GenerateReqInput(rid='a', text='…', …, sampling_params={…}, …)
 *     [2026-01-30 10:15:04] Finish: obj=GenerateReqInput(…), out={'text': '…', 'meta_info': {…}}
 *     {"timestamp": "2026-01-30T10:15:02.1", "event": "request.received", "rid": "a", "obj": {…}}
 *     {"timestamp": "2026-01-30T10:15:04.5", "event": "request.finished", "rid": "a", "obj": {…}, "out": {…}}
 *
 *     obj.rid              joins the two lines of a request; those of health checks are unusable
 *     obj.text, obj.input_ids  the prompt, or its length; with the chat template, if the API was that of chats
 *     obj.sampling_params.max_new_tokens  the length of an answer that is not logged
 *     obj.conversation_id  the session
 *     out.text             the answer
 *     out.meta_info        prompt_tokens, completion_tokens; the request failed if its finish_reason is an abort
 *     out.meta_info.request_received_ts   the arrival; else the time of the first line, which has no time zone: that of
 *                          another request's lines; else e2e_latency before the last
 *     out.meta_info.e2e_latency  the recorded latency; the first token is at prefill_finished_ts, or
 *                          prefill_finished_time, with --enable-metrics
 *
 * Level 2 cuts out the middle of long texts and lists, levels 0 and 1 leave them out: then only lengths are known. The
 * body of a chat ("Receive OpenAI:") has no rid, so it is not known whose it is. All other lines are unusable.
 */
#include "absent.h"
#include "clock.h"
#include "draft/draft_sorter.h"
#include "sort/sort_key.h"
#include "sources/log_text.h"
#include "sources/record_fields.h"
#include "sources/recorded_times.h"

#include <stdlib.h>
#include <string.h>

#define CUT_LENGTH 2048 /* characters or elements, from which level 2 cuts out the middle */

/* How an arrival is known, the best first. */
enum clock_kind { RECEIVED_BY_SERVER, RECEIVE_LINE, FINISH_LINE, UNKNOWN };

/* The members of a line's request. */
struct line {
	int64_t clock; /* an enum clock_kind */
	int64_t index; /* in the order of the data */
};

struct state {
	struct log_state log;       /* must be first: log_open() casts it */
	struct draft_sorter lines;  /* by the request's id, those of its end first */
	struct draft_sorter joined; /* requests in the order of their first lines */
	struct buffer text;
	struct jdoc json;
	int64_t zone_ns; /* the lines', from UTC */
};

static void close_state(void *opened)
{
	struct state *s = opened;
	draft_sorter_release(&s->lines);
	draft_sorter_release(&s->joined);
	buffer_release(&s->text);
	jdoc_release(&s->json);
}

/* ---- a line ---- */

/* The text after `mark`; absent. */
static struct slice after(struct slice line, const char *mark)
{
	const char *at = line.data ? memmem(line.data, line.len, mark, strlen(mark)) : NULL;
	size_t skipped = at ? (size_t)(at - line.data) + strlen(mark) : 0;
	return at ? (struct slice){line.data + skipped, line.len - skipped} : (struct slice){0};
}

/* Parses the message of a line, {"obj": …, "out": …}: 1; 0 if it is not about a request; -1. `before` is the part of
 * the line before it. */
static int parse_line(struct state *s, struct slice line, struct slice *before, struct ipf_error *err)
{
	struct slice message = after(line, "Receive: obj=");
	const char *json = line.len ? memchr(line.data, '{', line.len) : NULL;
	if (!message.data)
		message = after(line, "Finish: obj=");
	if (message.data && (!json || message.data < json)) {
		message = (struct slice){message.data - 4, message.len + 4}; /* with "obj=" */
		*before = (struct slice){line.data, line.len - message.len};
		buffer_clear(&s->text);
		if (python_to_json(message, &s->text) < 0)
			return ipf_error_set(err, IPF_INPUT, "cut off, or not a request as SGLang prints it");
		return s->text.failed                                             ? ipf_error_memory(err)
		       : jdoc_parse(&s->json, s->text.data, s->text.len, err) < 0 ? -1
		                                                                  : 1;
	}
	if (!json || !after(line, "\"request.").data)
		return 0;
	*before = (struct slice){line.data, (size_t)(json - line.data)};
	if (jdoc_parse(&s->json, json, line.len - before->len, err) < 0)
		return -1;
	jdoc_id event = jdoc_get(&s->json, JDOC_ROOT, "event");
	return jdoc_text_is(&s->json, event, "request.received") || jdoc_text_is(&s->json, event, "request.finished");
}

/* ---- members ---- */

/* A text logged as a whole; absent. JSON has "..." for the middle cut out, and a hash of a text not to be logged. */
static struct slice whole_text(struct draft *d, const struct jdoc *j, jdoc_id map, const char *key)
{
	struct slice text = draft_text(d, j, jdoc_get(j, map, key));
	size_t characters = 0, half = 0;
	for (size_t i = 0; i < text.len; i++) {
		bool begins = (text.data[i] & 0xc0) != 0x80;
		half = begins && characters == CUT_LENGTH / 2 ? i : half;
		characters += begins;
	}
	bool cut = characters == CUT_LENGTH + 3 && memcmp(text.data + half, "...", 3) == 0;
	bool hashed = text.len < 100 && text.data && text.data[0] == '<' && after(text, " chars, blake2b=").data;
	return cut || hashed ? (struct slice){0} : text;
}

/* The number of token ids; IPF_ABSENT if they are not logged, or not all. */
static int64_t count_ids(const struct jdoc *j, jdoc_id ids)
{
	uint32_t count = jdoc_count(j, ids);
	bool cut = count == CUT_LENGTH + 1 && jdoc_text_is(j, jdoc_at(j, ids, CUT_LENGTH / 2), "...");
	return jdoc_type_of(j, ids) == JDOC_LIST && count > 0 && !cut ? (int64_t)count : IPF_ABSENT;
}

/* How far the clock of the lines is from UTC, in whole quarters of an hour, if a line was written at this time. */
static int64_t zone_of(int64_t line_ns, int64_t written_ns)
{
	const int64_t quarter_ns = 15 * 60 * NS_PER_S;
	int64_t off_ns = line_ns - written_ns;
	return (off_ns + (off_ns < 0 ? -quarter_ns : quarter_ns) / 2) / quarter_ns * quarter_ns;
}

/* When the request arrived, and how it is known; -1. */
static int read_arrival(struct state *s, int64_t line_ns, bool finished, int64_t *at_ns, struct ipf_error *err)
{
	const struct jdoc *j = &s->json;
	jdoc_id meta = jdoc_get(j, jdoc_get(j, JDOC_ROOT, "out"), "meta_info");
	int64_t received_ns, latency_ns = 0;
	int got = field_time(j, meta, "request_received_ts", NS_PER_S, &received_ns, err),
		timed = field_duration(j, meta, "e2e_latency", NS_PER_S, &latency_ns, err);
	if (got < 0 || timed < 0)
		return -1;
	if (got > 0 && (received_ns < 0 || received_ns > NS_PER_YEAR * 130))
		return jdoc_expected(j, jdoc_get(j, meta, "request_received_ts"), "request_received_ts",
		                     "a time from 1970 to 2100", err);
	if (latency_ns > NS_PER_YEAR)
		return jdoc_expected(j, jdoc_get(j, meta, "e2e_latency"), "e2e_latency", "at most a year", err);
	if (line_ns < 0 || line_ns > NS_PER_YEAR * 130)
		line_ns = IPF_ABSENT;
	*at_ns = line_ns;
	if (!finished)
		return line_ns == IPF_ABSENT ? UNKNOWN : RECEIVE_LINE;
	if (got > 0) {
		if (line_ns != IPF_ABSENT)
			s->zone_ns = zone_of(line_ns, received_ns + latency_ns);
		*at_ns = received_ns;
		return RECEIVED_BY_SERVER;
	}
	if (line_ns == IPF_ABSENT)
		return UNKNOWN;
	*at_ns -= latency_ns;
	return FINISH_LINE;
}

/* The latencies of a request by the server's clock. */
static int read_latencies(const struct jdoc *j, jdoc_id meta, struct draft_request *r, struct ipf_error *err)
{
	struct recorded_times times = RECORDED_TIMES_NONE;
	int64_t received_ns, first_ns;
	int begun = field_time(j, meta, "prefill_finished_ts", NS_PER_S, &first_ns, err);
	if (begun == 0)
		begun = field_time(j, meta, "prefill_finished_time", NS_PER_S, &first_ns, err);
	int received = field_time(j, meta, "request_received_ts", NS_PER_S, &received_ns, err);
	if (begun < 0 || received < 0 || field_duration(j, meta, "e2e_latency", NS_PER_S, &times.e2e_ns, err) < 0)
		return -1;
	if (begun > 0 && received > 0)
		times.ttft_ns = first_ns - received_ns;
	recorded_times_set_possible(r, &times);
	return 0;
}

static int read_request(struct draft *d, const struct jdoc *j, struct ipf_error *err)
{
	jdoc_id obj = jdoc_get(j, JDOC_ROOT, "obj"), out = jdoc_get(j, JDOC_ROOT, "out"),
			meta = jdoc_get(j, out, "meta_info"), sampling = jdoc_get(j, obj, "sampling_params");
	struct draft_request *r = draft_request(d);
	if (!r)
		return 0;
	struct slice prompt = whole_text(d, j, obj, "text");
	r->input_tokens = count_ids(j, jdoc_get(j, obj, "input_ids"));
	if (field_tokens(j, meta, "prompt_tokens", &r->input_tokens, err) < 0 ||
	    field_tokens(j, sampling, "max_new_tokens", &r->output_tokens, err) < 0 ||
	    field_tokens(j, meta, "completion_tokens", &r->output_tokens, err) < 0 ||
	    field_name(d, j, obj, "conversation_id", &d->session, err) < 0)
		return -1;
	r->answer = whole_text(d, j, out, "text");
	r->failed = jdoc_text_is(j, jdoc_get(j, jdoc_get(j, meta, "finish_reason"), "type"), "abort");
	if (read_latencies(j, meta, r, err) < 0)
		return -1;
	if (prompt.len > 0)
		draft_message(d, ROLE_USER, prompt);
	return 0;
}

static int read_line(void *opened, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	struct state *s = opened;
	struct draft *d = &sink->draft;
	const struct jdoc *j = &s->json;
	struct slice before = {0}, rid;
	int got = parse_line(s, record->text, &before, err);
	if (got <= 0) {
		if (got == 0)
			sink->no_request(sink, "no request");
		return got;
	}
	jdoc_id obj = jdoc_get(j, JDOC_ROOT, "obj"), stamp = jdoc_get(j, JDOC_ROOT, "timestamp");
	bool health = jdoc_type_of(j, jdoc_get(j, obj, "rid")) == JDOC_TEXT &&
	              after(jdoc_raw(j, jdoc_get(j, obj, "rid")), "\"HEALTH_CHECK").data;
	if (health || jdoc_get(j, obj, "return_logprob") == JDOC_NONE ||
	    jdoc_type_of(j, jdoc_get(j, obj, "rid")) == JDOC_LIST) {
		sink->no_request(sink, health ? "a health check" : "no single generation");
		return 0;
	}
	int64_t line_ns = log_time(stamp == JDOC_NONE ? before : jdoc_raw(j, stamp), d), at_ns = IPF_ABSENT;
	bool finished = jdoc_get(j, JDOC_ROOT, "out") != JDOC_NONE;
	int clock = read_arrival(s, line_ns, finished, &at_ns, err);
	if (clock < 0 || need_name(d, j, obj, "rid", &rid, err) < 0 || read_request(d, j, err) < 0)
		return -1;
	if (d->failed)
		return 0;
	d->requests[0].id = rid;
	d->requests[0].at_ns = at_ns;
	struct line kept = {.clock = clock, .index = (int64_t)s->lines.records.records};
	sort_key_text(&s->lines.key, rid);
	sort_key_number(&s->lines.key, !finished);
	return draft_sorter_add(&s->lines, &kept, sizeof kept, d, err);
}

/* ---- a request of several lines ---- */

/* The request whose lines are read: its first line says most. */
struct joining {
	struct draft *draft; /* NULL: none yet */
	struct line line;
};

/* Adds the best time of all lines to the first one. */
static void join_line(struct joining *to, const struct line *line, const struct draft *d)
{
	if (line->clock < to->line.clock) {
		to->line.clock = line->clock;
		to->draft->requests[0].at_ns = d->requests[0].at_ns;
	}
	to->line.index = line->index < to->line.index ? line->index : to->line.index;
}

static int end_request(struct state *s, struct joining *joining, struct ipf_error *err)
{
	if (!joining->draft)
		return 0;
	sort_key_number(&s->joined.key, joining->line.index);
	int status = draft_sorter_add(&s->joined, &joining->line, sizeof joining->line, joining->draft, err);
	free(joining->draft);
	joining->draft = NULL;
	return status;
}

static int join_lines(struct state *s, struct draft *d, struct ipf_error *err)
{
	struct joining joining = {0};
	struct line line;
	int got = draft_sorter_begin(&s->lines, err);
	while (got == 0 && (got = draft_sorter_next(&s->lines, &line, sizeof line, d, err)) > 0) {
		got = 0;
		if (joining.draft && slice_equal(joining.draft->requests[0].id, d->requests[0].id)) {
			join_line(&joining, &line, d);
			continue;
		}
		got = end_request(s, &joining, err);
		joining = (struct joining){.draft = got == 0 ? draft_clone(d) : NULL, .line = line};
		if (got == 0 && !joining.draft)
			got = ipf_error_memory(err);
	}
	int last = end_request(s, &joining, err);
	return got < 0 ? -1 : last;
}

static int hand_over(struct state *s, const struct line *line, struct draft *d, struct sink *sink,
                     struct ipf_error *err)
{
	struct draft_request *r = &d->requests[0];
	r->id = (struct slice){0};
	if (r->count == 0 && r->input_tokens == IPF_ABSENT) {
		if (!s->log.drawn) {
			sink->unusable(sink, "neither the prompt nor its length (--input-tokens makes some)");
			return 0;
		}
		r->input_tokens = LOG_TOKENS_DRAWN;
	}
	if (r->at_ns != IPF_ABSENT)
		r->at_ns = since_origin(&s->log.origin, r->at_ns - (line->clock == RECEIVED_BY_SERVER ? 0 : s->zone_ns));
	return sink->take(sink, d, err);
}

static int finish(void *opened, struct sink *sink, struct ipf_error *err)
{
	struct state *s = opened;
	struct draft d = {0};
	struct line line;
	int got = join_lines(s, &d, err);
	draft_sorter_release(&s->lines);
	if (got == 0)
		got = draft_sorter_begin(&s->joined, err);
	while (got == 0 && !sink->full && (got = draft_sorter_next(&s->joined, &line, sizeof line, &d, err)) > 0)
		got = hand_over(s, &line, &d, sink, err);
	draft_release(&d);
	return got;
}

static bool recognises(const struct sniff *sniff)
{
	return sniff_text(sniff, ": obj=GenerateReqInput(") ||
	       (sniff_text(sniff, "\"request.") && sniff_text(sniff, "\"rid\":") && sniff_text(sniff, "\"obj\":"));
}

const struct source_format source_sglang_log = {
	.name = "sglang-log",
	.about = "log of an SGLang server with its requests: arrivals, prompts, answers, or their lengths",
	.kind = SOURCE_TRACE,
	.unit = UNIT_LINE,
	.traits = HAS_TIMES | HAS_SESSIONS | GATHERS | MAKES_TEXT,
	.filled = "prose of the logged length, if the prompt was not logged, or not as a whole",
	.state_size = sizeof(struct state),
	.open = log_open,
	.read_record = read_line,
	.finish = finish,
	.recognises = recognises,
	.close = close_state,
};
