#include "compare/difference.h"

#include "absent.h"
#include "compare/block_plan.h"
#include "stats/block_noise.h"
#include "stats/exact_math.h"
#include "stats/student.h"

#include <math.h>

/* Parts of both sides, each in units of the change: what is on the side of the base is subtracted. */
struct weighted_parts {
	const struct comparison_design *design;
	const struct influence *sides[SIDES]; /* NULL: the side does not count */
	double weight[SIDES];
};

_Static_assert((int)PLAN_BLOCKS_MOST <= (int)BLOCKS_MOST, "no stage has more blocks than are of use");

/* The parts of a stage in a run of the base and in its partner; either may be -1. */
static struct block_noise stage_noise(const struct weighted_parts *w, const int run[SIDES], size_t stage)
{
	double sums[BLOCKS_MOST] = {0};
	size_t count = 0;
	for (int s = 0; s < SIDES; s++) {
		const struct run_blocks *blocks = &w->design->blocks[s];
		if (run[s] < 0 || !w->sides[s])
			continue;
		const double *parts = w->sides[s]->parts + (size_t)run[s] * run_blocks_each(blocks) + blocks->begin[stage];
		count = blocks->begin[stage + 1] - blocks->begin[stage];
		for (size_t k = 0; k < count; k++)
			sums[k] += w->weight[s] * parts[k];
	}
	return block_noise_of(sums, count);
}

static struct block_noise pair_noise(const struct weighted_parts *w, int base, int value)
{
	struct block_noise all = {0};
	const int run[SIDES] = {base, value};
	const size_t stages = w->design->blocks[base >= 0 ? SIDE_BASE : SIDE_NEW].stages;
	for (size_t s = 0; s < stages; s++)
		all = block_noise_add(all, stage_noise(w, run, s));
	return all;
}

static bool has_partner(const struct comparison_design *design, int value)
{
	for (int a = 0; a < design->blocks[SIDE_BASE].runs; a++)
		if (design->partner[a] == value)
			return true;
	return false;
}

/* What blocks say. */
static struct block_noise within_runs(const struct weighted_parts *w)
{
	struct block_noise all = {0};
	for (int a = 0; w->sides[SIDE_BASE] && a < w->design->blocks[SIDE_BASE].runs; a++)
		all = block_noise_add(all, pair_noise(w, a, w->sides[SIDE_NEW] ? w->design->partner[a] : -1));
	for (int b = 0; w->sides[SIDE_NEW] && b < w->design->blocks[SIDE_NEW].runs; b++)
		if (!w->sides[SIDE_BASE] || !has_partner(w->design, b))
			all = block_noise_add(all, pair_noise(w, -1, b));
	return all;
}

/* How much more or less the figure of a run is than that of the side: its own, since a percentile of a run that differs
 * much from the others is beyond what the linear expansion describes. */
static double run_deviation(const struct weighted_parts *w, int side, int run)
{
	const struct influence *i = w->sides[side];
	if (i->scale == INFLUENCE_SHARE)
		return i->of_runs[run] - i->value;
	return i->of_runs[run] > 0 ? exact_log(i->of_runs[run]) - exact_log(i->value) : NAN;
}

/* The variance of a run's figure among runs of the same side and schedule; *degrees is 0 if there are none. */
static double between_repeats(const struct weighted_parts *w, double *degrees)
{
	double squares = 0;
	*degrees = 0;
	for (int s = 0; s < SIDES; s++) {
		const int runs = w->sides[s] ? w->design->blocks[s].runs : 0, *schedule = w->design->schedule[s];
		for (int r = 0; r < runs; r++) {
			double mean = 0;
			int same = 0, earlier = 0;
			for (int k = 0; k < runs; k++)
				if (schedule[k] == schedule[r]) {
					mean += run_deviation(w, s, k);
					earlier += k < r;
					same++;
				}
			const double d = run_deviation(w, s, r) - mean / same;
			squares += d * d;
			*degrees += earlier > 0;
		}
	}
	return *degrees > 0 ? squares / *degrees : NAN;
}

/* The variance of the difference between partners, where each pair has other requests. */
static double between_pairs(const struct weighted_parts *w, double *degrees)
{
	double sum = 0, squares = 0, mean;
	int pairs = 0;
	for (int a = 0; a < w->design->blocks[SIDE_BASE].runs; a++) {
		if (w->design->partner[a] < 0)
			continue;
		const double d = run_deviation(w, SIDE_NEW, w->design->partner[a]) - run_deviation(w, SIDE_BASE, a);
		pairs++;
		sum += d;
		squares += d * d;
	}
	*degrees = pairs - 1;
	mean = sum / pairs;
	return pairs > 1 ? fmax(squares - pairs * mean * mean, 0) / *degrees : NAN;
}

/* The noise of the difference, that runs and blocks show. */
struct both_noises {
	struct block_noise all, within;
	double between; /* variance of a run; NAN */
	enum noise_source source;
	bool of_runs; /* runs differ more than blocks say */
};

/* One over the number of runs of each side: by how much the mean of runs varies less than one run. */
static double shares_of_run(const struct weighted_parts *w)
{
	double sum = 0;
	for (int s = 0; s < SIDES; s++)
		if (w->sides[s])
			sum += 1.0 / w->design->blocks[s].runs;
	return sum;
}

static struct both_noises noise_of(const struct weighted_parts *w)
{
	struct both_noises n = {.within = within_runs(w), .source = NOISE_BLOCKS};
	double degrees, all;
	n.between = between_repeats(w, &degrees);
	all = n.between * shares_of_run(w);
	if (degrees == 0 && w->sides[SIDE_BASE] && w->sides[SIDE_NEW]) {
		const double of_pair = between_pairs(w, &degrees);
		n.between = of_pair / 2;
		all = degrees > 0 ? of_pair / (degrees + 1) : NAN;
	}
	n.all = n.within;
	if (isnan(n.within.variance))
		n.source = NOISE_UNKNOWN;
	if (!(degrees > 0) || isnan(all))
		return n;
	n.source = NOISE_RUNS;
	const struct block_noise runs = {all, degrees};
	if (isnan(n.within.variance)) {
		n.all = runs;
		n.of_runs = true;
		return n;
	}
	n.of_runs = all > n.within.variance;
	const double ratio = n.within.variance > 0 ? all / n.within.variance : INFINITY;
	const bool visible = variance_ratio_tail(ratio, degrees, fmax(n.within.degrees, 1)) < 0.5;
	n.all.variance = fmax(all, n.within.variance);
	n.all.degrees = visible ? degrees : degrees + n.within.degrees;
	return n;
}

/* What a standard error of the level is in terms of the logarithm of the value. */
static double log_per_level(const struct influence *i, double error)
{
	if (i->scale != INFLUENCE_LEVEL)
		return 1;
	double low = influence_log_at(i, error, -1), high = influence_log_at(i, error, 1);
	const double middle = influence_log_at(i, 0, 0);
	if (isinf(low))
		low = isinf(high) ? NAN : 2 * middle - high;
	if (isinf(high))
		high = 2 * middle - low;
	return error > 0 ? (high - low) / (2 * error) : 0;
}

/* How far the limits of the figure's own interval are from it, at `t` standard errors. */
struct reach {
	double down, up;
};

struct estimate {
	const struct influence *i;
	double error; /* of a run's parts, in their unit */
	double scale; /* to the unit of the change */
};

static struct reach reach_of(const struct estimate *e, double t)
{
	if (e->i->scale != INFLUENCE_LEVEL)
		return (struct reach){t * e->error, t * e->error};
	const double middle = influence_log_at(e->i, 0, 0);
	return (struct reach){middle - influence_log_at(e->i, e->error, -t), influence_log_at(e->i, e->error, t) - middle};
}

struct change_interval {
	const struct estimate *sides;
	double change, correlation, error;
	bool symmetric; /* of the error alone, not of the values around the percentiles */
};

static double square_of(double x)
{
	return isfinite(x) ? x * x : 0;
}

/* How far the change can be off where one side's error takes it `a` away and that of the other `b`, while an error that
 * both sides share takes it `together` away: with symmetric errors, the root of a² + b² - 2 correlation ab. */
static double combined(double a, double b, double together, double correlation)
{
	if (isinf(a) || isinf(b))
		return INFINITY;
	if (correlation < 0)
		return sqrt(a * a + b * b - 2 * correlation * a * b);
	return sqrt((1 - correlation) * (a * a + b * b) + correlation * together);
}

/* The square of what an error that both sides share changes: they are moved by it by different amounts. */
static double shared(const struct reach *base, const struct reach *value)
{
	return fmax(square_of(value->down - base->down), square_of(value->up - base->up));
}

/* How far below the change, or above it, the limit is at `t` standard errors. */
static double width_at(const struct change_interval *c, double t, bool below)
{
	if (c->symmetric)
		return t * c->error;
	const struct reach base = reach_of(&c->sides[SIDE_BASE], t), value = reach_of(&c->sides[SIDE_NEW], t);
	return combined(below ? value.down : value.up, below ? base.up : base.down, shared(&base, &value), c->correlation);
}

/* Widths are looked at in steps of an eighth of an octave, from 1/64 of the critical number of standard errors, which
 * is the step STEP_CRITICAL, to 2^16 of it. */
enum { STEP_CRITICAL = 48, STEPS = 176 };

static double step_at(double critical, int k)
{
	return critical * ldexp(1 + (k % 8) / 8.0, k / 8 - 6);
}

/* An interval holds all those at lower confidence. Where both sides share an error, their values around the percentile
 * can make the width at fewer standard errors the greater one. */
static double interval_width(const struct change_interval *c, double critical, bool below)
{
	double width = 0;
	for (int k = c->symmetric ? STEP_CRITICAL : 0; k <= STEP_CRITICAL; k++)
		width = fmax(width, width_at(c, step_at(critical, k), below));
	return width;
}

/* The p value at which the interval just contains 0. */
static double p_value(const struct change_interval *c, double critical, double degrees)
{
	const bool up = c->change > 0;
	double inside = 0, outside = 0;
	if (c->change == 0)
		return 1;
	for (int k = 0; k < STEPS; k++) {
		outside = step_at(critical, k);
		if (width_at(c, outside, up) >= fabs(c->change))
			break;
		inside = outside;
	}
	for (int k = 0; k < 50; k++) {
		const double t = inside + (outside - inside) / 2;
		if (width_at(c, t, up) < fabs(c->change))
			inside = t;
		else
			outside = t;
	}
	return student_two_sided(inside, degrees);
}

/* From the unit of the change in which it is computed to that in which it is shown. */
static double shown_change(const struct difference *d, double change)
{
	return d->relative && !isinf(change) ? exact_exp(change) - 1 : change;
}

static double change_of(const struct difference *d)
{
	if (!d->relative)
		return d->value - d->base;
	return d->base > 0 && d->value > 0 ? exact_log(d->value) - exact_log(d->base) : NAN;
}

static double root(double variance)
{
	return sqrt(fmax(variance, 0));
}

static void find_interval(struct difference *d, const struct estimate sides[SIDES], const struct both_noises *both)
{
	struct change_interval c = {.sides = sides,
	                            .change = change_of(d),
	                            .error = root(both->all.variance),
	                            .symmetric = both->of_runs || sides[SIDE_BASE].i->scale != INFLUENCE_LEVEL};
	const double a = sides[SIDE_BASE].error * sides[SIDE_BASE].scale, b = sides[SIDE_NEW].error * sides[SIDE_NEW].scale;
	if (a > 0 && b > 0)
		c.correlation = fmax(-1, fmin((a * a + b * b - both->all.variance) / (2 * a * b), 1));
	const double t = student_critical(DIFFERENCE_ALPHA, fmax(both->all.degrees, 1));
	d->error = c.error;
	d->degrees = both->all.degrees;
	d->low = shown_change(d, c.change - interval_width(&c, t, true));
	d->high = shown_change(d, c.change + interval_width(&c, t, false));
	d->p = p_value(&c, t, fmax(both->all.degrees, 1));
}

struct difference difference_of(const struct influence *base, const struct influence *value,
                                const struct comparison_design *design)
{
	const struct influence *sides[SIDES] = {base, value};
	struct difference d = {.base = base->value,
	                       .value = value->value,
	                       .relative = base->scale != INFLUENCE_SHARE,
	                       .low = NAN,
	                       .high = NAN,
	                       .error = NAN,
	                       .degrees = NAN,
	                       .between = NAN,
	                       .within = NAN,
	                       .p = NAN,
	                       .adjusted = NAN,
	                       .visible = NAN,
	                       .runs_needed = IPF_ABSENT};
	struct weighted_parts both = {.design = design, .sides = {base, value}};
	struct estimate estimates[SIDES];
	const double change = change_of(&d);
	d.change = shown_change(&d, change);
	for (int s = 0; s < SIDES; s++)
		d.runs[s] = design->blocks[s].runs;
	if (isnan(change) || !base->parts || !value->parts)
		return d;
	for (int s = 0; s < SIDES; s++) {
		struct weighted_parts one = {.design = design, .weight = {1, 1}};
		one.sides[s] = sides[s];
		const double error = root(within_runs(&one).variance);
		estimates[s] = (struct estimate){sides[s], error, log_per_level(sides[s], error)};
		both.weight[s] = (s == SIDE_BASE ? -1 : 1) * estimates[s].scale;
	}
	const struct both_noises all = noise_of(&both);
	if (all.source == NOISE_UNKNOWN || isnan(all.all.variance))
		return d;
	d.noise = all.source;
	d.between = sqrt(all.between);
	d.within = sqrt(all.within.variance / shares_of_run(&both));
	find_interval(&d, estimates, &all);
	return d;
}

/* How large a change is significant in 80 of 100 comparisons at this error. */
static double seen_at(double error, double degrees, double alpha)
{
	return error * (student_critical(alpha, degrees) + student_critical(2 * (1 - DIFFERENCE_POWER), degrees));
}

/* The same with another number of runs of each side. Where the variance between runs was measured, its degrees of
 * freedom are those of runs. */
static double seen_with(const struct difference *d, int64_t runs, double alpha)
{
	const double each = d->error * d->error / (1.0 / d->runs[SIDE_BASE] + 1.0 / d->runs[SIDE_NEW]);
	double degrees = d->degrees * 2 * (double)runs / (d->runs[SIDE_BASE] + d->runs[SIDE_NEW]);
	if (d->noise == NOISE_RUNS)
		degrees = fmin(degrees, 2 * (double)runs - 2);
	return seen_at(sqrt(2 * each / (double)runs), fmax(degrees, 1), alpha);
}

/* The least number of runs of each side that shows a change of `effect`. */
static int64_t runs_for(const struct difference *d, double effect, double alpha)
{
	int64_t few = 0, many = RUNS_MOST;
	if (seen_with(d, many, alpha) > effect)
		return IPF_ABSENT;
	while (many - few > 1) {
		const int64_t middle = few + (many - few) / 2;
		if (seen_with(d, middle, alpha) > effect)
			few = middle;
		else
			many = middle;
	}
	return many;
}

void difference_judge(struct difference *d, const struct difference_limits *limits)
{
	const double effect = d->relative ? limits->effect : limits->share_effect;
	if (isnan(d->change) || isnan(d->p)) {
		d->finding = FINDING_NONE;
		return;
	}
	const double alpha = DIFFERENCE_ALPHA / (double)(limits->family > 0 ? limits->family : 1);
	const double degrees = fmax(d->degrees, 1);
	d->visible = shown_change(d, seen_at(d->error, degrees, alpha));
	d->runs_needed = runs_for(d, d->relative ? exact_log(1 + effect) : effect, alpha);
	if (d->adjusted < DIFFERENCE_ALPHA && fabs(d->change) >= effect)
		d->finding = d->change < 0 ? FINDING_LOWER : FINDING_HIGHER;
	else if (d->low > -effect && d->high < effect)
		d->finding = FINDING_SAME;
	else
		d->finding = FINDING_FEW_RUNS;
}
