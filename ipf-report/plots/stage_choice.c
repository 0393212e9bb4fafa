#include "plots/stage_choice.h"

#include <stdio.h>

static bool is_candidate(const struct figures *f)
{
	return f->measured && figures_requests(f) > 0;
}

void choose_stages(const struct run_figures *figures, struct stage_choice *choice)
{
	int candidates = 0, seen = 0;
	*choice = (struct stage_choice){0};
	for (size_t i = 0; i < figures->count; i++)
		candidates += is_candidate(&figures->stages[i]);
	choice->of = candidates;
	int shown = candidates < STAGE_LINES_MOST ? candidates : STAGE_LINES_MOST;
	for (size_t i = 0; i < figures->count && choice->count < shown; i++) {
		if (!is_candidate(&figures->stages[i]))
			continue;
		int next = shown > 1 ? (int)((int64_t)choice->count * (candidates - 1) / (shown - 1)) : 0;
		if (seen++ != next)
			continue;
		int at = choice->count++;
		choice->stage[at] = (int32_t)i;
		choice->name[at] = figures->stages[i].name;
		if (!*choice->name[at]) {
			snprintf(choice->unnamed[at], sizeof choice->unnamed[at], "stage %zu", i + 1);
			choice->name[at] = choice->unnamed[at];
		}
	}
}

int plot_stages_missing(struct plot *p, const struct stage_choice *choice, int drawn, struct plot_legend_entry *entry,
                        char words[48])
{
	const char *why = choice->count < choice->of ? "a plot has five lines at most" : "they have no values of this kind";
	return plot_missing(p, choice->of - drawn, choice->of, why, entry, words);
}

bool stage_is_shown(const struct run_data *run, int32_t stage)
{
	return !run->only_stage ||
	       (stage >= 0 && stage < (int32_t)run->schedule.count && run->schedule.stages[stage].measured);
}
