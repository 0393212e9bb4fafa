/* Differences of which error, interval and finding can be computed by hand; test_report_difference.c has what only many
 * simulated comparisons show. */
#include "unit.h"

#include "absent.h"
#include "compare/difference.h"
#include "stats/student.h"

#include <math.h>

/* ---- noise ---- */

/* The parts of a run are a multiple of these in each of its two stages: their sums of squares are 20e-6, and their
 * neighbours do not resemble each other, so that their variance is 4 * 20e-6 / 3 for a multiple of 1. */
static const double part[] = {3e-3, -1e-3, -3e-3, 1e-3};
#define UNIT (8e-5 / 3)

struct by_hand {
	const char *what;
	int stages, runs[SIDES], partner[3], schedule[SIDES][3];
	double parts[SIDES][3]; /* multiples */
	double off[SIDES][3];   /* of each run: how far its figure is from that of the side */
	enum noise_source noise;
	double variance, degrees, between, within; /* variance and within²: of a figure, between²: of a run */
	bool alone;                                /* each run has one block, which says nothing */
};

#define OF_PAIR(of_, degrees_) (of_) * UNIT, degrees_, NAN, (of_)*UNIT

static const struct by_hand by_hand[] = {
	{"a pair", 1, {1, 1}, {0}, {{0}, {0}}, {{1}, {3}}, {{0}, {0}}, NOISE_BLOCKS, OF_PAIR(4, 3), false},
	{"no pair", 1, {1, 1}, {-1}, {{0}, {1}}, {{1}, {3}}, {{0}, {0}}, NOISE_BLOCKS, OF_PAIR(10, 300.0 / 82), false},
	{"two stages", 2, {1, 1}, {0}, {{0}, {0}}, {{1}, {3}}, {{0}, {0}}, NOISE_BLOCKS, OF_PAIR(8, 6), false},
	{"crossed, runs differ visibly",
     1,
     {2, 2},
     {1, 0},
     {{0}, {0}},
     {{1, 2}, {3, 5}},
     {{-.01, .01}, {-.03, .03}},
     NOISE_RUNS,
     1e-3,
     2,
     1e-3,
     17 * UNIT,
     false},
	{"crossed, runs differ as much as blocks",
     1,
     {2, 2},
     {1, 0},
     {{0}, {0}},
     {{1, 2}, {3, 5}},
     {{-.01467, .01467}, {-.01467, .01467}},
     NOISE_RUNS,
     17 * UNIT,
     2,
     2 * .01467 * .01467,
     17 * UNIT,
     false},
	{"crossed, runs hardly differ",
     1,
     {2, 2},
     {1, 0},
     {{0}, {0}},
     {{1, 2}, {3, 5}},
     {{-.001, .001}, {-.001, .001}},
     NOISE_RUNS,
     17 * UNIT,
     2 + 17 * 17 * 3 / 257.0,
     2e-6,
     17 * UNIT,
     false},
	{"pairs of other requests",
     1,
     {2, 2},
     {0, 1},
     {{0, 1}, {0, 1}},
     {{1, 1}, {3, 3}},
     {{-.01, .01}, {-.03, .05}},
     NOISE_RUNS,
     9e-4,
     1,
     9e-4,
     8 * UNIT,
     false},
	{"three such",
     1,
     {3, 3},
     {2, 0, 1},
     {{0, 1, 2}, {1, 2, 0}},
     {{1, 1, 1}, {2, 2, 2}},
     {{0, -.02, .02}, {.01, .02, -.03}},
     NOISE_RUNS,
     (9e-4 + 9e-4 + 0) / 2 / 3,
     2,
     9e-4 / 2,
     3 * UNIT,
     false},
	{"one of two has a partner",
     1,
     {2, 2},
     {1, -1},
     {{0, 1}, {2, 0}},
     {{1, 2}, {4, 5}},
     {{-.01, .01}, {-.03, .05}},
     NOISE_BLOCKS,
     OF_PAIR(36, 36 * 36 * 3 / (256 + 16 + 256.0)),
     false},
	{"only one side repeats",
     1,
     {2, 2},
     {-1, -1},
     {{0, 1}, {2, 2}},
     {{1, 1}, {1, 1}},
     {{-.1, .1}, {-.03, .05}},
     NOISE_RUNS,
     32e-4,
     1,
     32e-4,
     4 * UNIT,
     false},
	{"one and three",
     1,
     {1, 3},
     {1},
     {{0}, {1, 0, 1}},
     {{1}, {3, 2, 3}},
     {{0}, {-.03, 0, .03}},
     NOISE_RUNS,
     18e-4 * 4 / 3,
     1,
     18e-4,
     19 * UNIT,
     false},
	{"no noise within runs",
     1,
     {2, 2},
     {0, 1},
     {{0}, {0}},
     {{1, 2}, {1, 2}},
     {{-.01, .01}, {-.03, .03}},
     NOISE_RUNS,
     1e-3,
     2,
     1e-3,
     0,
     false},
	{"no noise at all", 1, {2, 2}, {0, 1}, {{0}, {0}}, {{1, 2}, {1, 2}}, {{0}, {0}}, NOISE_RUNS, 0, 2, 0, 0, false},
	{"runs alone",
     1,
     {2, 2},
     {0, 1},
     {{0}, {0}},
     {{1, 2}, {3, 4}},
     {{-.01, .01}, {-.03, .03}},
     NOISE_RUNS,
     1e-3,
     2,
     1e-3,
     NAN,
     true},
	{"a run that has no figure",
     1,
     {2, 2},
     {0, 1},
     {{0}, {0}},
     {{1, 1}, {3, 3}},
     {{NAN, .01}, {-.03, .03}},
     NOISE_BLOCKS,
     8 * UNIT,
     6,
     NAN,
     8 * UNIT,
     false},
	{"a run alone", 1, {1, 1}, {0}, {{0}, {0}}, {{1}, {3}}, {{0}, {0}}, NOISE_UNKNOWN, NAN, NAN, NAN, NAN, true},
};

static void near(const char *what, const char *figure, double got, double expected)
{
	if (isnan(expected) ? !isnan(got) : !(got == expected || fabs(got - expected) <= 1e-9 + 1e-6 * fabs(expected)))
		fail_msg("%s: %s %.12g (expected %.12g)", what, figure, got, expected);
}

/* What follows from the error and its degrees of freedom, where the interval is symmetric. `unit`: the change in which
 * it is computed. */
static void follows(const char *what, const struct difference *d, double unit)
{
	const double degrees = fmax(d->degrees, 1), half = student_critical(0.05, degrees) * d->error;
	near(what, "low", d->low, d->relative ? exp(unit - half) - 1 : unit - half);
	near(what, "high", d->high, d->relative ? exp(unit + half) - 1 : unit + half);
	if (d->error > 0)
		near(what, "p", d->p, student_two_sided(fabs(unit) / d->error, degrees));
	else
		assert_true(d->p < 1e-6);
}

static struct difference by_hand_difference(const struct by_hand *c, const double values[SIDES],
                                            enum influence_scale scale)
{
	static const size_t ends[] = {0, 4, 8}, alone[] = {0, 1};
	double parts[SIDES][24], of_runs[SIDES][3];
	struct comparison_design design = {.partner = c->partner};
	struct influence i[SIDES] = {0};
	for (int s = 0; s < SIDES; s++) {
		const int blocks = c->alone ? 1 : 4 * c->stages;
		design.blocks[s] = (struct run_blocks){
			.runs = c->runs[s], .stages = (size_t)c->stages, .begin = c->alone ? alone : ends};
		design.schedule[s] = c->schedule[s];
		for (int r = 0; r < c->runs[s]; r++) {
			for (int k = 0; k < blocks; k++)
				parts[s][r * blocks + k] = c->parts[s][r] * part[k % 4];
			of_runs[s][r] = scale == INFLUENCE_SHARE ? values[s] + c->off[s][r] : values[s] * exp(c->off[s][r]);
		}
		i[s] = (struct influence){.value = values[s], .scale = scale, .parts = parts[s], .of_runs = of_runs[s]};
	}
	return difference_of(&i[SIDE_BASE], &i[SIDE_NEW], &design);
}

static void noise_by_hand(void **state)
{
	(void)state;
	for (size_t k = 0; k < 2 * sizeof by_hand / sizeof *by_hand; k++) {
		const struct by_hand *c = &by_hand[k / 2];
		const double values[SIDES] = {0.5, 0.53}, unit = k % 2 ? log(0.53 / 0.5) : 0.03;
		const struct difference d = by_hand_difference(c, values, k % 2 ? INFLUENCE_RELATIVE : INFLUENCE_SHARE);
		assert_int_equal(d.relative, k % 2);
		near(c->what, "change", d.change, k % 2 ? 0.06 : 0.03);
		assert_int_equal(d.runs[SIDE_NEW], c->runs[SIDE_NEW]);
		assert_int_equal(d.noise, c->noise);
		near(c->what, "error", d.error, sqrt(c->variance));
		near(c->what, "degrees", d.degrees, c->degrees);
		near(c->what, "between", d.between, sqrt(c->between));
		near(c->what, "within", d.within, sqrt(c->within / (1.0 / c->runs[SIDE_BASE] + 1.0 / c->runs[SIDE_NEW])));
		if (c->noise == NOISE_UNKNOWN)
			assert_true(isnan(d.p) && isnan(d.low) && isnan(d.high));
		else
			follows(c->what, &d, unit);
	}
}

static void what_has_no_difference(void **state)
{
	static const double zero[SIDES][SIDES] = {{0, 1}, {1, 0}}, equal[SIDES] = {2, 2};
	(void)state;
	for (int k = 0; k < 2; k++) {
		struct difference d = by_hand_difference(&by_hand[0], zero[k], INFLUENCE_RELATIVE);
		assert_true(isnan(d.change) && isnan(d.p) && isnan(d.error) && isnan(d.within) && isnan(d.between));
		d = by_hand_difference(&by_hand[0], zero[k], INFLUENCE_SHARE);
		near("a share of 0", "change", d.change, k ? -1 : 1);
		follows("a share of 0", &d, k ? -1 : 1);
	}
	const struct difference same = by_hand_difference(&by_hand[0], equal, INFLUENCE_RELATIVE);
	assert_true(same.change == 0 && same.p == 1 && same.low < 0 && same.high > 0);
	/* the parts of one side alone */
	const size_t ends[] = {0, 4};
	const int none[] = {-1};
	const struct run_blocks blocks = {.runs = 1, .stages = 1, .begin = ends};
	const struct comparison_design design = {.blocks = {blocks, blocks}, .partner = none, .schedule = {none, none}};
	double parts[4] = {0}, of_runs[] = {1};
	for (int k = 0; k < SIDES; k++) {
		struct influence i[SIDES] = {{.value = 1}, {.value = 2}};
		i[k].parts = parts;
		i[k].of_runs = of_runs;
		const struct difference d = difference_of(&i[SIDE_BASE], &i[SIDE_NEW], &design);
		near("parts of one side", "change", d.change, 1);
		assert_true(isnan(d.p) && isnan(d.low));
	}
}

/* ---- what is found ---- */

static void findings_at_their_limits(void **state)
{
	static const struct {
		bool relative;
		double change, low, high, p, adjusted;
		enum finding finding;
	} cases[] = {
		{true, 0.02, 0.01, 0.03, 0.01, 0.0499, FINDING_HIGHER},
		{true, 0.02, 0.01, 0.03, 0.01, 0.05, FINDING_FEW_RUNS},
		{true, -0.02, -0.03, -0.01, 0.01, 0.0499, FINDING_LOWER},
		{true, 0.0199, 0.01, 0.03, 0.01, 0.01, FINDING_FEW_RUNS}, /* less than counts */
		{true, 0.0199, 0.019, 0.0199, 0.01, 0.01, FINDING_SAME},
		{true, 0, -0.0199, 0.0199, 1, 1, FINDING_SAME},
		{true, 0, -0.02, 0.0199, 1, 1, FINDING_FEW_RUNS},
		{true, 0, -0.0199, 0.02, 1, 1, FINDING_FEW_RUNS},
		{false, 0.01, 0.005, 0.03, 0.01, 0.01, FINDING_HIGHER}, /* a share */
		{false, 0.0099, 0.005, 0.03, 0.01, 0.01, FINDING_FEW_RUNS},
		{false, 0, -0.0199, 0.0199, 1, 1, FINDING_FEW_RUNS},
		{true, NAN, 0.01, 0.03, 0.01, 0.01, FINDING_NONE},
		{true, 0.02, 0.01, 0.03, NAN, NAN, FINDING_NONE},
	};
	(void)state;
	for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
		struct difference d = {.relative = cases[k].relative,
		                       .change = cases[k].change,
		                       .low = cases[k].low,
		                       .high = cases[k].high,
		                       .p = cases[k].p,
		                       .adjusted = cases[k].adjusted,
		                       .error = 0.01,
		                       .degrees = 20,
		                       .runs = {1, 1},
		                       .finding = FINDING_FEW_RUNS};
		difference_judge(&d, &(struct difference_limits){0.02, 0.01, 1});
		if (d.finding != cases[k].finding)
			fail_msg("case %zu: %d (expected %d)", k, (int)d.finding, (int)cases[k].finding);
	}
}

/* A change as large as this is seen in 80 of 100, with as many runs of each side; 0: as is. */
static double seen_by_hand(const struct difference *d, int64_t runs, double alpha)
{
	double error = d->error, degrees = d->degrees;
	if (runs) {
		error *= sqrt(2.0 / (double)runs / (1.0 / d->runs[SIDE_BASE] + 1.0 / d->runs[SIDE_NEW]));
		degrees *= (double)runs / ((d->runs[SIDE_BASE] + d->runs[SIDE_NEW]) / 2.0);
		if (d->noise == NOISE_RUNS && degrees > 2 * (double)runs - 2)
			degrees = 2 * (double)runs - 2;
	}
	degrees = degrees > 1 ? degrees : 1;
	return error * (student_critical(alpha, degrees) + student_critical(0.4, degrees));
}

static void runs_that_are_needed(void **state)
{
	static const struct difference cases[] = {
		{.relative = true, .error = 0.01, .degrees = 40, .runs = {1, 1}, .noise = NOISE_BLOCKS},
		{.relative = true, .error = 0.02, .degrees = 2, .runs = {2, 2}, .noise = NOISE_RUNS},
		{.relative = false, .error = 0.02, .degrees = 30, .runs = {1, 3}, .noise = NOISE_RUNS},
		{.relative = false, .error = 0.004, .degrees = 0.5, .runs = {3, 1}, .noise = NOISE_BLOCKS},
		{.relative = true, .error = 1e-6, .degrees = 40, .runs = {1, 1}, .noise = NOISE_BLOCKS},
		{.relative = true, .error = 0, .degrees = 2, .runs = {2, 2}, .noise = NOISE_RUNS},
		{.relative = true, .error = 900, .degrees = 40, .runs = {1, 1}, .noise = NOISE_BLOCKS},
		{.relative = false, .error = 900, .degrees = 40, .runs = {1, 1}, .noise = NOISE_BLOCKS},
	};
	(void)state;
	for (size_t k = 0; k < 3 * sizeof cases / sizeof *cases; k++) {
		struct difference d = cases[k / 3];
		const size_t family = k % 3 == 2 ? 10 : k % 3;
		const double alpha = family ? 0.05 / (double)family : 0.05, effect = d.relative ? log(1.02) : 0.01,
					 visible = seen_by_hand(&d, 0, alpha);
		difference_judge(&d, &(struct difference_limits){0.02, 0.01, family});
		near("runs needed", "visible", d.visible, d.relative ? exp(visible) - 1 : visible);
		if (k / 3 >= 6) {
			assert_int_equal(d.runs_needed, IPF_ABSENT);
			continue;
		}
		assert_true(d.runs_needed >= 1 && seen_by_hand(&d, d.runs_needed, alpha) <= effect);
		assert_true(d.runs_needed == 1 || seen_by_hand(&d, d.runs_needed - 1, alpha) > effect);
	}
	/* just within what is looked for, and just beyond it */
	for (int over = 0; over < 2; over++) {
		struct difference d = {.runs = {1, 1}, .degrees = 40, .noise = NOISE_BLOCKS, .error = 1};
		d.error = 0.01 / seen_by_hand(&d, RUNS_MOST, 0.05) * (over ? 1.000001 : 0.999999);
		difference_judge(&d, &(struct difference_limits){0.02, 0.01, 1});
		assert_int_equal(d.runs_needed, over ? IPF_ABSENT : RUNS_MOST);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(noise_by_hand),
		cmocka_unit_test(what_has_no_difference),
		cmocka_unit_test(findings_at_their_limits),
		cmocka_unit_test(runs_that_are_needed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
