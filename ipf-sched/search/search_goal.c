#include "search/search_goal.h"

#include "absent.h"
#include "cli/units.h"
#include "stats/samples.h"

#include <math.h>
#include <string.h>

static const enum metric latencies[LATENCY_COUNT] = {METRIC_TTFT, METRIC_TTFA,  METRIC_E2E,
                                                     METRIC_TPOT, METRIC_NTPOT, METRIC_ITL_MEAN};

int search_goals_parse(const char *text, struct search_goals *goals, struct ipf_error *err)
{
	struct objective_rules rules = {.of = OBJECTIVE_OF_BOTH};
	struct objective list[OBJECTIVES_MOST];
	int status;

	for (int l = 0; l < LATENCY_COUNT; l++)
		rules.metrics |= UINT32_C(1) << latencies[l];
	goals->count = 0;
	status = objectives_parse(text, &rules, list, &goals->count, err);
	for (int i = 0; i < goals->count; i++) {
		struct search_goal *goal = &goals->list[i];
		*goal = (struct search_goal){.limit_ns = list[i].limit_ns,
		                             .share = (isnan(list[i].percentile) ? OBJECTIVE_EACH : list[i].percentile) / 100};
		memcpy(goal->text, list[i].text, sizeof goal->text);
		while (latencies[goal->latency] != list[i].metric)
			goal->latency++;
	}
	return status;
}

void search_goal_name(const struct search_goal *goal, struct buffer *out)
{
	const struct metric_spec *metric = &metrics[latencies[goal->latency]];
	buffer_format(out, "p%.6g %s", 100 * goal->share, metric->label);
	if (metric->remark)
		buffer_format(out, " (%s)", metric->remark);
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
	const struct metric_spec *metric = &metrics[latencies[goal->latency]];
	return metric->of_stream ? metric->name : NULL;
}

int64_t latency_of(const struct result *result, int latency)
{
	enum metric m = latencies[latency];
	int64_t value = metric_of_result(result, m);

	if (value != IPF_ABSENT && metrics[m].from_due && result->lag_ns != IPF_ABSENT)
		value += result->lag_ns;
	return value;
}
