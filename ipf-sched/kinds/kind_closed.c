/* Closed loops: users who send the next request when the last was answered, with pauses of theirs. */
#include "kinds/stage_kind.h"

#include "absent.h"
#include "buffer.h"
#include "clock.h"

#include <math.h>
#include <string.h>

static const struct stage_key keys[] = {
	STAGE_KEY("users", "COUNT", KEY_USERS, slots, "requests in flight; 1..32: in steps= stages"),
	STAGE_KEY("steps", "COUNT", KEY_COUNT, steps, "with users=1..32: in how many stages they grow"),
	STAGE_KEY("sessions", "COUNT", KEY_COUNT, sessions, "in place of users: sessions that run at any time"),
	STAGE_KEY("for", "TIME", KEY_DURATION, for_ns, "how long: the trace is gone round until then"),
	KEY_N,
	STAGE_KEY("rampup", "TIME", KEY_DURATION, rampup_ns, "users come in one after another over this time"),
	STAGE_KEY("think", "TIME", KEY_DURATION, think_ns, "from an answer to its user's next request"),
	STAGE_KEY("process", "NAME", KEY_GAPS, process, "of think=: constant (default), poisson, gamma, …"),
	STAGE_KEY("cv", "NUMBER", KEY_NUMBER, cv, "variation of think=, for a process that needs it"),
	STAGE_KEY("rate", "RATE", KEY_RATE, rate, "most requests a second of one user"),
	KEY_NAME,
	KEY_PHASES,
	KEY_END,
};

static int pauses_check(const struct stage *stage, struct ipf_error *err)
{
	if (stage->rampup_ns != IPF_ABSENT && stage->for_ns != IPF_ABSENT && stage->rampup_ns > stage->for_ns)
		return ipf_error_set(err, IPF_USAGE, "rampup: expected no more than for=");
	if (stage->process_given && stage->think_ns == IPF_ABSENT)
		return ipf_error_set(err, IPF_USAGE, "process: expected think=TIME with it");
	if (!stage->process_given && !isnan(stage->cv))
		return ipf_error_set(err, IPF_USAGE, "cv: expected think=TIME and process=NAME with it");
	if (stage->sessions != IPF_ABSENT && !isnan(stage->rate))
		return ipf_error_set(err, IPF_USAGE,
		                     "rate: expected none with sessions=, whose turns wait as they were recorded");
	return stage->process_given ? process_check(stage, err) : 0;
}

static int closed_check(const struct stage *stage, struct ipf_error *err)
{
	bool both = stage->slots != IPF_ABSENT && stage->to_slots != IPF_ABSENT;
	int64_t span = !both                            ? 0
	               : stage->to_slots > stage->slots ? stage->to_slots - stage->slots
	                                                : stage->slots - stage->to_slots;

	if (stage->slots == IPF_ABSENT && stage->sessions == IPF_ABSENT)
		return ipf_error_set(err, IPF_USAGE, "users: missing: expected users=COUNT or sessions=COUNT");
	if (stage->slots != IPF_ABSENT && stage->sessions != IPF_ABSENT)
		return ipf_error_set(err, IPF_USAGE, "sessions: expected either users= or sessions=, got both");
	if (stage->to_slots == IPF_ABSENT && stage->steps != IPF_ABSENT)
		return ipf_error_set(err, IPF_USAGE, "steps: expected users= with two counts such as 1..32 with it");
	if (stage->to_slots != IPF_ABSENT && stage->steps == IPF_ABSENT)
		return ipf_error_set(err, IPF_USAGE, "steps: missing: expected steps=COUNT with users=%lld..%lld",
		                     (long long)stage->slots, (long long)stage->to_slots);
	if (stage->steps != IPF_ABSENT && (stage->steps < 2 || stage->steps > 1000 || stage->steps > span + 1))
		return ipf_error_set(err, IPF_USAGE, "steps: expected a count between 2 and %lld, got %lld",
		                     (long long)(span < 999 ? span + 1 : 1000), (long long)stage->steps);
	return pauses_check(stage, err) < 0 ? -1 : limits_check(stage, err);
}

static int closed_begin(struct arrival_process *p, struct ipf_error *err)
{
	(void)err;
	gaps_init(p->state, p->stage->process_given ? p->stage->process : GAPS_CONSTANT, p->stage->cv);
	return 0;
}

static int64_t closed_think(struct arrival_process *p)
{
	return arrival_round(gaps_next(p->state, &p->rng) * (double)p->stage->think_ns);
}

static bool closed_is_short(const struct stage *stage)
{
	return stage->to_slots != IPF_ABSENT;
}

/* Its own spec with this number of users. */
static void step_spec(const struct stage *of, int64_t users, struct buffer *spec)
{
	static const char *const others[] = {"users=", "steps=", "name="};

	buffer_format(spec, "closed:users=%lld", (long long)users);
	for (const char *part = strchr(of->spec, ':'); part; part = strchr(part, ',')) {
		bool other = false;
		part++;
		for (size_t i = 0; i < sizeof others / sizeof *others; i++)
			other |= strncmp(part, others[i], strlen(others[i])) == 0;
		if (!other)
			buffer_format(spec, ",%.*s", (int)strcspn(part, ","), part);
	}
}

static int closed_expand(const struct stage *of, size_t index, struct stage *stage, struct ipf_error *err)
{
	struct buffer spec = {0}, name = {0};
	int64_t users;

	if (index >= (size_t)of->steps)
		return 0;
	users = llround((double)of->slots + (double)(of->to_slots - of->slots) * (double)index / (double)(of->steps - 1));
	step_spec(of, users, &spec);
	buffer_format(&name, "%s %lld user%s", of->name ? of->name : "closed", (long long)users, users == 1 ? "" : "s");
	*stage = *of;
	stage->name = name.data;
	stage->spec = stage->own_spec = spec.data;
	stage->slots = users;
	stage->to_slots = stage->steps = IPF_ABSENT;
	stage->ordinal = 0;
	return spec.failed || name.failed ? ipf_error_memory(err) : 1;
}

const struct stage_kind kind_closed = {
	.name = "closed",
	.summary = "closed loop: users send the next request when the last was answered",
	.type = STAGE_CLOSED,
	.keys = keys,
	.check = closed_check,
	.state_size = sizeof(struct gaps),
	.begin = closed_begin,
	.think = closed_think,
	.is_short = closed_is_short,
	.expand = closed_expand,
};
