/* A sweep is short for several stages, one for each rate or number of users, with rests between them where wanted. */
#include "kind.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static int sweep_expand(const struct stage *sweep, size_t index, struct stage *stage, struct ipf_error *err)
{
	static const char *const kinds[] = {
		[GAPS_POISSON] = "poisson", [GAPS_CONSTANT] = "constant", [GAPS_GAMMA] = "gamma", [GAPS_WEIBULL] = "weibull",
		[GAPS_UNIFORM] = "uniform",
	};
	bool resting = sweep->off_ns != IPF_ABSENT;
	size_t point = resting ? index / 2 : index;
	const char *name = sweep->name ? sweep->name : "sweep";
	double value;
	char text[256];

	if (point >= sweep->rates.count || (resting && index == 2 * sweep->rates.count - 1))
		return 0;
	value = sweep->rates.list[point];
	if (resting && index % 2) {
		stage->kind = stage_kind_find("rest");
		stage->for_ns = sweep->off_ns;
		snprintf(text, sizeof text, "%.200s rest %zu", name, point + 1);
	} else {
		stage->kind = stage_kind_find(sweep->rates.counts ? "closed" : kinds[sweep->process]);
		stage->for_ns = sweep->for_ns;
		stage->n = sweep->n;
		stage->cv = sweep->cv;
		stage->rate = sweep->rates.counts ? NAN : value;
		stage->slots = sweep->rates.counts ? (int64_t)value : sweep->slots;
		stage->warmup = sweep->warmup;
		snprintf(text, sizeof text, "%.200s %.12g%s", name, value, sweep->rates.counts ? value == 1 ? " user" : " users" : "/s");
	}
	stage->name = strdup(text);
	return stage->name ? 1 : ipf_error_set(err, IPF_SYSTEM, "out of memory");
}

const struct stage_kind kind_sweep = {
	.name = "sweep",
	.about = "several stages of other rates, or other numbers of users",
	.keys = keys,
	.check = sweep_check,
	.expand = sweep_expand,
};
