/* On and off periods with exponential lengths: a Markov-modulated process. */
#include "kinds/varying_rate.h"

#include "cli/units.h"

struct onoff {
	struct varying_rate base;
	struct rng periods;
	bool on;
};

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
	bool on = stage->on_ns < NS_PER_MS;
	char text[32];

	if (on || stage->off_ns < NS_PER_MS)
		return ipf_error_set(err, IPF_USAGE, "%s: expected at least 1 ms, got %s", on ? "on" : "off",
		                     format_duration(on ? stage->on_ns : stage->off_ns, text));
	return varying_check(stage, err);
}

static double onoff_share(const struct stage *stage)
{
	return (double)stage->on_ns / ((double)stage->on_ns + (double)stage->off_ns);
}

static int onoff_begin(struct arrival_process *p, struct ipf_error *err)
{
	struct onoff *s = p->state;

	/* A generator apart from the gaps': another process= does not move the on and off periods. */
	rng_init(&s->periods, p->seed, "onoff.states", p->stage->ordinal);
	s->on = rng_uniform(&s->periods) >= onoff_share(p->stage); /* onoff_advance flips it before the first piece */
	return varying_begin(p, err);
}

static bool onoff_advance(struct arrival_process *p, struct rate_piece *piece)
{
	const struct stage *stage = p->stage;
	struct onoff *s = p->state;
	double rate, length;

	s->on = !s->on;
	rate = s->on ? stage->peak : isnan(stage->base) ? 0 : stage->base;
	length = rng_exponential(&s->periods) * (double)(s->on ? stage->on_ns : stage->off_ns);
	*piece = linear_piece(length, rate, rate);
	return true;
}

static int64_t onoff_next(struct arrival_process *p)
{
	return varying_next(p, onoff_advance, linear_solve);
}

static double onoff_rate(const struct stage *stage)
{
	double base = isnan(stage->base) ? 0 : stage->base;

	return base + (stage->peak - base) * onoff_share(stage);
}

VARYING_KIND(onoff, struct onoff, onoff_keys, onoff_check, onoff_begin, onoff_next, onoff_rate,
             "on and off periods with exponential lengths: a Markov-modulated process");
