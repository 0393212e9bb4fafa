#include "analysis/analyses.h"
#include "json_report/json_figures.h"
#include "json_report/json_report.h"
#include "stats/exact_shares.h"
#include "verdict/verdict.h"

#include <math.h>

static json_t *group_json(const struct answer_group *group)
{
	const struct exact_interval i = share_exact_interval(group->wrong, group->canaries);
	json_t *json = json_object();
	json_put(json, "from", group->from);
	json_put(json, "to", group->to);
	json_put_count(json, "canaries", group->canaries);
	json_put_count(json, "wrong", group->wrong);
	json_put(json, "wrong_share", (double)group->wrong / (double)group->canaries);
	json_put(json, "wrong_low", i.low);
	json_put(json, "wrong_high", i.high);
	return json;
}

static json_t *trend_json(const struct answer_trend *trend)
{
	json_t *list = json_array();
	for (int g = 0; g < trend->count; g++)
		json_array_append_new(list, group_json(&trend->groups[g]));
	if (trend->count)
		return list;
	json_decref(list);
	return NULL;
}

static json_t *kinds_json(const struct answer_trends *a)
{
	json_t *json = json_object();
	for (int k = 0; k < RESULT_CHECK_REPEAT; k++) {
		const struct answer_kind *kind = &a->kinds[k];
		json_t *one = json_object();
		if (kind->alone + kind->load > 0) {
			json_put_count(one, "alone", kind->alone);
			json_put_count(one, "alone_wrong", kind->alone_wrong);
			json_put_count(one, "load", kind->load);
			json_put_count(one, "load_wrong", kind->load_wrong);
		}
		json_put_object(json, result_check_names[k], one);
	}
	return json;
}

static void put_list(json_t *to, const char *name, const struct answer_trend *trend)
{
	json_t *list = trend_json(trend);
	if (list)
		json_object_set_new(to, name, list);
}

json_t *json_answers(const struct report *report)
{
	const struct answer_health *health = verdict_answers(report->run->verdict);
	const struct answer_trends *a = &report->analyses->answers;
	if (!answer_health_any(health))
		return NULL;
	json_t *json = answer_health_json(health);
	if (!json || !a->given)
		return json;
	json_put_count(json, "checked", a->checked);
	json_put(json, "load_share", a->load_share);
	json_put_object(json, "kinds", kinds_json(a));
	if (a->differing) {
		json_put_count(json, "placed", a->differing);
		json_put(json, a->in_tokens ? "equal_tokens" : "equal_characters", a->differs_at_median);
	}
	put_list(json, "by_time", &a->by_time);
	put_list(json, "by_in_flight", &a->by_in_flight);
	put_list(json, "by_kv_cache", &a->by_kv_cache);
	return json;
}
