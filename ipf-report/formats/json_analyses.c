#include "formats/json_analyses.h"

#include "formats/json_figures.h"

#include <stdio.h>

json_t *json_sessions(const struct report *report)
{
	const struct session_figures *s = &report->analyses->sessions;
	const struct percentiles *list = &report->options->percentiles;
	json_t *json = json_object(), *share = json_object();
	char name[24];
	if (s->sessions > 0) {
		json_put_count(json, "sessions", s->sessions);
		json_put_count(json, "complete", s->complete);
		json_put_count(json, "requests", s->requests);
		json_put(json, "complete_per_hour", s->per_hour);
		if (s->judged > 0) {
			json_put_count(json, "good", s->good);
			json_put_count(json, "of", s->judged);
		}
		json_put_object(json, "requests_each", json_summary(&s->turns, list));
		json_put_object(json, "requests_on_path", json_summary(&s->path, list));
		json_put_object(json, "time_s", json_summary(&s->time, list));
		for (int i = 0; i < SESSION_PARTS; i++) {
			snprintf(name, sizeof name, "%s_s", session_part_names[i]);
			json_put_object(json, name, json_summary(&s->part[i], list));
			json_put(share, session_part_names[i], s->share[i]);
		}
	}
	json_put_object(json, "share", share);
	return json;
}
