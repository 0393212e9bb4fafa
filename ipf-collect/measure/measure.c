#include "measure/measure.h"

#include "absent.h"
#include "api/answer_message.h"
#include "json/jout.h"
#include "measure/as_tool.h"
#include "measure/attempts.h"
#include "measure/token_account.h"
#include "measure/token_reads.h"
#include "stream/media_list.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *const itl_mode_names[] = {"gap", "token", "request", NULL};

/* IPF_ABSENT if either time is, or is out of range. */
static int64_t difference(int64_t later, int64_t earlier)
{
	bool both = later >= -RESPONSE_TIME_MAX && later <= RESPONSE_TIME_MAX && earlier >= -RESPONSE_TIME_MAX &&
	            earlier <= RESPONSE_TIME_MAX;
	return both ? later - earlier : IPF_ABSENT;
}

/* Rounded to the nearest; durations are never negative here. */
static int64_t share(int64_t duration, int64_t parts)
{
	return (duration + parts / 2) / parts;
}

static struct slice json_text(struct buffer *to, struct slice text)
{
	struct jout w = {.out = to};
	buffer_clear(to);
	jout_string(&w, text);
	return buffer_all(to);
}

/* ---- outcome ---- */

static struct slice first_of(const struct buffer *text, const char *otherwise)
{
	return text->len ? buffer_all(text) : slice_of(otherwise);
}

static const char *incomplete_text(const struct record *record, const struct response *r)
{
	if (r->no_status)
		return "the response ended without a gRPC status";
	if (!record->body.len)
		return "the response has no body";
	return r->finish.len ? "the stream ended without its end mark, after a finish reason"
	                     : "the stream ended without its end mark";
}

static const char *transport_text(const struct record *record)
{
	switch (record->error) {
	case RECORD_CONNECT:
		return "could not connect";
	case RECORD_TLS:
		return "could not establish TLS";
	case RECORD_TIMEOUT:
		return "no complete response within the time limit";
	case RECORD_RESET:
		return "the connection was lost";
	case RECORD_CUT:
		return "the response ended before its announced length";
	case RECORD_CANCELLED:
		return "cancelled at the end of the run";
	case RECORD_HUNG_UP:
		return "the client disconnected on purpose";
	case RECORD_TOO_LARGE:
		return "the answer was too large";
	case RECORD_PROTOCOL:
		return "the response is not HTTP";
	case RECORD_UNSEEN:
		return "a part of it is not in the capture";
	case RECORD_OK:
		break;
	}
	return "no response";
}

/* A response came to its end without content. It is an answer, such as one whose first token was the end token, if the
 * server says so by a finish reason or a count of output tokens. NULL: success. */
static const char *empty_kind(const struct response *r, struct slice *text)
{
	if (slice_is(buffer_all(&r->finish), "content_filter")) {
		*text = slice_of("the server ended the response without content, with finish reason content_filter");
		return "in-band";
	}
	if (r->format && r->format->content_required)
		*text = slice_of("the response has no content, which the API requires");
	else if (!r->finish.len && r->output_tokens == IPF_ABSENT)
		*text = slice_of("the response has neither content nor a finish reason nor usage");
	else
		return NULL;
	return "malformed";
}

/* In order of precedence: the server's own report, then errors of the transfer before the response was complete, then
 * missing parts of the response. NULL: success. */
static const char *error_kind(struct measure *m, const struct record *record, const struct response *r,
                              struct slice *text)
{
	bool no_status = record->status == IPF_ABSENT;
	if (r->failed) {
		*text = first_of(&r->error_text, "error without a message");
		return r->deadline_exceeded ? record_error_name(RECORD_TIMEOUT) : "in-band";
	}
	if (!no_status && !r->parsed) {
		*text = first_of(&r->error_text, "error response without a body");
		return "http-status";
	}
	if (!r->ended && (record->error != RECORD_OK || no_status)) {
		*text = record->error_text.len ? record->error_text : slice_of(transport_text(record));
		return record->error == RECORD_OK ? "malformed" : record_error_name(record->error);
	}
	if (r->malformed) {
		*text = buffer_all(&r->malformed_text);
		return "malformed";
	}
	if (!r->ended) {
		*text = slice_of(incomplete_text(record, r));
		return "cut";
	}
	if (slice_is(buffer_all(&r->finish), "error")) {
		buffer_clear(&m->given_up);
		buffer_text(&m->given_up, r->events_count
		                              ? "the server gave the response up, with finish reason "
		                              : "the server ended the response without content, with finish reason ");
		buffer_slice(&m->given_up, buffer_all(r->finish_server.len ? &r->finish_server : &r->finish));
		*text = buffer_all(&m->given_up);
		return "in-band";
	}
	return r->events_count ? NULL : empty_kind(r, text);
}

/* Has the API a result for each input, and was the response read? */
static bool has_outputs(const struct response *r)
{
	return r->format && r->format->outputs.count && r->outputs != IPF_ABSENT;
}

/* How many inputs the request had. */
static int64_t inputs_of(const struct record *record)
{
	return record->inputs == IPF_ABSENT ? 1 : record->inputs;
}

/* Results must be as many as were asked for, and each of another input. NULL: they are. */
static const char *outputs_kind(struct measure *m, const struct record *record, const struct response *r,
                                struct slice *text)
{
	struct buffer *why = &m->outputs_text;
	int64_t inputs = inputs_of(record), asked = record->asked_outputs == IPF_ABSENT ? inputs : record->asked_outputs;
	size_t count = r->output_indexes_count;
	const int64_t *at = r->output_indexes;
	buffer_clear(why);
	if (r->outputs < asked || r->outputs > inputs)
		buffer_format(why, "the response has %lld result%s for %lld input%s", (long long)r->outputs,
		              r->outputs == 1 ? "" : "s", (long long)asked, asked == 1 ? "" : "s");
	else if (count && (at[0] < 0 || at[count - 1] >= inputs || (int64_t)count != r->outputs))
		buffer_text(why, "a result has no valid index of its input");
	for (size_t i = 1; i < count && !why->len; i++)
		if (at[i] == at[i - 1])
			buffer_text(why, "several results have the index of the same input");
	*text = buffer_all(why);
	return why->len ? "malformed" : NULL;
}

static void judge(struct measure *m, const struct record *record, const struct response *r, struct result *row)
{
	struct slice text = {0};
	const char *kind = error_kind(m, record, r, &text);
	if (!kind && has_outputs(r))
		kind = outputs_kind(m, record, r, &text);
	row->ok = kind == NULL;
	row->status = record->status;
	row->stale = record->stale && kind;
	if (!kind)
		return;
	row->error_kind = json_text(&m->kind, slice_of(kind));
	row->error_text = json_text(&m->error_text, text);
}

/* ---- times ---- */

/* The value of this header of the answer; absent: it has none. */
static struct slice find_header(struct measure *m, const struct record *record, const char *name)
{
	struct ipf_error ignored = {0};
	size_t len = name ? strlen(name) : 0;
	if (!name || !record->headers.data ||
	    jdoc_parse(&m->headers, record->headers.data, record->headers.len, &ignored) < 0)
		return (struct slice){0};
	for (struct jdoc_each e = jdoc_each(&m->headers, JDOC_ROOT); jdoc_step(&e);) {
		struct slice key = jdoc_raw(&m->headers, e.key);
		if (key.len == len + 2 && strncasecmp(key.data + 1, name, len) == 0)
			return jdoc_type_of(&m->headers, e.value) == JDOC_TEXT ? jdoc_raw(&m->headers, e.value) : (struct slice){0};
	}
	return (struct slice){0};
}

/* The trace's id of W3C Trace Context: 32 hexadecimal digits after the version, "00-". */
static struct slice trace_id(struct measure *m, struct slice traceparent)
{
	enum { BEFORE = 1 + 3, DIGITS = 32 };
	if (!traceparent.data || traceparent.len < BEFORE + DIGITS + 1 || traceparent.data[BEFORE - 1] != '-' ||
	    traceparent.data[BEFORE + DIGITS] != '-')
		return (struct slice){0};
	for (size_t i = BEFORE; i < BEFORE + DIGITS; i++)
		if (!isxdigit((unsigned char)traceparent.data[i]))
			return (struct slice){0};
	return json_text(&m->trace_id, (struct slice){traceparent.data + BEFORE, DIGITS});
}

/* The server's own ids, and the trace's. */
static void note_ids(struct measure *m, const struct record *record, const struct response *r, struct result *row)
{
	row->response_id = r->response_id.len ? buffer_all(&r->response_id) : (struct slice){0};
	for (size_t i = 0; record->headers.data && answer_id_headers[i] && !row->request_id.data; i++)
		row->request_id = find_header(m, record, answer_id_headers[i]);
	if (record->headers.data)
		row->trace_id = trace_id(m, find_header(m, record, "traceparent"));
}

static void copy(const struct record *record, struct result *row)
{
	row->n = record->n;
	row->req = record->req;
	row->stage = record->stage;
	row->copy = record->copy;
	row->id = record->id;
	row->session = record->session;
	row->session_requests = record->session_requests;
	row->turn = record->turn;
	row->continues = record->continues;
	row->after = record->after;
	row->model = record->model;
	row->target = record->target;
	row->slo = record->slo;
	row->tags = record->tags;
	row->asked_input_tokens = record->asked_input_tokens;
	row->asked_output_tokens = record->asked_output_tokens;
	row->inputs = record->inputs;
	row->due_ns = record->due_ns;
	row->ready_ns = record->ready_ns;
	row->start_ns = record->start_ns;
	row->end_ns = record->end_ns;
}

/* Values not sent: the length of audio or a transcript, and the text of a transcription's prompt. */
static void forget_lengths(const struct response *r, struct result *row)
{
	if (r->kind == API_TRANSCRIBE)
		row->asked_input_tokens = IPF_ABSENT;
	if (r->kind == API_TRANSCRIBE || r->kind == API_SPEAK)
		row->asked_output_tokens = IPF_ABSENT;
}

static void count_media(struct measure *m, const struct record *record, struct result *row)
{
	struct media_sums sums = media_list_sum(&m->headers, record->media);
	row->images = sums.images;
	row->audio_clips = sums.audio_clips;
	row->video_clips = sums.video_clips;
	row->audio_ns = sums.audio_ns;
	row->media_bytes = sums.bytes;
}

static void measure_start(const struct record *record, struct result *row)
{
	int64_t free_to_go = record->ready_ns;
	row->lag_ns = difference(record->start_ns, record->due_ns);
	if (record->slot_ns != IPF_ABSENT) {
		row->slot_wait_ns = difference(record->start_ns, record->ready_ns);
		free_to_go = greater_of(free_to_go, record->slot_ns);
	}
	if (record->pool_ns != IPF_ABSENT) {
		/* the part of the wait for a slot ended when there was one */
		if (record->slot_ns != IPF_ABSENT)
			row->slot_wait_ns = difference(free_to_go, record->ready_ns);
		row->pool_wait_ns = difference(record->start_ns, free_to_go);
		free_to_go = greater_of(free_to_go, record->pool_ns);
	}
	row->client_lag_ns = difference(record->start_ns, free_to_go);
	row->connect_ns = difference(record->connect_ns,
	                             record->dns_ns == IPF_ABSENT ? record_sent_from(record) : record->dns_ns);
	row->ttfb_ns = difference(record->first_byte_ns, record->start_ns);
	row->stream_ns = difference(record->end_ns, record->start_ns);
}

/* A request of this many bytes is sent at once, in the ten segments with which a connection begins (RFC 6928). */
#define SENT_AT_ONCE_BYTES 14600

/* The time from the moment at which only the client held the request back until it was sent. The last byte of a long
 * request may wait for the network: then the time at which the kernel had it counts, if it is earlier. */
static void measure_sending(const struct record *record, struct result *row)
{
	int64_t from = record_sent_from(record), ready = greater_of(from, record->connect_ns), left = record->left_ns;
	ready = greater_of(greater_of(ready, record->tls_ns), record->connected_ns);
	if (left == IPF_ABSENT ||
	    (record->request_bytes > SENT_AT_ONCE_BYTES && record->sent_ns != IPF_ABSENT && record->sent_ns < left))
		left = record->sent_ns;
	int64_t sending = difference(left, ready);
	if (sending == IPF_ABSENT)
		return;
	row->sending_ns = greater_of(sending, 0);
	/* TLS 1.2 waits twice */
	int64_t waits = (record->connect_ns != IPF_ABSENT) + 2 * (record->tls_ns != IPF_ABSENT) +
	                (record->dns_ns != IPF_ABSENT) + (record->connected_ns != IPF_ABSENT);
	if (ready <= from)
		return;
	row->send_waits = waits;
	row->setup_ns = ready - from;
}

static void measure_events(const struct record *record, const struct response *r, struct result *row)
{
	const struct response_event *e = r->events;
	if (!r->parsed)
		return;
	row->events = (int64_t)r->events_count;
	if (r->after_end)
		row->after_end = r->after_end;
	if (r->unread_events)
		row->unread_events = r->unread_events;
	row->coalesced = 0;
	for (size_t i = 0, j; i < r->events_count; i = j) {
		for (j = i + 1; j < r->events_count && e[j].t_ns == e[i].t_ns; j++)
			;
		row->coalesced += j - i > 1 ? (int64_t)(j - i) : 0;
	}
	if (!r->events_count)
		return;
	row->ttft_ns = difference(e[0].t_ns, record->start_ns);
	row->ttfa_ns = difference(r->first_text_ns, record->start_ns);
	row->e2e_ns = difference(e[r->events_count - 1].t_ns, record->start_ns);
	row->first_early_ns = e[0].early_ns;
	row->last_early_ns = e[r->events_count - 1].early_ns;
	if (r->events_count > 1 && r->choices <= 1)
		row->ttst_ns = e[1].t_ns - e[0].t_ns;
}

/* ---- tokens ---- */

/* Does every content event report the tokens of the answer so far? Only then are those of each event known. */
static bool usage_in_every_event(const struct response *r, const struct token_account *a)
{
	int64_t last = 0;
	if (a->doubt != RESULT_NO_DOUBT || a->hidden || a->each ||
	    (a->source == TOKENS_USAGE && a->output != r->output_tokens))
		return false;
	for (size_t i = 0; i < r->events_count; i++) {
		if (r->events[i].usage_tokens == IPF_ABSENT || r->events[i].usage_tokens < last)
			return false;
		last = r->events[i].usage_tokens;
	}
	return last > 0;
}

/* The number of tokens whose ids are listed, if every content event lists those of its own; else 0. */
static int64_t listed_tokens(const struct response *r)
{
	int64_t sum = 0;
	for (size_t i = 0; i < r->events_count; i++) {
		if (r->events[i].token_ids == IPF_ABSENT)
			return 0;
		sum += r->events[i].token_ids;
	}
	return sum;
}

/* As many content events as sent tokens: then every event brought one. */
static bool token_an_event(const struct response *r, const struct token_account *a)
{
	return r->events_count > 0 && a->source == TOKENS_USAGE && a->output - a->hidden == (int64_t)r->events_count;
}

static bool can_count(const struct response *r, const struct measure_options *options)
{
	return options->tokens && !r->includes_prompt;
}

/* The token counts of a response. */
struct tokens_found {
	bool by_event; /* the tokens of each event are in m->event_tokens */
	int64_t first; /* the tokens of the first event; 0: not known */
	int64_t all;   /* counted by the tokenizer; IPF_ABSENT */
	struct token_account account;
};

/* The server's own counts of each event's tokens. */
static bool tokens_by_server(struct measure *m, const struct response *r, const struct token_account *a)
{
	bool usage = usage_in_every_event(r, a), ids = listed_tokens(r) > 0;
	if (!usage && !ids && !a->each && !token_an_event(r, a))
		return false;
	int64_t before = 0;
	for (size_t i = 0; i < r->events_count; i++) {
		m->event_tokens[i] = a->each ? r->events[i].usage_tokens
		                     : usage ? r->events[i].usage_tokens - before
		                     : ids   ? r->events[i].token_ids
		                             : 1;
		before = r->events[i].usage_tokens;
	}
	return true;
}

/* By the server, else by the tokenizer: a token belongs to the event with its last byte. The content is encoded once,
 * as a whole: encoding it up to each event would give other tokens at the boundaries, and take time quadratic in the
 * number of events. */
static int count_tokens(struct measure *m, const struct response *r, const struct measure_options *options,
                        struct tokens_found *found, struct ipf_error *err)
{
	if (!r->events_count || !can_count(r, options))
		return 0;
	if (found->by_event) {
		found->all = token_counter_count(options->tokens, r->content.data, r->content.len);
		return token_counter_check(options->tokens, err);
	}
	for (size_t i = 0; i < r->events_count; i++)
		m->event_ends[i] = r->events[i].content_end;
	found->all = token_counter_count_prefixes(options->tokens, buffer_all(&r->content), m->event_ends, r->events_count,
	                                          m->event_tokens, err);
	if (found->all < 0)
		return -1;
	for (size_t i = r->events_count - 1; i > 0; i--)
		m->event_tokens[i] -= m->event_tokens[i - 1];
	found->by_event = true;
	return 0;
}

/* The first event's usage is enough for its own tokens, although later events may have none. 0: it is not known, or the
 * counts fall later, so they do not have the expected meaning. */
static int64_t first_by_usage(const struct response *r)
{
	int64_t last = r->events_count ? r->events[0].usage_tokens : IPF_ABSENT;
	for (size_t i = 1; i < r->events_count && last != IPF_ABSENT; i++) {
		int64_t usage = r->events[i].usage_tokens;
		if (usage != IPF_ABSENT && usage < last)
			return 0;
		last = usage != IPF_ABSENT ? usage : last;
	}
	return last != IPF_ABSENT ? r->events[0].usage_tokens : 0;
}

/* May all content have come at once? */
static bool one_piece_possible(const struct response *r, const struct record *record)
{
	return r->events_count == 1 && (r->whole || r->one_value || !record->streamed);
}

/* The account is made twice where there is a tokenizer: before, since it says whether each event brought one token. */
static int find_tokens(struct measure *m, const struct record *record, const struct response *r,
                       const struct measure_options *options, struct tokens_found *found, struct ipf_error *err)
{
	struct token_evidence evidence = {.tokenizer = IPF_ABSENT,
	                                  .ids = r->no_text ? 0 : listed_tokens(r),
	                                  .asked = record->asked_output_tokens,
	                                  .one_piece = one_piece_possible(r, record) && record->asked_output_tokens != 1};
	*found = (struct tokens_found){.all = IPF_ABSENT, .account = token_account_make(r, &evidence)};
	found->by_event = tokens_by_server(m, r, &found->account);
	if (count_tokens(m, r, options, found, err) < 0)
		return -1;
	evidence.tokenizer = found->all;
	if (found->all != IPF_ABSENT)
		found->account = token_account_make(r, &evidence);
	found->first = found->account.hidden ? 0 : first_by_usage(r);
	if (found->first == 0 && found->by_event)
		found->first = m->event_tokens[0];
	return 0;
}

/* A prompt has tokens: a count of 0 is none. The text of a transcription's prompt, which the trace counts, is not
 * sent. */
static int64_t input_total(const struct response *r, const struct record *record)
{
	return r->input_tokens > 0 || r->kind == API_TRANSCRIBE || record->asked_input_tokens == IPF_ABSENT
	           ? r->input_tokens
	           : record->asked_input_tokens;
}

static void measure_tokens(struct measure *m, const struct record *record, const struct response *r,
                           const struct tokens_found *found, struct result *row)
{
	row->input_tokens_usage = r->input_tokens;
	row->output_tokens_usage = r->output_tokens;
	row->reasoning_tokens = r->reasoning_tokens;
	row->cached_tokens = r->cached_tokens;
	row->input_tokens = input_total(r, record);
	if (!r->no_text)
		row->output_tokens_tokenizer = found->all;
	const struct token_account *a = &found->account;
	row->output_tokens = a->output;
	if (a->source != TOKENS_UNKNOWN)
		row->tokens_source = json_text(&m->source, slice_of(token_source_names[a->source]));
	if (a->hidden)
		row->hidden_tokens = a->hidden;
	if (a->doubt != RESULT_NO_DOUBT)
		row->doubt = json_text(&m->doubt, slice_of(result_doubt_names[a->doubt]));
	if (a->doubt == RESULT_CACHED_ABOVE_INPUT ||
	    (r->cached_tokens > row->input_tokens && row->input_tokens != IPF_ABSENT))
		row->cached_tokens = IPF_ABSENT;
	if (r->choices > 1)
		row->choices = r->choices;
}

/* Did all content come at once although it may be many tokens? One event of a stream of JSON objects may be either: a
 * stream of one token, or a whole response. With tokens unknown, a claim of a first token would be a guess. */
static bool in_one_piece(const struct response *r, const struct record *record, const struct result *row)
{
	if (!one_piece_possible(r, record))
		return false;
	bool counted = row->output_tokens != IPF_ABSENT && !slice_is(row->tokens_source, "\"events\"");
	return r->whole || (counted ? row->output_tokens : row->asked_output_tokens) != 1;
}

/* A response in one piece has an end, but no first token. */
static void measure_streaming(struct measure *m, const struct record *record, const struct response *r,
                              struct result *row)
{
	if (!in_one_piece(r, record, row))
		return;
	enum result_not_streamed why = record->streamed  ? RESULT_STREAM_IGNORED
	                               : r->no_streaming ? RESULT_NO_STREAMING
	                                                 : RESULT_STREAM_NOT_ASKED;
	row->not_streamed = json_text(&m->not_streamed, slice_of(result_not_streamed_names[why]));
	row->ttft_ns = row->ttfa_ns = IPF_ABSENT;
}

/* From the first to the last content event, of all choices together. *gaps: between events of the same choice. */
static int64_t streaming_time(const struct response *r, size_t *gaps)
{
	int64_t last[RESPONSE_CHOICES_MOST], sum = 0;
	bool begun[RESPONSE_CHOICES_MOST] = {false};
	*gaps = r->events_count - 1;
	if (r->choices <= 1)
		return r->events[r->events_count - 1].t_ns - r->events[0].t_ns;
	for (size_t i = 0; i < r->events_count; i++) {
		const struct response_event *e = &r->events[i];
		*gaps -= i > 0 && !begun[e->choice];
		sum += begun[e->choice] ? e->t_ns - last[e->choice] : 0;
		last[e->choice] = e->t_ns;
		begun[e->choice] = true;
	}
	return sum;
}

/* Unsent tokens were generated before the first event; each choice has a first token of its own. */
static void measure_per_token(const struct response *r, const struct tokens_found *found, struct result *row)
{
	int64_t tokens = row->output_tokens, sent = tokens - found->account.hidden, firsts = greater_of(r->choices, 1);
	size_t gaps;
	if (tokens < 1 || row->e2e_ns == IPF_ABSENT)
		return;
	row->ntpot_ns = share(row->e2e_ns, tokens);
	int64_t time_ns = streaming_time(r, &gaps);
	if (gaps == 0 || sent <= firsts)
		return;
	row->tpot_ns = share(time_ns, sent - firsts);
	bool counted = found->account.source != TOKENS_EVENTS;
	if (counted && firsts == 1 && found->first > 0 && found->first < sent)
		row->tpot_corrected_ns = share(time_ns, sent - found->first);
}

#define RTF_MOST 1e15 /* a million times slower than real time */

/* The time for a second of audio, transcribed or made. */
static void measure_audio(const struct response *r, struct result *row)
{
	row->output_audio_ns = r->audio_ns;
	row->playback_wait_ns = r->audio_waits_ns;
	int64_t audio_ns = r->kind == API_TRANSCRIBE ? row->audio_ns : r->audio_ns;
	if (row->e2e_ns == IPF_ABSENT || audio_ns <= 0)
		return;
	double factor = (double)row->e2e_ns / (double)audio_ns * 1e9;
	row->rtf_ns = (int64_t)(factor < RTF_MOST ? factor + 0.5 : RTF_MOST);
}

/* ---- gaps ---- */

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

/* Sorts the gaps. */
static int64_t count_stalls(int64_t *gaps, size_t count, int64_t longest, const struct measure_options *options)
{
	int64_t over = options->stall_ns, stalls = 0;
	if (over == IPF_ABSENT) {
		if (longest <= STALL_LEAST_NS)
			return 0;
		qsort(gaps, count, sizeof *gaps, compare);
		over = greater_of(STALL_MEDIANS * ((gaps[(count - 1) / 2] + gaps[count / 2]) / 2), STALL_LEAST_NS);
	}
	for (size_t i = 0; i < count; i++)
		stalls += gaps[i] > over;
	return stalls;
}

/* Samples of the time between two events, a share of it each for `parts` of them: `times` of these. */
struct gap_parts {
	const struct response_event *from, *to;
	int64_t parts, times;
};

static void add_sample(struct measure *m, const struct gap_parts *g)
{
	int64_t gap = g->to->t_ns - g->from->t_ns, low = greater_of(gap - g->to->early_ns, 0),
			high = gap + g->from->early_ns;
	m->samples[m->samples_count++] = (struct itl_sample){.value_ns = share(gap, g->parts),
	                                                     .count = g->times,
	                                                     .t_ns = g->to->t_ns,
	                                                     .low_ns = low / g->parts,
	                                                     .high_ns = (high + g->parts - 1) / g->parts};
}

/* The event before, of the same choice; SIZE_MAX: it is the first one. `last`: of each choice, SIZE_MAX at first. */
static size_t event_before(const struct response *r, size_t i, size_t last[RESPONSE_CHOICES_MOST])
{
	size_t *of = &last[r->events[i].choice], before = *of;
	*of = i;
	return before;
}

/* A gap ending in an event without tokens is added to the next one, or dropped at the last event. */
static void sample_tokens(struct measure *m, const struct response *r, bool known)
{
	size_t from[RESPONSE_CHOICES_MOST];
	memset(from, 0xff, sizeof from);
	m->tokens_unknown = !known;
	for (size_t i = 0; known && i < r->events_count; i++) {
		size_t *of = &from[r->events[i].choice];
		if (*of != SIZE_MAX && m->event_tokens[i] > 0)
			add_sample(m, &(struct gap_parts){&r->events[*of], &r->events[i], m->event_tokens[i], m->event_tokens[i]});
		if (*of == SIZE_MAX || m->event_tokens[i] > 0)
			*of = i;
	}
}

/* The mean gap of the request, of all choices. */
static void sample_mean(struct measure *m, const struct response *r, size_t gaps)
{
	int64_t sum = 0;
	if (r->choices <= 1) {
		add_sample(m, &(struct gap_parts){&r->events[0], &r->events[r->events_count - 1], (int64_t)gaps, 1});
		return;
	}
	for (size_t i = 0; i < gaps; i++)
		sum += m->gaps[i];
	m->samples[m->samples_count++] = (struct itl_sample){.value_ns = share(sum, (int64_t)gaps),
	                                                     .count = 1,
	                                                     .t_ns = r->events[r->events_count - 1].t_ns,
	                                                     .low_ns = share(sum, (int64_t)gaps),
	                                                     .high_ns = share(sum, (int64_t)gaps)};
}

/* Gaps are those between events of the same choice. */
static void measure_gaps(struct measure *m, const struct response *r, const struct measure_options *options,
                         bool tokens_known, struct result *row)
{
	size_t last[RESPONSE_CHOICES_MOST], count = 0;
	int64_t longest = 0, sum = 0, samples = 0;
	memset(last, 0xff, sizeof last);
	for (size_t i = 0; i < r->events_count; i++) {
		size_t before = event_before(r, i, last);
		if (before == SIZE_MAX)
			continue;
		m->gaps[count] = r->events[i].t_ns - r->events[before].t_ns;
		longest = greater_of(longest, m->gaps[count++]);
		if (options->itl == ITL_GAP)
			add_sample(m, &(struct gap_parts){&r->events[before], &r->events[i], 1, 1});
	}
	if (!count)
		return;
	if (options->itl == ITL_TOKEN)
		sample_tokens(m, r, tokens_known);
	else if (options->itl == ITL_REQUEST)
		sample_mean(m, r, count);
	for (size_t i = 0; i < m->samples_count; i++) {
		sum += m->samples[i].value_ns * m->samples[i].count;
		samples += m->samples[i].count;
	}
	if (samples)
		row->itl_mean_ns = share(sum, samples);
	row->itl_max_ns = longest;
	row->stalls = count_stalls(m->gaps, count, longest, options);
}

/* ---- fluidity ---- */

/* A deadline beyond the clock's range is never missed. */
static int64_t deadline_after(int64_t t_ns, int64_t deadlines, int64_t apart_ns)
{
	int64_t sum;
	return __builtin_mul_overflow(deadlines, apart_ns, &sum) || __builtin_add_overflow(t_ns, sum, &sum) ? INT64_MAX
	                                                                                                    : sum;
}

/* The first token starts the clock. Each later one is due `deadline_ns` after the previous token's deadline or, if it
 * was missed, after the previous token arrived. The tokens of one event arrive together: if the first is late, the
 * others are early. An event whose tokens are unknown counts as one token. */
static void measure_fluidity(const struct measure *m, const struct response *r, int64_t deadline_ns, bool tokens_known,
                             struct result *row)
{
	int64_t due = deadline_after(r->events[0].t_ns, 1, deadline_ns), all = 0, met = 0;
	for (size_t i = 0; i < r->events_count; i++) {
		int64_t tokens = (tokens_known ? m->event_tokens[i] : 1) - (i == 0), t_ns = r->events[i].t_ns;
		if (tokens < 1)
			continue;
		all += tokens;
		if (t_ns > due) {
			tokens--;
			due = deadline_after(t_ns, 1, deadline_ns);
		}
		met += tokens;
		due = deadline_after(due, tokens, deadline_ns);
	}
	if (all == 0)
		return;
	row->deadlines = all;
	row->deadlines_met = met;
}

/* ---- the row ---- */

static int make_room(struct measure *m, size_t events, struct ipf_error *err)
{
	if (events <= m->cap)
		return 0;
	size_t cap = 2 * events;
	int64_t *gaps = realloc(m->gaps, cap * sizeof *gaps);
	m->gaps = gaps ? gaps : m->gaps;
	int64_t *event_tokens = realloc(m->event_tokens, cap * sizeof *event_tokens);
	m->event_tokens = event_tokens ? event_tokens : m->event_tokens;
	size_t *event_ends = realloc(m->event_ends, cap * sizeof *event_ends);
	m->event_ends = event_ends ? event_ends : m->event_ends;
	struct itl_sample *samples = m->samples;
	if (m->samples_cap < cap) {
		samples = realloc(m->samples, cap * sizeof *samples);
		m->samples = samples ? samples : m->samples;
		m->samples_cap = samples ? cap : m->samples_cap;
	}
	if (!gaps || !event_tokens || !event_ends || !samples)
		return ipf_error_memory(err);
	m->cap = cap;
	return 0;
}

/* Makes the tokens of the events add up to the row's. Each event's known count stays if it does; otherwise they share
 * evenly, the later ones being the larger by one. Unsent tokens came before the first event. */
static void divide_tokens(struct measure *m, size_t events, bool tokens_known, int64_t hidden, const struct result *row)
{
	int64_t sum = 0, given = 0, sent = row->output_tokens - hidden;
	for (size_t i = 0; tokens_known && i < events; i++)
		sum += m->event_tokens[i];
	if (row->output_tokens == IPF_ABSENT || events == 0)
		return;
	for (size_t i = 0; (!tokens_known || sum != sent) && i < events; i++) {
		m->event_tokens[i] = (sent - given) / (int64_t)(events - i);
		given += m->event_tokens[i];
	}
	m->event_tokens[0] += hidden;
}

static void list_times(struct measure *m, const struct response *r, bool tokens_known, struct result *row)
{
	struct jout times = {.out = &m->event_ns}, tokens = {.out = &m->tokens_list}, kinds = {.out = &m->event_kinds};
	bool only_text = true;
	jout_begin_list(&times);
	jout_begin_list(&tokens);
	jout_begin_list(&kinds);
	for (size_t i = 0; i < r->events_count; i++) {
		jout_int(&times, r->events[i].t_ns);
		if (tokens_known)
			jout_int(&tokens, m->event_tokens[i]);
		only_text &= r->events[i].kind == EVENT_TEXT;
		jout_string0(&kinds, event_kind_names[r->events[i].kind]);
	}
	jout_end_list(&times);
	jout_end_list(&tokens);
	jout_end_list(&kinds);
	row->event_ns = buffer_all(&m->event_ns);
	if (tokens_known)
		row->event_tokens = buffer_all(&m->tokens_list);
	if (!only_text)
		row->event_kinds = buffer_all(&m->event_kinds);
}

/* "close" comes after all events: the response was complete as far as HTTP knows. */
static void list_others(struct measure *m, const struct record *record, const struct response *r, struct result *row)
{
	struct jout times = {.out = &m->other_ns}, kinds = {.out = &m->other_kinds};
	jout_begin_list(&times);
	jout_begin_list(&kinds);
	for (size_t i = 0; i < r->others_count; i++) {
		jout_int(&times, r->others[i].t_ns);
		jout_string0(&kinds, event_kind_names[r->others[i].kind]);
	}
	if (record->error == RECORD_OK && record->end_ns != IPF_ABSENT) {
		jout_int(&times, record->end_ns);
		jout_string0(&kinds, "close");
	}
	jout_end_list(&times);
	jout_end_list(&kinds);
	row->other_ns = buffer_all(&m->other_ns);
	row->other_kinds = buffer_all(&m->other_kinds);
}

/* This includes a response without content, whose other events say why. */
static void list_events(struct measure *m, const struct record *record, const struct response *r, bool tokens_known,
                        struct result *row)
{
	struct buffer *lists[] = {&m->event_ns, &m->tokens_list, &m->event_kinds, &m->other_ns, &m->other_kinds};
	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
		buffer_clear(lists[i]);
	if (r->events_count || r->others_count)
		list_times(m, r, tokens_known, row);
	list_others(m, record, r, row);
}

static void keep_texts(struct measure *m, const struct response *r, struct result *row)
{
	if (r->text.len)
		row->text = json_text(&m->text, buffer_all(&r->text));
	if (r->reasoning.len)
		row->reasoning = json_text(&m->reasoning, buffer_all(&r->reasoning));
}

static void keep_server_times(const struct response *r, struct result *row)
{
	row->server_load_ns = r->server_ns[API_SERVER_LOAD];
	row->server_queue_ns = r->server_ns[API_SERVER_QUEUE];
	row->server_prefill_ns = r->server_ns[API_SERVER_PREFILL];
	row->server_ttft_ns = r->server_ns[API_SERVER_TTFT];
	row->server_decode_ns = r->server_ns[API_SERVER_DECODE];
	row->server_tpot_ns = r->server_ns[API_SERVER_TPOT];
	row->server_inference_ns = r->server_ns[API_SERVER_INFERENCE];
	row->server_total_ns = r->server_ns[API_SERVER_TOTAL];
	row->server_prefill_queue_ns = r->server_ns[API_SERVER_PREFILL_QUEUE];
	row->server_kv_transfer_ns = r->server_ns[API_SERVER_KV_TRANSFER];
	row->server_decode_queue_ns = r->server_ns[API_SERVER_DECODE_QUEUE];
}

/* Some servers report speculative decoding as zeros if there is none. */
static void keep_details(const struct response *r, struct result *row)
{
	row->cached_tokens_device = r->details[API_CACHED_DEVICE];
	row->cached_tokens_host = r->details[API_CACHED_HOST];
	row->cached_tokens_disk = r->details[API_CACHED_DISK];
	row->cached_tokens_remote = r->details[API_CACHED_REMOTE];
	row->cache_write_tokens = r->details[API_CACHE_WRITE];
	row->image_tokens = r->details[API_IMAGE];
	row->audio_tokens = r->details[API_AUDIO];
	row->output_audio_tokens = r->details[API_OUTPUT_AUDIO];
	const size_t tool_calls = tool_calls_count(&r->calls);
	row->tool_calls = tool_calls ? (int64_t)tool_calls : IPF_ABSENT;
	if (r->details[API_SPEC_DRAFT] == 0 || r->details[API_SPEC_DRAFTS] == 0)
		return;
	row->spec_drafts = r->details[API_SPEC_DRAFTS];
	row->spec_draft_tokens = r->details[API_SPEC_DRAFT];
	row->spec_accepted_tokens = r->details[API_SPEC_ACCEPTED];
}

/* Out of memory in one of the texts a row borrows. */
static bool text_failed(const struct measure *m)
{
	const struct buffer *all[] = {&m->kind,      &m->error_text,  &m->finish,       &m->finish_server, &m->text,
	                              &m->reasoning, &m->event_ns,    &m->tokens_list,  &m->not_streamed,  &m->event_kinds,
	                              &m->other_ns,  &m->other_kinds, &m->outputs_text, &m->source,        &m->doubt,
	                              &m->given_up,  &m->edges.times, &m->edges.tokens, &m->trace_id};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (all[i]->failed)
			return true;
	return false;
}

int measure_row(struct measure *m, const struct record *record, const struct response *r,
                const struct measure_options *options, struct result *row, struct ipf_error *err)
{
	struct tokens_found found;
	result_init(row);
	m->samples_count = 0;
	m->tokens_unknown = false;
	m->samples_are_means = options->itl == ITL_REQUEST;
	if (make_room(m, r->events_count, err) < 0 || find_tokens(m, record, r, options, &found, err) < 0)
		return -1;
	m->event_tokens_known = found.by_event;
	copy(record, row);
	forget_lengths(r, row);
	count_media(m, record, row);
	row->replica = find_header(m, record, options->replica_header);
	note_ids(m, record, r, row);
	judge(m, record, r, row);
	if (has_outputs(r)) {
		row->outputs = r->outputs;
		row->inputs = inputs_of(record);
	}
	measure_start(record, row);
	measure_sending(record, row);
	measure_events(record, r, row);
	measure_tokens(m, record, r, &found, row);
	measure_streaming(m, record, r, row);
	measure_per_token(r, &found, row);
	measure_audio(r, row);
	if (row->inputs > 0 && row->e2e_ns != IPF_ABSENT)
		row->per_input_ns = share(row->e2e_ns, row->inputs);
	if (r->events_count && options->deadline_ns > 0 && !row->not_streamed.data && r->choices <= 1)
		measure_fluidity(m, r, options->deadline_ns, found.by_event, row);
	if (r->events_count > 1)
		measure_gaps(m, r, options, found.by_event, row);
	if (measure_attempts(&m->headers, record, options->retries, row, err) < 0)
		return -1;
	if (r->parsed && options->keep_events)
		list_events(m, record, r, found.by_event, row);
	if (options->definition && as_tool(m, record, r, options->definition, row, err) < 0)
		return -1;
	if (r->events_count > 1 && !row->not_streamed.data && r->choices <= 1)
		token_reads_measure(r, found.by_event ? m->event_tokens : NULL, row);
	divide_tokens(m, r->events_count, found.by_event, found.account.hidden, row);
	stage_edges_add(options->edges, row);
	stage_edges_measure(options->edges, r, m->event_tokens, &m->edges, row);
	if (options->keep_text)
		keep_texts(m, r, row);
	if (r->finish.len)
		row->finish = json_text(&m->finish, buffer_all(&r->finish));
	if (r->finish_server.len)
		row->finish_server = json_text(&m->finish_server, buffer_all(&r->finish_server));
	keep_server_times(r, row);
	keep_details(r, row);
	return text_failed(m) ? ipf_error_memory(err) : 0;
}

void measure_release(struct measure *m)
{
	struct buffer *all[] = {&m->kind,      &m->error_text,  &m->finish,       &m->finish_server, &m->text,
	                        &m->reasoning, &m->event_ns,    &m->tokens_list,  &m->not_streamed,  &m->event_kinds,
	                        &m->other_ns,  &m->other_kinds, &m->outputs_text, &m->source,        &m->doubt,
	                        &m->given_up,  &m->edges.times, &m->edges.tokens, &m->trace_id};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		buffer_release(all[i]);
	jdoc_release(&m->headers);
	free(m->gaps);
	free(m->event_tokens);
	free(m->event_ends);
	free(m->samples);
	free(m->chunks);
}
