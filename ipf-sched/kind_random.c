/* Renewal processes: independent gaps from one distribution, drawn until the stage is over and never stretched to fill it. */
#include "kind.h"

#include "clock.h"

static const struct stage_key poisson_keys[] = {KEY_RATE_PER_S, KEY_FOR, KEY_N, KEY_SLOTS, KEY_NAME, KEY_WARMUP, KEY_END};

/* A double holds nanoseconds to a thousandth over an hour and to a hundredth over a day. */
struct renewal {
	double clock_ns;
	double scale_ns; /* what a draw of the distribution is multiplied by */
	double shape;
	bool begun;
};

static int poisson_begin(struct arrival_process *p, struct ipf_error *err)
{
	struct renewal *r = p->state;

	(void)err;
	r->scale_ns = (double)NS_PER_S / p->stage->rate;
	return 0;
}

static int64_t poisson_next(struct arrival_process *p)
{
	struct renewal *r = p->state;

	r->clock_ns += rng_exponential(&p->rng) * r->scale_ns;
	return arrival_round(r->clock_ns);
}

const struct stage_kind kind_poisson = {
	.name = "poisson",
	.about = "independent arrivals: exponential gaps",
	.type = STAGE_OPEN,
	.keys = poisson_keys,
	.check = limits_check,
	.state_size = sizeof(struct renewal),
	.begin = poisson_begin,
	.next = poisson_next,
};

static const struct stage_key gamma_keys[] = {
	KEY_RATE_PER_S,
	REQUIRED_KEY("cv", "NUMBER", KEY_NUMBER, cv, "variation of the gaps: 1 is Poisson, more is burstier"),
	KEY_FOR, KEY_N, KEY_SLOTS, KEY_NAME, KEY_WARMUP, KEY_END,
};

static int gamma_check(const struct stage *stage, struct ipf_error *err)
{
	if (stage->cv < 0.001 || stage->cv > 100)
		return ipf_error_set(err, IPF_USAGE, "cv: expected a number between 0.001 and 100, got %g", stage->cv);
	return limits_check(stage, err);
}

static int gamma_begin(struct arrival_process *p, struct ipf_error *err)
{
	struct renewal *r = p->state;

	(void)err;
	r->shape = 1 / (p->stage->cv * p->stage->cv);
	r->scale_ns = (double)NS_PER_S / p->stage->rate / r->shape;
	return 0;
}

static int64_t gamma_next(struct arrival_process *p)
{
	struct renewal *r = p->state;

	/* The stage begins somewhere within a gap, not at an arrival: a gap that covers a given moment is drawn with its length as
	 * weight (one more in the shape), and what is left of it is uniform. Without this a stage at cv=10 has 50 arrivals too many. */
	if (!r->begun) {
		r->clock_ns = rng_gamma(&p->rng, r->shape + 1) * rng_uniform(&p->rng) * r->scale_ns;
		r->begun = true;
	} else {
		r->clock_ns += rng_gamma(&p->rng, r->shape) * r->scale_ns;
	}
	return arrival_round(r->clock_ns);
}

const struct stage_kind kind_gamma = {
	.name = "gamma",
	.about = "independent gamma-distributed gaps: burstier or smoother than Poisson",
	.type = STAGE_OPEN,
	.keys = gamma_keys,
	.check = gamma_check,
	.state_size = sizeof(struct renewal),
	.begin = gamma_begin,
	.next = gamma_next,
};
