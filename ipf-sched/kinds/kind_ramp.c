/* A rate changing linearly from one value to another. */
#include "kinds/varying_rate.h"

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

static bool ramp_advance(struct arrival_process *p, struct rate_piece *piece)
{
	const struct varying_rate *s = p->state;

	*piece = linear_piece((double)p->stage->for_ns, p->stage->from_rate, p->stage->to_rate);
	return s->index == 0;
}

static int64_t ramp_next(struct arrival_process *p)
{
	return varying_next(p, ramp_advance, linear_solve);
}

static double ramp_rate(const struct stage *stage)
{
	return (stage->from_rate + stage->to_rate) / 2;
}

VARYING_KIND(ramp, struct varying_rate, ramp_keys, ramp_check, varying_begin, ramp_next, ramp_rate,
             "a rate changing linearly from one value to another");
