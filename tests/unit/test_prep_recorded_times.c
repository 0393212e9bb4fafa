/* ipf-prep/sources/recorded_times.h: which recorded latencies a request keeps. */
#include "unit.h"

#include "clock.h"
#include "sources/recorded_times.h"

#define MS NS_PER_MS

static struct draft_request request(void)
{
	return (struct draft_request){
		.output_tokens = 8, .hang_up_ns = IPF_ABSENT, .recorded_ttft_ns = IPF_ABSENT, .recorded_e2e_ns = IPF_ABSENT};
}

static void possible_latencies_are_kept(void **state)
{
	(void)state;
	static const struct recorded_times cases[] = {{100 * MS, 900 * MS, false},
	                                              {IPF_ABSENT, 900 * MS, false},
	                                              {100 * MS, IPF_ABSENT, false},
	                                              {0, 1, false},
	                                              {IPF_ABSENT, NS_PER_YEAR, false}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct draft_request r = request();
		struct ipf_error err = {0};
		assert_int_equal(recorded_times_set(&r, &cases[i], &err), 0);
		assert_int_equal(r.recorded_ttft_ns, cases[i].ttft_ns);
		assert_int_equal(r.recorded_e2e_ns, cases[i].e2e_ns);
	}
}

static void impossible_latencies_are_named(void **state)
{
	(void)state;
	static const struct {
		struct recorded_times times;
		const char *says;
	} cases[] = {
		{{-1, IPF_ABSENT, false}, "recorded time to first token: expected 0 to a year"},
		{{IPF_ABSENT, -5 * NS_PER_S, false}, "recorded latency: expected 0 to a year, got -5 s"},
		{{IPF_ABSENT, NS_PER_YEAR + 1, false}, "recorded latency: expected 0 to a year"},
		{{2 * NS_PER_S, 1500 * MS, false}, "recorded time to first token: expected at most the latency, got 2 s"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct draft_request r = request();
		struct ipf_error err = {0};
		assert_int_equal(recorded_times_set(&r, &cases[i].times, &err), -1);
		assert_non_null(strstr(err.text, cases[i].says));
		assert_true(r.recorded_ttft_ns == IPF_ABSENT && r.recorded_e2e_ns == IPF_ABSENT);
		ipf_error_clear(&err);
		recorded_times_set_possible(&r, &cases[i].times);
		assert_int_equal(r.recorded_ttft_ns, IPF_ABSENT);
		assert_int_equal(r.recorded_e2e_ns, i == 3 ? cases[i].times.e2e_ns : IPF_ABSENT);
	}
}

static void an_answer_that_was_not_streamed_has_no_first_token(void **state)
{
	(void)state;
	const struct recorded_times whole = {900 * MS, 900 * MS, false};
	struct draft_request r = request();
	recorded_times_set_possible(&r, &whole);
	assert_true(r.recorded_ttft_ns == IPF_ABSENT && r.recorded_e2e_ns == 900 * MS);
	r = request();
	r.output_tokens = 1;
	recorded_times_set_possible(&r, &whole);
	assert_int_equal(r.recorded_ttft_ns, 900 * MS);
}

static void only_complete_answers_have_latencies(void **state)
{
	(void)state;
	const struct recorded_times times = {100 * MS, 900 * MS, false};
	struct draft_request failed = request(), left = request();
	failed.failed = true;
	left.hang_up_ns = 900 * MS;
	recorded_times_set_possible(&failed, &times);
	recorded_times_set_possible(&left, &times);
	assert_true(failed.recorded_ttft_ns == IPF_ABSENT && failed.recorded_e2e_ns == IPF_ABSENT);
	assert_true(left.recorded_ttft_ns == IPF_ABSENT && left.recorded_e2e_ns == IPF_ABSENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(possible_latencies_are_kept),
		cmocka_unit_test(impossible_latencies_are_named),
		cmocka_unit_test(an_answer_that_was_not_streamed_has_no_first_token),
		cmocka_unit_test(only_complete_answers_have_latencies),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
