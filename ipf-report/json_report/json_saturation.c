#include "analysis/analyses.h"
#include "json_report/json_figures.h"
#include "json_report/json_report.h"

#include <math.h>

static json_t *point_json(const struct saturation_point *p, const struct report *report)
{
	json_t *json = json_pack("{s:s}", "stage", report->run->schedule.stages[p->stage].name);
	json_put_count(json, "index", p->stage);
	json_put(json, "begin_s", p->begin_s);
	json_put(json, "users", p->users > 0 ? p->users : NAN);
	json_put(json, "offered", p->offered);
	json_put(json, "completed", p->completed);
	json_put_text(json, "left_out", p->left_out);
	return json;
}

json_t *json_saturation(const struct report *report)
{
	const struct saturation *s = &report->analyses->saturation;
	if (s->status == SATURATION_NO_CURVE)
		return NULL;
	json_t *json = json_object(), *points = json_array();
	json_put_text(json, "status", saturation_status_names[s->status]);
	json_put_text(json, "reason", s->reason);
	if (s->status == SATURATION_REACHED) {
		json_put(json, "requests_per_s", s->knee.rate);
		json_object_set_new(json, "ci95", json_pack("[o, o]", json_figure(s->low), json_figure(s->high)));
		if (s->by_users) {
			json_put(json, "users", s->plateau.users);
			if (!isnan(s->plateau.users))
				json_object_set_new(
					json, "users_ci95",
					json_pack("[o, o]", json_figure(s->plateau.users_low), json_figure(s->plateau.users_high)));
			json_object_set_new(json, "falls_beyond", json_boolean(s->plateau.falls));
		} else {
			json_put(json, "slope_beyond", s->knee.slope);
		}
		json_put_count(json, "points_below", (int64_t)s->knee.below);
		json_put_count(json, "points_above", (int64_t)s->knee.above);
		if (s->beyond)
			json_object_set_new(json, "exceeded_by", point_json(s->beyond, report));
	}
	if (s->highest)
		json_object_set_new(json, "highest", point_json(s->highest, report));
	json_put(json, "highest_offered", s->highest_offered);
	json_put(json, "highest_users", s->by_users && s->status != SATURATION_NOT_KNOWN ? s->highest_users : NAN);
	json_put(json, "highest_completed", s->highest_completed);
	for (size_t i = 0; i < s->count; i++)
		json_array_append_new(points, point_json(&s->points[i], report));
	json_object_set_new(json, "points", points);
	return json;
}
