#include "search/search_goal.h"

#include "absent.h"
#include "cli/units.h"
#include "stats/samples.h"

#include <math.h>
#include <string.h>

static const struct {
	enum metric metric;
	bool of_stream;
	const char *label;
} latencies[LATENCY_COUNT] = {
	[LATENCY_TTFT] = {METRIC_TTFT, true, "TTFT"},     [LATENCY_TTFA] = {METRIC_TTFA, true, "TTFA"},
	[LATENCY_E2E] = {METRIC_E2E, false, "E2E"},       [LATENCY_TPOT] = {METRIC_TPOT, true, "TPOT"},
	[LATENCY_NTPOT] = {METRIC_NTPOT, false, "NTPOT"}, [LATENCY_ITL] = {METRIC_ITL_MEAN, true, "mean ITL"},
};

int search_goals_parse(const char *text, struct search_goals *goals, struct ipf_error *err)
{
	struct objective_rules rules = {.of = OBJECTIVE_OF_BOTH};
	struct objective list[OBJECTIVES_MOST];
	int status;

	for (int l = 0; l < LATENCY_COUNT; l++)
		rules.metrics |= UINT32_C(1) << latencies[l].metric;
	goals->count = 0;
	status = objectives_parse(text, &rules, list, &goals->count, err);
	for (int i = 0; i < goals->count; i++) {
		struct search_goal *goal = &goals->list[i];
		*goal = (struct search_goal){.limit_ns = list[i].limit_ns,
		                             .share = (isnan(list[i].percentile) ? OBJECTIVE_EACH : list[i].percentile) / 100};
		memcpy(goal->text, list[i].text, sizeof goal->text);
		while (latencies[goal->latency].metric != list[i].metric)
			goal->latency++;
	}
	return status;
}

void search_goal_name(const struct search_goal *goal, struct buffer *out)
{
	buffer_format(out, "p%.6g %s", 100 * goal->share, latencies[goal->latency].label);
}

void search_goals_describe(const struct search_goals *goals, struct buffer *out)
{
	char limit[32];

	for (int i = 0; i < goals->count; i++) {
		buffer_text(out, i == 0 ? "" : i == goals->count - 1 ? " and " : ", ");
		search_goal_name(&goals->list[i], out);
		buffer_format(out, " < %s", format_duration(goals->list[i].limit_ns, limit));
	}
}

size_t search_goals_needed(const struct search_goals *goals)
{
	size_t most = 0;

	for (int i = 0; i < goals->count; i++) {
		size_t needed = samples_needed(100 * goals->list[i].share);
		most = needed > most ? needed : most;
	}
	return most;
}

const char *search_goal_of_stream(const struct search_goal *goal)
{
	return latencies[goal->latency].of_stream ? metrics[latencies[goal->latency].metric].name : NULL;
}

int64_t latency_of(const struct result *result, enum latency latency)
{
	enum metric m = latencies[latency].metric;
	int64_t value = metric_of_result(result, m);

	if (value != IPF_ABSENT && metrics[m].from_due && result->lag_ns != IPF_ABSENT)
		value += result->lag_ns;
	return value;
}
