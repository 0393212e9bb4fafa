#include "formats/text_saturation.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *stage_name(const struct report *report, const struct saturation_point *p)
{
	return report->run->schedule.stages[p->stage].name;
}

/* As in the table of stages, which counts all of a stage. The point of the curve leaves out its beginning. */
static double offered(const struct report *report, const struct saturation_point *p)
{
	double whole = report->figures->stages[p->stage].offered;
	return isnan(p->begin_s) && !isnan(whole) ? whole : p->offered;
}

/* " in NAME", and for a ramp how long after its begin. */
static void add_place(char *text, size_t size, const struct report *report, const struct saturation_point *p)
{
	size_t len = strlen(text);
	char number[40];
	snprintf(text + len, size - len, " in %.100s", stage_name(report, p));
	if (!isnan(p->begin_s)) {
		len = strlen(text);
		snprintf(text + len, size - len, ", %s s after its begin", show_number(p->begin_s, number));
	}
}

/* How many users reach the capacity, and what more of them bring. */
static void show_users(struct layout *l, const struct saturation *s)
{
	char text[200], a[40], b[40], c[40];
	if (isnan(s->plateau.users))
		snprintf(text, sizeof text, "the fewest users reach it");
	else
		snprintf(text, sizeof text, "from %s users on (%s to %s)", show_number(s->plateau.users, a),
		         show_number(s->plateau.users_low, b), show_number(s->plateau.users_high, c));
	layout_entry(l, "", text);
	if (!s->plateau.falls)
		return;
	snprintf(text, sizeof text, "beyond it the throughput falls: %s/s with %.0f users",
	         show_number(s->highest_completed, a), s->highest_users);
	layout_entry(l, "", text);
}

static void show_capacity(struct layout *l, const struct report *report)
{
	const struct saturation *s = &report->analyses->saturation;
	char text[400] = "", a[40], b[40], c[40];
	if (s->status == SATURATION_NOT_KNOWN) {
		snprintf(text, sizeof text, "not known: %s", s->reason);
	} else if (s->by_users && s->status == SATURATION_NOT_REACHED) {
		snprintf(text, sizeof text, "not saturated: %.0f users, the most, complete %s requests/s", s->highest_users,
		         show_number(s->highest_completed, b));
	} else if (s->by_users) {
		snprintf(text, sizeof text, "%s requests/s (%s to %s)", show_number(s->knee.rate, a), show_number(s->low, b),
		         show_number(s->high, c));
	} else if (s->status == SATURATION_NOT_REACHED) {
		snprintf(text, sizeof text, "not saturated: of %s requests/s offered, %s/s were completed%s",
		         show_number(s->highest_offered, a), show_number(s->highest_completed, b),
		         saturation_excuse(s->highest_offered, s->highest_completed));
	} else {
		snprintf(text, sizeof text, "%s requests/s (%s to %s), from %zu rates below and %zu above",
		         show_number(s->knee.rate, a), show_number(s->low, b), show_number(s->high, c), s->knee.below,
		         s->knee.above);
	}
	layout_entry(l, "capacity", text);
	if (s->status == SATURATION_REACHED && s->by_users)
		show_users(l, s);
	if (s->status != SATURATION_REACHED || !s->beyond)
		return;
	snprintf(text, sizeof text, "first exceeded");
	add_place(text, sizeof text, report, s->beyond);
	layout_entry(l, "", text);
	if (s->knee.slope < 0) {
		snprintf(text, sizeof text, "beyond it the throughput falls: %s/s at %s/s offered",
		         show_number(s->highest_completed, a), show_number(s->highest_offered, b));
		layout_entry(l, "", text);
	}
}

static void show_within(struct layout *l, const struct report *report)
{
	const struct saturation *s = &report->analyses->saturation;
	char text[400] = "", a[40], b[40];
	if (!s->objectives)
		return;
	if (!s->within) {
		layout_entry(l, "objectives", s->by_users ? "missed by the fewest users" : "missed at the lowest rate");
		return;
	}
	if (s->by_users)
		snprintf(text, sizeof text, "met up to %.0f users, %s/s", s->within->users,
		         show_number(s->within->completed, a));
	else
		snprintf(text, sizeof text, "met up to %s/s", show_number(offered(report, s->within), a));
	add_place(text, sizeof text, report, s->within);
	if (s->all_within)
		join(text, sizeof text, ", ", s->by_users ? "the most users" : "the highest rate", "");
	if (!isnan(s->headroom) && s->headroom >= 0)
		join(text, sizeof text, ", ", show_percent(s->headroom, b), "below the capacity");
	layout_entry(l, "objectives", text);
}

void text_saturation(struct layout *l, const struct report *report)
{
	if (report->analyses->saturation.status == SATURATION_NO_CURVE)
		return;
	layout_heading(l, "Saturation");
	layout_end_line(l);
	show_capacity(l, report);
	show_within(l, report);
}
