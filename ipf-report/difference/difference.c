#include "difference/difference.h"

#include "absent.h"
#include "difference/block_plan.h"
#include "stats/autocorrelation.h"
#include "stats/block_noise.h"
#include "stats/exact_math.h"
#include "figures/share_interval.h"
#include "stats/student.h"

#include <math.h>

/* Parts of both sides, each in units of the change: the base's parts are subtracted. */
struct weighted_parts {
	const struct comparison_design *design;
	const struct influence *sides[SIDES]; /* NULL: the side does not count */
	double weight[SIDES];
};

/* The parts of a stage in a run of the base and in its partner; either may be -1. */
static struct block_noise stage_noise(const struct weighted_parts *w, const int run[SIDES], size_t stage)
{
	double sums[BLOCKS_PARTS_MOST + 1] = {0};
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
	struct block_noise noise = block_noise_of(sums, count);
	noise.independent = count < 2 ? 0 : mean_estimate_of(sums, count).n_eff;
	return noise;
}

/* Do as many blocks tell their noise? A percentile needs some beyond it. */
static bool is_enough(const struct influence *i, double independent)
{
	const double beyond = i->scale == INFLUENCE_LEVEL ? fmin(i->level, 1 - i->level) : 1;
	return independent >= DIFFERENCE_INDEPENDENT && independent * beyond >= DIFFERENCE_BEYOND;
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

/* The run of this side with the same requests; -1. */
static int partner_of(const struct weighted_parts *w, int side, int run)
{
	if (!w->sides[SIDE_BASE] || !w->sides[SIDE_NEW])
		return -1;
	if (side == SIDE_BASE)
		return w->design->partner[run];
	for (int a = 0; a < w->design->blocks[SIDE_BASE].runs; a++)
		if (w->design->partner[a] == run)
			return a;
	return -1;
}

/* A much smaller side than the other knows its own noise badly: it is taken to be at least the other's for as many
 * requests. */
static struct block_noise at_least(const struct weighted_parts *w, struct block_noise own, struct block_noise other,
                                   int side)
{
	const struct influence *i = w->sides[side], *of_other = w->sides[side == SIDE_BASE ? SIDE_NEW : SIDE_BASE];
	const double scale = w->weight[side] / w->weight[side == SIDE_BASE ? SIDE_NEW : SIDE_BASE];
	const double variance = other.variance * of_other->size / i->size * scale * scale;
	if (!(2 * i->size < of_other->size) || !(variance > own.variance) || isinf(variance))
		return own;
	own.variance = variance;
	own.degrees = other.degrees;
	return own;
}

/* The blocks' evidence. On each side, partners included, as many of them must be independent as needed to know their
 * noise. */
static struct block_noise within_runs(const struct weighted_parts *w)
{
	struct block_noise pairs = {0}, alone[SIDES] = {{0}};
	for (int s = 0; s < SIDES; s++)
		for (int r = 0; w->sides[s] && r < w->design->blocks[s].runs; r++) {
			const int partner = partner_of(w, s, r);
			if (partner < 0)
				alone[s] = block_noise_add(alone[s], s == SIDE_BASE ? pair_noise(w, r, -1) : pair_noise(w, -1, r));
			else if (s == SIDE_BASE)
				pairs = block_noise_add(pairs, pair_noise(w, r, partner));
		}
	const struct block_noise own[SIDES] = {alone[SIDE_BASE], alone[SIDE_NEW]};
	for (int s = 0; s < SIDES && pairs.degrees == 0 && w->sides[SIDE_BASE] && w->sides[SIDE_NEW]; s++)
		alone[s] = at_least(w, own[s], own[s == SIDE_BASE ? SIDE_NEW : SIDE_BASE], s);
	struct block_noise all = block_noise_add(pairs, block_noise_add(alone[SIDE_BASE], alone[SIDE_NEW]));
	for (int s = 0; s < SIDES; s++)
		if (w->sides[s] && !is_enough(w->sides[s], pairs.independent + own[s].independent))
			all.variance = NAN;
	return all;
}

/* How much more or less the figure of a run is than the side's: its own, since a percentile of a run that differs much
 * from the others is beyond the linear expansion. */
static double run_deviation(const struct weighted_parts *w, int side, int run)
{
	const struct influence *i = w->sides[side];
	if (i->scale == INFLUENCE_SHARE)
		return i->of_runs[run] - i->value;
	return i->of_runs[run] > 0 ? exact_log(i->of_runs[run]) - exact_log(i->value) : NAN;
}

/* The noise between a side's runs: a repetition is a run, whatever its schedule. */
static struct block_noise between_runs(const struct weighted_parts *w, int side)
{
	const int runs = w->design->blocks[side].runs;
	double sum = 0, squares = 0;
	if (runs < 2)
		return (struct block_noise){.variance = NAN};
	for (int r = 0; r < runs; r++)
		sum += run_deviation(w, side, r);
	for (int r = 0; r < runs; r++) {
		const double d = run_deviation(w, side, r) - sum / runs;
		squares += d * d;
	}
	return (struct block_noise){.variance = squares / (runs - 1), .degrees = runs - 1};
}

/* For a difference between means of independent runs. A side of one run varies like the other's. */
static struct block_noise between_sides(const struct weighted_parts *w, double *of_run)
{
	struct block_noise all = {0};
	double degrees = 0, squares = 0;
	for (int s = 0; s < SIDES; s++) {
		const struct block_noise side = w->sides[s] ? between_runs(w, s) : (struct block_noise){.variance = NAN};
		if (side.degrees > 0) {
			squares += side.variance * side.degrees;
			degrees += side.degrees;
		}
	}
	*of_run = degrees > 0 ? squares / degrees : NAN;
	for (int s = 0; s < SIDES; s++)
		if (w->sides[s])
			all.variance += *of_run / w->design->blocks[s].runs;
	all.degrees = degrees;
	return all;
}

/* Has each run of both sides a partner, and each pair a schedule of its own? */
static bool in_pairs(const struct weighted_parts *w)
{
	const int runs = w->design->blocks[SIDE_BASE].runs, *schedule = w->design->schedule[SIDE_BASE];
	if (!w->sides[SIDE_BASE] || !w->sides[SIDE_NEW] || runs < 2 || w->design->blocks[SIDE_NEW].runs != runs)
		return false;
	for (int a = 0; a < runs; a++) {
		if (w->design->partner[a] < 0)
			return false;
		for (int k = 0; k < a; k++)
			if (schedule[k] == schedule[a])
				return false;
	}
	return true;
}

/* The noise of the mean difference between partners, each pair with other requests. */
static struct block_noise between_pairs(const struct weighted_parts *w, double *of_run)
{
	const int pairs = w->design->blocks[SIDE_BASE].runs;
	double sum = 0, squares = 0;
	for (int a = 0; a < pairs; a++) {
		const double d = run_deviation(w, SIDE_NEW, w->design->partner[a]) - run_deviation(w, SIDE_BASE, a);
		sum += d;
		squares += d * d;
	}
	const double variance = fmax(squares - sum * sum / pairs, 0) / (pairs - 1);
	*of_run = variance / 2;
	return (struct block_noise){.variance = variance / pairs, .degrees = pairs - 1};
}

/* The noise of the difference, by runs and blocks. */
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
	if (w->design->bursty)
		n.within.variance = NAN;
	const struct block_noise runs = in_pairs(w) ? between_pairs(w, &n.between) : between_sides(w, &n.between);
	n.all = n.within;
	if (isnan(n.within.variance))
		n.source = NOISE_UNKNOWN;
	if (!(runs.degrees > 0) || isnan(runs.variance))
		return n;
	n.source = NOISE_RUNS;
	if (isnan(n.within.variance)) {
		n.all = runs;
		n.of_runs = true;
		return n;
	}
	n.of_runs = runs.variance > n.within.variance;
	const double ratio = n.within.variance > 0 ? runs.variance / n.within.variance : INFINITY;
	const bool visible = variance_ratio_tail(ratio, runs.degrees, fmax(n.within.degrees, 1)) < 0.5;
	n.all.variance = fmax(runs.variance, n.within.variance);
	n.all.degrees = visible ? runs.degrees : runs.degrees + n.within.degrees;
	return n;
}

/* A standard error of the level in terms of the logarithm of the value. */
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
	double cases; /* INFLUENCE_SHARE: how many independent ones its requests are worth */
	double error; /* the error of a run's parts, in their unit */
	double scale; /* to the unit of the change */
};

static struct reach reach_of(const struct estimate *e, double t)
{
	if (e->i->scale == INFLUENCE_SHARE && t > 0) {
		const struct share_interval limits = share_interval_at(e->i->value, e->cases, t);
		return (struct reach){e->i->value - limits.low, limits.high - e->i->value};
	}
	if (e->i->scale != INFLUENCE_LEVEL)
		return (struct reach){t * e->error, t * e->error};
	const double middle = influence_log_at(e->i, 0, 0);
	return (struct reach){middle - influence_log_at(e->i, e->error, -t), influence_log_at(e->i, e->error, t) - middle};
}

struct change_interval {
	const struct estimate *sides;
	double change, correlation, error;
	double least;   /* the width is at least so many times `error` */
	bool symmetric; /* the error alone's: neither of the values around percentiles nor of the limits of shares */
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

/* The square of the change by an error common to both sides: it moves them by different amounts. */
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
	const double width = combined(below ? value.down : value.up, below ? base.up : base.down, shared(&base, &value),
	                              c->correlation);
	return fmax(width, c->least * t * c->error);
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

/* From the unit of the change in which it is computed to the shown unit. */
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

/* Do requests vary as independent ones would? Then that is all their noise, and it is known. */
static bool independent_cases(const struct estimate sides[SIDES])
{
	for (int s = 0; s < SIDES; s++)
		if (sides[s].i->scale != INFLUENCE_SHARE || sides[s].cases < sides[s].i->cases)
			return false;
	return true;
}

static void find_interval(struct difference *d, const struct estimate sides[SIDES], const struct both_noises *both)
{
	const enum influence_scale scale = sides[SIDE_BASE].i->scale;
	struct change_interval c = {.sides = sides,
	                            .change = change_of(d),
	                            .error = root(both->all.variance),
	                            .least = both->of_runs,
	                            .symmetric = scale == INFLUENCE_RELATIVE ||
	                                         (both->of_runs && scale == INFLUENCE_LEVEL)};
	const double a = sides[SIDE_BASE].error * sides[SIDE_BASE].scale, b = sides[SIDE_NEW].error * sides[SIDE_NEW].scale;
	if (a > 0 && b > 0)
		c.correlation = fmax(-1, fmin((a * a + b * b - both->all.variance) / (2 * a * b), 1));
	d->degrees = both->all.degrees;
	if (!both->of_runs && independent_cases(sides))
		d->degrees = fmax(d->degrees, sides[SIDE_BASE].cases + sides[SIDE_NEW].cases - 2);
	const double degrees = fmax(d->degrees, 1), t = student_critical(DIFFERENCE_ALPHA, degrees);
	const double below = interval_width(&c, t, true), above = interval_width(&c, t, false);
	d->error = scale == INFLUENCE_SHARE ? fmax(c.error, (below + above) / 2 / t) : c.error;
	d->low = shown_change(d, c.change - below);
	d->high = shown_change(d, c.change + above);
	if (scale == INFLUENCE_SHARE) { /* no difference of two shares is further */
		d->low = fmax(d->low, -1);
		d->high = fmin(d->high, 1);
	}
	d->p = p_value(&c, t, degrees);
}

/* A share is known as from its requests, or worse if blocks differ visibly by more than independent ones. */
static double cases_of(const struct influence *i, const struct block_noise *blocks)
{
	const double of_one = i->value * (1 - i->value), ratio = blocks->variance * i->cases / of_one;
	if (!(of_one > 0) || !(ratio > 1) || variance_ratio_tail(ratio, fmax(blocks->degrees, 1), 1e6) > 0.1)
		return i->cases;
	return fmax(i->cases / ratio, 1);
}

/* Where blocks do not tell the error of a level, that of independent values still says how far values lie apart. */
static double error_of(const struct influence *i, double variance)
{
	if (isnan(variance) && i->scale == INFLUENCE_LEVEL && i->size > 0)
		return sqrt(i->level * (1 - i->level) / i->size);
	return root(variance);
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
	                       .missing = NOISE_STATED,
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
		const struct block_noise own = within_runs(&one);
		const double error = error_of(sides[s], own.variance);
		estimates[s] = (struct estimate){sides[s], cases_of(sides[s], &own), error, log_per_level(sides[s], error)};
		both.weight[s] = (s == SIDE_BASE ? -1 : 1) * estimates[s].scale;
	}
	const struct both_noises all = noise_of(&both);
	d.missing = all.source != NOISE_UNKNOWN ? NOISE_KNOWN : design->bursty ? NOISE_BURSTY : NOISE_FEW;
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

/* The least number of runs of each side showing a change of `effect`. */
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

bool difference_has_low(const struct difference *d)
{
	return d->low > (d->relative ? -1 : -DIFFERENCE_SHARE_BOUND);
}

bool difference_has_high(const struct difference *d)
{
	return d->high < (d->relative ? DIFFERENCE_BOUND : DIFFERENCE_SHARE_BOUND);
}

double difference_visible(const struct difference *d)
{
	return d->visible > (d->relative ? DIFFERENCE_BOUND : DIFFERENCE_SHARE_BOUND) ? NAN : d->visible;
}

int64_t difference_runs_for(const struct difference *d, double effect, size_t family)
{
	const double alpha = DIFFERENCE_ALPHA / (double)(family > 0 ? family : 1);
	if (isnan(d->change) || isnan(d->p) || !(effect > 0))
		return IPF_ABSENT;
	return runs_for(d, d->relative ? exact_log(1 + effect) : effect, alpha);
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
	d->runs_needed = difference_runs_for(d, effect, limits->family);
	if (d->adjusted < DIFFERENCE_ALPHA && fabs(d->change) >= effect)
		d->finding = d->change < 0 ? FINDING_LOWER : FINDING_HIGHER;
	else if (d->low > -effect && d->high < effect)
		d->finding = FINDING_SAME;
	else
		d->finding = FINDING_FEW_RUNS;
}
