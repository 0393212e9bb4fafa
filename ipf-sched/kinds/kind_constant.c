/* Equal gaps: arrival k is at k/rate. Each time is rounded from the exact fraction, so no error accumulates. */
#include "kinds/stage_checks.h"

#include "clock.h"

static const struct stage_key keys[] = {KEY_RATE_PER_S, KEY_LENGTH_AND_LIMITS, KEY_END};

/* at + rest/num is the exact time plus half a nanosecond. */
struct constant {
	int64_t at;
	uint64_t rest, num;
	int64_t step;
	uint64_t step_rest;
};

static int constant_begin(struct arrival_process *p, struct ipf_error *err)
{
	struct constant *c = p->state;
	struct ratio rate = ratio_of(p->stage->rate);
	unsigned __int128 second = (unsigned __int128)NS_PER_S * rate.den;

	(void)err;
	c->num = rate.num;
	c->rest = rate.num / 2;
	c->step = (int64_t)(second / rate.num); /* below 2^60, since a rate is at least 1e-9 */
	c->step_rest = (uint64_t)(second % rate.num);
	return 0;
}

static int64_t constant_next(struct arrival_process *p)
{
	struct constant *c = p->state;
	int64_t at = c->at;

	if (at >= ARRIVAL_LIMIT)
		return ARRIVAL_LIMIT;
	c->at += c->step;
	c->rest += c->step_rest;
	if (c->rest >= c->num) {
		c->rest -= c->num;
		c->at++;
	}
	return at;
}

const struct stage_kind kind_constant = {
	.name = "constant",
	.summary = "equal gaps, exact to the nanosecond",
	.type = STAGE_OPEN,
	.keys = keys,
	.check = limits_check,
	.state_size = sizeof(struct constant),
	.begin = constant_begin,
	.next = constant_next,
};
