#include "absent.h"
#include "measure/measure.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A response as response_parse leaves it, built by hand: events at these times (in ns), the k-th one ending at
 * content_end[k] bytes of "a"s. */
struct scene {
	struct record record;
	struct response response;
	struct response_event events[16];
	struct measure measure;
	struct measure_options options;
	struct result row;
};

static void scene_begin(struct scene *s, const int64_t *times, size_t count)
{
	memset(s, 0, sizeof *s);
	record_init(&s->record);
	s->record.start_ns = 0;
	s->record.end_ns = 1000;
	s->record.status = 200;
	s->options.stall_ns = IPF_ABSENT;
	s->response.parsed = s->response.ended = true;
	s->response.first_text_ns = s->response.input_tokens = s->response.output_tokens = IPF_ABSENT;
	s->response.reasoning_tokens = s->response.cached_tokens = s->response.total_tokens = IPF_ABSENT;
	s->response.events = s->events;
	s->response.events_count = count;
	/* later chunks are not looked at */
	for (size_t i = 0; i < sizeof s->events / sizeof *s->events; i++)
		s->events[i] = i < count ? (struct response_event){.t_ns = times[i], .usage_tokens = IPF_ABSENT}
		                         : (struct response_event){INT64_MAX / 4, 7, 70000, 7, 7, EVENT_TOOL, 0};
}

static void scene_measure(struct scene *s)
{
	struct ipf_error err = {0};
	assert_int_equal(measure_row(&s->measure, &s->record, &s->response, &s->options, &s->row, &err), 0);
}

static void scene_end(struct scene *s)
{
	measure_release(&s->measure);
	buffer_release(&s->response.content);
}

static void samples_are(const struct scene *s, const int64_t expected[][2], size_t count)
{
	assert_int_equal(s->measure.samples_count, count);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(s->measure.samples[i].value_ns, expected[i][0]);
		assert_int_equal(s->measure.samples[i].count, expected[i][1]);
	}
}
#define SAMPLES_ARE(s_, ...)                                                                                           \
	samples_are(s_, (const int64_t[][2]){__VA_ARGS__}, sizeof((const int64_t[][2]){__VA_ARGS__}) / sizeof(int64_t[2]))

/* ---- when it started ---- */

static void lateness(void **state)
{
	(void)state;
	struct scene s;
	scene_begin(&s, NULL, 0);
	s.record.due_ns = 100;
	s.record.ready_ns = 150;
	s.record.start_ns = 170;
	scene_measure(&s);
	assert_int_equal(s.row.lag_ns, 70);
	assert_int_equal(s.row.slot_wait_ns, IPF_ABSENT);
	assert_int_equal(s.row.client_lag_ns, 20);

	s.record.slot_ns = 165; /* it waited for a slot until then */
	scene_measure(&s);
	assert_int_equal(s.row.lag_ns, 70);
	assert_int_equal(s.row.slot_wait_ns, 20);
	assert_int_equal(s.row.client_lag_ns, 5);

	s.record.due_ns = IPF_ABSENT; /* closed loop */
	scene_measure(&s);
	assert_int_equal(s.row.lag_ns, IPF_ABSENT);
	assert_int_equal(s.row.slot_wait_ns, 20);
	scene_end(&s);
}

/* Fields of a row, as they are compared: IPF_ABSENT too. */
static void figures_are(size_t at, const int64_t *got, const int64_t *expected, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (got[i] != expected[i])
			fail_msg("row %zu, figure %zu: %lld (expected %lld)", at, i, (long long)got[i], (long long)expected[i]);
}
#define FIGURES_ARE(at_, expected_, ...)                                                                               \
	figures_are(at_, (const int64_t[]){__VA_ARGS__}, expected_, sizeof(int64_t[]){__VA_ARGS__} / sizeof(int64_t))
#define NONE IPF_ABSENT

/* A request's waits before it started at 170. */
static void waits_before_the_start(void **state)
{
	static const struct {
		int64_t ready, slot, pool, expected[3]; /* slot wait, pool wait, client lag */
	} cases[] = {
		{150, NONE, NONE, {NONE, NONE, 20}}, {NONE, NONE, NONE, {NONE, NONE, NONE}},
		{150, 165, NONE, {20, NONE, 5}},     {150, 140, NONE, {20, NONE, 20}}, /* it was free before */
		{NONE, 165, NONE, {NONE, NONE, 5}},  {150, NONE, 168, {NONE, 20, 2}},
		{150, NONE, 149, {NONE, 20, 20}},    {150, 165, 168, {15, 5, 2}}, /* the slot's part ended when there was one */
		{150, 140, 168, {0, 20, 2}},         {NONE, NONE, 168, {NONE, NONE, 2}},
	};
	struct scene s;
	(void)state;
	scene_begin(&s, NULL, 0);
	s.record.start_ns = 170;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		s.record.ready_ns = cases[i].ready;
		s.record.slot_ns = cases[i].slot;
		s.record.pool_ns = cases[i].pool;
		scene_measure(&s);
		FIGURES_ARE(i, cases[i].expected, s.row.slot_wait_ns, s.row.pool_wait_ns, s.row.client_lag_ns);
	}
	scene_end(&s);
}

/* From a start at 10 until the request was on its way. */
static void sending(void **state)
{
	static const struct {
		int64_t dns, connect, tls, connected, sent, left, bytes, expected[3]; /* sending, setup, waits */
	} cases[] = {
		{NONE, NONE, NONE, NONE, NONE, NONE, 1, {NONE, NONE, NONE}},
		{NONE, NONE, NONE, NONE, 25, 30, 1, {20, NONE, NONE}},
		{NONE, NONE, NONE, NONE, 25, NONE, 1, {15, NONE, NONE}},
		{NONE, NONE, NONE, NONE, 25, 30, 14600, {20, NONE, NONE}}, /* parts sent at once */
		{NONE, NONE, NONE, NONE, 25, 30, 14601, {15, NONE, NONE}},
		{NONE, NONE, NONE, NONE, 35, 30, 14601, {20, NONE, NONE}},
		{NONE, NONE, NONE, NONE, NONE, 30, 14601, {20, NONE, NONE}},
		{NONE, NONE, NONE, NONE, 5, 5, 1, {0, NONE, NONE}},
		{NONE, 15, NONE, NONE, 25, 30, 1, {15, 5, 1}},
		{12, 15, 20, 22, 25, 30, 1, {8, 12, 5}}, /* TLS counts twice */
		{NONE, NONE, NONE, 22, 25, 30, 1, {8, 12, 1}},
		{12, NONE, NONE, NONE, 25, 30, 1, {20, NONE, NONE}},
		{NONE, 10, NONE, NONE, 25, 30, 1, {20, NONE, NONE}},
	};
	struct scene s;
	(void)state;
	scene_begin(&s, NULL, 0);
	s.record.start_ns = 10;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		s.record.dns_ns = cases[i].dns;
		s.record.connect_ns = cases[i].connect;
		s.record.tls_ns = cases[i].tls;
		s.record.connected_ns = cases[i].connected;
		s.record.sent_ns = cases[i].sent;
		s.record.left_ns = cases[i].left;
		s.record.request_bytes = cases[i].bytes;
		s.record.first_byte_ns = 40;
		scene_measure(&s);
		FIGURES_ARE(i, cases[i].expected, s.row.sending_ns, s.row.setup_ns, s.row.send_waits);
		assert_int_equal(s.row.connect_ns, i == 9 ? 3 : cases[i].connect == NONE ? NONE : cases[i].connect - 10);
		assert_int_equal(s.row.ttfb_ns, 30);
		assert_int_equal(s.row.stream_ns, 990);
	}
	scene_end(&s);
}

static void requests_that_never_started_have_no_latency(void **state)
{
	(void)state;
	struct scene s;
	scene_begin(&s, NULL, 0);
	s.response.parsed = s.response.ended = false;
	s.record.due_ns = 100;
	s.record.start_ns = s.record.status = IPF_ABSENT;
	s.record.error = RECORD_CANCELLED;
	scene_measure(&s);
	assert_false(s.row.ok);
	assert_int_equal(s.row.lag_ns, IPF_ABSENT);
	assert_int_equal(s.row.stream_ns, IPF_ABSENT);
	assert_int_equal(s.row.ttft_ns, IPF_ABSENT);
	assert_int_equal(s.row.events, IPF_ABSENT);
	assert_int_equal(s.row.output_tokens, IPF_ABSENT);
	scene_end(&s);
}

/* ---- outcome ---- */

static void text_is(const char *what, struct slice got, const char *expected)
{
	if (expected ? !slice_is(got, expected) : got.data != NULL)
		fail_msg("%s: %.*s (expected %s)", what, (int)got.len, got.data ? got.data : "", expected ? expected : "none");
}

/* p: the body was read as a response; e: it ended; f: it reports an error; d: that its deadline passed; m: malformed;
 * g: without a status of gRPC; c: the API requires content; 1: an event. */
static const struct outcome {
	const char *is;
	int64_t status;
	enum record_error error;
	const char *body, *finish, *kind, *text;
} outcomes[] = {
	{"pe1", 200, RECORD_OK, "x", "", NULL, NULL},
	{"pe1", 200, RECORD_RESET, "x", "", NULL, NULL}, /* it was complete before */
	{"pef1", 200, RECORD_RESET, "x", "", "in-band", "error without a message"},
	{"pefd", 200, RECORD_OK, "x", "", "timeout", "error without a message"},
	{"", 500, RECORD_OK, "", "", "http-status", "error response without a body"},
	{"", 500, RECORD_RESET, "", "", "http-status", "error response without a body"},
	{"", NONE, RECORD_OK, "", "", "malformed", "no response"},
	{"e", NONE, RECORD_OK, "", "", "malformed", "the response has neither content nor a finish reason nor usage"},
	{"", NONE, RECORD_CONNECT, "", "", "connect", "could not connect"},
	{"", NONE, RECORD_TLS, "", "", "tls", "could not establish TLS"},
	{"", NONE, RECORD_TIMEOUT, "", "", "timeout", "no complete response within the time limit"},
	{"p1", 200, RECORD_RESET, "x", "", "reset", "the connection was lost"},
	{"pm1", 200, RECORD_CUT, "x", "", "cut", "the response ended before its announced length"},
	{"p1", 200, RECORD_CANCELLED, "x", "", "cancelled", "cancelled at the end of the run"},
	{"p1", 200, RECORD_HUNG_UP, "x", "", "hung-up", "the client disconnected on purpose"},
	{"p1", 200, RECORD_TOO_LARGE, "x", "", "too-large", "the answer was too large"},
	{"", NONE, RECORD_PROTOCOL, "", "", "malformed", "the response is not HTTP"},
	{"pem1", 200, RECORD_RESET, "x", "", "malformed", "broken"},
	{"pm1", 200, RECORD_OK, "x", "", "malformed", "broken"},
	{"pg1", 200, RECORD_OK, "x", "", "cut", "the response ended without a gRPC status"},
	{"p", 200, RECORD_OK, "", "", "cut", "the response has no body"},
	{"p1", 200, RECORD_OK, "x", "", "cut", "the stream ended without its end mark"},
	{"p1", 200, RECORD_OK, "x", "stop", "cut", "the stream ended without its end mark, after a finish reason"},
	{"pe", 200, RECORD_OK, "x", "error", "in-band",
     "the server ended the response without content, with finish reason error"},
	{"pe", 200, RECORD_OK, "x", "content_filter", "in-band",
     "the server ended the response without content, with finish reason content_filter"},
	{"pe1", 200, RECORD_OK, "x", "error", "in-band", "the server gave the response up, with finish reason error"},
	{"pe", 200, RECORD_OK, "x", "stop", NULL, NULL},
	{"pe", 200, RECORD_OK, "x", "", "malformed", "the response has neither content nor a finish reason nor usage"},
	{"pec", 200, RECORD_OK, "x", "stop", "malformed", "the response has no content, which the API requires"},
};

static void failures_have_their_kind_and_text(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof outcomes / sizeof *outcomes; i++) {
		const struct outcome *o = &outcomes[i];
		struct scene s;
		scene_begin(&s, (const int64_t[]){100}, strchr(o->is, '1') != NULL);
		const struct api_response format = {.content_required = strchr(o->is, 'c') != NULL};
		char what[80], kind[40], text[120];
		snprintf(what, sizeof what, "%s, %s", o->is, o->text ? o->text : "a success");
		snprintf(kind, sizeof kind, "\"%s\"", o->kind ? o->kind : "");
		snprintf(text, sizeof text, "\"%s\"", o->text ? o->text : "");
		s.response.format = i % 2 ? &format : strchr(o->is, 'c') ? &format : NULL;
		s.response.parsed = strchr(o->is, 'p');
		s.response.ended = strchr(o->is, 'e');
		s.response.failed = strchr(o->is, 'f');
		s.response.deadline_exceeded = strchr(o->is, 'd');
		s.response.malformed = strchr(o->is, 'm');
		s.response.no_status = strchr(o->is, 'g');
		buffer_text(&s.response.malformed_text, "broken");
		buffer_text(&s.response.finish, o->finish);
		s.record.status = o->status;
		s.record.error = o->error;
		s.record.body = slice_of(o->body);
		s.record.stale = true;
		scene_measure(&s);
		assert_int_equal(s.row.ok, !o->kind);
		assert_int_equal(s.row.stale, o->kind != NULL);
		text_is(what, s.row.error_kind, o->kind ? kind : NULL);
		text_is(what, s.row.error_text, o->kind ? text : NULL);
		buffer_release(&s.response.malformed_text);
		buffer_release(&s.response.finish);
		scene_end(&s);
	}
}

static void replicas_are_named_by_a_header(void **state)
{
	static const char headers[] = "{\"x-replic\":\"a\",\"x-replica-id\":\"b\",\"x-replica\":\"c\",\"x-replicb\":7}";
	static const struct {
		const char *name, *expected;
	} cases[] = {{"X-Replica", "\"c\""}, {"x-replicb", NULL}, {"x-replicas", NULL}, {NULL, NULL}};
	struct scene s;
	(void)state;
	scene_begin(&s, NULL, 0);
	s.options.replica_header = "x-replica";
	scene_measure(&s);
	assert_null(s.row.replica.data);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		s.record.headers = slice_of(headers);
		s.options.replica_header = cases[i].name;
		scene_measure(&s);
		text_is(cases[i].name ? cases[i].name : "no name", s.row.replica, cases[i].expected);
	}
	scene_end(&s);
}

/* ---- tokens ---- */

/* The believed part of a count by the server, and other known counts. */
static void the_best_count_of_tokens_is_used(void **state)
{
	static const struct {
		size_t events, usage_events;
		int64_t usage, ids, asked; /* ids of each event; the output asked for */
		const char *is;            /* w: a whole response; v: one value; s: a stream was asked for; d: data */
		int64_t expected;
		const char *source;
	} cases[] = {
		{2, 2, 0, NONE, 5, "s", 2, "\"events\""}, /* none, although there is content */
		{0, 0, 0, NONE, 5, "s", 0, "\"usage\""},
		{3, 2, 2, NONE, 5, "s", 3, "\"events\""}, /* no total: content followed */
		{3, 3, 2, NONE, 5, "s", 2, "\"usage\""},
		{3, 2, 3, NONE, 5, "s", 3, "\"usage\""},
		{3, 0, NONE, 2, 5, "s", 6, "\"ids\""},
		{1, 0, NONE, 1, 5, "s", 1, "\"ids\""},
		{3, 0, NONE, 0, 5, "s", 3, "\"events\""},
		{3, 0, NONE, 2, 5, "sd", NONE, NULL},
		{3, 0, NONE, NONE, 5, "sd", NONE, NULL},
		{1, 0, NONE, NONE, 5, "s", 1, "\"events\""},
		{1, 0, NONE, NONE, 5, "", NONE, "\"none\""},
		{1, 0, NONE, NONE, 5, "sw", NONE, "\"none\""},
		{1, 0, NONE, NONE, 5, "sv", NONE, "\"none\""},
		{1, 0, NONE, NONE, 1, "sv", 1, "\"events\""},
		{1, 0, NONE, NONE, 5, "d", NONE, NULL},
		{2, 0, NONE, NONE, 5, "v", 2, "\"events\""},
		{0, 0, NONE, NONE, 5, "v", NONE, NULL},
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct scene s;
		scene_begin(&s, (const int64_t[]){100, 200, 300}, cases[i].events);
		s.response.usage_events = cases[i].usage_events;
		s.response.output_tokens = cases[i].usage;
		s.response.whole = strchr(cases[i].is, 'w');
		s.response.one_value = strchr(cases[i].is, 'v');
		s.record.streamed = strchr(cases[i].is, 's');
		s.response.no_text = strchr(cases[i].is, 'd');
		s.record.asked_output_tokens = cases[i].asked;
		for (size_t k = 0; k < cases[i].events; k++)
			s.events[k].token_ids = cases[i].ids;
		scene_measure(&s);
		FIGURES_ARE(i, &cases[i].expected, s.row.output_tokens);
		text_is(cases[i].is, s.row.tokens_source, cases[i].source);
		scene_end(&s);
	}
	static const int64_t inputs[][3] = {{7, 5, 7},    {1, 5, 1},    {0, 5, 5}, {NONE, 5, 5},
	                                    {0, NONE, 0}, {3, NONE, 3}, {0, 0, 0}, {NONE, NONE, NONE}};
	struct scene s;
	scene_begin(&s, NULL, 0);
	for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
		s.response.input_tokens = inputs[i][0];
		s.record.asked_input_tokens = inputs[i][1];
		scene_measure(&s);
		FIGURES_ARE(i, &inputs[i][2], s.row.input_tokens);
	}
	scene_end(&s);
}

/* A response in one piece has no first token, unless it may be a stream of one token. */
static void a_whole_response_has_no_first_token(void **state)
{
	static const struct {
		size_t events;
		int64_t usage, asked;
		const char *is, *why; /* as above; n: an API without streams */
	} cases[] = {
		{1, NONE, 5, "sw", "\"ignored\""}, {1, NONE, 5, "w", "\"not-asked\""}, {1, NONE, 5, "wn", "\"no-streaming\""},
		{1, 1, 5, "w", "\"not-asked\""},   {1, 2, 1, "sv", "\"ignored\""},     {1, 1, 5, "sv", NULL},
		{1, NONE, 1, "sv", NULL},          {1, NONE, 5, "sv", "\"ignored\""},  {2, 2, 5, "w", NULL},
		{1, NONE, 5, "s", NULL},
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct scene s;
		scene_begin(&s, (const int64_t[]){100, 120}, cases[i].events);
		s.response.usage_events = cases[i].events;
		s.response.output_tokens = cases[i].usage;
		s.response.whole = strchr(cases[i].is, 'w');
		s.response.one_value = strchr(cases[i].is, 'v');
		s.response.no_streaming = strchr(cases[i].is, 'n');
		s.record.streamed = strchr(cases[i].is, 's');
		s.record.asked_output_tokens = cases[i].asked;
		s.response.first_text_ns = 100;
		s.options.deadline_ns = 20;
		scene_measure(&s);
		text_is(cases[i].is, s.row.not_streamed, cases[i].why);
		assert_int_equal(s.row.ttft_ns, cases[i].why ? NONE : 100);
		assert_int_equal(s.row.ttfa_ns, cases[i].why ? NONE : 100);
		assert_int_equal(s.row.e2e_ns, cases[i].events == 2 ? 120 : 100);
		assert_int_equal(s.row.deadlines, cases[i].events == 2 ? 1 : NONE);
		scene_end(&s);
	}
}

/* The tokens of the first event, by its usage alone: later ones must not be less. */
static void usage_of_the_first_event(void **state)
{
	static const struct {
		int64_t usage[4], total, corrected;
	} cases[] = {
		{{2, NONE, NONE, NONE}, 9, 16},  {{2, 2, NONE, 9}, 9, 16},
		{{2, 1, NONE, NONE}, 9, NONE},   {{2, NONE, 3, 2}, 9, NONE},
		{{NONE, 2, 3, 9}, 9, NONE},      {{9, NONE, NONE, NONE}, 9, NONE},
		{{8, NONE, NONE, NONE}, 9, 110}, {{2, NONE, NONE, NONE}, NONE, NONE},
	};
	struct scene s;
	(void)state;
	scene_begin(&s, (const int64_t[]){100, 130, 150, 210}, 4);
	s.response.usage_events = 4;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		s.response.output_tokens = cases[i].total;
		for (size_t k = 0; k < 4; k++) {
			s.events[k].usage_tokens = cases[i].usage[k];
			s.events[k].token_ids = NONE;
		}
		scene_measure(&s);
		FIGURES_ARE(i, &cases[i].corrected, s.row.tpot_corrected_ns);
	}
	/* one token in all of them */
	s.options.itl = ITL_TOKEN;
	for (size_t k = 0; k < 4; k++)
		s.events[k].usage_tokens = k > 2;
	scene_measure(&s);
	SAMPLES_ARE(&s, {110, 1});
	scene_end(&s);
}

static void three_counts_stand_side_by_side(void **state)
{
	(void)state;
	struct scene s;
	struct ipf_error err = {0};
	struct token_counter *tokens;
	assert_int_equal(token_counter_open(&tokens, "approx", &err), 0);
	scene_begin(&s, (const int64_t[]){100, 200, 300}, 3);
	scene_measure(&s);
	assert_int_equal(s.row.output_tokens, 3);
	assert_true(slice_is(s.row.tokens_source, "\"events\""));
	assert_int_equal(s.row.output_tokens_tokenizer, IPF_ABSENT);
	assert_int_equal(s.row.tpot_ns, 100);
	assert_int_equal(s.row.ntpot_ns, 100);
	assert_int_equal(s.row.tpot_corrected_ns, IPF_ABSENT);

	buffer_text(&s.response.content, "aaaaaaaaaaaaaaaaaaaaa"); /* 21 bytes: 6 tokens, the first event's 8 bytes 2 */
	s.events[0].content_end = 8;
	s.events[1].content_end = 9;
	s.events[2].content_end = 21;
	s.options.tokens = tokens;
	scene_measure(&s);
	assert_int_equal(s.row.output_tokens, 6);
	assert_true(slice_is(s.row.tokens_source, "\"tokenizer\""));
	assert_int_equal(s.row.tpot_ns, 200 / 5);
	assert_int_equal(s.row.tpot_corrected_ns, 200 / 4);
	const int64_t by_event[] = {2, 1, 3};
	assert_memory_equal(s.measure.event_tokens, by_event, sizeof by_event);

	s.response.output_tokens = 9;
	s.response.input_tokens = 4;
	s.record.asked_input_tokens = 5;
	scene_measure(&s);
	assert_int_equal(s.row.output_tokens, 9);
	assert_int_equal(s.row.output_tokens_usage, 9);
	assert_int_equal(s.row.output_tokens_tokenizer, 6);
	assert_true(slice_is(s.row.tokens_source, "\"usage\""));
	assert_int_equal(s.row.tpot_ns, 200 / 8);
	assert_int_equal(s.row.tpot_corrected_ns, 29); /* 200 / 7, rounded */
	assert_int_equal(s.row.ntpot_ns, 33);          /* 300 / 9 */
	assert_int_equal(s.row.input_tokens, 4);
	assert_int_equal(s.row.asked_input_tokens, 5);

	s.response.includes_prompt = true;
	scene_measure(&s);
	assert_int_equal(s.row.output_tokens_tokenizer, IPF_ABSENT);
	s.response.includes_prompt = false;
	buffer_clear(&s.response.content); /* data: there is nothing to count */
	for (size_t i = 0; i < 3; i++)
		s.events[i].content_end = 0;
	scene_measure(&s);
	assert_int_equal(s.row.output_tokens_tokenizer, 0);
	scene_end(&s);
	token_counter_close(tokens);
}

static void per_token_figures_need_two(void **state)
{
	(void)state;
	struct scene s;
	scene_begin(&s, (const int64_t[]){100}, 1);
	s.response.output_tokens = 8; /* all in one event: no gap, so no time per token */
	scene_measure(&s);
	assert_int_equal(s.row.tpot_ns, IPF_ABSENT);
	assert_int_equal(s.row.ttst_ns, IPF_ABSENT);
	assert_int_equal(s.row.itl_mean_ns, IPF_ABSENT);
	assert_int_equal(s.row.stalls, IPF_ABSENT);
	assert_int_equal(s.row.ntpot_ns, 13); /* 100 / 8 = 12.5 */
	scene_end(&s);

	scene_begin(&s, (const int64_t[]){100, 300}, 2);
	s.response.output_tokens = 1; /* says the server, at the end */
	s.response.usage_events = 2;
	scene_measure(&s);
	assert_int_equal(s.row.tpot_ns, IPF_ABSENT);
	assert_int_equal(s.row.ntpot_ns, 300);
	assert_int_equal(s.row.itl_mean_ns, 200);
	assert_int_equal(s.row.ttst_ns, 200);
	s.response.output_tokens = 2;
	scene_measure(&s);
	assert_int_equal(s.row.tpot_ns, 200);
	assert_int_equal(s.row.ntpot_ns, 150);
	scene_end(&s);
}

static void an_empty_answer_has_no_figures(void **state)
{
	(void)state;
	struct scene s;
	scene_begin(&s, NULL, 0);
	s.response.output_tokens = 0;
	scene_measure(&s);
	assert_true(s.row.ok);
	assert_int_equal(s.row.output_tokens, 0);
	s.response.output_tokens = 1; /* the end token */
	scene_measure(&s);
	assert_true(s.row.ok);
	assert_int_equal(s.row.output_tokens, 1);
	assert_int_equal(s.row.ntpot_ns, IPF_ABSENT);
	assert_int_equal(s.row.ttft_ns, IPF_ABSENT);
	assert_int_equal(s.row.e2e_ns, IPF_ABSENT);
	assert_int_equal(s.row.events, 0);
	scene_end(&s);
}

/* ---- gaps ---- */

/* How much shorter or longer a gap can have been: rounded away from it. */
static void rounding_widens_gaps(void **state)
{
	static const struct {
		int64_t early[2], usage, expected[3]; /* tokens of the second event; value, low, high of a gap of 10 */
	} cases[] = {{{0, 0}, 1, {10, 10, 10}}, {{0, 4}, 1, {10, 6, 10}},  {{5, 0}, 1, {10, 10, 15}},
	             {{0, 10}, 1, {10, 0, 10}}, {{0, 11}, 1, {10, 0, 10}}, {{3, 3}, 3, {3, 2, 5}},
	             {{2, 1}, 3, {3, 3, 4}}};
	struct scene s;
	(void)state;
	scene_begin(&s, (const int64_t[]){100, 110}, 2);
	s.options.itl = ITL_TOKEN;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		s.events[0].usage_tokens = 1;
		s.events[1].usage_tokens = 1 + cases[i].usage;
		s.events[0].early_ns = cases[i].early[0];
		s.events[1].early_ns = cases[i].early[1];
		scene_measure(&s);
		const struct itl_sample *sample = s.measure.samples;
		FIGURES_ARE(i, cases[i].expected, sample->value_ns, sample->low_ns, sample->high_ns);
		assert_int_equal(sample->t_ns, 110);
		assert_int_equal(s.row.first_early_ns, cases[i].early[0]);
		assert_int_equal(s.row.last_early_ns, cases[i].early[1]);
	}
	assert_false(s.measure.samples_are_means);
	s.options.itl = ITL_REQUEST;
	scene_measure(&s);
	assert_true(s.measure.samples_are_means);
	scene_end(&s);
	scene_begin(&s, (const int64_t[]){100, 100, 100}, 3);
	scene_measure(&s);
	assert_int_equal(s.row.itl_max_ns, 0);
	assert_int_equal(s.row.itl_mean_ns, 0);
	assert_int_equal(s.row.ttst_ns, 0);
	assert_int_equal(s.row.coalesced, 3);
	scene_end(&s);
}

static void a_sample_is_a_gap(void **state)
{
	(void)state;
	struct scene s;
	scene_begin(&s, (const int64_t[]){100, 110, 110, 150}, 4);
	scene_measure(&s);
	SAMPLES_ARE(&s, {10, 1}, {0, 1}, {40, 1});
	assert_int_equal(s.row.itl_mean_ns, 17); /* 50 / 3 */
	assert_int_equal(s.row.itl_max_ns, 40);
	assert_int_equal(s.row.coalesced, 2); /* the same time: the same read */
	scene_end(&s);
}

static void a_sample_is_a_request(void **state)
{
	(void)state;
	struct scene s;
	scene_begin(&s, (const int64_t[]){100, 110, 110, 150}, 4);
	s.options.itl = ITL_REQUEST;
	scene_measure(&s);
	SAMPLES_ARE(&s, {17, 1});
	assert_int_equal(s.row.itl_mean_ns, 17);
	assert_int_equal(s.row.itl_max_ns, 40);
	scene_end(&s);
}

static void fluidity_carries_time_saved_over(void **state)
{
	(void)state;
	struct scene s;
	scene_begin(&s, (const int64_t[]){100, 110, 150, 160, 200}, 5);
	scene_measure(&s);
	assert_int_equal(s.row.deadlines, IPF_ABSENT); /* not asked for */
	s.options.deadline_ns = 20;
	scene_measure(&s);
	/* due at 120, 140 (missed: then 170), 170, 190 (missed) */
	assert_int_equal(s.row.deadlines, 4);
	assert_int_equal(s.row.deadlines_met, 2);

	/* two tokens each: 101 to 120, then 140 160, 180 200, 220 240, 260 280 */
	for (size_t i = 0; i < 5; i++)
		s.events[i].usage_tokens = 2 * (int64_t)i + 2;
	scene_measure(&s);
	assert_int_equal(s.row.deadlines, 9);
	assert_int_equal(s.row.deadlines_met, 9);

	/* if two come late together the second is early */
	s.options.deadline_ns = 5;
	scene_measure(&s);
	assert_int_equal(s.row.deadlines, 9);
	assert_int_equal(s.row.deadlines_met, 7);
	scene_end(&s);

	scene_begin(&s, (const int64_t[]){100}, 1);
	s.options.deadline_ns = 20;
	scene_measure(&s);
	assert_int_equal(s.row.deadlines, IPF_ABSENT);
	scene_end(&s);

	static const struct {
		int64_t deadline, times[3], usage[3], all, met;
	} cases[] = {{20, {100, 120, 140}, {1, 2, 3}, 2, 2}, /* just in time */
	             {20, {100, 120, 141}, {1, 2, 3}, 2, 1},
	             {20, {100, 150, 160}, {1, 1, 2}, 1, 0}, /* an event without tokens is no deadline */
	             {20, {100, 121, 141}, {1, 2, 3}, 2, 1},
	             {20, {100, 121, 142}, {1, 2, 3}, 2, 0},
	             {INT64_MAX, {100, 150, 160}, {3, 6, 9}, 8, 8}, /* beyond the clock's range */
	             {INT64_MAX / 2, {100, 150, 160}, {3, 6, 9}, 8, 8}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		scene_begin(&s, cases[i].times, 3);
		s.options.deadline_ns = cases[i].deadline;
		for (size_t k = 0; k < 3; k++)
			s.events[k].usage_tokens = cases[i].usage[k];
		scene_measure(&s);
		FIGURES_ARE(i, &cases[i].all, s.row.deadlines, s.row.deadlines_met);
		scene_end(&s);
	}
}

static void a_sample_is_a_token(void **state)
{
	(void)state;
	struct scene s;
	scene_begin(&s, (const int64_t[]){100, 130, 150, 210}, 4);
	s.options.itl = ITL_TOKEN;
	scene_measure(&s); /* nobody knows */
	assert_true(s.measure.tokens_unknown);
	assert_int_equal(s.measure.samples_count, 0);
	assert_int_equal(s.row.itl_mean_ns, IPF_ABSENT);
	assert_int_equal(s.row.itl_max_ns, 60);

	/* by the usage going along: 2 tokens, 3, none, 4; the third gap's 20 + 60 are shared by the last event's */
	const int64_t usage[] = {2, 5, 5, 9};
	for (size_t i = 0; i < 4; i++)
		s.events[i].usage_tokens = usage[i];
	s.response.output_tokens = 9;
	scene_measure(&s);
	assert_false(s.measure.tokens_unknown);
	SAMPLES_ARE(&s, {10, 3}, {20, 4});
	assert_int_equal(s.row.itl_mean_ns, 16);       /* 110 / 7 */
	assert_int_equal(s.row.tpot_corrected_ns, 16); /* 110 / (9 - 2) */
	assert_int_equal(s.row.tpot_ns, 14);

	s.response.events_count = 3;
	s.response.output_tokens = 3; /* a shorter answer after a longer one */
	scene_measure(&s);
	SAMPLES_ARE(&s, {10, 3});
	s.response.events_count = 4;
	s.response.output_tokens = 9;
	s.events[2].usage_tokens = IPF_ABSENT; /* not in every event: then it is known of the first one alone */
	scene_measure(&s);
	assert_true(s.measure.tokens_unknown);
	assert_int_equal(s.row.tpot_corrected_ns, 16);
	s.events[0].usage_tokens = IPF_ABSENT;
	scene_measure(&s);
	assert_int_equal(s.row.tpot_corrected_ns, IPF_ABSENT);

	for (size_t i = 0; i < 4; i++)
		s.events[i].usage_tokens = 0; /* a server counting nothing while it streams */
	scene_measure(&s);
	assert_true(s.measure.tokens_unknown);

	for (size_t i = 0; i < 4; i++)
		s.events[i].usage_tokens = usage[i];
	s.events[2].usage_tokens = 4; /* it falls: nonsense */
	scene_measure(&s);
	assert_true(s.measure.tokens_unknown);
	assert_int_equal(s.row.tpot_corrected_ns, IPF_ABSENT);
	scene_end(&s);
}

/* How many tokens the first event brought, by everything a server may say of it. */
static void tokens_of_the_first_event(void **state)
{
	(void)state;
	struct scene s;
	struct ipf_error err = {0};
	struct token_counter *tokens;
	scene_begin(&s, (const int64_t[]){100, 130, 150, 210}, 4);
	s.options.itl = ITL_TOKEN;
	s.response.output_tokens = 9;
	scene_measure(&s);
	assert_int_equal(s.row.tpot_corrected_ns, IPF_ABSENT); /* more tokens than events: not known */
	s.response.output_tokens = 3;
	scene_measure(&s);
	assert_int_equal(s.row.tpot_corrected_ns, IPF_ABSENT);
	s.response.output_tokens = 4; /* as many events as tokens: one each */
	scene_measure(&s);
	assert_int_equal(s.row.tpot_corrected_ns, 37); /* 110 / 3 */
	assert_int_equal(s.row.tpot_ns, 37);
	SAMPLES_ARE(&s, {30, 1}, {20, 1}, {60, 1});

	/* the server's word comes before the tokenizer's */
	assert_int_equal(token_counter_open(&tokens, "approx", &err), 0);
	buffer_text(&s.response.content, "aaaaaaaaaaaaaaaaaaaaa");
	for (size_t i = 0; i < 4; i++)
		s.events[i].content_end = i < 3 ? 17 + i : 21;
	s.options.tokens = tokens;
	scene_measure(&s);
	assert_int_equal(s.row.output_tokens_tokenizer, 6);
	assert_int_equal(s.row.tpot_corrected_ns, 37);
	token_counter_close(tokens);
	s.options.tokens = NULL;

	/* ids in every event; without any in one of them, it is known of none */
	s.response.output_tokens = 8;
	for (size_t i = 0; i < 4; i++)
		s.events[i].token_ids = 2;
	scene_measure(&s);
	assert_int_equal(s.row.tpot_corrected_ns, 18); /* 110 / 6 */
	SAMPLES_ARE(&s, {15, 2}, {10, 2}, {30, 2});
	s.events[3].token_ids = IPF_ABSENT;
	scene_measure(&s);
	assert_int_equal(s.row.tpot_corrected_ns, IPF_ABSENT);
	scene_end(&s);
}

static void tokens_of_events_add_up(void **state)
{
	const int64_t times[] = {100, 110, 130, 190};
	struct scene s;
	(void)state;
	scene_begin(&s, times, 4);
	/* only the sum is known */
	s.response.output_tokens = 10;
	s.response.usage_events = 4;
	scene_measure(&s);
	const int64_t even[] = {2, 2, 3, 3};
	assert_memory_equal(s.measure.event_tokens, even, sizeof even);
	assert_int_equal(s.measure.samples[0].t_ns, 110);
	assert_int_equal(s.measure.samples[2].t_ns, 190);
	/* each event says how many it brought */
	const int64_t usage[] = {1, 4, 8, 10}, own[] = {1, 3, 4, 2};
	for (size_t i = 0; i < 4; i++)
		s.events[i].usage_tokens = usage[i];
	scene_measure(&s);
	assert_memory_equal(s.measure.event_tokens, own, sizeof own);
	/* and the total contradicts them */
	s.response.output_tokens = 12;
	scene_measure(&s);
	const int64_t total[] = {3, 3, 3, 3};
	assert_memory_equal(s.measure.event_tokens, total, sizeof total);
	scene_end(&s);
}

static void stalls_are_long_gaps(void **state)
{
	(void)state;
	const int64_t ms = 1000000;
	struct scene s;
	/* gaps 8 100 101 8 8: the median is 8, ten of it are less than 100 ms, so only the excess over 100 counts */
	scene_begin(&s, (const int64_t[]){0, 8 * ms, 108 * ms, 209 * ms, 217 * ms, 225 * ms}, 6);
	scene_measure(&s);
	assert_int_equal(s.row.stalls, 1);
	assert_int_equal(s.row.itl_max_ns, 101 * ms);
	s.options.stall_ns = 99 * ms;
	scene_measure(&s);
	assert_int_equal(s.row.stalls, 2);
	s.options.stall_ns = 0;
	scene_measure(&s);
	assert_int_equal(s.row.stalls, 5);
	scene_end(&s);
	/* gaps 20 30 251 250 20 30: the median is 30, the lower limit 300 */
	scene_begin(&s, (const int64_t[]){0, 20 * ms, 50 * ms, 301 * ms, 551 * ms, 571 * ms, 601 * ms}, 7);
	scene_measure(&s);
	assert_int_equal(s.row.stalls, 0);
	scene_end(&s);
	/* gaps 20 20 40 300: the median is 30 */
	for (int64_t over = 0; over < 2; over++) {
		scene_begin(&s, (const int64_t[]){0, 20 * ms, 40 * ms, 80 * ms, 380 * ms + over}, 5);
		scene_measure(&s);
		assert_int_equal(s.row.stalls, over);
		scene_end(&s);
	}
	/* gaps 10 30 250: the median is 30 */
	scene_begin(&s, (const int64_t[]){0, 10 * ms, 40 * ms, 290 * ms}, 4);
	scene_measure(&s);
	assert_int_equal(s.row.stalls, 0);
	scene_end(&s);
	/* none is longer than the least that counts */
	scene_begin(&s, (const int64_t[]){0, ms, 101 * ms, 102 * ms}, 4);
	scene_measure(&s);
	assert_int_equal(s.row.stalls, 0);
	scene_end(&s);
	/* gaps 20 20 251 30: the median is 25, between two of them; 250 would be none */
	scene_begin(&s, (const int64_t[]){0, 20 * ms, 40 * ms, 291 * ms, 321 * ms}, 5);
	scene_measure(&s);
	assert_int_equal(s.row.stalls, 1);
	scene_end(&s);
}

static void events_are_listed_on_demand(void **state)
{
	(void)state;
	struct scene s;
	scene_begin(&s, (const int64_t[]){100, 130}, 2);
	scene_measure(&s);
	assert_null(s.row.event_ns.data);
	s.options.keep_events = true;
	scene_measure(&s);
	assert_true(slice_is(s.row.event_ns, "[100,130]"));
	assert_null(s.row.event_tokens.data);
	s.events[0].usage_tokens = 1;
	s.events[1].usage_tokens = 4;
	scene_measure(&s);
	assert_true(slice_is(s.row.event_tokens, "[1,3]"));
	assert_null(s.row.event_kinds.data);
	assert_true(slice_is(s.row.other_kinds, "[\"close\"]"));
	struct response_other others[] = {{.t_ns = 90, .kind = EVENT_ROLE}, {.t_ns = 140, .kind = EVENT_END}};
	s.events[0].kind = EVENT_REASONING;
	s.response.others = others;
	s.response.others_count = 2;
	s.record.error = RECORD_RESET;
	scene_measure(&s);
	assert_true(slice_is(s.row.event_kinds, "[\"reasoning\",\"text\"]"));
	assert_true(slice_is(s.row.other_ns, "[90,140]"));
	assert_true(slice_is(s.row.other_kinds, "[\"role\",\"end\"]"));
	s.record.error = RECORD_OK;
	s.record.end_ns = IPF_ABSENT;
	s.response.events_count = 0;
	scene_measure(&s);
	assert_true(slice_is(s.row.event_ns, "[]"));
	assert_true(slice_is(s.row.other_ns, "[90,140]"));
	s.response.others_count = 0;
	scene_measure(&s);
	assert_null(s.row.event_ns.data);
	assert_true(slice_is(s.row.other_ns, "[]"));
	s.response.parsed = false;
	scene_measure(&s);
	assert_null(s.row.other_ns.data);
	scene_end(&s);

	scene_begin(&s, NULL, 0);
	buffer_text(&s.response.text, "a\"b");
	buffer_text(&s.response.reasoning, "c");
	scene_measure(&s);
	assert_null(s.row.text.data);
	s.options.keep_text = true;
	scene_measure(&s);
	assert_true(slice_is(s.row.text, "\"a\\\"b\""));
	assert_true(slice_is(s.row.reasoning, "\"c\""));
	buffer_release(&s.response.text);
	buffer_release(&s.response.reasoning);
	scene_end(&s);
}

static void a_stale_connection_is_told(void **state)
{
	(void)state;
	struct scene s;
	scene_begin(&s, NULL, 0);
	s.response.parsed = s.response.ended = false;
	s.record.status = IPF_ABSENT;
	s.record.error = RECORD_RESET;
	s.record.error_text = slice_of("Recv failure");
	s.record.stale = true;
	scene_measure(&s);
	assert_true(s.row.stale);
	assert_true(slice_is(s.row.error_kind, "\"reset\""));
	assert_true(slice_is(s.row.error_text, "\"Recv failure\""));
	scene_end(&s);
}

static void times_beyond_all_measure_are_absent(void **state)
{
	(void)state;
	struct scene s;
	scene_begin(&s, (const int64_t[]){100, 130}, 2);
	s.record.start_ns = INT64_MAX;
	s.record.due_ns = INT64_MIN + 1;
	scene_measure(&s);
	assert_int_equal(s.row.lag_ns, IPF_ABSENT);
	assert_int_equal(s.row.ttft_ns, IPF_ABSENT);
	assert_int_equal(s.row.tpot_ns, IPF_ABSENT);
	scene_end(&s);

	static const struct {
		int64_t start, due, lag;
	} cases[] = {{RESPONSE_TIME_MAX, 0, RESPONSE_TIME_MAX},
	             {RESPONSE_TIME_MAX + 1, 0, NONE},
	             {-RESPONSE_TIME_MAX, 0, -RESPONSE_TIME_MAX},
	             {-RESPONSE_TIME_MAX - 1, 0, NONE},
	             {0, RESPONSE_TIME_MAX, -RESPONSE_TIME_MAX},
	             {0, RESPONSE_TIME_MAX + 1, NONE},
	             {0, -RESPONSE_TIME_MAX, RESPONSE_TIME_MAX},
	             {0, -RESPONSE_TIME_MAX - 1, NONE},
	             {0, NONE, NONE}};
	scene_begin(&s, NULL, 0);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		s.record.start_ns = cases[i].start;
		s.record.due_ns = cases[i].due;
		scene_measure(&s);
		FIGURES_ARE(i, &cases[i].lag, s.row.lag_ns);
	}
	scene_end(&s);
}

/* Some servers report zeros where nothing was drafted. */
static void drafts_of_zero_are_none(void **state)
{
	static const int64_t cases[][3] = {{0, 5, NONE}, {3, 0, NONE}, {3, 5, 3}, {NONE, 5, NONE}, {1, 1, 1}};
	struct scene s;
	(void)state;
	scene_begin(&s, NULL, 0);
	s.response.details[API_SPEC_ACCEPTED] = 2;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		s.response.details[API_SPEC_DRAFTS] = cases[i][0];
		s.response.details[API_SPEC_DRAFT] = cases[i][1];
		scene_measure(&s);
		FIGURES_ARE(i, &cases[i][2], s.row.spec_drafts);
		assert_int_equal(s.row.spec_accepted_tokens, i < 2 ? NONE : 2);
	}
	scene_end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lateness),
		cmocka_unit_test(waits_before_the_start),
		cmocka_unit_test(sending),
		cmocka_unit_test(requests_that_never_started_have_no_latency),
		cmocka_unit_test(failures_have_their_kind_and_text),
		cmocka_unit_test(replicas_are_named_by_a_header),
		cmocka_unit_test(the_best_count_of_tokens_is_used),
		cmocka_unit_test(a_whole_response_has_no_first_token),
		cmocka_unit_test(usage_of_the_first_event),
		cmocka_unit_test(rounding_widens_gaps),
		cmocka_unit_test(three_counts_stand_side_by_side),
		cmocka_unit_test(per_token_figures_need_two),
		cmocka_unit_test(an_empty_answer_has_no_figures),
		cmocka_unit_test(a_sample_is_a_gap),
		cmocka_unit_test(a_sample_is_a_request),
		cmocka_unit_test(fluidity_carries_time_saved_over),
		cmocka_unit_test(a_sample_is_a_token),
		cmocka_unit_test(tokens_of_events_add_up),
		cmocka_unit_test(stalls_are_long_gaps),
		cmocka_unit_test(tokens_of_the_first_event),
		cmocka_unit_test(events_are_listed_on_demand),
		cmocka_unit_test(a_stale_connection_is_told),
		cmocka_unit_test(times_beyond_all_measure_are_absent),
		cmocka_unit_test(drafts_of_zero_are_none),
	};
	return cmocka_run_group_tests_name("collect/measure", tests, NULL, NULL);
}
