#include "formats/text_time_line.h"

#include "cli/units.h"
#include "figures/time_line.h"

#include <math.h>
#include <stdio.h>

/* From 0 to the greatest value of the row; a blank where there is none. */
static void show_row(struct layout *l, const struct time_line_row *row, int steps, bool ascii)
{
	char most[40];
	layout_to(l, 2);
	layout_text(l, PLAIN, row->label);
	layout_to(l, 14);
	for (int i = 0; i < steps; i++)
		layout_level(l, row->most > 0 || isnan(row->value[i]) ? row->value[i] / row->most : 0, ascii);
	layout_to(l, 14 + TIME_LINE_STEPS + 1);
	layout_format(l, FAINT, "at most %s", show_narrow_number(row->most, 8, most));
	layout_end_line(l);
}

void text_time_line(struct layout *l, const struct report *report)
{
	struct time_line t;
	char step[32], length[32];
	if (!time_line_build(&t, report->run, report->servers))
		return;
	layout_heading(l, "Time line");
	layout_to(l, 14);
	layout_format(l, FAINT, "%s, %s a character", format_duration(t.steps * t.step_ns, length),
	              format_duration(t.step_ns, step));
	layout_end_line(l);
	for (int i = 0; i < t.rows; i++)
		show_row(l, &t.row[i], t.steps, report->ascii);
}
