/* Differences of which error, interval and finding can be computed by hand; test_report_difference.c has properties
 * that only many simulated comparisons show. */
#include "unit.h"

#include "absent.h"
#include "difference/difference.h"
#include "figures/share_interval.h"
#include "stats/student.h"

#include <math.h>

/* ---- noise ---- */

/* Each stage of a run has 80 parts, which block_noise.h joins to 8 blocks: a multiple of these. Their sum of squares is
 * 40e-6, and their neighbours do not resemble each other, so their variance is 8 * 40e-6 / 7 for a multiple of 1, with
 * 7 degrees of freedom. Within a block, parts alternate: they are as good as independent. */
enum { BLOCKS = 8, EACH = 10, PARTS = BLOCKS * EACH };
static const double block[BLOCKS] = {3e-3, -3e-3, 1e-3, -1e-3, -1e-3, 1e-3, -3e-3, 3e-3};
#define UNIT (32e-5 / 7)

static double part(int k)
{
	return block[k / EACH % BLOCKS] / EACH + (k % 2 ? 1e-2 : -1e-2);
}

struct by_hand {
	const char *what;
	int stages, runs[SIDES], partner[3], schedule[SIDES][3];
	double parts[SIDES][3]; /* multiples */
	double off[SIDES][3];   /* each run's: how far its figure is from the side's */
	enum noise_source noise;
	double variance, degrees, between, within; /* variance and within²: of a figure, between²: of a run */
	bool alone;                                /* each run has one block, which says nothing */
};

#define OF_PAIR(of_, degrees_) (of_) * UNIT, degrees_, NAN, (of_)*UNIT

static const struct by_hand by_hand[] = {
	{"a pair", 1, {1, 1}, {0}, {{0}, {0}}, {{1}, {3}}, {{0}, {0}}, NOISE_BLOCKS, OF_PAIR(4, 7), false},
	{"no pair", 1, {1, 1}, {-1}, {{0}, {1}}, {{1}, {3}}, {{0}, {0}}, NOISE_BLOCKS, OF_PAIR(10, 700.0 / 82), false},
	{"two stages", 2, {1, 1}, {0}, {{0}, {0}}, {{1}, {3}}, {{0}, {0}}, NOISE_BLOCKS, OF_PAIR(8, 14), false},
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
     {{-.0192, .0192}, {-.0192, .0192}},
     NOISE_RUNS,
     17 * UNIT,
     2,
     2 * .0192 * .0192,
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
     2 + 17 * 17 * 7 / 257.0,
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
     NOISE_RUNS,
     17e-4,
     2,
     17e-4,
     36 * UNIT,
     false},
	{"the second of two has a partner",
     1,
     {2, 2},
     {-1, 1},
     {{0, 1}, {2, 1}},
     {{1, 2}, {4, 5}},
     {{-.01, .01}, {-.03, .05}},
     NOISE_RUNS,
     17e-4,
     2,
     17e-4,
     26 * UNIT,
     false},
	{"each run has other requests",
     1,
     {2, 2},
     {-1, -1},
     {{0, 1}, {2, 3}},
     {{1, 1}, {1, 1}},
     {{-.1, .1}, {-.03, .05}},
     NOISE_RUNS,
     116e-4,
     2,
     116e-4,
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
     9e-4 * 4 / 3,
     2,
     9e-4,
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
     14,
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

/* Consequences of the error and its degrees of freedom, where the interval is symmetric. `unit`: the change in which it
 * is computed. */
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
	static const size_t ends[] = {0, PARTS, 2 * PARTS}, alone[] = {0, 1};
	double *parts[SIDES], of_runs[SIDES][3];
	struct comparison_design design = {.partner = c->partner};
	struct influence i[SIDES] = {0};
	for (int s = 0; s < SIDES; s++) {
		const int blocks = c->alone ? 1 : PARTS * c->stages;
		design.blocks[s] = (struct run_blocks){
			.runs = c->runs[s], .stages = (size_t)c->stages, .begin = c->alone ? alone : ends};
		design.schedule[s] = c->schedule[s];
		parts[s] = malloc((size_t)(c->runs[s] * blocks) * sizeof *parts[s]); /* a sanitizer sees reads beyond its end */
		assert_non_null(parts[s]);
		for (int r = 0; r < c->runs[s]; r++) {
			for (int k = 0; k < blocks; k++)
				parts[s][r * blocks + k] = c->parts[s][r] * part(k);
			of_runs[s][r] = scale == INFLUENCE_SHARE ? values[s] + c->off[s][r] : values[s] * exp(c->off[s][r]);
		}
		i[s] = (struct influence){.value = values[s], .scale = scale, .parts = parts[s], .of_runs = of_runs[s]};
	}
	const struct difference d = difference_of(&i[SIDE_BASE], &i[SIDE_NEW], &design);
	free(parts[SIDE_BASE]);
	free(parts[SIDE_NEW]);
	return d;
}

static void noise_by_hand(void **state)
{
	(void)state;
	for (size_t k = 0; k < sizeof by_hand / sizeof *by_hand; k++) {
		const struct by_hand *c = &by_hand[k];
		const double values[SIDES] = {0.5, 0.53}, unit = log(0.53 / 0.5);
		const struct difference d = by_hand_difference(c, values, INFLUENCE_RELATIVE);
		assert_true(d.relative);
		near(c->what, "change", d.change, 0.06);
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

/* Sides of other requests may have other stages, too. */
static void each_side_has_its_own_stages(void **state)
{
	static const size_t ends[] = {0, PARTS, 2 * PARTS};
	static const int none[] = {-1}, schedules[SIDES][1] = {{0}, {1}};
	double parts[2 * PARTS], of_runs[] = {1, 1};
	(void)state;
	for (int k = 0; k < 2 * PARTS; k++)
		parts[k] = part(k);
	for (int more = 0; more < SIDES; more++) {
		struct comparison_design design = {.partner = none, .schedule = {schedules[0], schedules[1]}};
		struct influence i[SIDES];
		for (int s = 0; s < SIDES; s++) {
			design.blocks[s] = (struct run_blocks){.runs = 1, .stages = s == more ? 2 : 1, .begin = ends};
			i[s] = (struct influence){.value = 1, .parts = parts, .of_runs = of_runs};
		}
		const struct difference d = difference_of(&i[SIDE_BASE], &i[SIDE_NEW], &design);
		near("stages", "error", d.error, sqrt(3 * UNIT));
		near("stages", "degrees", d.degrees, 21);
	}
}

static void a_figure_of_zero_has_no_difference(void **state)
{
	static const double zero[SIDES][SIDES] = {{0, 1}, {1, 0}}, equal[SIDES] = {2, 2};
	(void)state;
	for (int k = 0; k < 2; k++) {
		const struct difference d = by_hand_difference(&by_hand[0], zero[k], INFLUENCE_RELATIVE);
		assert_true(isnan(d.change) && isnan(d.p) && isnan(d.error) && isnan(d.within) && isnan(d.between));
	}
	const struct difference same = by_hand_difference(&by_hand[0], equal, INFLUENCE_RELATIVE);
	assert_true(same.change == 0 && same.p == 1 && same.low < 0 && same.high > 0);
	/* four times as much: more than a share can change */
	const double more[SIDES] = {1, 4};
	const struct difference large = by_hand_difference(&by_hand[0], more, INFLUENCE_RELATIVE);
	follows("four times as much", &large, log(4));
	assert_true(large.low > 1);
	/* the parts of one side alone */
	const size_t ends[] = {0, PARTS};
	const int none[] = {-1};
	const struct run_blocks blocks = {.runs = 1, .stages = 1, .begin = ends};
	const struct comparison_design design = {.blocks = {blocks, blocks}, .partner = none, .schedule = {none, none}};
	double parts[PARTS] = {0}, of_runs[] = {1};
	for (int k = 0; k < SIDES; k++) {
		struct influence i[SIDES] = {{.value = 1}, {.value = 2}};
		i[k].parts = parts;
		i[k].of_runs = of_runs;
		const struct difference d = difference_of(&i[SIDE_BASE], &i[SIDE_NEW], &design);
		near("parts of one side", "change", d.change, 1);
		assert_true(isnan(d.p) && isnan(d.low));
	}
}

/* ---- percentiles ---- */

/* A side whose values have these logarithms: `middle` at its level, from where they fall by `down` and rise by `up` for
 * each logit of the level. A step of an error e thus takes them e / (level (1 - level)) times as far. */
struct percentile {
	double level, middle, down, up;
	int values;
	double multiple; /* its parts are so many times those by hand */
	double size;
	double ramp; /* each part is greater than the one before it by this */
};

static double logit(double level)
{
	return log(level / (1 - level));
}

static struct influence influence_of(const struct percentile *p, struct samples *sorted, double *parts, double *of_run)
{
	for (int k = 0; k < p->values; k++) {
		const double steps = logit((k + 0.5) / p->values) - logit(p->level);
		samples_add(sorted, exp(p->middle + steps * (steps < 0 ? p->down : p->up)));
	}
	samples_sort(sorted);
	for (int k = 0; k < PARTS; k++)
		parts[k] = p->multiple * part(k) + p->ramp * (k - (PARTS - 1) / 2.0);
	*of_run = exp(p->middle);
	return (struct influence){.value = exp(p->middle),
	                          .scale = INFLUENCE_LEVEL,
	                          .size = p->size,
	                          .level = p->level,
	                          .sorted = sorted,
	                          .parts = parts,
	                          .of_runs = of_run};
}

static struct difference of_percentiles(const struct percentile sides[SIDES], bool paired)
{
	const size_t ends[] = {0, PARTS};
	const int partner[] = {paired ? 0 : -1}, schedules[SIDES][1] = {{0}, {paired ? 0 : 1}};
	const struct run_blocks blocks = {.runs = 1, .stages = 1, .begin = ends};
	const struct comparison_design design = {
		.blocks = {blocks, blocks}, .partner = partner, .schedule = {schedules[0], schedules[1]}};
	struct samples sorted[SIDES] = {{0}};
	double parts[SIDES][PARTS], of_run[SIDES];
	struct influence i[SIDES];
	for (int s = 0; s < SIDES; s++)
		i[s] = influence_of(&sides[s], &sorted[s], parts[s], &of_run[s]);
	const struct difference d = difference_of(&i[SIDE_BASE], &i[SIDE_NEW], &design);
	for (int s = 0; s < SIDES; s++)
		samples_release(&sorted[s]);
	return d;
}

/* How far a standard error goes down and up, and on average. */
struct steps {
	double down, up, mean;
};

static struct steps steps_of(const struct percentile *p)
{
	const double error = fabs(p->multiple) * sqrt(UNIT) / (p->level * (1 - p->level));
	return (struct steps){error * p->down, error * p->up, error * (p->down + p->up) / 2};
}

/* The values are interpolated. */
static void about(const char *what, const char *figure, double got, double expected)
{
	if (!(got == expected || fabs(got - expected) <= 2e-3 * fabs(expected)))
		fail_msg("%s: %s %.9g (expected %.9g)", what, figure, got, expected);
}

/* How far the limits are from the change, for one standard error. */
struct distances {
	double below, above;
};

static void expect_interval(const char *what, const struct difference *d, double change, double error, double degrees,
                            struct distances limits)
{
	const double t = student_critical(0.05, degrees), toward = change > 0 ? limits.below : limits.above;
	assert_int_equal(d->noise, NOISE_BLOCKS);
	about(what, "error", d->error, error);
	about(what, "degrees", d->degrees, degrees);
	about(what, "low", log(1 + d->low), change - t * limits.below);
	about(what, "high", log(1 + d->high), change + t * limits.above);
	about(what, "p", d->p, student_two_sided(fabs(change) / toward, degrees));
}

static void limits_of_percentiles_are_read_off_the_values(void **state)
{
	(void)state;
	struct percentile sides[SIDES] = {{0.5, 0, 1, 2, 20000, 1, 1000, 0}, {0.4, 0.1, 0.5, 0.8, 20000, 3, 1000, 0}};
	for (int falls = 0; falls < 2; falls++) {
		sides[SIDE_NEW].middle = falls ? -0.2 : 0.2;
		sides[SIDE_BASE].multiple = 1;
		const double change = sides[SIDE_NEW].middle;
		const struct steps base = steps_of(&sides[SIDE_BASE]), value = steps_of(&sides[SIDE_NEW]);
		/* other requests: errors of their own */
		struct difference d = of_percentiles(sides, false);
		const double a = base.mean * base.mean, b = value.mean * value.mean;
		expect_interval("not paired", &d, change, sqrt(a + b), 7 * (a + b) * (a + b) / (a * a + b * b),
		                (struct distances){hypot(value.down, base.up), hypot(value.up, base.down)});
		/* the same requests: one error, which moves both sides in one direction */
		d = of_percentiles(sides, true);
		const double both = fmax(fabs(value.down - base.down), fabs(value.up - base.up));
		expect_interval("paired", &d, change, fabs(value.mean - base.mean), 7, (struct distances){both, both});
		/* or in opposite ones */
		sides[SIDE_BASE].multiple = -1;
		d = of_percentiles(sides, true);
		expect_interval("opposite", &d, change, value.mean + base.mean, 7,
		                (struct distances){value.down + base.up, value.up + base.down});
	}
}

/* Twenty blocks of each side, and two of them beyond the percentile. */
static void a_percentile_needs_blocks_beyond_it(void **state)
{
	static const struct {
		double level;
		bool known;
	} cases[] = {{0.5, true}, {0.974, true}, {0.976, false}, {0.026, true}, {0.024, false}};
	(void)state;
	for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
		const struct percentile side = {cases[k].level, 0, 1, 1, 20000, 0.1, 1000, 0};
		const struct percentile sides[SIDES] = {side, side};
		const struct difference d = of_percentiles(sides, true);
		assert_int_equal(d.noise, cases[k].known ? NOISE_BLOCKS : NOISE_UNKNOWN);
		assert_int_equal(d.missing, cases[k].known ? NOISE_KNOWN : NOISE_FEW);
	}
}

/* There are no values as far out as one standard error of the new side's level. */
static void values_that_end_leave_a_limit_open(void **state)
{
	(void)state;
	for (int below = 0; below < 2; below++) {
		const double level = below ? 0.03 : 0.97;
		const struct percentile sides[SIDES] = {{level, 0, 0.1, 0.1, 20000, 0.5, 1000, 0},
		                                        {level, 0.2, 0.1, 0.1, 400, 12, 1000, 0}};
		const struct steps base = steps_of(&sides[SIDE_BASE]), value = steps_of(&sides[SIDE_NEW]);
		const double t = student_critical(0.05, 7);
		const struct difference d = of_percentiles(sides, true);
		/* the scale is that of the values on the other side */
		assert_true(fabs(d.error - (value.mean - base.mean)) < 0.02 * d.error);
		if (below)
			assert_true(isinf(d.low) || d.low <= -1);
		else
			assert_true(isinf(d.high) && d.high > 0);
		const double open = below ? log(1 + d.high) - 0.2 : 0.2 - log(1 + d.low);
		assert_true(fabs(open - t * (value.mean - base.mean)) < 0.02 * open);
	}
}

/* A side of a tenth of the requests has at least the noise of the other for as many. */
static void a_small_side_takes_the_noise_of_the_other(void **state)
{
	static const struct {
		double size, multiple, other;
		bool own;
	} cases[] = {{1000, 1, 1, true}, {501, 1, 1, true},  {500, 1, 1, true},   {499, 1, 1, false},
	             {100, 1, 1, false}, {100, 3, 1, false}, {100, 3.3, 1, false}};
	(void)state;
	for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
		for (int small = 0; small < SIDES; small++) {
			/* the scales differ: 2 for the base, 0.5 / 0.25 and 1 / 0.24 for each unit of the level */
			struct percentile sides[SIDES] = {{0.5, 0, 0.5, 0.5, 20000, cases[k].other, 1000, 0},
			                                  {0.4, 0.1, 1, 1, 20000, cases[k].other, 1000, 0}};
			sides[small].size = cases[k].size;
			sides[small].multiple = cases[k].multiple;
			const struct steps own = steps_of(&sides[small]), other = steps_of(&sides[!small]);
			struct percentile like = sides[small];
			like.multiple = cases[k].other * sqrt(1000 / cases[k].size);
			const double taken = cases[k].own || like.multiple < cases[k].multiple ? own.mean : steps_of(&like).mean;
			const struct difference d = of_percentiles(sides, false);
			about("a small side", "error", d.error, hypot(taken, other.mean));
		}
}

/* The ramp of both sides makes successive blocks depend on each other, but it is no part of their difference. */
static void without_noise_of_its_own_a_level_varies_as_independent_values(void **state)
{
	(void)state;
	const struct percentile sides[SIDES] = {{0.3, 0, 1, 2, 20000, 1, 400, 0.005},
	                                        {0.3, 0.1, 1, 2, 20000, 3, 900, 0.005}};
	const struct difference d = of_percentiles(sides, true);
	/* a step of a standard error, down; up it is twice as far */
	const double variance = 0.3 * 0.7, base = sqrt(1 / (variance * 400)), value = sqrt(1 / (variance * 900)),
				 a = 1.5 * base, b = 1.5 * value, error = 1.5 * 2 * sqrt(UNIT) / variance;
	const double correlation = (a * a + b * b - error * error) / (2 * a * b),
				 together = 4 * (base - value) * (base - value);
	assert_true(correlation > 0 && correlation < 1);
	expect_interval(
		"a ramp", &d, 0.1, error, 7,
		(struct distances){sqrt((1 - correlation) * (value * value + 4 * base * base) + correlation * together),
	                       sqrt((1 - correlation) * (4 * value * value + base * base) + correlation * together)});
}

/* ---- shares ---- */

/* With as many requests on each side, every so manieth one is a case, in the same blocks or in others. */
static struct difference of_shares(int requests, int base, int value, bool paired)
{
	double over[SIDES][512] = {{0}}, under[SIDES][512] = {{0}};
	const int blocks_here = requests < 512 ? requests : 512;
	const size_t ends[] = {0, (size_t)blocks_here};
	const int partner[] = {paired ? 0 : -1}, schedules[SIDES][1] = {{0}, {paired ? 0 : 1}},
			  cases[SIDES] = {base, value};
	const struct run_blocks blocks = {.runs = 1, .stages = 1, .begin = ends};
	struct comparison_design design = {.blocks = {blocks, blocks}, .partner = partner};
	struct influence i[SIDES] = {0};
	struct ipf_error err = {0};
	for (int s = 0; s < SIDES; s++) {
		design.schedule[s] = schedules[s];
		for (int k = 0; k < requests; k++) {
			const int b = k * blocks_here / requests;
			under[s][b]++;
			over[s][b] += (k + 1) * cases[s] / requests - k * cases[s] / requests;
		}
		influence_of_ratio(&i[s], &blocks, over[s], under[s], INFLUENCE_SHARE, &err);
		i[s].cases = requests;
	}
	const struct difference d = difference_of(&i[SIDE_BASE], &i[SIDE_NEW], &design);
	influence_release(&i[SIDE_BASE]);
	influence_release(&i[SIDE_NEW]);
	return d;
}

/* R. G. Newcombe, "Interval estimation for the difference between independent proportions", Statistics in Medicine
 * 17(8), 1998: his method 10, with Student's t instead of the normal distribution. */
static double newcombe(int requests, int base, int value, bool below)
{
	const double t = student_critical(0.05, 2.0 * requests - 2), n = requests, p = base / n, q = value / n;
	double low[2], high[2];
	for (int k = 0; k < 2; k++) {
		const double share = k ? q : p, root = t * sqrt(t * t / (4 * n * n) + share * (1 - share) / n);
		low[k] = (share + t * t / (2 * n) - root) / (1 + t * t / n);
		high[k] = (share + t * t / (2 * n) + root) / (1 + t * t / n);
	}
	return below ? q - p - sqrt((q - low[1]) * (q - low[1]) + (high[0] - p) * (high[0] - p))
	             : q - p + sqrt((high[1] - q) * (high[1] - q) + (p - low[0]) * (p - low[0]));
}

/* No failure was seen: how many there could have been follows from how many requests were looked at. */
static void shares_at_their_ends(void **state)
{
	(void)state;
	static const int cases[][3] = {{60, 0, 0}, {60, 60, 60}, {60, 0, 60}, {1000, 0, 0}, {400, 0, 2}, {40, 0, 1}};
	for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
		for (int paired = 0; paired < 2; paired++) {
			const struct difference d = of_shares(cases[k][0], cases[k][1], cases[k][2], paired);
			near("share", "low", d.low, newcombe(cases[k][0], cases[k][1], cases[k][2], true));
			near("share", "high", d.high, newcombe(cases[k][0], cases[k][1], cases[k][2], false));
			assert_true(d.low <= d.change && d.change <= d.high && d.low < d.high && d.error > 0);
		}
	struct difference none = of_shares(60, 0, 0, true);
	none.adjusted = none.p;
	difference_judge(&none, &(struct difference_limits){0.02, 0.01, 1});
	assert_int_equal(none.finding, FINDING_FEW_RUNS);
	assert_true(none.runs_needed > 5);
	none = of_shares(4000, 0, 0, true);
	none.adjusted = none.p;
	difference_judge(&none, &(struct difference_limits){0.02, 0.01, 1});
	assert_int_equal(none.finding, FINDING_SAME);
}

/* One in ten variances of seven degrees of freedom is greater than this many times the known one. */
#define F_90 1.7167

/* Shares of 1000 requests, in parts by hand: blocks count if their variance is greater than that. */
static void shares_vary_at_least_as_their_blocks(void **state)
{
	static const double multiples[][SIDES] = {{1, 1}, {2.7, 2.7}, {2.9, 2.9}, {5, 1}, {1, 5}};
	const size_t ends[] = {0, PARTS};
	const int partner[] = {-1}, schedules[SIDES][1] = {{0}, {1}};
	const struct run_blocks blocks = {.runs = 1, .stages = 1, .begin = ends};
	const struct comparison_design design = {
		.blocks = {blocks, blocks}, .partner = partner, .schedule = {schedules[0], schedules[1]}};
	(void)state;
	for (size_t k = 0; k < sizeof multiples / sizeof *multiples; k++) {
		const double values[SIDES] = {0.3, 0.45};
		double parts[SIDES][PARTS], cases[SIDES], squares[SIDES];
		struct influence i[SIDES];
		bool independent = true;
		for (int s = 0; s < SIDES; s++) {
			for (int b = 0; b < PARTS; b++)
				parts[s][b] = multiples[k][s] * part(b);
			i[s] = (struct influence){
				.value = values[s], .scale = INFLUENCE_SHARE, .cases = 1000, .parts = parts[s], .of_runs = &i[s].value};
			squares[s] = multiples[k][s] * multiples[k][s] * UNIT;
			const double ratio = squares[s] * 1000 / (values[s] * (1 - values[s]));
			const bool few = ratio > F_90;
			cases[s] = few ? 1000 / ratio : 1000;
			independent = independent && !few;
		}
		const struct difference d = difference_of(&i[SIDE_BASE], &i[SIDE_NEW], &design);
		const double all = squares[0] + squares[1],
					 degrees = independent ? 1998 : 7 * all * all / (squares[0] * squares[0] + squares[1] * squares[1]),
					 t = student_critical(0.05, degrees);
		const struct share_interval base = share_interval_at(values[0], cases[0], t),
									value = share_interval_at(values[1], cases[1], t);
		const double below = hypot(values[1] - value.low, base.high - values[0]),
					 above = hypot(value.high - values[1], values[0] - base.low);
		near("share", "degrees", d.degrees, degrees);
		near("share", "low", d.low, 0.15 - below);
		near("share", "high", d.high, 0.15 + above);
		near("share", "error", d.error, fmax(sqrt(all), (below + above) / 2 / t));
	}
}

/* ---- findings ---- */

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
		{.relative = false, .error = 0.0036, .degrees = 30, .runs = {2, 2}, .noise = NOISE_RUNS},
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
		if (k / 3 >= 7) {
			assert_int_equal(d.runs_needed, IPF_ABSENT);
			continue;
		}
		assert_true(d.runs_needed >= 1 && seen_by_hand(&d, d.runs_needed, alpha) <= effect);
		assert_true(d.runs_needed == 1 || seen_by_hand(&d, d.runs_needed - 1, alpha) > effect);
	}
	struct difference none = cases[0];
	assert_int_equal(difference_runs_for(&none, 0, 1), IPF_ABSENT);
	none.p = NAN;
	assert_int_equal(difference_runs_for(&none, 0.02, 1), IPF_ABSENT);
	/* just within the least effect, and just beyond it */
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
		cmocka_unit_test(each_side_has_its_own_stages),
		cmocka_unit_test(a_figure_of_zero_has_no_difference),
		cmocka_unit_test(limits_of_percentiles_are_read_off_the_values),
		cmocka_unit_test(a_percentile_needs_blocks_beyond_it),
		cmocka_unit_test(values_that_end_leave_a_limit_open),
		cmocka_unit_test(a_small_side_takes_the_noise_of_the_other),
		cmocka_unit_test(without_noise_of_its_own_a_level_varies_as_independent_values),
		cmocka_unit_test(shares_vary_at_least_as_their_blocks),
		cmocka_unit_test(shares_at_their_ends),
		cmocka_unit_test(findings_at_their_limits),
		cmocka_unit_test(runs_that_are_needed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
