/* Wrong answers alone and under load: counts by phase, pairs of the same canary, and when more are wrong than by
 * chance.
 */
#include "unit.h"

#include "absent.h"
#include "canary/mark.h"
#include "stats/rng.h"
#include "verdict/answer_health.h"
#include "verdict/verdict_limits.h"

#include <stdio.h>
#include <string.h>

static struct schedule_stage stages[] = {{.kind = "alone"},
                                         {.kind = "poisson", .measured = false},
                                         {.kind = "poisson", .measured = true},
                                         {.kind = "alone"}};
static const struct schedule schedule = {.stages = stages, .count = 4, .trace_sha256 = "abc"};

static void add(struct answer_health *a, int64_t stage, int64_t number, const char *judged)
{
	struct result row;
	result_init(&row);
	row.ok = true;
	row.stage = stage;
	row.answer_check = slice_of("\"copy\"");
	row.req = number;
	row.judged = slice_of(judged);
	answer_health_row(a, &row);
}

static struct verdict_check judge(const struct answer_health *a)
{
	struct verdict_check check = {.figures = json_object()};
	assert_true(answer_health_judge(a, &check));
	return check;
}

static void phases_are_told_by_their_stages(void **state)
{
	(void)state;
	struct answer_health a = {0};
	assert_int_equal(answer_health_part(&a, &schedule), 0);
	for (int64_t stage = 0; stage < 4; stage++)
		add(&a, stage, 7, stage == 3 ? "\"wrong\"" : "\"right\"");
	assert_int_equal(a.phases[ANSWERS_BEFORE].judged[RESULT_RIGHT], 1);
	assert_int_equal(a.phases[ANSWERS_LOAD].judged[RESULT_RIGHT], 1); /* not the warm-up */
	assert_int_equal(a.phases[ANSWERS_AFTER].judged[RESULT_WRONG], 1);
	const struct answer_pairs p = answer_health_pairs(&a);
	assert_int_equal(p.pairs, 1);
	assert_int_equal(p.worse + p.better, 0); /* the first answer alone counts */
	answer_health_release(&a);
}

static void an_answer_to_each_canary_makes_a_pair(void **state)
{
	(void)state;
	struct answer_health a = {0};
	assert_int_equal(answer_health_part(&a, &schedule), 0);
	add(&a, 0, 1, "\"right\"");
	add(&a, 2, 1, "\"wrong\"");
	add(&a, 2, 1, "\"wrong\""); /* again: no new pair */
	add(&a, 2, 2, "\"right\""); /* the load first */
	add(&a, 3, 2, "\"wrong\"");
	add(&a, 0, 3, "\"undecided\"");
	add(&a, 2, 3, "\"wrong\"");
	const struct answer_pairs p = answer_health_pairs(&a);
	assert_int_equal(p.pairs, 2);
	assert_int_equal(p.worse, 1);
	assert_int_equal(p.better, 1);
	answer_health_release(&a);
}

/* Repeats of a run make no canary count twice; one that is wrong in more of them under load than alone is worse. */
static void a_canary_is_one_pair_in_all_runs(void **state)
{
	(void)state;
	struct answer_health a = {0};
	for (int run = 0; run < 7; run++) {
		assert_int_equal(answer_health_part(&a, &schedule), 0);
		add(&a, 0, 1, "\"right\"");
		add(&a, 2, 1, "\"wrong\"");
		add(&a, 0, 2, run < 3 ? "\"wrong\"" : "\"right\"");
		add(&a, 2, 2, run < 2 ? "\"wrong\"" : "\"right\"");
	}
	const struct answer_pairs p = answer_health_pairs(&a);
	assert_int_equal(p.pairs, 2);
	assert_int_equal(p.worse, 1);
	assert_int_equal(p.better, 1);
	const struct verdict_check check = judge(&a);
	assert_int_equal(check.status, VERDICT_OK);
	json_decref(check.figures);
	answer_health_release(&a);
}

/* 300 canaries alone and under load; returns whether the run is doubted. */
static bool is_doubted(struct rng *rng, double wrong_alone, double wrong_under_load, double always_wrong)
{
	struct answer_health a = {0};
	assert_int_equal(answer_health_part(&a, &schedule), 0);
	for (int64_t n = 0; n < 300; n++) {
		const bool always = rng_uniform(rng) < always_wrong;
		add(&a, 0, n, always || rng_uniform(rng) < wrong_alone ? "\"wrong\"" : "\"right\"");
		add(&a, 2, n, always || rng_uniform(rng) < wrong_under_load ? "\"wrong\"" : "\"right\"");
	}
	const struct verdict_check check = judge(&a);
	json_decref(check.figures);
	answer_health_release(&a);
	return check.status == VERDICT_DOUBTFUL;
}

static void wrong_answers_under_load_are_found_and_benign_ones_are_not(void **state)
{
	(void)state;
	struct rng rng;
	int found = 0, weak_found = 0, accused = 0, weak_accused = 0;
	rng_init(&rng, 1, "answers", 0);
	for (int i = 0; i < 400; i++) {
		found += is_doubted(&rng, 0, 0.05, 0);
		weak_found += is_doubted(&rng, 0.01, 0.06, 0.3);
		accused += is_doubted(&rng, 0.05, 0.05, 0);
		weak_accused += is_doubted(&rng, 0.02, 0.02, 0.4);
	}
	assert_in_range(found, 380, 400);
	assert_in_range(weak_found, 220, 400);
	assert_in_range(accused, 0, 6); /* in 100, at most one is expected */
	assert_in_range(weak_accused, 0, 6);
}

static void an_answer_with_another_mark_is_a_doubt_by_itself(void **state)
{
	(void)state;
	struct answer_health a = {0};
	struct result row;
	struct rng rng;
	char mark[CANARY_MARK + 1], json[40], tags[100];
	rng_init(&rng, 1, "mark", 0);
	canary_mark(&rng, mark);
	snprintf(json, sizeof json, "\"%s\"", mark);
	snprintf(tags, sizeof tags, "{\"canary\":{\"kind\":\"copy\",\"answer\":\"%s\"}}", mark);
	assert_int_equal(answer_health_part(&a, &schedule), 0);
	result_init(&row);
	row.ok = true;
	row.stage = 1; /* a warm-up */
	row.other_mark = slice_of(json);
	answer_health_row(&a, &row);
	assert_false(answer_health_any(&a));
	assert_int_equal(answer_health_mixed(&a).answers, 0); /* no canary of the run has it: it may be in the prompt */
	row.other_mark = (struct slice){0};
	row.answer_check = slice_of("\"copy\"");
	row.judged = slice_of("\"right\"");
	row.tags = slice_of(tags);
	row.stage = 2;
	answer_health_row(&a, &row);
	const struct verdict_check check = judge(&a);
	assert_int_equal(check.status, VERDICT_DOUBTFUL);
	assert_non_null(strstr(check.detail, "mixed up"));
	assert_int_equal(answer_health_mixed(&a).unchecked, 1);
	json_decref(check.figures);
	answer_health_release(&a);
}

static void two_runs_are_compared_canary_by_canary(void **state)
{
	(void)state;
	struct answer_health base = {0}, new = {0};
	assert_int_equal(answer_health_part(&base, &schedule), 0);
	assert_int_equal(answer_health_part(&new, &schedule), 0);
	for (int64_t n = 0; n < 100; n++) {
		add(&base, 2, n, n < 30 ? "\"wrong\"" : "\"right\"");
		if (n < 90)
			add(&new, 2, n, n < 25 || n >= 80 ? "\"wrong\"" : "\"right\"");
	}
	const struct answer_pairs p = answer_health_between(&base, &new);
	assert_int_equal(p.pairs, 90);
	assert_int_equal(p.worse, 10);
	assert_int_equal(p.better, 5);
	answer_health_release(&base);
	answer_health_release(&new);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(phases_are_told_by_their_stages),
		cmocka_unit_test(an_answer_to_each_canary_makes_a_pair),
		cmocka_unit_test(a_canary_is_one_pair_in_all_runs),
		cmocka_unit_test(wrong_answers_under_load_are_found_and_benign_ones_are_not),
		cmocka_unit_test(an_answer_with_another_mark_is_a_doubt_by_itself),
		cmocka_unit_test(two_runs_are_compared_canary_by_canary),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
