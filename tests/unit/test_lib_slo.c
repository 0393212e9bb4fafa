/* Objectives: their syntax, and their judgement of a request. */
#include "unit.h"

#include "absent.h"
#include "results/slo.h"

#include <math.h>

#define MS INT64_C(1000000)

static struct jdoc doc;

static void parse(struct slo *slo, const char *text)
{
	struct ipf_error err = {0};
	*slo = (struct slo){0};
	if (slo_parse(slo, text, &err) < 0)
		fail_msg("%s: %s", text, err.text);
}

static struct result answer(int64_t ttft_ms, int64_t lag_ms)
{
	struct result r;
	result_init(&r);
	r.ok = true;
	r.ttft_ns = ttft_ms * MS;
	r.e2e_ns = 2 * r.ttft_ns;
	if (lag_ms >= 0)
		r.lag_ns = lag_ms * MS;
	return r;
}

static int judge(const struct slo *slo, const struct result *r, struct slo_marks *marks)
{
	struct ipf_error err = {0};
	int got = slo_judge(slo, r, &doc, marks, &err);
	if (got < 0)
		fail_msg("%s", err.text);
	return got;
}

static void objectives_are_parsed(void **state)
{
	(void)state;
	struct slo slo;
	parse(&slo, "ttft=500ms,p99:tpot=50ms,p99.9:e2e=1m30s");
	assert_int_equal(slo.count, 3);
	assert_int_equal(slo.list[0].metric, METRIC_TTFT);
	assert_int_equal(slo.list[0].limit_ns, 500 * MS);
	assert_true(isnan(slo.list[0].percentile));
	assert_float_equal(slo.list[1].percentile, 99, 0);
	assert_float_equal(slo.list[2].percentile, 99.9, 0);
	assert_int_equal(slo.list[2].limit_ns, 90000 * MS);
	assert_true(slo.per_request);
	parse(&slo, "p50:lag=1ms");
	assert_false(slo.per_request);
	static const char *const wrong[] = {
		"",          "ttft",       "ttft=",         "ttft=5",      "ttft=-5ms",    "=5ms",     "TTFT=5ms",
		"ttft=5ms,", "p:ttft=5ms", "p100:ttft=5ms", "99:ttft=5ms", "p99 ttft=5ms", "ttft<5ms", "p99:p90:ttft=5ms"};
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct ipf_error err = {0};
		slo = (struct slo){0};
		if (slo_parse(&slo, wrong[i], &err) == 0)
			fail_msg("\"%s\" was taken", wrong[i]);
		assert_int_equal(err.kind, IPF_USAGE);
	}
}

static void limits_are_met_up_to_themselves(void **state)
{
	(void)state;
	struct slo slo;
	struct slo_marks marks;
	parse(&slo, "ttft=100ms,e2e=300ms");
	struct result r = answer(100, 0);
	assert_int_equal(judge(&slo, &r, &marks), SLO_GOOD);
	assert_int_equal(marks.met, 3);
	r.ttft_ns++;
	assert_int_equal(judge(&slo, &r, &marks), SLO_MISSED);
	assert_int_equal(marks.met, 2);
}

/* A user's wait begins when the request was due. */
static void waiting_counts(void **state)
{
	(void)state;
	struct slo slo;
	struct slo_marks marks;
	parse(&slo, "ttft=100ms");
	struct result r = answer(60, 50);
	assert_int_equal(judge(&slo, &r, &marks), SLO_MISSED);
	r = answer(60, -1); /* closed loop */
	assert_int_equal(judge(&slo, &r, &marks), SLO_GOOD);
	parse(&slo, "tpot=100ms"); /* no part of the waiting */
	r = answer(60, 50);
	r.tpot_ns = 60 * MS;
	assert_int_equal(judge(&slo, &r, &marks), SLO_GOOD);
}

static void failures_and_absent_figures(void **state)
{
	(void)state;
	struct slo slo;
	struct slo_marks marks;
	parse(&slo, "tpot=1ms");
	struct result r = answer(60, 0);
	r.output_tokens = 1;
	assert_int_equal(judge(&slo, &r, &marks), SLO_GOOD);
	r.ok = false;
	assert_int_equal(judge(&slo, &r, &marks), SLO_MISSED);
	assert_int_equal(marks.met, 0);
	parse(&slo, "p99:ttft=1ms");
	r = answer(60, 0);
	assert_int_equal(judge(&slo, &r, &marks), SLO_NONE);
}

/* An answer that never showed an objective's figure does not meet it. */
static void a_latency_that_never_came_is_not_in_time(void **state)
{
	(void)state;
	struct slo slo;
	struct slo_marks marks;
	static const char *const never[] = {"ttft=1h",    "ttfa=1h",  "ttst=1h",    "tpot=1h",
	                                    "itl_max=1h", "ntpot=1h", "p99:ttft=1h"};
	for (size_t i = 0; i < sizeof never / sizeof *never; i++) {
		struct result r = answer(60, 0); /* empty: it has an end */
		r.ttft_ns = IPF_ABSENT;
		parse(&slo, never[i]);
		assert_int_equal(judge(&slo, &r, &marks), slo.per_request ? SLO_MISSED : SLO_NONE);
		assert_int_equal(marks.met, 0);
		assert_int_equal(marks.unmeasured, 0);
		assert_int_equal(marks.absent, 1);
		r.ok = false; /* a failure misses it as a failure */
		judge(&slo, &r, &marks);
		assert_int_equal(marks.absent, 0);
	}
	struct result r = answer(60, 0); /* reasoning only */
	parse(&slo, "ttft=1h,ttfa=1h,e2e=1h");
	assert_int_equal(judge(&slo, &r, &marks), SLO_MISSED);
	assert_int_equal(marks.met, 5);
	assert_int_equal(marks.absent, 2);
	parse(&slo, "slot_wait=1ms,attempt_ttft=1ms,lag=1ms"); /* nothing waited, nothing was sent again */
	assert_int_equal(judge(&slo, &r, &marks), SLO_GOOD);
	r.slo = slice_of("{\"ttfa\": \"1h\"}");
	assert_int_equal(judge(&slo, &r, &marks), SLO_MISSED);
}

/* An answer in one piece has no first token: whether it came in time cannot be said, unless the rest says no. */
static void responses_in_one_piece_are_not_measured(void **state)
{
	(void)state;
	struct slo slo;
	struct slo_marks marks;
	struct result r = answer(60, 0);
	r.ttft_ns = IPF_ABSENT;
	r.not_streamed = slice_of("\"not-asked\"");
	static const char *const unmeasured[] = {"ttft=1s", "ttfa=1s", "ttst=1s", "tpot=1s", "itl_max=1s", "itl_mean=1s"};
	for (size_t i = 0; i < sizeof unmeasured / sizeof *unmeasured; i++) {
		parse(&slo, unmeasured[i]);
		assert_int_equal(judge(&slo, &r, &marks), SLO_UNMEASURED);
		assert_int_equal(marks.met, 0);
		assert_int_equal(marks.unmeasured, 1);
	}
	r.ntpot_ns = MS;
	parse(&slo, "e2e=1s,ntpot=1s,ttft=1s");
	assert_int_equal(judge(&slo, &r, &marks), SLO_UNMEASURED);
	assert_int_equal(marks.met, 3);
	assert_int_equal(marks.unmeasured, 4);
	parse(&slo, "ttft=1s,e2e=1ms"); /* missed, whatever the first token would say */
	assert_int_equal(judge(&slo, &r, &marks), SLO_MISSED);
	parse(&slo, "e2e=1s");
	assert_int_equal(judge(&slo, &r, &marks), SLO_GOOD);
	r.slo = slice_of("{\"ttft_ms\":500}");
	assert_int_equal(judge(&slo, &r, &marks), SLO_UNMEASURED);
	r.output_tokens = 1; /* one token has no gaps, streamed or not */
	r.slo = slice_of("{\"tpot_ms\":500}");
	assert_int_equal(judge(&slo, &r, &marks), SLO_GOOD);
	r.ok = false;
	parse(&slo, "ttft=1s");
	assert_int_equal(judge(&slo, &r, &marks), SLO_MISSED);
	assert_int_equal(marks.unmeasured, 0);
}

static void objectives_of_its_own(void **state)
{
	(void)state;
	struct slo none = {0}, slo;
	struct slo_marks marks;
	struct result r = answer(60, 0);
	assert_int_equal(judge(&none, &r, &marks), SLO_NONE);
	r.slo = slice_of("{\"ttft_ms\":60}");
	assert_int_equal(judge(&none, &r, &marks), SLO_GOOD);
	r.slo = slice_of("{\"ttft_ms\":59.9}");
	assert_int_equal(judge(&none, &r, &marks), SLO_MISSED);
	r.slo = slice_of("{\"ttft\":\"60ms\",\"tier\":\"gold\"}");
	assert_int_equal(judge(&none, &r, &marks), SLO_GOOD);
	r.slo = slice_of("{\"e2e_ns\":119999999}");
	assert_int_equal(judge(&none, &r, &marks), SLO_MISSED);
	r.slo = slice_of("{\"tier\":\"gold\"}");
	assert_int_equal(judge(&none, &r, &marks), SLO_NONE);
	/* instead of the general one on the same metric, beside the others */
	parse(&slo, "ttft=10ms");
	r.slo = slice_of("{\"ttft\":\"1s\"}");
	assert_int_equal(judge(&slo, &r, &marks), SLO_GOOD);
	assert_int_equal(marks.met, 0);
	parse(&slo, "ttft=10ms,e2e=10ms");
	assert_int_equal(judge(&slo, &r, &marks), SLO_MISSED);
	static const char *const wrong[] = {"{\"ttft\":500}", "{\"ttft_ms\":\"500\"}", "{\"ttft_ms\":-1}",
	                                    "{\"ttft\":\"soon\"}", "{\"ttft\":null}"};
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct ipf_error err = {0};
		r.slo = slice_of(wrong[i]);
		if (slo_judge(&slo, &r, &doc, &marks, &err) >= 0)
			fail_msg("%s was taken", wrong[i]);
		assert_int_equal(err.kind, IPF_INPUT);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(objectives_are_parsed),
		cmocka_unit_test(limits_are_met_up_to_themselves),
		cmocka_unit_test(waiting_counts),
		cmocka_unit_test(failures_and_absent_figures),
		cmocka_unit_test(a_latency_that_never_came_is_not_in_time),
		cmocka_unit_test(objectives_of_its_own),
		cmocka_unit_test(responses_in_one_piece_are_not_measured),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	jdoc_release(&doc);
	return failed;
}
