/* Rates that vary: ramp, steps, rates, sine, spike, onoff.
 *
 * Gaps with mean 1, of the distribution that process= names, are laid along the area under the rate; an arrival comes
 * when the area reaches the sum of the gaps. With exponential gaps that is the Poisson process of this rate. The rate
 * consists of pieces that follow each other. Every piece is linear, except that of the sine.
 */
#include "kinds/stage_kind.h"

#include "absent.h"
#include "clock.h"
#include "inputs/stage_inputs.h"

#include <math.h>

struct piece {
	double length_ns, mass;       /* mass: the area under the rate, in arrivals */
	double from;                  /* rate per ns at the beginning */
	double square, doubled_slope; /* `from` squared, and twice the change per ns */
};

/* A stretch of a sine's period for which a polynomial gives the time from the area: faster than solving for each
 * arrival. */
struct stretch {
	double begin, end; /* areas */
	double scale;
	double at_ns[6];
};

/* A sine's rate is mean · (1 - e cos θ). */
struct sine {
	double e;
	double step;            /* determines the length of a stretch, see stretch_lay */
	double last;            /* the last solution, as a share of the period */
	struct stretch stretch; /* begins at `last` */
};

struct varying {
	struct gaps gaps;
	bool begun;
	struct piece piece;
	double begin_ns;   /* of the piece */
	double used;       /* how much of its mass came before the last arrival … */
	double last_ns;    /* … and when that was */
	int64_t index;     /* of the next piece */
	struct rng states; /* of onoff */
	bool on;
	struct sine sine;
};

static double per_ns(double rate)
{
	return rate / (double)NS_PER_S;
}

static double smaller(double a, double b)
{
	return a < b ? a : b;
}

static double greater(double a, double b)
{
	return a > b ? a : b;
}

/* The time in a linear piece at which the area is `mass`: the smaller root of a quadratic, without cancellation. */
static double line_solve(struct varying *s, double mass)
{
	const struct piece *piece = &s->piece;
	double root = sqrt(greater(0, piece->square + piece->doubled_slope * mass));

	return mass > 0 ? smaller(2 * mass / (piece->from + root), piece->length_ns) : 0;
}

/* The next arrival. `advance` sets the next piece, or returns false; `solve` finds the time at which the area is mass.
 */
static int64_t varying_next(struct arrival_process *p, bool (*advance)(struct arrival_process *p, struct piece *piece),
                            double (*solve)(struct varying *s, double mass))
{
	struct varying *s = p->state;
	double target = s->used + (s->begun ? gaps_next(&s->gaps, &p->rng) : gaps_first(&s->gaps, &p->rng));

	s->begun = true;
	while (target >= s->piece.mass) {
		target -= s->piece.mass;
		s->begin_ns += s->piece.length_ns;
		if (!advance(p, &s->piece))
			return ARRIVAL_NONE;
		if (s->begin_ns >= (double)ARRIVAL_LIMIT)
			return ARRIVAL_LIMIT;
		s->index++;
	}
	s->used = target;
	s->last_ns = greater(s->last_ns, s->begin_ns + solve(s, target));
	return arrival_round(s->last_ns);
}

static int varying_begin(struct arrival_process *p, struct ipf_error *err)
{
	struct varying *s = p->state;

	(void)err;
	gaps_init(&s->gaps, p->stage->process, p->stage->cv);
	return 0;
}

static struct piece line(double length_ns, double from, double to)
{
	return (struct piece){
		.length_ns = length_ns,
		.mass = per_ns((from + to) / 2) * length_ns,
		.from = per_ns(from),
		.square = per_ns(from) * per_ns(from),
		.doubled_slope = 2 * (per_ns(to) - per_ns(from)) / length_ns,
	};
}

static int varying_check(const struct stage *stage, struct ipf_error *err)
{
	if (process_check(stage, err) < 0)
		return -1;
	if (stage->every_ns != IPF_ABSENT && stage->every_ns < NS_PER_MS)
		return ipf_error_set(err, IPF_USAGE, "every: expected at least 1ms");
	return limits_check(stage, err);
}

#define VARYING(name_, keys_, check_, begin_, next_, rate_, summary_)                                                  \
	const struct stage_kind kind_##name_ = {.name = #name_,                                                            \
	                                        .summary = summary_,                                                       \
	                                        .type = STAGE_OPEN,                                                        \
	                                        .keys = keys_,                                                             \
	                                        .check = check_,                                                           \
	                                        .state_size = sizeof(struct varying),                                      \
	                                        .begin = begin_,                                                           \
	                                        .next = next_,                                                             \
	                                        .rate = rate_}

/* ---- ramp ------------------------------------------------------------------------------------------------------- */

static const struct stage_key ramp_keys[] = {
	REQUIRED_KEY("from", "RATE", KEY_RATE_0, from_rate, "rate at the beginning, may be 0"),
	REQUIRED_KEY("to", "RATE", KEY_RATE_0, to_rate, "rate at the end, may be 0"),
	REQUIRED_KEY("for", "TIME", KEY_DURATION, for_ns, "length of the stage"),
	PROCESS_KEYS,
	KEY_SLOTS,
	KEY_NAME,
	KEY_PHASES,
	KEY_END,
};

static int ramp_check(const struct stage *stage, struct ipf_error *err)
{
	if (stage->from_rate == 0 && stage->to_rate == 0)
		return ipf_error_set(err, IPF_USAGE, "to: expected a rate above 0, since from= is 0");
	return varying_check(stage, err);
}

static bool ramp_advance(struct arrival_process *p, struct piece *piece)
{
	const struct varying *s = p->state;

	*piece = line((double)p->stage->for_ns, p->stage->from_rate, p->stage->to_rate);
	return s->index == 0;
}

static int64_t ramp_next(struct arrival_process *p)
{
	return varying_next(p, ramp_advance, line_solve);
}

static double ramp_rate(const struct stage *stage)
{
	return (stage->from_rate + stage->to_rate) / 2;
}

VARYING(ramp, ramp_keys, ramp_check, varying_begin, ramp_next, ramp_rate,
        "a rate that changes linearly from one value to another");

/* ---- steps ------------------------------------------------------------------------------------------------------ */

static const struct stage_key steps_keys[] = {
	REQUIRED_KEY("rates", "RATE,…", KEY_RATES, rates, "the rates, one after another; each may be 0"),
	REQUIRED_KEY("each", "TIME", KEY_DURATION, every_ns, "length of each rate"),
	PROCESS_KEYS,
	KEY_SLOTS,
	KEY_NAME,
	KEY_PHASES,
	KEY_END,
};

static int steps_check(const struct stage *stage, struct ipf_error *err)
{
	for (size_t i = 0; i < stage->rates.count; i++)
		if (stage->rates.list[i] > 0)
			return varying_check(stage, err);
	return ipf_error_set(err, IPF_USAGE, "rates: expected at least one rate above 0");
}

static int steps_begin(struct arrival_process *p, struct ipf_error *err)
{
	if (p->stage->every_ns >= ARRIVAL_LIMIT / (int64_t)p->stage->rates.count)
		return ipf_error_set(err, IPF_USAGE, "%s: each: the stage is longer than 146 years", p->stage->label);
	p->end_ns = p->stage->every_ns * (int64_t)p->stage->rates.count;
	return varying_begin(p, err);
}

static bool steps_advance(struct arrival_process *p, struct piece *piece)
{
	const struct varying *s = p->state;

	if ((size_t)s->index == p->stage->rates.count)
		return false;
	*piece = line((double)p->stage->every_ns, p->stage->rates.list[s->index], p->stage->rates.list[s->index]);
	return true;
}

static int64_t steps_next(struct arrival_process *p)
{
	return varying_next(p, steps_advance, line_solve);
}

static double steps_rate(const struct stage *stage)
{
	double sum = 0;

	for (size_t i = 0; i < stage->rates.count; i++)
		sum += stage->rates.list[i];
	return sum / (double)stage->rates.count;
}

VARYING(steps, steps_keys, steps_check, steps_begin, steps_next, steps_rate, "a list of rates, one after another");

/* ---- rates ------------------------------------------------------------------------------------------------------ */

static const struct stage_key rates_keys[] = {
	REQUIRED_KEY("file", "FILE", KEY_TEXT, file, "CSV file: lines with a time in seconds and a rate"),
	STAGE_KEY("linear", NULL, KEY_FLAG, linear, "change the rate linearly from line to line (default: in steps)"),
	STAGE_KEY("for", "TIME", KEY_DURATION, for_ns, "length of the stage (default: up to the last line)"),
	PROCESS_KEYS,
	KEY_SLOTS,
	KEY_NAME,
	KEY_PHASES,
	KEY_END,
};

static int rates_begin(struct arrival_process *p, struct ipf_error *err)
{
	const struct stage *stage = p->stage;

	if (!stage->points.list)
		return ipf_error_set(err, IPF_USAGE, "%s: file: not read", stage->label);
	if (stage->for_ns == IPF_ABSENT)
		p->end_ns = stage->points.list[stage->points.count - 1].at_ns;
	return varying_begin(p, err);
}

/* The rate of the last line continues to the end of the stage. */
static bool rates_advance(struct arrival_process *p, struct piece *piece)
{
	const struct stage *stage = p->stage;
	const struct varying *s = p->state;
	const struct rate_point *point = &stage->points.list[s->index];

	if ((size_t)s->index >= stage->points.count)
		return false;
	if ((size_t)s->index + 1 < stage->points.count)
		*piece = line((double)(point[1].at_ns - point->at_ns), point->rate,
		              stage->linear ? point[1].rate : point->rate);
	else if (stage->for_ns != IPF_ABSENT && stage->for_ns > point->at_ns)
		*piece = line((double)(stage->for_ns - point->at_ns), point->rate, point->rate);
	else
		return false;
	return true;
}

static int64_t rates_next(struct arrival_process *p)
{
	return varying_next(p, rates_advance, line_solve);
}

static double rates_rate(const struct stage *stage)
{
	const struct rate_point *points = stage->points.list;
	int64_t end = stage->for_ns == IPF_ABSENT ? points[stage->points.count - 1].at_ns : stage->for_ns;
	double mass = 0;

	for (size_t i = 0; i < stage->points.count && points[i].at_ns < end; i++) {
		int64_t to = i + 1 < stage->points.count ? points[i + 1].at_ns : end;
		double length = (double)((to < end ? to : end) - points[i].at_ns), last = points[i].rate;
		if (stage->linear && i + 1 < stage->points.count)
			last += (points[i + 1].rate - points[i].rate) * length / (double)(to - points[i].at_ns);
		mass += (points[i].rate + last) / 2 * length;
	}
	return mass / (double)end;
}

static int rates_resolve(struct stage *stage, struct stage_inputs *inputs, struct ipf_error *err)
{
	json_t *entry = NULL;

	if (rate_file_read(stage->file, &stage->points, &entry, err) < 0)
		return -1;
	if (!inputs->files)
		inputs->files = json_array();
	if (json_array_append_new(inputs->files, entry) < 0)
		return ipf_error_memory(err);
	if (stage->points.count == 0 || (stage->points.count == 1 && stage->for_ns == IPF_ABSENT))
		return ipf_error_at(err, IPF_INPUT, stage->file, 0, "expected at least two lines with a time and a rate");
	return 0;
}

const struct stage_kind kind_rates = {
	.name = "rates",
	.summary = "rates over time from a file",
	.type = STAGE_OPEN,
	.keys = rates_keys,
	.check = varying_check,
	.state_size = sizeof(struct varying),
	.begin = rates_begin,
	.next = rates_next,
	.rate = rates_rate,
	.resolve = rates_resolve,
};

/* ---- spike ------------------------------------------------------------------------------------------------------ */

static const struct stage_key spike_keys[] = {
	REQUIRED_KEY("base", "RATE", KEY_RATE_0, base, "rate between the spikes, may be 0"),
	REQUIRED_KEY("peak", "RATE", KEY_RATE, peak, "rate during a spike"),
	REQUIRED_KEY("every", "TIME", KEY_DURATION, every_ns, "time from the end of a spike to the end of the next"),
	REQUIRED_KEY("width", "TIME", KEY_DURATION, width_ns, "length of a spike"),
	PROCESS_KEYS,
	KEY_LENGTH_AND_LIMITS,
	KEY_END,
};

static int spike_check(const struct stage *stage, struct ipf_error *err)
{
	if (stage->width_ns >= stage->every_ns)
		return ipf_error_set(err, IPF_USAGE, "width: expected less than every=");
	return varying_check(stage, err);
}

static bool spike_advance(struct arrival_process *p, struct piece *piece)
{
	const struct stage *stage = p->stage;
	const struct varying *s = p->state;

	if (s->index % 2)
		*piece = line((double)stage->width_ns, stage->peak, stage->peak);
	else
		*piece = line((double)(stage->every_ns - stage->width_ns), stage->base, stage->base);
	return true;
}

static int64_t spike_next(struct arrival_process *p)
{
	return varying_next(p, spike_advance, line_solve);
}

/* The mean over the stage's length, or over a period without for=. */
static double spike_rate(const struct stage *stage)
{
	int64_t length = stage->for_ns == IPF_ABSENT ? stage->every_ns : stage->for_ns,
			base = stage->every_ns - stage->width_ns;
	int64_t peaks = length / stage->every_ns * stage->width_ns, rest = length % stage->every_ns;

	if (rest > base)
		peaks += rest - base;
	return stage->base + (stage->peak - stage->base) * ((double)peaks / (double)length);
}

VARYING(spike, spike_keys, spike_check, varying_begin, spike_next, spike_rate,
        "a base rate with spikes at equal distances");

/* ---- onoff ------------------------------------------------------------------------------------------------------ */

static const struct stage_key onoff_keys[] = {
	REQUIRED_KEY("peak", "RATE", KEY_RATE, peak, "rate during an on period"),
	STAGE_KEY("base", "RATE", KEY_RATE_0, base, "rate during an off period (default: 0)"),
	REQUIRED_KEY("on", "TIME", KEY_DURATION, on_ns, "mean length of an on period"),
	REQUIRED_KEY("off", "TIME", KEY_DURATION, off_ns, "mean length of an off period"),
	PROCESS_KEYS,
	KEY_LENGTH_AND_LIMITS,
	KEY_END,
};

static int onoff_check(const struct stage *stage, struct ipf_error *err)
{
	if (stage->on_ns < NS_PER_MS || stage->off_ns < NS_PER_MS)
		return ipf_error_set(err, IPF_USAGE, "%s: expected at least 1ms", stage->on_ns < NS_PER_MS ? "on" : "off");
	return varying_check(stage, err);
}

static double onoff_share(const struct stage *stage)
{
	return (double)stage->on_ns / ((double)stage->on_ns + (double)stage->off_ns);
}

static int onoff_begin(struct arrival_process *p, struct ipf_error *err)
{
	struct varying *s = p->state;

	/* A generator apart from that of the gaps: another process= does not move the on and off periods. */
	rng_init(&s->states, p->seed, "onoff.states", p->stage->ordinal);
	s->on = rng_uniform(&s->states) >= onoff_share(p->stage); /* onoff_advance flips it before the first piece */
	return varying_begin(p, err);
}

static bool onoff_advance(struct arrival_process *p, struct piece *piece)
{
	const struct stage *stage = p->stage;
	struct varying *s = p->state;
	double rate, length;

	s->on = !s->on;
	rate = s->on ? stage->peak : isnan(stage->base) ? 0 : stage->base;
	length = rng_exponential(&s->states) * (double)(s->on ? stage->on_ns : stage->off_ns);
	*piece = line(length, rate, rate);
	return true;
}

static int64_t onoff_next(struct arrival_process *p)
{
	return varying_next(p, onoff_advance, line_solve);
}

static double onoff_rate(const struct stage *stage)
{
	double base = isnan(stage->base) ? 0 : stage->base;

	return base + (stage->peak - base) * onoff_share(stage);
}

VARYING(onoff, onoff_keys, onoff_check, onoff_begin, onoff_next, onoff_rate,
        "on and off periods with exponential lengths: a Markov-modulated process");

/* ---- sine ------------------------------------------------------------------------------------------------------- */

static const struct stage_key sine_keys[] = {
	REQUIRED_KEY("low", "RATE", KEY_RATE_0, base, "lowest rate, at which it begins; may be 0"),
	REQUIRED_KEY("high", "RATE", KEY_RATE, peak, "highest rate"),
	REQUIRED_KEY("every", "TIME", KEY_DURATION, every_ns, "length of a period, from low to low"),
	PROCESS_KEYS,
	KEY_LENGTH_AND_LIMITS,
	KEY_END,
};

static int sine_check(const struct stage *stage, struct ipf_error *err)
{
	if (stage->peak < stage->base)
		return ipf_error_set(err, IPF_USAGE, "high: expected at least low=");
	return varying_check(stage, err);
}

#define TURN 6.283185307179586

/* sin(2πy), from additions and multiplications alone, so that the bits are the same on every machine. */
static double sine_of_turn(double y)
{
	/* the ratios of successive terms of Taylor's series to t²³; the next term is below 2^-63 */
	static const double inverse[] = {1.0 / 506, 1.0 / 420, 1.0 / 342, 1.0 / 272, 1.0 / 210, 1.0 / 156,
	                                 1.0 / 110, 1.0 / 72,  1.0 / 42,  1.0 / 20,  1.0 / 6};
	double t, z, sum = 0;

	y -= floor(y + 0.5);
	if (y > 0.25)
		y = 0.5 - y;
	else if (y < -0.25)
		y = -0.5 - y;
	t = y * TURN;
	z = t * t;
	for (size_t i = 0; i < sizeof inverse / sizeof *inverse; i++)
		sum = (sum + 1) * -z * inverse[i];
	return t + t * sum;
}

/* 1 - e cos(2πy), without cancellation near a cosine of 1. */
static double sine_slope(double e, double y)
{
	double half = sine_of_turn(y / 2);

	return 1 - e + 2 * e * half * half;
}

/* Solves y - e sin(2πy)/2π = wanted, which is Kepler's equation: the area after y periods is mass times that. Newton's
 * method between bounds, starting at the last solution, which is usually near. */
static double sine_newton(const struct sine *s, double wanted)
{
	double e = s->e, low = s->last, high = 1, y = s->last > 0 ? s->last : wanted;
	double error, slope, step;
	bool near = false;

	for (int i = 0; i < 64 && !near; i++) {
		error = y - e * sine_of_turn(y) / TURN - wanted;
		if (error > 0)
			high = y;
		else
			low = y;
		slope = sine_slope(e, y);
		step = slope > 1e-9 ? error / slope : 2;
		near = fabs(step) < 1e-9 * fmin(y, 1 - y); /* another step doubles the correct digits */
		y = near ? fmin(high, fmax(low, y - step)) : y - step > low && y - step < high ? y - step : (low + high) / 2;
	}
	return y;
}

/* Kepler's equation, K = θ - e sin θ, at one end of a stretch. */
struct kepler {
	double k, first, second; /* dθ/dK, d²θ/dK² */
};

static struct kepler kepler_at(double e, double y)
{
	double sine = sine_of_turn(y), slope = sine_slope(e, y);

	return (struct kepler){y * TURN - e * sine, 1 / slope, -e * sine / (slope * slope * slope)};
}

/* Lays a stretch that begins at y: the fifth-degree Hermite polynomial, which has the value and the first two
 * derivatives of θ(K) at both ends. Its error depends on the length of the stretch relative to the distance from the
 * singularity of θ(K), which is proportional to the square root of the slope. */
static void stretch_lay(struct stretch *stretch, const struct sine *s, double y, double length_ns, double mass)
{
	double width = s->step * sqrt(sine_slope(s->e, y));
	struct kepler from = kepler_at(s->e, y), to = kepler_at(s->e, y + width);
	double k = to.k - from.k, first = from.first * k, second = from.second * k * k, unit = length_ns / TURN;
	double value = width * TURN - first - second / 2, slope = to.first * k - first - second,
		   bend = to.second * k * k - second;

	*stretch = (struct stretch){
		.begin = from.k / TURN * mass,
		.end = to.k / TURN * mass,
		.scale = TURN / (mass * k),
		.at_ns = {y * length_ns, first * unit, second / 2 * unit, (10 * value - 4 * slope + bend / 2) * unit,
	              (7 * slope - 15 * value - bend) * unit, (6 * value - 3 * slope + bend / 2) * unit},
	};
}

static double sine_solve(struct varying *shape, double mass)
{
	struct sine *s = &shape->sine;
	const double *c = s->stretch.at_ns;
	double t, square;

	if (!(mass > 0))
		return 0;
	if (!(mass < s->stretch.end)) {
		s->last = sine_newton(s, mass / shape->piece.mass);
		stretch_lay(&s->stretch, s, s->last, shape->piece.length_ns, shape->piece.mass);
		return s->last * shape->piece.length_ns;
	}
	t = (mass - s->stretch.begin) * s->stretch.scale;
	square = t * t;
	return c[0] + (t * (c[1] + t * c[2]) + t * square * (c[3] + t * c[4] + square * c[5]));
}

static bool sine_advance(struct arrival_process *p, struct piece *piece)
{
	struct varying *s = p->state;
	double low = p->stage->base, high = p->stage->peak, length = (double)p->stage->every_ns;

	*piece = (struct piece){.length_ns = length, .mass = per_ns((high + low) / 2) * length};
	/* The error is proportional to the sixth power of the step: below 0.02 ns in every period. */
	s->sine = (struct sine){.e = (high - low) / (high + low), .step = 0.2 / exact_exp(exact_log(length) / 6)};
	return true;
}

static int64_t sine_next(struct arrival_process *p)
{
	return varying_next(p, sine_advance, sine_solve);
}

static double sine_rate(const struct stage *stage)
{
	double periods = (double)(stage->for_ns == IPF_ABSENT ? stage->every_ns : stage->for_ns) / (double)stage->every_ns;

	return (stage->peak + stage->base) / 2 - (stage->peak - stage->base) / 2 * sine_of_turn(periods) / (TURN * periods);
}

VARYING(sine, sine_keys, sine_check, varying_begin, sine_next, sine_rate,
        "a rate that oscillates between two values, as between night and day");
