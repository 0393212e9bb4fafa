/* How much the runs of a schedule differ. */
#include "sections/sections.h"

#include "document/shown_numbers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Shares are percentages. */
static const char *show(json_t *figure, double value, char text[40])
{
	if (strcmp(words_at(figure, "unit"), "share") != 0 || isnan(value))
		return show_number(value, text);
	snprintf(text, 40, "%.2f %%", 100 * value);
	return text;
}

static const char *unit_of(json_t *figure)
{
	return strcmp(words_at(figure, "unit"), "share") == 0 ? "" : words_at(figure, "unit");
}

/* The least and the most of the runs but `without`; -1: of all. */
static void range_of(json_t *figure, int without, double *least, double *most)
{
	json_t *value;
	size_t i;
	*least = INFINITY;
	*most = -INFINITY;
	json_array_foreach(json_at(figure, "of_runs"), i, value)
	{
		if ((int)i == without || !json_is_number(value))
			continue;
		*least = fmin(*least, json_number_value(value));
		*most = fmax(*most, json_number_value(value));
	}
}

static void figure_row(const struct telling *t, struct doc_table *table, json_t *figure)
{
	double mean = figure_at(figure, "mean"), low = figure_at(figure, "ci95/0"), high = figure_at(figure, "ci95/1"),
		   least, most;
	double outlier = figure_at(figure, "outlier"),
		   odd = isnan(outlier) ? NAN : json_number_value(element_at(json_at(figure, "of_runs"), outlier - 1));
	char a[40], b[40];
	range_of(figure, -1, &least, &most);
	doc_row(t->d, table,
	        doc_say(t->d, "%s%s%s", words_at(figure, "label"), *unit_of(figure) ? ", " : "", unit_of(figure)), NULL);
	doc_cell_said(t->d, table, mean, show(figure, mean, a), TONE_PLAIN);
	doc_cell_said(t->d, table, low, doc_say(t->d, "%s to %s", show(figure, low, a), show(figure, high, b)), TONE_PLAIN);
	doc_cell_figure(t->d, table, *unit_of(figure) && mean > 0 ? figure_at(figure, "std") / mean : NAN, CELL_PERCENT);
	doc_cell_said(t->d, table, isinf(least) ? NAN : least, show(figure, least, a),
	              least == odd ? TONE_WARN : TONE_PLAIN);
	doc_cell_said(t->d, table, isinf(most) ? NAN : most, show(figure, most, a), most == odd ? TONE_WARN : TONE_PLAIN);
}

/* In which figures a run differs from all others. */
static void tell_outlier(const struct telling *t, int run, const char *name)
{
	json_t *figure;
	struct buffer text = {0};
	char a[40], b[40], c[40];
	double least, most;
	size_t i;
	json_array_foreach(json_at(t->report, "repeats/figures"), i, figure)
	{
		if (figure_at(figure, "outlier") != run + 1)
			continue;
		range_of(figure, run, &least, &most);
		buffer_format(&text, "%s%s is %s%s%s, in the others %s to %s", text.len ? "; " : "", words_at(figure, "label"),
		              show(figure, json_number_value(json_array_get(json_at(figure, "of_runs"), (size_t)run)), a),
		              *unit_of(figure) ? " " : "", unit_of(figure), show(figure, least, b), show(figure, most, c));
	}
	if (text.len)
		doc_fact(t->d, "outlier", "run %d (%s): %s", run + 1, name, text.data)->tone = TONE_WARN;
	t->d->failed |= text.failed;
	buffer_release(&text);
}

/* A column for each figure, a row for each run. */
static void runs_table(const struct telling *t, json_t *runs, json_t *figures)
{
	struct doc_column columns[32] = {{0}};
	size_t count = json_array_size(figures) < 32 ? json_array_size(figures) : 32, i, k;
	json_t *run, *figure;
	char a[40];
	json_array_foreach(figures, i, figure)
	{
		if (i < count)
			columns[i] = (struct doc_column){
				.name = words_at(figure, "label"), .unit = unit_of(figure), .keep = KEEP_ROOM};
		if (i < count && !*columns[i].unit)
			columns[i].unit = NULL;
	}
	struct doc_table *table = doc_table(t->d, &(struct doc_table_spec){.id = "runs",
	                                                                   .caption = "Each run by itself",
	                                                                   .rows = "run",
	                                                                   .columns = columns,
	                                                                   .count = (int)count,
	                                                                   .sortable = true,
	                                                                   .media = IN_PAGE});
	json_array_foreach(runs, i, run)
	{
		doc_row(t->d, table, doc_say(t->d, "%zu: %s", i + 1, words_of(run)), NULL);
		json_array_foreach(figures, k, figure)
		{
			json_t *value = json_array_get(json_at(figure, "of_runs"), i);
			double number = json_is_number(value) ? json_number_value(value) : NAN;
			doc_cell_said(t->d, table, number, show(figure, number, a), TONE_PLAIN);
		}
	}
}

void section_repeats(const struct telling *t)
{
	static const struct doc_column columns[] = {{.name = "mean"},
	                                            {.name = "95 % interval", .kind = CELL_RANGE},
	                                            {.name = "spread"},
	                                            {.name = "lowest"},
	                                            {.name = "highest"}};
	json_t *repeats = json_at(t->report, "repeats"), *figures = json_at(repeats, "figures"),
		   *runs = json_at(repeats, "runs"), *figure;
	size_t i;
	if (!repeats)
		return;
	struct doc_table *table = doc_table(
		t->d, &(struct doc_table_spec){
				  .id = "repeats", .caption = "Repeats", .rows = "figure", .columns = columns, .count = 5});
	json_array_foreach(figures, i, figure) figure_row(t, table, figure);
	doc_fact(t->d, "runs",
	         json_is_true(json_at(repeats, "one_schedule")) ? "%zu runs of one schedule"
	                                                        : "%zu runs, not all of the same requests",
	         json_array_size(runs));
	if (!t->brief)
		doc_note(t->d, "Means over the runs, with intervals that cover all differences between runs; the spread is the "
		               "standard deviation between runs. Elsewhere in this report, the runs are pooled.")
			->media = IN_PAGE;
	for (size_t k = 0; k < json_array_size(runs); k++)
		tell_outlier(t, (int)k, words_of(json_array_get(runs, k)));
	runs_table(t, runs, figures);
}
