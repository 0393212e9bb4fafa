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
	s->response.reasoning_tokens = s->response.cached_tokens = IPF_ABSENT;
	s->response.events = s->events;
	s->response.events_count = count;
	for (size_t i = 0; i < count; i++)
		s->events[i] = (struct response_event){.t_ns = times[i], .usage_tokens = IPF_ABSENT};
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

static void what_never_started_has_no_latency(void **state)
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

/* ---- tokens ---- */

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

	/* of two that come late together the second is early */
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

	/* by the usage that goes along: 2 tokens, 3, none, 4; the third gap's 20 + 60 are shared by the last event's */
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

	s.events[2].usage_tokens = IPF_ABSENT; /* not in every event: then it is known of the first one alone */
	scene_measure(&s);
	assert_true(s.measure.tokens_unknown);
	assert_int_equal(s.row.tpot_corrected_ns, 16);
	s.events[0].usage_tokens = IPF_ABSENT;
	scene_measure(&s);
	assert_int_equal(s.row.tpot_corrected_ns, IPF_ABSENT);

	for (size_t i = 0; i < 4; i++)
		s.events[i].usage_tokens = 0; /* a server that counts nothing while it streams */
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

/* How many tokens the first event brought, by everything that a server may say of it. */
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
	/* gaps 8 100 101 8 8: the median is 8, ten of it are less than 100 ms, so only what is over 100 counts */
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
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lateness),
		cmocka_unit_test(what_never_started_has_no_latency),
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
	};
	return cmocka_run_group_tests_name("collect/measure", tests, NULL, NULL);
}
