/* Objectives: how they are written, in both spellings. */
#include "unit.h"

#include "objective/objective.h"
#include "stats/rng.h"

#include <math.h>
#include <stdlib.h>

#define MS INT64_C(1000000)

static int parse(const char *text, const struct objective_rules *rules, struct objective *list, struct ipf_error *err)
{
	int count = 0;
	*err = (struct ipf_error){0};
	int status = objectives_parse(text, rules, list, &count, err);
	return status < 0 ? -1 : count;
}

static void requests_and_percentiles(void **state)
{
	(void)state;
	struct objective list[OBJECTIVES_MOST];
	struct ipf_error err;
	assert_int_equal(parse("ttft=500ms,p99:tpot=50ms,p99.9:e2e=1m30s", &objectives_any, list, &err), 3);
	assert_int_equal(list[0].metric, METRIC_TTFT);
	assert_int_equal(list[0].limit_ns, 500 * MS);
	assert_true(isnan(list[0].percentile));
	assert_string_equal(list[0].text, "ttft=500ms");
	assert_int_equal(list[1].metric, METRIC_TPOT);
	assert_float_equal(list[1].percentile, 99, 0);
	assert_string_equal(list[1].text, "p99:tpot=50ms");
	assert_int_equal(list[2].metric, METRIC_E2E);
	assert_float_equal(list[2].percentile, 99.9, 0);
	assert_int_equal(list[2].limit_ns, 90000 * MS);
	assert_string_equal(list[2].text, "p99.9:e2e=1m30s");
}

/* The text of any objective gives it again. */
static void texts_give_the_same_again(void **state)
{
	(void)state;
	struct rng rng;
	rng_init(&rng, 1, "objectives", 0);
	for (int i = 0; i < 20000; i++) {
		struct objective one[OBJECTIVES_MOST], again[OBJECTIVES_MOST];
		struct ipf_error err;
		char colon[64], limit[24], percentile[16];
		enum metric m = (enum metric)rng_below(&rng, METRIC_COUNT);
		if (metrics[m].server)
			continue;
		snprintf(limit, sizeof limit, "%d%s", 1 + (int)rng_below(&rng, 100000), rng_below(&rng, 2) ? "ms" : "us");
		snprintf(percentile, sizeof percentile, "%.*f", (int)rng_below(&rng, 4),
		         1 + (double)rng_below(&rng, 98000) / 1000);
		snprintf(colon, sizeof colon, "p%s:%s=%s", percentile, metrics[m].name, limit);
		assert_int_equal(parse(colon, &objectives_any, one, &err), 1);
		assert_int_equal(parse(one->text, &objectives_any, again, &err), 1);
		assert_string_equal(one->text, colon);
		assert_int_equal(one->metric, m);
		assert_float_equal(one->percentile, strtod(percentile, NULL), 1e-9);
		assert_true(one->limit_ns == again->limit_ns && one->percentile == again->percentile);
		assert_true(objective_begins(colon));
	}
}

static void wrong_ones_are_refused(void **state)
{
	(void)state;
	static const char *const wrong[] = {"",
	                                    "ttft",
	                                    "ttft=",
	                                    "ttft=5",
	                                    "ttft=-5ms",
	                                    "=5ms",
	                                    "TTFT=5ms",
	                                    "ttft=5ms,",
	                                    "p:ttft=5ms",
	                                    "p100:ttft=5ms",
	                                    "99:ttft=5ms",
	                                    "p99 ttft=5ms",
	                                    "ttft<5ms",
	                                    "ttft=5ms@p9",
	                                    "p99:p90:ttft=5ms",
	                                    "p9:=5ms",
	                                    "server_ttft=1s",
	                                    "ttft=5ms p9:e2e=1s",
	                                    "p0:ttft=1s",
	                                    "x99:ttft=1s",
	                                    "ttft=00000000000000000000000000000000000000000000005ms"};
	struct objective list[OBJECTIVES_MOST];
	struct ipf_error err;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		if (parse(wrong[i], &objectives_any, list, &err) >= 0)
			fail_msg("\"%s\" was taken", wrong[i]);
		assert_int_equal(err.kind, IPF_USAGE);
	}
	char many[600] = "ttft=1s";
	for (int i = 1; i <= OBJECTIVES_MOST; i++)
		strcat(many, ",ttft=1s");
	assert_int_equal(parse(many, &objectives_any, list, &err), -1);
	assert_string_equal(err.text, "expected at most 16 objectives");
}

static void rules_restrict_them(void **state)
{
	(void)state;
	const struct objective_rules percentile = {.metrics = 1 << METRIC_TTFT | 1 << METRIC_E2E | 1 << METRIC_TPOT,
	                                           .of = OBJECTIVE_OF_PERCENTILE},
								 request = {.of = OBJECTIVE_OF_REQUEST};
	struct objective list[OBJECTIVES_MOST];
	struct ipf_error err;
	assert_int_equal(parse("p9:ttft=1s,p9:e2e=1s", &percentile, list, &err), 2);
	assert_int_equal(parse("ttft=1s", &percentile, list, &err), -1);
	assert_string_equal(err.text, "expected objectives such as p99:ttft=500ms, got \"ttft=1s\"");
	assert_int_equal(parse("p9:lag=1s", &percentile, list, &err), -1);
	assert_string_equal(err.text, "expected ttft, e2e or tpot before the \"=\", got \"p9:lag=1s\"");
	assert_int_equal(parse("p9:ttft=1s", &request, list, &err), -1);
	assert_string_equal(
		err.text, "expected objectives such as ttft=500ms, got \"p9:ttft=1s\": ipf-report --slo judges percentiles");
	assert_int_equal(parse("model=chat:ttft=1s", &objectives_any, list, &err), -1);
	assert_string_equal(err.text, "the objectives of a class belong to the trace: ipf-prep --slo model=chat:ttft=1s");
	assert_int_equal(parse("e2e", &objectives_any, list, &err), -1);
	assert_string_equal(err.text, "expected objectives such as ttft=500ms or p99:ttft=500ms, got \"e2e\"");
}

static void lists_go_on(void **state)
{
	(void)state;
	static const char *const go_on[] = {"ttft=1s", "p99:ttft=1s,low=1", "e2e=", "p:itl_mean=soon"};
	static const char *const end[] = {"low=1", "ttft", "ttft,e2e=1s", "p99:low=1", "p99:ttft", "", "99:ttft=1s"};
	for (size_t i = 0; i < sizeof go_on / sizeof *go_on; i++)
		assert_true(objective_begins(go_on[i]));
	for (size_t i = 0; i < sizeof end / sizeof *end; i++)
		assert_false(objective_begins(end[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests_and_percentiles),
		cmocka_unit_test(texts_give_the_same_again),
		cmocka_unit_test(wrong_ones_are_refused),
		cmocka_unit_test(rules_restrict_them),
		cmocka_unit_test(lists_go_on),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
