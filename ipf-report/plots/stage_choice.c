#include "plots/stage_choice.h"

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
		choice->stage[choice->count] = (int32_t)i;
		choice->name[choice->count++] = figures->stages[i].name;
	}
}
