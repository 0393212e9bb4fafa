/* The values of ipf-sim's options for its engine. */
#include "engine_options.h"

#include "batching/batching.h"
#include "clock.h"

#include "unit.h"

#define MS NS_PER_MS

static void paces_are_read(void **state)
{
	static const char *const wrong[] = {"", "2%", "2%/", "/10s", "2%/0", "200%/10s", "x/10s", "2%/10s/5", "100%/1s"};
	struct batching_pace p = {0};
	struct ipf_error err = {0};
	(void)state;
	assert_int_equal(engine_parse_drift("2%/10s", &p, &err), 0);
	assert_true(p.drift > 0.0199 && p.drift < 0.0201 && p.drift_ns == 10000 * MS);
	assert_int_equal(engine_parse_drift("-0.5/1m", &p, &err), 0);
	assert_true(p.drift < -0.4999 && p.drift_ns == 60000 * MS);
	assert_int_equal(engine_parse_warm_up("5s:2.5", &p, &err), 0);
	assert_true(p.warm_ns == 5000 * MS && p.warm_factor > 2.49 && p.warm_factor < 2.51);
	assert_int_equal(engine_parse_pause("50ms/2s", &p, &err), 0);
	assert_true(p.pause_ns == 50 * MS && p.pause_every_ns == 2000 * MS);
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct ipf_error why = {0};
		assert_int_equal(engine_parse_drift(wrong[i], &p, &why), -1);
		assert_int_equal(engine_parse_warm_up(wrong[i], &p, &(struct ipf_error){0}), -1);
		assert_int_equal(engine_parse_pause(wrong[i], &p, &(struct ipf_error){0}), -1);
	}
}

static void tiers_are_read(void **state)
{
	static const char *const wrong[] = {"", "x", "10,", "10,rate=0", "10,speed=1", "100M", "-1"};
	struct batching_tier t = {.rate = 1};
	struct ipf_error err = {0};
	(void)state;
	assert_int_equal(engine_parse_tier("10k,rate=2M", &t, &err), 0);
	assert_int_equal(t.blocks, 10000);
	assert_true(t.rate > 1999999 && t.rate < 2000001);
	assert_int_equal(engine_parse_tier("7", &t, &err), 0);
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct ipf_error why = {0};
		struct batching_tier tier = {.rate = 1};
		if (engine_parse_tier(wrong[i], &tier, &why) == 0 && strcmp(wrong[i], "10,") != 0)
			fail_msg("%s: expected an error", wrong[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paces_are_read),
		cmocka_unit_test(tiers_are_read),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
