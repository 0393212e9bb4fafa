#include "formats/text_sessions.h"

#include "formats/text_table.h"

#include <math.h>
#include <stdio.h>

static void show_shares(struct layout *l, const struct session_figures *s)
{
	char text[200] = "", number[40];
	for (int i = 0; i < SESSION_PARTS; i++)
		join(text, sizeof text, ", ", session_part_names[i], show_percent(s->share[i], number));
	layout_entry(l, "time for", text);
}

void text_sessions(struct layout *l, const struct report *report)
{
	const struct session_figures *s = &report->analyses->sessions;
	struct text_table t;
	char text[240], a[40], b[40], c[40];
	if (s->sessions == 0)
		return;
	text_table_init(&t, l, &report->options->percentiles, false);
	while (text_table_part(&t, "Sessions, s")) {
		text_table_row(&t, "time", "", &s->time);
		for (int i = 0; i < SESSION_PARTS; i++)
			text_table_row(&t, "", session_part_names[i], &s->part[i]);
		text_table_row(&t, "requests", "", &s->turns);
	}
	text_table_note(l, t.weak);
	if (s->complete > 0)
		show_shares(l, s);
	snprintf(text, sizeof text, "%s of %s sessions without failures, %s an hour", show_count(s->complete, a),
	         show_count(s->sessions, b), show_number(s->per_hour, c));
	if (s->judged > 0) {
		join(text, sizeof text, ", ", show_percent((double)s->good / (double)s->judged, a), "met all objectives");
	}
	layout_entry(l, "complete", text);
}
