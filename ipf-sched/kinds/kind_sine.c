/* A rate that oscillates between two values: mean · (1 - e cos θ).
 *
 * The time of an arrival is the solution of Kepler's equation. It is found exactly for the first arrival of a segment
 * of the period; a polynomial then gives the times of the others in the segment.
 */
#include "kinds/varying_rate.h"

#include "absent.h"
#include "stats/exact_math.h"

/* A segment of a sine's period for which a polynomial gives the time from the area: faster than solving for each
 * arrival. */
struct sine_segment {
	double begin, end; /* areas */
	double scale;
	double at_ns[6];
};

struct sine {
	struct varying_rate base;
	double e;
	double step;                 /* determines the length of a segment, see segment_fit */
	double last;                 /* the last solution, as a share of the period */
	struct sine_segment segment; /* begins at `last` */
};

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
		return ipf_error_set(err, IPF_USAGE, "high: expected at least low= (%g/s), got %g/s", stage->base, stage->peak);
	return varying_check(stage, err);
}

#define TURN 6.283185307179586

/* sin(2πy), from additions and multiplications alone, so the bits are the same on every machine. */
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

/* Solves y - e sin(2πy)/2π = wanted, which is Kepler's equation: the area after y periods is mass times this. Newton's
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

/* Kepler's equation, K = θ - e sin θ, at one end of a segment. */
struct kepler {
	double k, first, second; /* dθ/dK, d²θ/dK² */
};

static struct kepler kepler_at(double e, double y)
{
	double sine = sine_of_turn(y), slope = sine_slope(e, y);

	return (struct kepler){y * TURN - e * sine, 1 / slope, -e * sine / (slope * slope * slope)};
}

/* Lays a segment beginning at y: the fifth-degree Hermite polynomial, which has the value and the first two derivatives
 * of θ(K) at both ends. Its error depends on the length of the segment relative to the distance from the singularity of
 * θ(K), which is proportional to the square root of the slope. */
static void segment_fit(struct sine_segment *segment, const struct sine *s, double y, double length_ns, double mass)
{
	double width = s->step * sqrt(sine_slope(s->e, y));
	struct kepler from = kepler_at(s->e, y), to = kepler_at(s->e, y + width);
	double k = to.k - from.k, first = from.first * k, second = from.second * k * k, unit = length_ns / TURN;
	double value = width * TURN - first - second / 2, slope = to.first * k - first - second,
		   bend = to.second * k * k - second;

	*segment = (struct sine_segment){
		.begin = from.k / TURN * mass,
		.end = to.k / TURN * mass,
		.scale = TURN / (mass * k),
		.at_ns = {y * length_ns, first * unit, second / 2 * unit, (10 * value - 4 * slope + bend / 2) * unit,
	              (7 * slope - 15 * value - bend) * unit, (6 * value - 3 * slope + bend / 2) * unit},
	};
}

static double sine_solve(struct varying_rate *v, double mass)
{
	struct sine *s = (struct sine *)v; /* its first member */
	const double *c = s->segment.at_ns;
	double t, square;

	if (!(mass > 0))
		return 0;
	if (!(mass < s->segment.end)) {
		s->last = sine_newton(s, mass / v->piece.mass);
		segment_fit(&s->segment, s, s->last, v->piece.length_ns, v->piece.mass);
		return s->last * v->piece.length_ns;
	}
	t = (mass - s->segment.begin) * s->segment.scale;
	square = t * t;
	return c[0] + (t * (c[1] + t * c[2]) + t * square * (c[3] + t * c[4] + square * c[5]));
}

static bool sine_advance(struct arrival_process *p, struct rate_piece *piece)
{
	struct sine *s = p->state;
	double low = p->stage->base, high = p->stage->peak, length = (double)p->stage->every_ns;

	*piece = (struct rate_piece){.length_ns = length, .mass = per_ns((high + low) / 2) * length};
	/* The error is proportional to the sixth power of the step: below 0.02 ns in every period. */
	s->step = 0.2 / exact_exp(exact_log(length) / 6);
	s->e = (high - low) / (high + low);
	s->last = 0;
	s->segment = (struct sine_segment){0};
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

VARYING_KIND(sine, struct sine, sine_keys, sine_check, varying_begin, sine_next, sine_rate,
             "a rate oscillating between two values, as between night and day");
