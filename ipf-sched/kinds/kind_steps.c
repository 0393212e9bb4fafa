/* A list of rates, one after another. */
#include "kinds/varying_rate.h"

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

static bool steps_advance(struct arrival_process *p, struct rate_piece *piece)
{
	const struct varying_rate *s = p->state;

	if ((size_t)s->index == p->stage->rates.count)
		return false;
	*piece = linear_piece((double)p->stage->every_ns, p->stage->rates.list[s->index], p->stage->rates.list[s->index]);
	return true;
}

static int64_t steps_next(struct arrival_process *p)
{
	return varying_next(p, steps_advance, linear_solve);
}

static double steps_rate(const struct stage *stage)
{
	double sum = 0;

	for (size_t i = 0; i < stage->rates.count; i++)
		sum += stage->rates.list[i];
	return sum / (double)stage->rates.count;
}

VARYING_KIND(steps, struct varying_rate, steps_keys, steps_check, steps_begin, steps_next, steps_rate,
             "a list of rates, one after another");
