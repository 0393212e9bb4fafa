/* The token bucket of ipf-sim, whose 429s are the truth of tests. */
#include "rate_limit.h"

#include "clock.h"

#include "unit.h"

static void options_are_read(void **state)
{
	static const char *const wrong[] = {"", "x", "0", "5,burst=0.5", "5,burst=", "5,say=loud", "5,size=2"};
	struct rate_limit l;
	struct ipf_error err = {0};
	(void)state;
	assert_int_equal(rate_limit_parse("10/s,burst=20,say=date", &l, &err), 0);
	assert_true(l.rate == 10 && l.burst == 20 && l.form == RATE_LIMIT_DATE);
	assert_int_equal(rate_limit_parse("60/m", &l, &err), 0);
	assert_true(l.rate == 1 && l.burst == 1 && l.form == RATE_LIMIT_SECONDS);
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		if (rate_limit_parse(wrong[i], &l, &(struct ipf_error){0}) == 0)
			fail_msg("%s: expected an error", wrong[i]);
}

/* Against counting in whole numbers: in units of a hundredth of a token, at times in steps of 10 ms. */
static void a_bucket_is_a_bucket(void **state)
{
	uint64_t random = test_seed("bucket");
	(void)state;
	for (int round = 0; round < few_or_many(200, 5000); round++) {
		int64_t rate = 1 + (int64_t)(test_random(&random) % 50), burst = 1 + (int64_t)(test_random(&random) % 10);
		struct rate_limit l = {.rate = (double)rate, .burst = (double)burst};
		int64_t t = 1, tokens = 100 * burst;
		for (int i = 0; i < 200; i++) {
			int64_t steps = (int64_t)(test_random(&random) % 8);
			t += steps * 10 * NS_PER_MS;
			tokens = tokens + steps * rate > 100 * burst ? 100 * burst : tokens + steps * rate;
			int64_t wait = rate_limit_wait(&l, t), due = tokens >= 100 ? 0 : (100 - tokens) * 10 * NS_PER_MS / rate;
			tokens -= tokens >= 100 ? 100 : 0;
			if (due == 0)
				assert_in_range(wait, 0, 100); /* rounding may find a token missing by a nanosecond */
			else
				assert_in_range(wait, due - 100, due + 100);
			if (due == 0 && wait)
				break;
		}
	}
}

static void it_says_when(void **state)
{
	struct buffer out = {0};
	struct rate_limit l = {.rate = 1};
	(void)state;
	assert_int_equal(rate_limit_say(&l, 1500 * NS_PER_MS + 1, 0, &out), 2 * NS_PER_S);
	assert_string_equal(out.data, "Retry-After: 2\r\n");
	buffer_clear(&out);
	l.form = RATE_LIMIT_MS;
	assert_int_equal(rate_limit_say(&l, 1500 * NS_PER_MS + 1, 0, &out), 1501 * NS_PER_MS);
	assert_string_equal(out.data, "Retry-After: 2\r\nretry-after-ms: 1501\r\n");
	buffer_clear(&out);
	l.form = RATE_LIMIT_OPENAI;
	assert_int_equal(rate_limit_say(&l, 61500 * NS_PER_MS, 0, &out), 61500 * NS_PER_MS);
	assert_string_equal(out.data, "x-ratelimit-reset-requests: 1m1500ms\r\n");
	buffer_clear(&out);
	l.form = RATE_LIMIT_NOTHING;
	assert_int_equal(rate_limit_say(&l, 1, 0, &out), 0);
	assert_int_equal(out.len, 0);
	l.form = RATE_LIMIT_DATE;
	assert_int_equal(rate_limit_say(&l, 1, 0, &out), 2 * NS_PER_S);
	assert_memory_equal(out.data, "Retry-After: ", 13);
	assert_string_equal(out.data + out.len - 6, " GMT\r\n");
	buffer_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_are_read),
		cmocka_unit_test(a_bucket_is_a_bucket),
		cmocka_unit_test(it_says_when),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
