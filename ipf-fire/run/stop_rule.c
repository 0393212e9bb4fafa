#include "run/stop_rule.h"

#include "cli/units.h"

#include <stdio.h>
#include <string.h>

int stop_rule_parse(const char *text, struct stop_rule_rule *rule, struct ipf_error *err)
{
	static const char what[] = "errors=";
	struct ipf_error no = {0};
	*rule = (struct stop_rule_rule){.share = -1};
	if (!text)
		return 0;
	const char *limit = strncmp(text, what, sizeof what - 1) == 0 ? text + sizeof what - 1 : "";
	size_t len = strlen(limit);
	bool share = len && limit[len - 1] == '%';
	int bad = share ? parse_share(limit, &rule->share, &no) : parse_count(limit, &rule->count, &no);
	if (bad < 0 || (share ? rule->share >= 1 : rule->count == 0))
		return ipf_error_set(
			err, IPF_USAGE,
			"--stop-on: expected errors=SHARE below 100%%, such as errors=5%%, or errors=COUNT, got \"%.200s\"", text);
	return 0;
}

bool stop_rule_due(const struct stop_rule_rule *rule, const char *text, const struct run_counters *g, char why[128])
{
	if (!rule->count && rule->share < 0)
		return false;
	/* all go on meanwhile: looked at in this order, the share never comes out too high */
	int64_t failed = counter_get(&g->failed);
	failed -= counter_get(&g->unmeasured_failed);
	int64_t unmeasured = counter_get(&g->unmeasured_done);
	int64_t done = counter_get(&g->done) - unmeasured;
	bool many = rule->count ? failed >= rule->count
	                        : done >= STOP_RULE_FEWEST && (double)failed > rule->share * (double)done;
	if (many)
		snprintf(why, 128, "stopped: %lld of %lld requests failed (--stop-on %.40s)", (long long)failed,
		         (long long)done, text);
	return many;
}
