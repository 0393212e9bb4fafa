#include "run/stop_rule.h"

#include "cli/units.h"

#include <stdio.h>
#include <string.h>

int stop_rule_parse(const char *text, struct stop_rule *rule, struct ipf_error *err)
{
	static const char key[] = "errors=";
	struct ipf_error ignored = {0};
	*rule = (struct stop_rule){.text = text, .share = -1};
	const char *limit = strncmp(text, key, sizeof key - 1) == 0 ? text + sizeof key - 1 : "";
	size_t len = strlen(limit);
	bool share = len && limit[len - 1] == '%';
	int bad = share ? parse_share(limit, &rule->share, &ignored) : parse_count(limit, &rule->count, &ignored);
	if (bad < 0 || (share ? rule->share >= 1 : rule->count == 0))
		return ipf_error_set(err, IPF_USAGE,
		                     "expected errors=SHARE below 100%%, such as errors=5%%, or errors=COUNT, got \"%.200s\"",
		                     text);
	return 0;
}

bool stop_rule_reached(const struct stop_rule *rule, const struct run_counters *counters, char why[128])
{
	if (!rule->text)
		return false;
	/* the counters go on meanwhile: read in this order, the share is never too high */
	int64_t failed = counters_failed(counters);
	failed -= counters_sum(counters, unmeasured_failed) + counter_get(&counters->unmeasured_broken);
	int64_t unmeasured = counters_sum(counters, unmeasured_done);
	int64_t done = counters_sum(counters, done) - unmeasured;
	bool reached = rule->count ? failed >= rule->count
	                           : done >= STOP_RULE_FEWEST && (double)failed > rule->share * (double)done;
	if (reached)
		snprintf(why, 128, "stopped: %lld of %lld requests failed (--stop-on %.40s)", (long long)failed,
		         (long long)done, rule->text);
	return reached;
}

bool stop_rule_hopeless(int64_t after, const struct run_counters *counters, char why[128])
{
	/* in this order, a request ending meanwhile counts as one that did not fail */
	const int64_t failed = counters_failed(counters), done = counters_sum(counters, done);
	const bool reached = after > 0 && counter_get(&counters->first_failed) >= after && failed == done;
	if (reached)
		snprintf(why, 128, "stopped: all %lld requests so far failed (--stop-after-failures %lld)", (long long)done,
		         (long long)after);
	return reached;
}

bool stop_rule_looks(int64_t after, const struct run_counters *counters)
{
	const int64_t failed = counters_failed(counters), done = counters_sum(counters, done);
	return after > 0 && counter_get(&counters->first_other) == 0 && (done < after || failed > done / 2);
}
