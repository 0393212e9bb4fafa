/* ipf-report/difference/figure_difference.h: several figures judged together, and the outcome. */
#include "unit.h"

#include "difference/figure_difference.h"

#include <math.h>

enum { COUNT = 3 };

/* A change of 10 %, with an interval, and a p value; "requests" is better if it is higher. */
static struct figure_difference difference(const char *name, double change, double p)
{
	size_t k = 0;
	while (strcmp(compared_figures[k].name, name) != 0)
		k++;
	return (struct figure_difference){.figure = &compared_figures[k],
	                                  .d = {.base = 100,
	                                        .value = 100 * (1 + change),
	                                        .relative = true,
	                                        .change = change,
	                                        .low = change - 0.01,
	                                        .high = change + 0.01,
	                                        .error = 0.005,
	                                        .degrees = 40,
	                                        .p = p,
	                                        .runs = {1, 1}}};
}

static enum outcome outcome_of(struct figure_difference list[COUNT])
{
	const struct difference_limits least = {.effect = DIFFERENCE_EFFECT, .share_effect = 0.01};
	return figure_differences_outcome(list, COUNT, figure_differences_judge(list, COUNT, &least));
}

static void p_values_are_adjusted_for_the_tested_figures_only(void **state)
{
	(void)state;
	struct figure_difference list[COUNT] = {difference("ttft.mean", 0.1, 0.02), difference("tpot.mean", 0.1, NAN),
	                                        difference("e2e.mean", 0.1, 0.03)};
	const struct difference_limits least = {.effect = DIFFERENCE_EFFECT};
	assert_int_equal(figure_differences_judge(list, COUNT, &least), 2);
	assert_true(list[0].d.adjusted == 0.04 && list[2].d.adjusted == 0.04);
	assert_int_equal(list[1].d.finding, FINDING_NONE);
	assert_int_equal(list[0].d.finding, FINDING_HIGHER);
}

static void the_outcome_is_that_of_the_figures_that_differ(void **state)
{
	(void)state;
	static const struct {
		double ttft, e2e, requests, p;
		enum outcome outcome;
	} cases[] = {{0.1, 0, 0, 0.001, OUTCOME_SLOWER},    {-0.1, 0, 0, 0.001, OUTCOME_FASTER},
	             {0, 0, -0.1, 0.001, OUTCOME_SLOWER},   {0.1, -0.1, 0, 0.001, OUTCOME_MIXED},
	             {0, 0, 0, 0.5, OUTCOME_SAME},          {0.1, 0, 0, 0.5, OUTCOME_FEW_RUNS},
	             {0.1, 0.1, 0.1, NAN, OUTCOME_UNJUDGED}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct figure_difference list[COUNT] = {difference("ttft.mean", cases[i].ttft, cases[i].p),
		                                        difference("e2e.mean", cases[i].e2e, cases[i].p),
		                                        difference("requests", cases[i].requests, cases[i].p)};
		assert_int_equal(outcome_of(list), cases[i].outcome);
	}
}

static void a_finding_has_the_word_of_its_figure(void **state)
{
	(void)state;
	const struct figure_difference latency = difference("ttft.p99", 0, 1), rate = difference("requests", 0, 1);
	assert_string_equal(finding_name(latency.figure, FINDING_HIGHER), "slower");
	assert_string_equal(finding_name(rate.figure, FINDING_HIGHER), "faster");
	assert_string_equal(finding_name(latency.figure, FINDING_NONE), "not judged");
	assert_true(finding_is_worse(latency.figure, FINDING_HIGHER) && !finding_is_worse(rate.figure, FINDING_HIGHER));
}

static void no_figures_are_not_judged(void **state)
{
	(void)state;
	assert_int_equal(figure_differences_outcome(NULL, 0, 0), OUTCOME_UNJUDGED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(p_values_are_adjusted_for_the_tested_figures_only),
		cmocka_unit_test(the_outcome_is_that_of_the_figures_that_differ),
		cmocka_unit_test(a_finding_has_the_word_of_its_figure),
		cmocka_unit_test(no_figures_are_not_judged),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
