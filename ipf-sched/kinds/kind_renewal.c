/* Renewal processes: independent gaps from one distribution. They are drawn until the stage ends, and never scaled to
 * fill it. */
#include "kinds/arrival_process.h"
#include "kinds/stage_checks.h"

#include "clock.h"

/* A double is precise to 0.001 ns over an hour and to 0.01 ns over a day. */
struct renewal {
	struct gaps gaps;
	double clock_ns, mean_ns;
	bool begun;
};

static int renewal_check(const struct stage *stage, struct ipf_error *err)
{
	return cv_check(stage->kind->gaps, stage->cv, err) < 0 ? -1 : limits_check(stage, err);
}

static int renewal_begin(struct arrival_process *p, struct ipf_error *err)
{
	struct renewal *r = p->state;

	(void)err;
	gaps_init(&r->gaps, p->stage->kind->gaps, p->stage->cv);
	r->mean_ns = (double)NS_PER_S / p->stage->rate;
	return 0;
}

static int64_t renewal_next(struct arrival_process *p)
{
	struct renewal *r = p->state;

	r->clock_ns += (r->begun ? gaps_next(&r->gaps, &p->rng) : gaps_first(&r->gaps, &p->rng)) * r->mean_ns;
	r->begun = true;
	return arrival_round(r->clock_ns);
}

#define RENEWAL(name_, gaps_, keys_, summary_)                                                                         \
	const struct stage_kind kind_##name_ = {.name = #name_,                                                            \
	                                        .summary = summary_,                                                       \
	                                        .type = STAGE_OPEN,                                                        \
	                                        .keys = keys_,                                                             \
	                                        .gaps = gaps_,                                                             \
	                                        .check = renewal_check,                                                    \
	                                        .state_size = sizeof(struct renewal),                                      \
	                                        .begin = renewal_begin,                                                    \
	                                        .next = renewal_next}

static const struct stage_key poisson_keys[] = {KEY_RATE_PER_S, KEY_LENGTH_AND_LIMITS, KEY_END};
RENEWAL(poisson, GAPS_POISSON, poisson_keys, "independent arrivals: exponential gaps");

static const struct stage_key varied_keys[] = {
	KEY_RATE_PER_S,
	REQUIRED_KEY("cv", "NUMBER", KEY_NUMBER, cv, "variation of the gaps: 1 as Poisson, 3 is bursty"),
	KEY_LENGTH_AND_LIMITS,
	KEY_END,
};
RENEWAL(gamma, GAPS_GAMMA, varied_keys, "gamma-distributed gaps: burstier or smoother than Poisson");
RENEWAL(weibull, GAPS_WEIBULL, varied_keys, "Weibull-distributed gaps: like gamma, with other tails");

static const struct stage_key uniform_keys[] = {
	KEY_RATE_PER_S,
	STAGE_KEY("cv", "NUMBER", KEY_NUMBER, cv, "variation of the gaps (default and maximum: 0.577)"),
	KEY_LENGTH_AND_LIMITS,
	KEY_END,
};
RENEWAL(uniform, GAPS_UNIFORM, uniform_keys, "uniformly distributed gaps: equal gaps with jitter");
