#include "plots/objective_lines.h"

#include <math.h>
#include <stdio.h>

#define OBJECTIVE_LINE "lt 6 lw 2 dt (2,4)"

void objective_lines_find(struct objective_lines *lines, const struct slo *slo, enum metric m)
{
	lines->count = 0;
	for (int i = 0; slo && i < slo->count && lines->count < OBJECTIVE_LINES_MOST; i++) {
		if (slo->list[i].metric != m)
			continue;
		lines->ms[lines->count] = (double)slo->list[i].limit_ns / 1e6;
		plot_shorten(lines->names[lines->count], sizeof lines->names[0], slo->list[i].text, 24);
		lines->count++;
	}
}

double objective_lines_widen(const struct objective_lines *lines, double *low, double high)
{
	for (int i = 0; i < lines->count; i++) {
		high = fmax(high, lines->ms[i] * 1.02);
		*low = lines->ms[i] > 0 ? fmin(*low, lines->ms[i]) : *low;
	}
	return high;
}

int objective_lines_draw(const struct objective_lines *lines, struct plot *p, const char *axis,
                         struct plot_legend_entry *entries)
{
	for (int i = 0; i < lines->count; i++) {
		char place[120];
		if (*axis == 'x')
			snprintf(place, sizeof place, "from first %.9g, graph 0 to first %.9g, graph 1", lines->ms[i],
			         lines->ms[i]);
		else
			snprintf(place, sizeof place, "from graph 0, first %.9g to graph 1, first %.9g", lines->ms[i],
			         lines->ms[i]);
		plot_command(p, "set arrow %d %s nohead " OBJECTIVE_LINE, OBJECTIVE_ARROW + i, place);
		plot_say(p, "A line marks the limit of the objective %s.", lines->names[i]);
		entries[i] = (struct plot_legend_entry){lines->names[i], OBJECTIVE_LINE, PLOT_LINE};
	}
	return lines->count;
}

void objective_lines_end(const struct objective_lines *lines, struct plot *p)
{
	for (int i = 0; i < lines->count; i++)
		plot_command(p, "unset arrow %d", OBJECTIVE_ARROW + i);
}
