/* Common to the kinds with a varying rate: ramp, steps, rates, sine, spike, onoff.
 *
 * Gaps with mean 1, of the distribution that process= names, are laid along the area under the rate; an arrival occurs
 * when the area reaches the sum of the gaps. With exponential gaps this is the Poisson process of the rate. The rate
 * consists of pieces following each other. Every piece is linear, except that of the sine.
 *
 *     static bool ramp_advance(struct arrival_process *p, struct rate_piece *piece) { *piece = linear_piece(…); … }
 *     static int64_t ramp_next(struct arrival_process *p) { return varying_next(p, ramp_advance, linear_solve); }
 *     VARYING_KIND(ramp, struct varying_rate, ramp_keys, ramp_check, varying_begin, ramp_next, ramp_rate, "…");
 */
#ifndef IPF_VARYING_RATE_H
#define IPF_VARYING_RATE_H

#include "clock.h"
#include "kinds/arrival_process.h"

#include <math.h>

/* A part of the rate over time. Times are in ns, rates per ns. */
struct rate_piece {
	double length_ns, mass;       /* mass: the area under the rate, in arrivals */
	double from;                  /* linear: the rate at the beginning, … */
	double square, doubled_slope; /* … `from` squared, and twice the change per ns */
};

/* The state of a kind; the first member, if the kind needs more. */
struct varying_rate {
	struct gaps gaps;
	bool begun;
	struct rate_piece piece;
	double begin_ns; /* the piece's */
	double used;     /* how much of its mass is before the last arrival */
	double last_ns;  /* time of the last arrival */
	int64_t index;   /* the next piece's */
};

/* Sets the next piece; false: there is none. */
typedef bool varying_advance(struct arrival_process *p, struct rate_piece *piece);
/* The time in the piece at which the area under it is `mass`. */
typedef double varying_solve(struct varying_rate *v, double mass);

static inline double per_ns(double rate)
{
	return rate / (double)NS_PER_S;
}

/* A piece whose rate changes linearly between these rates per second. */
struct rate_piece linear_piece(double length_ns, double from, double to);

static inline double smaller(double a, double b)
{
	return a < b ? a : b;
}

static inline double greater(double a, double b)
{
	return a > b ? a : b;
}

/* varying_solve for a linear piece: the smaller root of a quadratic, without cancellation. */
static inline double linear_solve(struct varying_rate *v, double mass)
{
	const struct rate_piece *piece = &v->piece;
	double root = sqrt(greater(0, piece->square + piece->doubled_slope * mass));

	return mass > 0 ? smaller(2 * mass / (piece->from + root), piece->length_ns) : 0;
}

/* The next arrival. Inline, so the compiler makes a version for each kind, without calls through pointers. */
static inline int64_t varying_next(struct arrival_process *p, varying_advance *advance, varying_solve *solve)
{
	struct varying_rate *v = p->state;
	double target = v->used + (v->begun ? gaps_next(&v->gaps, &p->rng) : gaps_first(&v->gaps, &p->rng));

	v->begun = true;
	while (target >= v->piece.mass) {
		target -= v->piece.mass;
		v->begin_ns += v->piece.length_ns;
		if (!advance(p, &v->piece))
			return ARRIVAL_NONE;
		if (v->begin_ns >= (double)ARRIVAL_LIMIT)
			return ARRIVAL_LIMIT;
		v->index++;
	}
	v->used = target;
	v->last_ns = greater(v->last_ns, v->begin_ns + solve(v, target));
	return arrival_round(v->last_ns);
}

/* Begins the gaps: the least that stage_kind.begin must do. */
int varying_begin(struct arrival_process *p, struct ipf_error *err);
/* Checks process=, cv=, every=, for= and n=. */
int varying_check(const struct stage *stage, struct ipf_error *err);

#define VARYING_KIND(name_, state_, keys_, check_, begin_, next_, rate_, summary_)                                     \
	const struct stage_kind kind_##name_ = {.name = #name_,                                                            \
	                                        .summary = summary_,                                                       \
	                                        .type = STAGE_OPEN,                                                        \
	                                        .keys = keys_,                                                             \
	                                        .check = check_,                                                           \
	                                        .state_size = sizeof(state_),                                              \
	                                        .begin = begin_,                                                           \
	                                        .next = next_,                                                             \
	                                        .rate = rate_}

#endif
