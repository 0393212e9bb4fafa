/* Where the time of requests went, by twins whose steps follow by arithmetic: a step takes 10 ms, 1 ms for each
 * sequence and 1 ms for each token of a prompt; a request arrives 3 ms after it was sent. */
#include "why/twin_why.h"

#include "clock.h"

#include "unit.h"

#include <math.h>

#define MS NS_PER_MS

static void exact(struct twin *t, enum twin_parameter_id id, double value)
{
	twin_set(t, id, value, value, value);
}

static struct twin plain_twin(void)
{
	struct twin t;
	twin_init(&t);
	exact(&t, TWIN_STEP_BASE, 10 * MS);
	exact(&t, TWIN_STEP_SEQUENCE, MS);
	exact(&t, TWIN_PREFILL, 1000);
	exact(&t, TWIN_OVERHEAD, 3 * MS);
	/* noise explains nothing */
	exact(&t, TWIN_JITTER, 0.5);
	exact(&t, TWIN_PAUSE, 100 * MS);
	exact(&t, TWIN_PAUSE_EVERY, 1e6);
	return t;
}

static struct measured_request request(int64_t start_ms, int64_t input, int64_t output, int64_t ttft_ms, int64_t e2e_ms)
{
	return (struct measured_request){.start_ns = start_ms * MS,
	                                 .first_ns = (start_ms + ttft_ms) * MS,
	                                 .last_ns = (start_ms + e2e_ms) * MS,
	                                 .input_tokens = input,
	                                 .output_tokens = output};
}

static void find(struct twin_why *why, const struct twin *twin, const struct twin_data *data)
{
	struct ipf_error err = {0};
	if (twin_why_find(why, twin, data, &err) < 0)
		fail_msg("%s", err.text);
}

/* In ms, in the order of the parts. */
static void parts_are(const struct twin_why *why, int64_t i, enum why_latency of, const double expected[WHY_PARTS])
{
	double sum = 0;
	for (enum why_part p = 0; p < WHY_PARTS; p++) {
		const double ms = (double)twin_why_ns(why, i, of, p) / MS;
		if (ms != expected[p])
			fail_msg("request %d, %s, %s: %g ms instead of %g", (int)i, why_latency_names[of], why_part_names[p], ms,
			         expected[p]);
		sum += ms;
	}
	assert_true(sum == (double)twin_why_measured_ns(why, i, of) / MS);
}

static void one_alone(void **state)
{
	struct measured_request list[] = {request(5, 100, 3, 120, 150)};
	const struct twin_data data = {.requests = list, .request_count = 1};
	const struct twin twin = plain_twin();
	struct twin_why why;
	(void)state;
	list[0].connect_ns = 2 * MS;
	find(&why, &twin, &data);
	/* its first step takes 100 + 10 + 1 ms, the two others 10 + 1 */
	parts_are(&why, 0, WHY_TTFT, (double[WHY_PARTS]){2, 3, 0, 0, 100, 0, 11, 0, 0, 6});
	parts_are(&why, 0, WHY_E2E, (double[WHY_PARTS]){2, 3, 0, 0, 100, 0, 11, 0, 22, 14});
	assert_true(why.requests[0].others[WHY_TTFT] == 0 && why.requests[0].others[WHY_E2E] == 0);
	twin_why_release(&why);
}

static void a_second_waits_for_the_step_of_the_first(void **state)
{
	struct measured_request list[] = {request(0, 100, 3, 114, 300), request(50, 200, 1, 276, 276)};
	const struct twin_data data = {.requests = list, .request_count = 2};
	const struct twin twin = plain_twin();
	struct twin_why why;
	(void)state;
	find(&why, &twin, &data);
	/* from 3 to 114 ms: the prompt of the first; to 326: a token of the first and the prompt of the second */
	parts_are(&why, 0, WHY_TTFT, (double[WHY_PARTS]){0, 3, 0, 0, 100, 0, 11, 0, 0, 0});
	parts_are(&why, 0, WHY_E2E, (double[WHY_PARTS]){0, 3, 0, 0, 100, 0, 11, 200, 12 + 11, -37});
	parts_are(&why, 1, WHY_TTFT, (double[WHY_PARTS]){0, 3, 61, 0, 200, 0, 12, 0, 0, 0});
	assert_true(why.requests[1].others[WHY_TTFT] == 1 && isnan(why.requests[1].others[WHY_E2E]));
	assert_true(fabs(why.requests[0].others[WHY_E2E] - 212. / 223) < 1e-9);
	twin_why_release(&why);
}

static void prompts_share_a_step(void **state)
{
	struct measured_request list[] = {request(0, 100, 1, 400, 400), request(0, 200, 1, 400, 400)};
	const struct twin_data data = {.requests = list, .request_count = 2};
	const struct twin twin = plain_twin();
	struct twin_why why;
	(void)state;
	list[1].cached_tokens = 40; /* these take no time */
	find(&why, &twin, &data);
	parts_are(&why, 0, WHY_TTFT, (double[WHY_PARTS]){0, 3, 0, 0, 100, 160, 12, 0, 0, 125});
	parts_are(&why, 1, WHY_E2E, (double[WHY_PARTS]){0, 3, 0, 0, 160, 100, 12, 0, 0, 125});
	twin_why_release(&why);
}

static void a_full_batch_is_a_queue(void **state)
{
	struct measured_request list[] = {request(0, 100, 3, 114, 136), request(0, 50, 1, 200, 200)};
	const struct twin_data data = {.requests = list, .request_count = 2};
	struct twin twin = plain_twin();
	struct twin_why why;
	(void)state;
	exact(&twin, TWIN_SEQUENCES, 1);
	find(&why, &twin, &data);
	parts_are(&why, 0, WHY_E2E, (double[WHY_PARTS]){0, 3, 0, 0, 100, 0, 11, 0, 22, 0});
	parts_are(&why, 1, WHY_TTFT, (double[WHY_PARTS]){0, 3, 133, 0, 50, 0, 11, 0, 0, 3});
	twin_why_release(&why);
	/* servers have queues and steps each */
	list[1].server = 1;
	find(&why, &twin, &data);
	parts_are(&why, 1, WHY_TTFT, (double[WHY_PARTS]){0, 3, 0, 0, 50, 0, 11, 0, 0, 136});
	twin_why_release(&why);
}

static void requests_larger_than_the_twin_are_unknown(void **state)
{
	struct measured_request list[] = {request(0, 100, 3, 114, 136), request(0, 5000, 1, 9000, 9000),
	                                  request(0, 60, 1, 200, 200)};
	const struct twin_data data = {.requests = list, .request_count = 3};
	struct twin twin = plain_twin();
	struct twin_why why;
	(void)state;
	exact(&twin, TWIN_KV_BLOCKS, 64);
	exact(&twin, TWIN_SEQUENCES, 1);
	find(&why, &twin, &data);
	assert_true(twin_why_knows(&why, 0) && !twin_why_knows(&why, 1) && twin_why_knows(&why, 2));
	parts_are(&why, 2, WHY_TTFT, (double[WHY_PARTS]){0, 3, 133, 0, 60, 0, 11, 0, 0, -7});
	twin_why_release(&why);
}

/* A has 32 tokens of prompt and needs three blocks of four for its answer, so B has one. */
static void a_sequence_that_is_thrown_out_loses_time(void **state)
{
	struct measured_request list[] = {request(0, 32, 5, 46, 107), request(1, 16, 3, 73, 145)};
	const struct twin_data data = {.requests = list, .request_count = 2};
	struct twin twin = plain_twin();
	struct twin_why why;
	(void)state;
	exact(&twin, TWIN_KV_BLOCKS, 4);
	find(&why, &twin, &data);
	/* B has its first token at 74 ms and no room for the next; it comes back at 107, for 17 tokens and a step */
	assert_int_equal(why.replay.answers[1].sequence.preemptions, 1);
	parts_are(&why, 0, WHY_E2E, (double[WHY_PARTS]){0, 3, 0, 0, 32, 0, 11, 16, 45, 0});
	parts_are(&why, 1, WHY_TTFT, (double[WHY_PARTS]){0, 3, 42, 0, 16, 0, 12, 0, 0, 0});
	parts_are(&why, 1, WHY_E2E, (double[WHY_PARTS]){0, 3, 42, 61, 16, 0, 12, 0, 11, 0});
	assert_true(why.requests[1].others[WHY_E2E] == 0);
	twin_why_release(&why);
}

/* The same, where a step computes 16 tokens: B is thrown out twice amid its prompt, which begins again at 133 ms. */
static void it_can_be_thrown_out_before_its_first_token(void **state)
{
	struct measured_request list[] = {request(0, 32, 5, 57, 133), request(1, 32, 2, 186, 197)};
	const struct twin_data data = {.requests = list, .request_count = 2};
	struct twin twin = plain_twin();
	struct twin_why why;
	(void)state;
	exact(&twin, TWIN_KV_BLOCKS, 4);
	exact(&twin, TWIN_STEP_TOKENS, 16);
	find(&why, &twin, &data);
	assert_int_equal(why.replay.answers[1].sequence.preemptions, 2);
	parts_are(&why, 0, WHY_E2E, (double[WHY_PARTS]){0, 3, 0, 0, 32, 0, 22, 30, 46, 0});
	parts_are(&why, 1, WHY_TTFT, (double[WHY_PARTS]){0, 3, 53, 76, 32, 0, 22, 0, 0, 0});
	parts_are(&why, 1, WHY_E2E, (double[WHY_PARTS]){0, 3, 53, 76, 32, 0, 22, 0, 11, 0});
	twin_why_release(&why);
}

/* Whatever a server does, thrown out sequences included: no part is negative, and they add up. */
static void parts_add_up(void **state)
{
	enum { REQUESTS = 500 };
	static struct measured_request list[REQUESTS];
	const struct twin_data data = {.requests = list, .request_count = REQUESTS};
	uint64_t seed = test_seed("parts_add_up"), at_ms = 0;
	struct twin twin = plain_twin();
	struct twin_why why;
	int thrown_out = 0;
	(void)state;
	exact(&twin, TWIN_KV_BLOCKS, 40);
	exact(&twin, TWIN_STEP_TOKENS, 64);
	exact(&twin, TWIN_STEP_CONTEXT, 1000);
	for (int i = 0; i < REQUESTS; i++) {
		at_ms += test_random(&seed) % 500;
		list[i] = request((int64_t)at_ms, 1 + (int64_t)(test_random(&seed) % 300),
		                  1 + (int64_t)(test_random(&seed) % 200), (int64_t)(test_random(&seed) % 3000), 4000);
	}
	find(&why, &twin, &data);
	for (int64_t i = 0; i < REQUESTS; i++) {
		int64_t sum_ns[WHY_LATENCIES] = {0};
		const bool out = why.replay.answers[i].sequence.preemptions > 0;
		assert_true(out == (twin_why_ns(&why, i, WHY_E2E, WHY_THROWN_OUT) > 0));
		thrown_out += out;
		for (enum why_part p = 0; p < WHY_PARTS; p++) {
			sum_ns[WHY_TTFT] += twin_why_ns(&why, i, WHY_TTFT, p);
			sum_ns[WHY_E2E] += twin_why_ns(&why, i, WHY_E2E, p);
			assert_true(p == WHY_UNEXPLAINED || twin_why_ns(&why, i, WHY_E2E, p) >= 0);
		}
		assert_true(sum_ns[WHY_TTFT] == list[i].first_ns - list[i].start_ns);
		assert_true(sum_ns[WHY_E2E] == list[i].last_ns - list[i].start_ns);
		assert_true(twin_why_ns(&why, i, WHY_E2E, WHY_UNEXPLAINED) == list[i].last_ns - why.replay.last_ns[i]);
	}
	assert_true(thrown_out > 10);
	twin_why_release(&why);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_alone),
		cmocka_unit_test(a_second_waits_for_the_step_of_the_first),
		cmocka_unit_test(prompts_share_a_step),
		cmocka_unit_test(a_full_batch_is_a_queue),
		cmocka_unit_test(requests_larger_than_the_twin_are_unknown),
		cmocka_unit_test(a_sequence_that_is_thrown_out_loses_time),
		cmocka_unit_test(it_can_be_thrown_out_before_its_first_token),
		cmocka_unit_test(parts_add_up),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
