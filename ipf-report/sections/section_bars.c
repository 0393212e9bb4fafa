/* Bars of characters: the run over time, and distributions. */
#include "sections/distribution_table.h"
#include "sections/sections.h"

#include "cli/units.h"
#include "document/shown_numbers.h"

#include <math.h>

static int64_t ns_of(double seconds)
{
	return fabs(seconds) < 9e9 ? (int64_t)(seconds * 1e9) : 0;
}

void section_timeline(const struct telling *t)
{
	json_t *line = json_at(t->report, "time_line"), *row, *rows = json_at(line, "rows");
	double step_s = figure_at(line, "step_s");
	size_t steps = json_array_size(json_at(line, "rows/0/values")), i;
	char step[32], length[32], most[40];
	if (!line)
		return;
	struct doc_part *about = doc_fact(t->d, NULL, "%s, in steps of %s",
	                                  format_duration(ns_of(step_s * (double)steps), length),
	                                  format_duration(ns_of(step_s), step));
	about->tone = TONE_FAINT;
	about->media = IN_TEXT;
	json_array_foreach(rows, i, row)
	{
		json_t *values = json_at(row, "values");
		double top = figure_at(row, "most"), *levels = doc_numbers(t->d, steps);
		for (size_t k = 0; levels && k < steps; k++) {
			json_t *value = json_array_get(values, k);
			double number = json_is_number(value) ? json_number_value(value) : NAN;
			levels[k] = top > 0 || isnan(number) ? number / top : 0;
		}
		struct doc_part *part = doc_part(t->d, PART_LEVELS, text_at(row, "name"),
		                                 doc_say(t->d, "at most %s", show_narrow_number(top, 8, most)));
		part->levels = levels;
		part->level_count = levels ? (int)steps : 0;
	}
}

/* Bars of a distribution from its minimum to its p99. */
void section_shape(const struct telling *t)
{
	const char *member;
	json_t *shape;
	if (json_object_size(json_at(t->report, "shape")))
		doc_fact(t->d, NULL, "in ms, from the minimum to p99")->media = IN_TEXT;
	json_object_foreach(json_at(t->report, "shape"), member, shape)
	{
		json_t *counts = json_object_get(shape, "counts");
		size_t count = json_array_size(counts);
		char low[40], high[40];
		double most = 0;
		for (size_t i = 0; i < count; i++)
			most = fmax(most, json_number_value(json_array_get(counts, i)));
		double *levels = doc_numbers(t->d, count);
		for (size_t i = 0; levels && i < count; i++) {
			double value = json_number_value(json_array_get(counts, i));
			levels[i] = value > 0 ? value / most : NAN;
		}
		struct doc_part *part = doc_part(t->d, PART_LEVELS, latency_name(member).label,
		                                 show_narrow_number(figure_at(shape, "high"), 8, high));
		part->hint = doc_copy(t->d, show_narrow_number(figure_at(shape, "low"), 8, low));
		part->levels = levels;
		part->level_count = levels ? (int)count : 0;
	}
}
