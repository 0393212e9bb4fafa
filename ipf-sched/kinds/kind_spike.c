/* A base rate with spikes at equal distances. */
#include "kinds/varying_rate.h"

#include "cli/units.h"

#include "absent.h"

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
	char every[32], width[32];

	if (stage->width_ns >= stage->every_ns)
		return ipf_error_set(err, IPF_USAGE, "width: expected less than every= (%s), got %s",
		                     format_duration(stage->every_ns, every), format_duration(stage->width_ns, width));
	return varying_check(stage, err);
}

static bool spike_advance(struct arrival_process *p, struct rate_piece *piece)
{
	const struct stage *stage = p->stage;
	const struct varying_rate *s = p->state;

	if (s->index % 2)
		*piece = linear_piece((double)stage->width_ns, stage->peak, stage->peak);
	else
		*piece = linear_piece((double)(stage->every_ns - stage->width_ns), stage->base, stage->base);
	return true;
}

static int64_t spike_next(struct arrival_process *p)
{
	return varying_next(p, spike_advance, linear_solve);
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

VARYING_KIND(spike, struct varying_rate, spike_keys, spike_check, varying_begin, spike_next, spike_rate,
             "a base rate with spikes at equal intervals");
