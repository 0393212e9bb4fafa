/* Wrong answers alone and under load: counts by phase, pairs of the same canary, and when more are wrong than by
 * chance.
 */
#include "unit.h"

#include "absent.h"
#include "stats/rng.h"
#include "verdict/answer_health.h"
#include "verdict/verdict_limits.h"

#include <string.h>

static struct schedule_stage stages[] = {{.kind = "alone"},
                                         {.kind = "poisson", .measured = false},
                                         {.kind = "poisson", .measured = true},
                                         {.kind = "alone"}};
static const struct schedule schedule = {.stages = stages, .count = 4};

static void add(struct answer_health *a, int64_t stage, int64_t number, const char *judged)
{
	struct result row;
	result_init(&row);
	row.ok = true;
	row.stage = stage;
	row.answer_check = slice_of("\"copy\"");
	row.judged = slice_of(judged);
	answer_health_row(a, &row, number);
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
	assert_int_equal(a.pairs, 1);
	assert_int_equal(a.worse + a.better, 0); /* the first answer alone counts */
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
	assert_int_equal(a.pairs, 2);
	assert_int_equal(a.worse, 1);
	assert_int_equal(a.better, 1);
	answer_health_release(&a);
}

static void repeats_of_a_run_have_pairs_of_their_own(void **state)
{
	(void)state;
	struct answer_health a = {0};
	for (int run = 0; run < 3; run++) {
		assert_int_equal(answer_health_part(&a, &schedule), 0);
		add(&a, 0, 1, "\"right\"");
		add(&a, 2, 1, "\"wrong\"");
	}
	assert_int_equal(a.pairs, 3);
	assert_int_equal(a.worse, 3);
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
	assert_int_equal(answer_health_part(&a, &schedule), 0);
	result_init(&row);
	row.ok = true;
	row.stage = 2;
	answer_health_row(&a, &row, 5);
	assert_false(answer_health_any(&a));
	row.other_mark = slice_of("\"ABCDEFGH2345\"");
	answer_health_row(&a, &row, 5);
	struct verdict_check check = judge(&a);
	assert_int_equal(check.status, VERDICT_DOUBTFUL);
	assert_non_null(strstr(check.detail, "mixed up"));
	assert_int_equal(a.other_marks_unchecked, 1);
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
	int64_t worse, better;
	assert_int_equal(answer_health_pairs(&base, &new, &worse, &better), 90);
	assert_int_equal(worse, 10);
	assert_int_equal(better, 5);
	answer_health_release(&base);
	answer_health_release(&new);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(phases_are_told_by_their_stages),
		cmocka_unit_test(an_answer_to_each_canary_makes_a_pair),
		cmocka_unit_test(repeats_of_a_run_have_pairs_of_their_own),
		cmocka_unit_test(wrong_answers_under_load_are_found_and_benign_ones_are_not),
		cmocka_unit_test(an_answer_with_another_mark_is_a_doubt_by_itself),
		cmocka_unit_test(two_runs_are_compared_canary_by_canary),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
