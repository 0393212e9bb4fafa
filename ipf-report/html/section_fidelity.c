/* How faithful a replay was, and what it lost to each cause. */
#include "html/sections.h"

#include "formats/text_fidelity.h"
#include "html/html_table.h"
#include "html/html_text.h"
#include "html/json_path.h"

#include <math.h>
#include <stdio.h>

static const struct html_column columns[] = {{NULL, "cause", NULL, true},
                                             {NULL, "by", NULL, true},
                                             {NULL, "loss", NULL, false},
                                             {NULL, "requests", NULL, false},
                                             {NULL, "what", NULL, true}};
static const struct html_column worst_columns[] = {
	{NULL, "request", NULL, true}, {NULL, "fidelity", NULL, false}, {NULL, "cause", NULL, true}};

static void show_causes(const struct page *page, json_t *fidelity)
{
	const struct fidelity *f = &page->report->trace->fidelity;
	char path[48], what[200];
	struct html_table t = {.out = page->out, .name = "fidelity", .columns = columns, .count = 5};
	html_table_begin(&t, "What the replay lost to each cause");
	for (enum fidelity_cause c = 0; c < FIDELITY_CAUSES; c++) {
		snprintf(path, sizeof path, "causes/%s", fidelity_cause_names[c]);
		json_t *cause = json_at(fidelity, path);
		if (!cause)
			continue;
		html_row(&t, fidelity_cause_names[c], NULL);
		html_words(&t, text_at(cause, "by"));
		html_number(&t, figure_at(cause, "loss"));
		html_count(&t, figure_at(cause, "requests"));
		html_words(&t, fidelity_describe(f, c, what));
		html_row_end(&t);
	}
	html_table_end(&t);
}

static void show_worst(const struct page *page, json_t *worst)
{
	json_t *request;
	char name[40];
	size_t i;
	if (json_array_size(worst) == 0)
		return;
	struct html_table t = {.out = page->out, .name = "fidelity-worst", .columns = worst_columns, .count = 3};
	html_table_begin(&t, "The requests that were least as recorded");
	json_array_foreach(worst, i, request)
	{
		snprintf(name, sizeof name, "%.0f", figure_at(request, "n"));
		html_row(&t, name, NULL);
		html_number(&t, figure_at(request, "value"));
		html_words(&t, text_at(request, "cause"));
		html_row_end(&t);
	}
	html_table_end(&t);
}

void section_fidelity(const struct page *page)
{
	json_t *fidelity = json_at(page->json, "fidelity");
	const char *absent = text_at(fidelity, "absent");
	double value = figure_at(fidelity, "value"), speed = figure_at(fidelity, "speed");
	char text[40], number[40];
	if (!fidelity)
		return;
	facts_begin(page);
	fact(page, "not known", absent);
	if (!isnan(value)) {
		snprintf(text, sizeof text, "%.3f", value);
		fact(page, "fidelity", text);
	}
	if (!isnan(speed))
		fact(page, "speed", show_number(speed, number));
	facts_end(page);
	if (json_at(fidelity, "causes"))
		show_causes(page, fidelity);
	show_worst(page, json_at(fidelity, "worst"));
}
