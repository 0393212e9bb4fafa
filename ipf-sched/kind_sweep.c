/* A sweep is short for several stages, one for each rate or number of users, with rests between them where wanted. */
#include "kind.h"

#include "buffer.h"
#include "clock.h"

#include <math.h>

static const struct stage_key keys[] = {
	STAGE_KEY("rates", "RATE,…", KEY_RATES, rates, "an open-loop stage for each of these rates; or"),
	STAGE_KEY("users", "COUNT,…", KEY_COUNTS, rates, "a closed-loop stage for each of these numbers of users"),
	STAGE_KEY("for", "TIME", KEY_DURATION, for_ns, "how long each of them lasts"),
	STAGE_KEY("n", "COUNT", KEY_COUNT, n, "how many requests, or sessions, each of them has"),
	STAGE_KEY("rest", "TIME", KEY_DURATION, off_ns, "a rest between one and the next"),
	PROCESS_KEYS, KEY_SLOTS, STAGE_KEY("name", "NAME", KEY_TEXT, name, "what their names begin with (default: sweep)"),
	KEY_WARMUP, KEY_END,
};

static int sweep_check(const struct stage *stage, struct ipf_error *err)
{
	if (stage->rates.count == 0)
		return ipf_error_set(err, IPF_USAGE, "rates: missing: expected rates=RATE,… or users=COUNT,…");
	for (size_t i = 0; i < stage->rates.count; i++)
		if (stage->rates.list[i] <= 0)
			return ipf_error_set(err, IPF_USAGE, "rates: expected rates above 0");
	if (stage->for_ns == IPF_ABSENT && stage->n == IPF_ABSENT)
		return ipf_error_set(err, IPF_USAGE, "for: missing: expected for=TIME or n=COUNT");
	if (limits_check(stage, err) < 0)
		return -1;
	if (!stage->rates.counts)
		return process_check(stage, err);
	if (stage->slots != IPF_ABSENT)
		return ipf_error_set(err, IPF_USAGE, "slots: expected none with users=");
	if (stage->process_given || !isnan(stage->cv))
		return ipf_error_set(err, IPF_USAGE, "%s: expected none with users=", stage->process_given ? "process" : "cv");
	return 0;
}

/* In the largest unit in which it is whole. */
static void put_time(struct buffer *out, const char *key, int64_t ns)
{
	static const struct { const char *name; int64_t ns; } units[] = {{"s", NS_PER_S}, {"ms", NS_PER_MS}, {"us", NS_PER_US}, {"ns", 1}};
	size_t i = 0;

	while (ns % units[i].ns != 0)
		i++;
	buffer_format(out, "%s=%lld%s", key, (long long)(ns / units[i].ns), units[i].name);
}

static void rest_stage(const struct stage *sweep, struct stage *stage, struct buffer *spec)
{
	stage->kind = stage_kind_find("rest");
	stage->for_ns = sweep->off_ns;
	buffer_text(spec, "rest:");
	put_time(spec, "for", sweep->off_ns);
}

static void point_stage(const struct stage *sweep, double value, struct stage *stage, struct buffer *spec)
{
	static const char *const kinds[] = {
		[GAPS_POISSON] = "poisson", [GAPS_CONSTANT] = "constant", [GAPS_GAMMA] = "gamma", [GAPS_WEIBULL] = "weibull",
		[GAPS_UNIFORM] = "uniform",
	};
	bool users = sweep->rates.counts;

	stage->kind = stage_kind_find(users ? "closed" : kinds[sweep->process]);
	stage->for_ns = sweep->for_ns;
	stage->n = sweep->n;
	stage->cv = sweep->cv;
	stage->rate = users ? NAN : value;
	stage->slots = users ? (int64_t)value : sweep->slots;
	stage->warmup = sweep->warmup;
	buffer_format(spec, "%s:%s=%.12g,", stage->kind->name, users ? "users" : "rate", value);
	if (!isnan(stage->cv))
		buffer_format(spec, "cv=%.12g,", stage->cv);
	if (stage->for_ns != IPF_ABSENT)
		put_time(spec, "for", stage->for_ns);
	else
		buffer_format(spec, "n=%lld", (long long)stage->n);
	if (!users && stage->slots != IPF_ABSENT)
		buffer_format(spec, ",slots=%lld", (long long)stage->slots);
	if (stage->warmup)
		buffer_text(spec, ",warmup");
}

static int sweep_expand(const struct stage *sweep, size_t index, struct stage *stage, struct ipf_error *err)
{
	bool rests = sweep->off_ns != IPF_ABSENT;
	size_t point = rests ? index / 2 : index;
	const char *base = sweep->name ? sweep->name : "sweep";
	struct buffer spec = {0}, name = {0};

	if (point >= sweep->rates.count || (rests && index == 2 * sweep->rates.count - 1))
		return 0;
	if (rests && index % 2) {
		rest_stage(sweep, stage, &spec);
		buffer_format(&name, "%s rest %zu", base, point + 1);
	} else {
		double value = sweep->rates.list[point];
		point_stage(sweep, value, stage, &spec);
		buffer_format(&name, "%s %.12g%s", base, value, !sweep->rates.counts ? "/s" : value == 1 ? " user" : " users");
	}
	stage->spec = stage->own_spec = spec.data;
	stage->name = name.data;
	return spec.failed || name.failed ? ipf_error_set(err, IPF_SYSTEM, "out of memory") : 1;
}

const struct stage_kind kind_sweep = {
	.name = "sweep",
	.about = "several stages of other rates, or other numbers of users",
	.keys = keys,
	.check = sweep_check,
	.expand = sweep_expand,
};
