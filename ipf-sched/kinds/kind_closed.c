/* Closed loops: each user sends its next request after the answer to the previous one, and a think time. A user of a
 * trace with sessions takes a whole session; concurrency= keeps requests in flight instead, whosever they are. */
#include "kinds/arrival_process.h"
#include "kinds/stage_checks.h"

#include "absent.h"
#include "buffer.h"
#include "clock.h"

#include <math.h>
#include <string.h>

static const struct stage_key keys[] = {
	STAGE_KEY("users", "COUNT", KEY_SLOTS_OR_RANGE, slots, "number of users, with a session or request each; or 1..32"),
	STAGE_KEY("concurrency", "COUNT", KEY_SLOTS_OR_RANGE, slots, "instead of users=: number of requests in flight"),
	STAGE_KEY("steps", "COUNT", KEY_COUNT, steps, "with users=1..32: the number of stages"),
	STAGE_KEY("for", "TIME", KEY_DURATION, for_ns, "length of the stage; the trace repeats until then"),
	KEY_N,
	STAGE_KEY("rampup", "TIME", KEY_DURATION, rampup_ns, "users start one after another over this time"),
	STAGE_KEY("think", "TIME", KEY_DURATION, think_ns, "time from an answer to the next request or turn"),
	STAGE_KEY("process", "NAME", KEY_GAPS, process, "distribution of think=: constant (default), poisson, …"),
	STAGE_KEY("cv", "NUMBER", KEY_NUMBER, cv, "coefficient of variation of think=, if the process needs it"),
	STAGE_KEY("middle", NULL, KEY_FLAG, middle, "the first sessions begin in their middle, after primers"),
	KEY_IDLE_MAX,
	KEY_SALT,
	STAGE_KEY("rate", "RATE", KEY_RATE, rate, "maximum requests per second of one user"),
	KEY_NAME,
	KEY_PHASES,
	KEY_END,
};

static int pauses_check(const struct stage *stage, struct ipf_error *err)
{
	if (rampup_check(stage, true, "", err) < 0)
		return -1;
	if (stage->process_given && stage->think_ns == IPF_ABSENT)
		return ipf_error_set(err, IPF_USAGE, "process: requires think=TIME");
	if (!stage->process_given && !isnan(stage->cv))
		return ipf_error_set(err, IPF_USAGE, "cv: requires think=TIME and process=NAME");
	if (stage->middle && (stage->by_concurrency || stage->to_slots != IPF_ABSENT))
		return ipf_error_set(err, IPF_USAGE, "middle: requires users=COUNT");
	if (stage->middle && stage->n != IPF_ABSENT && stage->n < stage->slots)
		return ipf_error_set(err, IPF_USAGE, "n: expected at least users= (%lld) with middle, got %lld",
		                     (long long)stage->slots, (long long)stage->n);
	if (stage->salt && stage->for_ns == IPF_ABSENT)
		return ipf_error_set(err, IPF_USAGE, "salt: requires for=, without which no request is sent twice");
	return stage->process_given ? process_check(stage, err) : 0;
}

static int closed_check(const struct stage *stage, struct ipf_error *err)
{
	const char *key = stage->by_concurrency ? "concurrency" : "users";
	bool both = stage->slots != IPF_ABSENT && stage->to_slots != IPF_ABSENT;
	int64_t span = !both                            ? 0
	               : stage->to_slots > stage->slots ? stage->to_slots - stage->slots
	                                                : stage->slots - stage->to_slots;

	if (stage->slots == IPF_ABSENT)
		return ipf_error_set(err, IPF_USAGE, "users=COUNT or concurrency=COUNT is required");
	if (stage->to_slots == IPF_ABSENT && stage->steps != IPF_ABSENT)
		return ipf_error_set(err, IPF_USAGE, "steps: requires %s= with two counts, such as 1..32", key);
	if (stage->to_slots != IPF_ABSENT && stage->steps == IPF_ABSENT)
		return ipf_error_set(err, IPF_USAGE, "%s=%lld..%lld requires steps=COUNT", key, (long long)stage->slots,
		                     (long long)stage->to_slots);
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
	return stage->to_slots != IPF_ABSENT || stage->middle;
}

/* Two stages: one to fill the server's cache, which is not measured, and the sessions. */
static int expand_middle(const struct stage *of, size_t index, struct stage *stage, struct ipf_error *err)
{
	struct buffer spec = {0}, name = {0};

	if (index > 1)
		return 0;
	*stage = *of;
	stage->primer = index == 0;
	stage->apart = of->salt;
	stage->ordinal = 0;
	buffer_format(&name, "%s%s", of->name ? of->name : "closed", stage->primer ? " primer" : "");
	buffer_text(&spec, of->spec);
	if (stage->primer) {
		stage->for_ns = stage->rampup_ns = stage->think_ns = IPF_ABSENT;
		stage->process_given = false;
		stage->n = of->slots;
		stage->salt = false;
		stage->drain = stage->overlap = false;
	} else {
		stage->cold = false; /* the primer has filled the cache */
	}
	stage->name = name.data;
	stage->spec = stage->own_spec = spec.data;
	return spec.failed || name.failed ? ipf_error_memory(err) : 1;
}

/* The spec of the stage with this number of users: the shorthand's, less its own keys. */
static void step_spec(const struct stage *of, int64_t users, struct buffer *spec)
{
	static const char *const others[] = {"users=", "concurrency=", "steps=", "name="};

	buffer_format(spec, "closed:%s=%lld", of->by_concurrency ? "concurrency" : "users", (long long)users);
	for (const char *part = strchr(of->spec, ':'); part; part = strchr(part, ',')) {
		bool other = false;
		part++;
		for (size_t i = 0; i < sizeof others / sizeof *others; i++)
			other |= strncmp(part, others[i], strlen(others[i])) == 0;
		if (!other)
			buffer_format(spec, ",%.*s", (int)strcspn(part, ","), part);
	}
}

const char *closed_unit(const struct stage *stage, double count)
{
	if (stage->by_concurrency)
		return " in flight";
	return count > 1 ? " users" : " user";
}

static int closed_expand(const struct stage *of, size_t index, struct stage *stage, struct ipf_error *err)
{
	struct buffer spec = {0}, name = {0};
	int64_t users;

	if (of->middle)
		return expand_middle(of, index, stage, err);
	if (index >= (size_t)of->steps)
		return 0;
	users = llround((double)of->slots + (double)(of->to_slots - of->slots) * (double)index / (double)(of->steps - 1));
	step_spec(of, users, &spec);
	buffer_format(&name, "%s %lld%s", of->name ? of->name : "closed", (long long)users, closed_unit(of, (double)users));
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
	.summary = "closed loop: each user sends its next request after the previous answer",
	.type = STAGE_CLOSED,
	.keys = keys,
	.check = closed_check,
	.state_size = sizeof(struct gaps),
	.begin = closed_begin,
	.think = closed_think,
	.is_short = closed_is_short,
	.expand = closed_expand,
};
