/* The capacity of the server. */
#include "sections/sentence.h"

#include "analysis/saturation.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The rates of a point, offered and completed: as in the table of stages, which counts all of a stage; a point of the
 * curve leaves out its beginning. */
static json_t *rates_of(const struct telling *t, json_t *point)
{
	json_t *stage = element_at(json_at(t->report, "stages"), figure_at(point, "index"));
	return !json_at(point, "begin_s") && json_at(stage, "rate/offered") ? json_at(stage, "rate") : point;
}

/* The load of a point, and where it is: " 44.0/s in sweep 40/s". */
static const char *load_of(const struct telling *t, json_t *point, bool users)
{
	const char *load = users ? sentence(t->d, point, "{users#} users, {completed}/s")
	                         : sentence(t->d, rates_of(t, point), "{offered}/s");
	return doc_say(t->d, "%s%s", load ? load : "an unknown load",
	               phrase(t->d, point, " in {stage!}[, {begin_s} s after its beginning]"));
}

static void tell_capacity(const struct telling *t, json_t *s, bool users)
{
	json_t *highest = rates_of(t, json_at(s, "highest"));
	if (json_at(s, "requests_per_s") && users)
		tell(t, "capacity", s, "{requests_per_s} requests/s ({ci95/0} to {ci95/1})");
	else if (json_at(s, "requests_per_s"))
		tell(t, "capacity", s,
		     "{requests_per_s} requests/s ({ci95/0} to {ci95/1}), from {points_below#} rate{s:points_below} below and "
		     "{points_above#} above");
	else if (json_at(s, "reason"))
		tell(t, "capacity", s,
		     strcmp(words_at(s, "status"), "not known") == 0 ? "unknown: {reason!}" : "{status!}: {reason!}");
	else if (json_at(s, "highest_users"))
		tell(t, "capacity", s,
		     "not saturated: {highest_users#} users, the most, complete {highest_completed} requests/s");
	else
		tell(t, "capacity", highest,
		     doc_say(t->d, "not saturated: of {offered} requests/s offered, {completed}/s were completed%s",
		             saturation_excuse(figure_at(highest, "offered"), figure_at(highest, "completed"))));
}

/* How many users reach the capacity, where it was exceeded first, and whether more load lowers the throughput. */
static void tell_beyond(const struct telling *t, json_t *s, bool users)
{
	json_t *beyond = json_at(s, "exceeded_by");
	if (!json_at(s, "requests_per_s"))
		return;
	if (users && !json_at(s, "users"))
		doc_fact(t->d, "", "the fewest users reach it");
	else if (users)
		tell(t, "", s, "from {users} users on ({users_ci95/0} to {users_ci95/1})");
	if (beyond)
		doc_fact(t->d, "", "first exceeded by %s", load_of(t, beyond, users));
	if (json_is_true(json_at(s, "falls_beyond")))
		tell(t, "", s, "beyond it the throughput falls: {highest_completed}/s with {highest_users#} users");
	else if (figure_at(s, "slope_beyond") < 0)
		tell(t, "", rates_of(t, json_at(s, "highest")),
		     "beyond it the throughput falls: {completed}/s at {offered}/s offered");
}

void section_saturation(const struct telling *t)
{
	static const struct doc_column columns[] = {{NULL, "begins after", "s", "begin_s", CELL_NUMBER, KEEP_FULL},
	                                            {NULL, "users", NULL, "users", CELL_COUNT, KEEP_FULL},
	                                            {NULL, "offered", "per s", "offered", CELL_NUMBER, KEEP},
	                                            {NULL, "completed", "per s", "completed", CELL_NUMBER, KEEP},
	                                            {NULL, "left out", NULL, "left_out", CELL_WORDS, KEEP_FULL}};
	json_t *s = json_at(t->report, "saturation");
	const bool users = json_at(s, "points/0/users") != NULL;
	if (!s)
		return;
	tell_capacity(t, s, users);
	tell_beyond(t, s, users);
	if (t->brief)
		return;
	struct doc_table *table = doc_table(t->d, &(struct doc_table_spec){.id = "points",
	                                                                   .caption = "Points of the curve",
	                                                                   .rows = "stage",
	                                                                   .columns = columns,
	                                                                   .count = 5,
	                                                                   .sortable = true,
	                                                                   .media = IN_PAGE | IN_MARKDOWN});
	doc_rows_of(t->d, table, json_at(s, "points"), "stage");
}
