/* Are the answers still right under load? Canaries alone, under load and after it; repeated requests; mixed-up answers.
 */
#include "sections/sentence.h"

#include "document/shown_numbers.h"

#include <math.h>
#include <string.h>

static const struct {
	const char *member, *label;
} phases[] = {{"before", "alone, before"}, {"load", "under load"}, {"after", "alone, after"}};
enum { PHASES = sizeof phases / sizeof *phases };

static void interval_cell(const struct telling *t, struct doc_table *table, json_t *of, const char *low,
                          const char *high)
{
	const double from = figure_at(of, low), to = figure_at(of, high);
	doc_cell_said(t->d, table, from, doc_say(t->d, "%.3g to %.3g %%", 100 * from, 100 * to), TONE_PLAIN);
}

static bool any_has(json_t *answers, const char *member)
{
	for (int i = 0; i < PHASES; i++)
		if (figure_at(json_at(answers, phases[i].member), member) > 0)
			return true;
	return false;
}

static void tell_canaries(const struct telling *t, json_t *answers)
{
	static const struct doc_column columns[] = {{.name = "canaries", .kind = CELL_COUNT},
	                                            {.name = "wrong", .kind = CELL_COUNT},
	                                            {.name = "95 % interval"},
	                                            {.name = "output tokens", .kind = CELL_NUMBER},
	                                            {.name = "at the limit", .kind = CELL_COUNT}};
	if (!any_has(answers, "canaries"))
		return;
	struct doc_table *table = doc_table(
		t->d, &(struct doc_table_spec){
				  .id = "answers", .caption = "Canaries", .rows = "sent", .columns = columns, .count = 5});
	for (int i = 0; i < PHASES; i++) {
		json_t *phase = json_at(answers, phases[i].member);
		if (!(figure_at(phase, "canaries") > 0))
			continue;
		doc_row(t->d, table, phases[i].label, NULL);
		doc_cell_figure(t->d, table, figure_at(phase, "canaries"), CELL_COUNT);
		doc_cell_figure(t->d, table, figure_at(phase, "wrong"), CELL_COUNT);
		interval_cell(t, table, phase, "wrong_low", "wrong_high");
		doc_cell_figure(t->d, table, figure_at(phase, "canary/output_tokens"), CELL_NUMBER);
		doc_cell_figure(t->d, table, figure_at(phase, "canary/cut"), CELL_COUNT);
	}
}

static void tell_repeats(const struct telling *t, json_t *answers)
{
	static const struct doc_column columns[] = {
		{.name = "answers", .kind = CELL_COUNT},      {.name = "different", .kind = CELL_COUNT},
		{.name = "near ties", .kind = CELL_COUNT},    {.name = "95 % interval"},
		{.name = "other finish", .kind = CELL_COUNT}, {.name = "output tokens", .kind = CELL_NUMBER}};
	if (!any_has(answers, "compared"))
		return;
	struct doc_table *table = doc_table(
		t->d,
		&(struct doc_table_spec){
			.id = "answers-repeated", .caption = "Repeated requests", .rows = "sent", .columns = columns, .count = 6});
	for (int i = 0; i < PHASES; i++) {
		json_t *phase = json_at(answers, phases[i].member);
		if (!(figure_at(phase, "compared") > 0))
			continue;
		doc_row(t->d, table, phases[i].label, NULL);
		doc_cell_figure(t->d, table, figure_at(phase, "compared"), CELL_COUNT);
		doc_cell_figure(t->d, table, figure_at(phase, "different"), CELL_COUNT);
		doc_cell_figure(t->d, table, figure_at(phase, "near_ties"), CELL_COUNT);
		interval_cell(t, table, phase, "different_low", "different_high");
		doc_cell_figure(t->d, table, figure_at(phase, "finish_differs"), CELL_COUNT);
		doc_cell_figure(t->d, table, figure_at(phase, "repeat/output_tokens"), CELL_NUMBER);
	}
}

static void tell_kinds(const struct telling *t, json_t *kinds)
{
	static const struct doc_column columns[] = {{"alone", "sent", NULL, "alone", CELL_COUNT, KEEP},
	                                            {"alone", "wrong", NULL, "alone_wrong", CELL_COUNT, KEEP},
	                                            {"under load", "sent", NULL, "load", CELL_COUNT, KEEP},
	                                            {"under load", "wrong", NULL, "load_wrong", CELL_COUNT, KEEP}};
	const char *name;
	json_t *kind;
	if (!kinds)
		return;
	struct doc_table *table = doc_table(
		t->d, &(struct doc_table_spec){
				  .id = "answers-kinds", .caption = "By kind", .rows = "canary", .columns = columns, .count = 4});
	json_object_foreach(kinds, name, kind) doc_row_of(t->d, table, name, NULL, kind);
}

static void tell_trend(const struct telling *t, json_t *answers, const char *member, const char *caption,
                       const char *value)
{
	static const struct doc_column columns[] = {
		{.name = "canaries", .kind = CELL_COUNT}, {.name = "wrong", .kind = CELL_COUNT}, {.name = "95 % interval"}};
	json_t *groups = json_at(answers, member), *group;
	const bool share = strcmp(member, "by_kv_cache") == 0;
	size_t i;
	if (!groups)
		return;
	struct doc_table *table = doc_table(t->d, &(struct doc_table_spec){.id = doc_say(t->d, "answers-%s", member + 3),
	                                                                   .caption = caption,
	                                                                   .rows = value,
	                                                                   .columns = columns,
	                                                                   .count = 3});
	json_array_foreach(groups, i, group)
	{
		const double scale = share ? 100 : 1, from = scale * figure_at(group, "from"),
					 to = scale * figure_at(group, "to");
		doc_row(t->d, table, doc_say(t->d, "%.3g to %.3g", from, to), NULL);
		doc_cell_figure(t->d, table, figure_at(group, "canaries"), CELL_COUNT);
		doc_cell_figure(t->d, table, figure_at(group, "wrong"), CELL_COUNT);
		interval_cell(t, table, group, "wrong_low", "wrong_high");
	}
}

static void tell_finding(const struct telling *t, json_t *answers)
{
	if (figure_at(answers, "other_marks") > 0)
		tell(t, "mixed up", answers,
		     "{other_marks#} answer{s:other_marks} with the code of another request's canary, {other_marks_unchecked#} "
		     "of them to ordinary requests")
			->tone = TONE_BAD;
	tell(t, "pairs", answers,
	     "{pairs#} canaries were sent alone and under load: {only_alone_right#} right only alone, "
	     "{only_under_load_right#} only under load, p = {p$}");
}

void section_answers(const struct telling *t)
{
	json_t *answers = json_at(t->report, "answers");
	if (!answers)
		return;
	tell_finding(t, answers);
	tell_canaries(t, answers);
	tell_repeats(t, answers);
	tell(t, "differences", answers, "begin after {equal_tokens} equal tokens (median)");
	tell(t, "differences", answers, "begin after {equal_characters} equal characters (median)");
	if (figure_at(answers, "load/canary/empty") > 0)
		tell(t, "empty", json_at(answers, "load/canary"), "{empty#} answer{s:empty} to canaries under load");
	if (figure_at(answers, "load/repeat/empty") > 0)
		tell(t, "empty", json_at(answers, "load/repeat"), "{empty#} answer{s:empty} to repeated requests under load");
	if (figure_at(answers, "loops") > 0)
		tell(t, "loops", answers, "{loops#} answer{s:loops} repeated a piece until the limit");
	tell(t, "load", answers, "{checked#} checked requests, {load_share%} of all tokens; in no latency");
	if (t->brief)
		return;
	tell_kinds(t, json_at(answers, "kinds"));
	tell_trend(t, answers, "by_time", "Wrong canaries over time", "s");
	tell_trend(t, answers, "by_in_flight", "Wrong canaries by load", "in flight");
	tell_trend(t, answers, "by_kv_cache", "Wrong canaries by KV cache", "% in use");
}
