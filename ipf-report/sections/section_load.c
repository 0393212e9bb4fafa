/* Stages, models and targets: their load, and the throughput the server reached. */
#include "sections/groups.h"
#include "sections/sections.h"
#include "sections/sentence.h"

#include "document/shown_numbers.h"
#include "stats/mser.h"
#include "verdict/verdict.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct doc_column columns[] = {
	{"requests/s", "offered", NULL, "rate/offered", CELL_NUMBER, KEEP},
	{"requests/s", "achieved", NULL, "rate/achieved", CELL_NUMBER, KEEP_FULL},
	{"requests/s", "completed", NULL, "rate/completed", CELL_NUMBER, KEEP},
	{"in flight", "mean", NULL, "in_flight/mean", CELL_NUMBER, KEEP},
	{"in flight", "max", NULL, "in_flight/max", CELL_COUNT, KEEP},
	{"requests", "ok", NULL, "requests/ok", CELL_COUNT, KEEP},
	{"requests", "failed", NULL, "requests/failed", CELL_COUNT, KEEP},
	{"tokens/s", "input", NULL, "throughput/input_tokens_per_s", CELL_NUMBER, KEEP_FULL},
	{"tokens/s", "output", NULL, "throughput/output_tokens_per_s", CELL_NUMBER, KEEP},
	{"goodput", "per s", NULL, "goodput/requests_per_s", CELL_NUMBER, KEEP_FULL},
	{"goodput", "share", NULL, "goodput/share", CELL_PERCENT, KEEP_FULL},
};
#define COMPLETED_LESS 0.005 /* the offered rate's: above, a note says why */
#define BACKLOG_SHARE  0.10  /* as a share of a stage's completions: above, a note says that others started them */
enum { COLUMNS = sizeof columns / sizeof *columns, FAILED = 6, GOODPUT_COLUMNS = 2 };

static bool has_goodput(const struct telling *t)
{
	return !isnan(figure_at(t->total, "goodput/of")) || !isnan(figure_at(t->total, "goodput/unmeasured"));
}

static struct doc_table *load_table(const struct telling *t, const char *id, const char *caption, const char *rows)
{
	return doc_table(t->d, &(struct doc_table_spec){.id = id,
	                                                .caption = caption,
	                                                .rows = rows,
	                                                .columns = columns,
	                                                .count = COLUMNS - (has_goodput(t) ? 0 : GOODPUT_COLUMNS),
	                                                .sortable = true,
	                                                .few = true});
}

static struct doc_row *load_row(const struct telling *t, struct doc_table *table, const char *name, json_t *block)
{
	struct doc_row *row = doc_row_of(t->d, table, name, NULL, block);
	row->aside = json_is_false(json_at(block, "measured"));
	if (row->cells && figure_at(block, "requests/failed") > 0 && !row->aside)
		row->cells[FAILED].tone = TONE_BAD;
	return row;
}

/* Why rows have no throughput, if the same holds for the total, or for the first such stage. */
static void note_throughput(const struct telling *t)
{
	json_t *stage, *found = json_at(t->total, "throughput/absent") ? t->total : NULL;
	size_t i;
	json_array_foreach(json_at(t->report, "stages"), i, stage)
	{
		if (!found && json_is_true(json_at(stage, "measured")) && json_at(stage, "throughput/absent"))
			found = stage;
	}
	if (found)
		doc_note(t->d, "%s%sno %s: %s%s", found == t->total ? "" : words_at(found, "name"),
		         found == t->total ? "" : ": ",
		         isnan(figure_at(found, "throughput/output_tokens_per_s")) ? "throughput" : "requests/s",
		         words_at(found, "throughput/absent"),
		         figure_at(found, "window_s") > 0 ? "; --window drain measures until the last request has ended" : "");
}

/* Does the table show the stage completed less than was offered? A closed loop offers no rate. */
static bool completed_less(json_t *stage)
{
	const double offered = figure_at(stage, "rate/offered"), completed = figure_at(stage, "rate/completed");
	return isnan(offered) || completed < (1 - COMPLETED_LESS) * offered;
}

/* Does the verdict explain that windows are too short for their latencies? */
static bool is_explained(const struct telling *t)
{
	json_t *check;
	size_t i;
	json_array_foreach(json_at(t->report, "verdict/checks"), i, check)
	{
		if (strstr(words_at(check, "detail"), VERDICT_SHORT_WINDOWS))
			return true;
	}
	return false;
}

/* The first measured stage that has this figure and, if `less`, completed less than was offered; NULL. `others` is the
 * number of the other ones. */
static json_t *first_stage(const struct telling *t, const char *path, bool less, size_t *others)
{
	json_t *stage, *first = NULL;
	size_t i;
	*others = 0;
	json_array_foreach(json_at(t->report, "stages"), i, stage)
	{
		if (json_is_false(json_at(stage, "measured")) || isnan(figure_at(stage, path)) ||
		    (less && !completed_less(stage)))
			continue;
		*others += first != NULL;
		first = first ? first : stage;
	}
	return first;
}

/* The effects of a stage's edges on its rates. A long list of stages has one note. */
static void note_edges(const struct telling *t)
{
	static const char *const notes[][2] = {
		{"rate/completed_counted", "{in_flight/begin#} requests in flight at its begin, {in_flight/end#} at its end: "
	                               "completed is corrected for them; {rate/completed_counted} a second ended in it"},
		{"in_flight/end", "{in_flight/begin#} requests in flight at its begin, {in_flight/end#} at its end: completed "
	                      "counts what ended in it, and is biased by the difference"},
		{"throughput/spread", "{throughput/spread%} of its output tokens are of answers that crossed its edges, and "
	                          "the results do not say exactly when they arrived"}};
	for (size_t i = 0; i < sizeof notes / sizeof *notes; i++) {
		size_t others;
		const bool less = i < 2;
		json_t *stage = first_stage(t, notes[i][0], less, &others);
		const bool told = less && stage && (is_explained(t) || (i == 1 && !isnan(figure_at(stage, notes[0][0]))));
		if (stage && !told)
			doc_note(t->d, "%s: %s%s", words_at(stage, "name"), phrase(t->d, stage, notes[i][1]),
			         others ? doc_say(t->d, "; so it is in %zu other stage%s", others, plural((double)others)) : "");
	}
}

/* Completions a reader would look for in another row. */
static void note_backlog(const struct telling *t)
{
	json_t *stage;
	size_t i;
	json_array_foreach(json_at(t->report, "stages"), i, stage)
	{
		const double all = figure_at(stage, "rate/completed"), own = figure_at(stage, "rate/completed_own");
		if (json_is_false(json_at(stage, "measured")) || !(all - own > BACKLOG_SHARE * all))
			continue;
		doc_note(t->d,
		         "%s: the server was still busy with requests of earlier stages, which count as completed in the "
		         "stage in which they end",
		         text_at(stage, "name"));
		return;
	}
}

/* Without usage, tokens are events: right only if the server sends each token alone. */
static void note_counted_by_events(const struct telling *t)
{
	const double ok = figure_at(t->total, "requests/ok");
	double by_events = figure_at(t->total, "tokens/sources/events");
	char a[40];
	if (!strcmp(words_at(t->total, "tokens/source"), "events"))
		by_events = ok;
	if (by_events > 0)
		doc_note(t->d,
		         "the output tokens of %s answer%s are content events, since no usage was understood: ipf-collect -t "
		         "TOKENIZER counts them",
		         show_whole(by_events, a), plural(by_events));
}

/* A short report says it here, a longer one has a table (section_accuracy). */
static void note_unsteady(const struct telling *t)
{
	json_t *one, *first = NULL;
	size_t i, count = 0;
	json_array_foreach(json_at(t->report, "steady"), i, one)
	{
		bool unsteady = json_is_false(json_at(one, "found")) && figure_at(one, "windows") >= MSER_FEWEST;
		first = unsteady && count++ == 0 ? one : first;
	}
	if (!t->brief || !first)
		return;
	json_t *stage = element_at(json_at(t->report, "stages"), figure_at(first, "stage"));
	doc_note(t->d, "no steady state in %s%s: %s", words_at(stage, "name"),
	         count > 1 ? doc_say(t->d, " and %zu more", count - 1) : "", words_at(first, "reason"));
}

static void tell_group(const struct telling *t, const struct group *group)
{
	const char *member;
	char front[200];
	json_t *block;
	struct doc_table *table = load_table(t, doc_say(t->d, "load-%s", group->id), group->title, group->what);
	json_object_foreach(group->members, member, block) load_row(t, table, group_member(group, member, front), block);
	table->left_out += group->left_out;
}

/* There is more to see than the tables show. */
static void note_groups(const struct telling *t)
{
	const char *by;
	char key[40];
	json_t *count;
	json_object_foreach(json_at(t->report, "run/groups"), by, count)
	{
		snprintf(key, sizeof key, "by_%.30s", by);
		if (t->brief && !group_is_asked(t, by))
			doc_note(t->d, "%lld %ss: --by %s shows each", (long long)json_integer_value(count), by, by);
	}
	if (figure_at(t->report, "options/members") == 0)
		doc_note(t->d, "--by: no request has a %s", group_word(text_at(t->report, "options/by")));
}

/* A rest offers no load, and primers are no load of the run's own: their completions belong to other stages. */
static bool is_no_load(json_t *stage)
{
	const char *name = words_at(stage, "name"), *end = strstr(name, " primer");
	if (!json_is_false(json_at(stage, "measured")))
		return false;
	return strcmp(words_at(stage, "kind"), "rest") == 0 || (end && end[strlen(" primer")] == 0);
}

void section_stages(const struct telling *t)
{
	json_t *stages = json_at(t->report, "stages"), *block;
	struct doc_table *table = load_table(t, "stages", "Stages", "stage");
	struct group group;
	size_t i, asides = 0, without = 0;
	json_array_foreach(stages, i, block)
	{
		if (is_no_load(block))
			without++;
		else
			asides += load_row(t, table, text_at(block, "name"), block)->aside;
	}
	asides += without;
	if (json_array_size(stages) - asides != 1)
		load_row(t, table, "total", t->total)->total = true;
	if (asides > without)
		doc_note(t->d, "stages in brackets are not measured and not in the total")->media = IN_TEXT;
	note_throughput(t);
	note_edges(t);
	note_backlog(t);
	note_unsteady(t);
	note_counted_by_events(t);
	note_groups(t);
	for (void *at = group_first(t, &group); at; at = group_next(t, &group, at))
		tell_group(t, &group);
}
