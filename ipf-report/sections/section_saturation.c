/* The capacity of the server, and the load within objectives. */
#include "sections/sections.h"

#include "analysis/saturation.h"
#include "document/shown_numbers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* As in the table of stages, which counts all of a stage: a point of the curve leaves out its beginning. */
static double offered_of(const struct telling *t, json_t *point)
{
	double index = figure_at(point, "index"), whole = NAN;
	if (!isnan(index))
		whole = figure_at(element_at(json_at(t->report, "stages"), index), "rate/offered");
	return isnan(figure_at(point, "begin_s")) && !isnan(whole) ? whole : figure_at(point, "offered");
}

/* " in NAME", and for a ramp how long after its begin. */
static const char *place_of(const struct telling *t, json_t *point)
{
	double begin_s = figure_at(point, "begin_s");
	char number[40];
	return doc_say(t->d, " in %s%s%s%s", words_at(point, "stage"), isnan(begin_s) ? "" : ", ",
	               isnan(begin_s) ? "" : show_number(begin_s, number), isnan(begin_s) ? "" : " s after its begin");
}

static void tell_capacity(const struct telling *t, json_t *s, bool users)
{
	double capacity = figure_at(s, "requests_per_s"), highest = figure_at(s, "highest_completed"),
		   most_users = figure_at(s, "highest_users"), offered = figure_at(s, "highest_offered");
	const char *reason = text_at(s, "reason"), *status = words_at(s, "status");
	char a[40], b[40], c[40];
	if (!isnan(capacity) && users)
		doc_fact(t->d, "capacity", "%s requests/s (%s to %s)", show_number(capacity, a),
		         show_number(figure_at(s, "ci95/0"), b), show_number(figure_at(s, "ci95/1"), c));
	else if (!isnan(capacity))
		doc_fact(t->d, "capacity", "%s requests/s (%s to %s), from %.0f rate%s below and %.0f above",
		         show_number(capacity, a), show_number(figure_at(s, "ci95/0"), b),
		         show_number(figure_at(s, "ci95/1"), c), figure_at(s, "points_below"),
		         plural(figure_at(s, "points_below")), figure_at(s, "points_above"));
	else if (reason)
		doc_fact(t->d, "capacity", "%s: %s", strcmp(status, "not known") == 0 ? "unknown" : status, reason);
	else if (!isnan(most_users))
		doc_fact(t->d, "capacity", "not saturated: %.0f users, the most, complete %s requests/s", most_users,
		         show_number(highest, a));
	else
		doc_fact(t->d, "capacity", "not saturated: of %s requests/s offered, %s/s were completed%s",
		         show_number(offered, a), show_number(highest, b), saturation_excuse(offered, highest));
}

/* How many users reach the capacity, where it was exceeded first, and whether more load lowers the throughput. */
static void tell_beyond(const struct telling *t, json_t *s, bool users)
{
	json_t *beyond = json_at(s, "exceeded_by");
	char a[40], b[40], c[40];
	if (isnan(figure_at(s, "requests_per_s")))
		return;
	if (users && isnan(figure_at(s, "users")))
		doc_fact(t->d, "", "the fewest users reach it");
	else if (users)
		doc_fact(t->d, "", "from %s users on (%s to %s)", show_number(figure_at(s, "users"), a),
		         show_number(figure_at(s, "users_ci95/0"), b), show_number(figure_at(s, "users_ci95/1"), c));
	if (json_is_true(json_at(s, "falls_beyond")))
		doc_fact(t->d, "", "beyond it the throughput falls: %s/s with %.0f users",
		         show_number(figure_at(s, "highest_completed"), a), figure_at(s, "highest_users"));
	if (beyond)
		doc_fact(t->d, "", "first exceeded%s, by %s%s", place_of(t, beyond),
		         users ? show_whole(figure_at(beyond, "users"), a) : show_number(offered_of(t, beyond), a),
		         users ? " users" : "/s");
	if (beyond && figure_at(s, "slope_beyond") < 0)
		doc_fact(t->d, "", "beyond it the throughput falls: %s/s at %s/s offered",
		         show_number(figure_at(s, "highest_completed"), a), show_number(figure_at(s, "highest_offered"), b));
}

static void tell_within(const struct telling *t, json_t *s, bool users)
{
	json_t *within = json_at(s, "within"), *all = json_at(s, "all_within");
	double headroom = figure_at(s, "headroom");
	char a[40], b[40], c[40];
	if (!all)
		return;
	if (!within) {
		doc_fact(t->d, "objectives", users ? "missed by the fewest users" : "missed at the lowest rate")->tone =
			TONE_BAD;
		return;
	}
	const char *load = users ? doc_say(t->d, "%s users, %s/s", show_whole(figure_at(within, "users"), a),
	                                   show_number(figure_at(within, "completed"), b))
	                         : doc_say(t->d, "%s/s", show_number(offered_of(t, within), a));
	doc_fact(t->d, "objectives", "met up to %s%s%s%s%s%s", load, place_of(t, within),
	         !json_is_true(all) ? ""
	         : users            ? ", the most users"
	                            : ", the highest rate",
	         headroom >= 0 ? ", " : "", headroom >= 0 ? show_percent(headroom, c) : "",
	         headroom >= 0 ? " below the capacity" : "");
}

void section_saturation(const struct telling *t)
{
	static const struct doc_column columns[] = {
		{NULL, "begins after", "s", "begin_s", CELL_NUMBER, KEEP_FULL},
		{NULL, "users", NULL, "users", CELL_COUNT, KEEP_FULL},
		{NULL, "offered", "per s", "offered", CELL_NUMBER, KEEP},
		{NULL, "completed", "per s", "completed", CELL_NUMBER, KEEP},
		{NULL, "within objectives", NULL, "good_share", CELL_PERCENT, KEEP_FULL},
		{NULL, "left out", NULL, "left_out", CELL_WORDS, KEEP_FULL}};
	json_t *s = json_at(t->report, "saturation");
	const bool users = json_at(s, "points/0/users") != NULL;
	if (!s)
		return;
	tell_capacity(t, s, users);
	tell_beyond(t, s, users);
	tell_within(t, s, users);
	if (t->brief)
		return;
	struct doc_table *table = doc_table(t->d, &(struct doc_table_spec){.id = "points",
	                                                                   .caption = "Points of the curve",
	                                                                   .rows = "stage",
	                                                                   .columns = columns,
	                                                                   .count = 6,
	                                                                   .sortable = true,
	                                                                   .media = IN_PAGE | IN_MARKDOWN});
	doc_rows_of(t->d, table, json_at(s, "points"), "stage");
}
