/* Which stages of a run a plot shows, if it has a line for each. */
#ifndef REPORT_STAGE_CHOICE_H
#define REPORT_STAGE_CHOICE_H

#include "figures/figures.h"
#include "plots/plot_style.h"

enum { STAGE_LINES_MOST = 5 };

struct stage_choice {
	int32_t stage[STAGE_LINES_MOST];    /* -1: all measured stages together */
	const char *name[STAGE_LINES_MOST]; /* never empty */
	char unnamed[STAGE_LINES_MOST][32];
	int count, of; /* `of`: how many there were to choose from */
};

/* The measured stages with requests; if there are more than STAGE_LINES_MOST, the first, the last, and as many between
 * them at equal distances. */
void choose_stages(const struct run_figures *figures, struct stage_choice *choice);

/* Says which of them have no line, if `drawn` have one, and sets an entry of the legend, whose words are in `words`.
 * The number of entries: 0 or 1. */
int plot_stages_missing(struct plot *p, const struct stage_choice *choice, int drawn, struct plot_legend_entry *entry,
                        char words[48]);

/* Whether plots over time show the requests of a stage: of all stages, or with --stage of that one alone. */
bool stage_is_shown(const struct run_data *run, int32_t stage);

#endif
