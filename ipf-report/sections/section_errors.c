/* Why requests failed, and which objectives were met. */
#include "sections/objectives_line.h"
#include "sections/groups.h"
#include "sections/sentence.h"

#include "document/shown_numbers.h"
#include "verdict/verdict.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { REASONS_BRIEF = 6 };

static double requests_of(json_t *block)
{
	double ok = figure_at(block, "requests/ok"), failed = figure_at(block, "requests/failed"),
		   hung_up = figure_at(block, "requests/hung_up"), unseen = figure_at(block, "requests/unseen");
	return (isnan(ok) ? 0 : ok) + (isnan(failed) ? 0 : failed) + (isnan(hung_up) ? 0 : hung_up) +
	       (isnan(unseen) ? 0 : unseen);
}

/* "503 ×30: model is loading", with a remedy. The most frequent come first. */
static void tell_reasons(const struct telling *t)
{
	json_t *reasons = json_at(t->report, "errors"), *reason;
	int64_t rest = 0;
	char a[40];
	size_t i;
	json_array_foreach(reasons, i, reason)
	{
		const char *text = text_at(reason, "text"), *hint = text_at(reason, "hint");
		json_int_t count = json_integer_value(json_at(reason, "count"));
		if (t->brief && i >= REASONS_BRIEF && json_array_size(reasons) > REASONS_BRIEF + 1) {
			rest += count;
			continue;
		}
		const char *what = isnan(figure_at(reason, "status")) ? words_at(reason, "kind")
		                                                      : doc_say(t->d, "%.0f", figure_at(reason, "status"));
		struct doc_part *part = doc_fact(t->d, doc_say(t->d, "%s ×%s", what, show_count(count, a)), "%s",
		                                 text ? text : "");
		part->hint = doc_copy(t->d, hint);
	}
	if (rest > 0)
		doc_fact(t->d, NULL, "%s more for other reasons", show_count(rest, a));
}

/* Complete answers whose connection ended early: no errors, but other clients would report them. */
static void tell_early_ends(const struct telling *t)
{
	json_t *finding;
	size_t i;
	json_array_foreach(json_at(t->report, "transport"), i, finding)
	{
		if (!strcmp(words_at(finding, "finding"), "early-ends"))
			doc_fact(t->d, NULL, "%s", words_at(finding, "detail"));
	}
}

/* Answers counted as successes and were ended by something else than the model or the limit. */
static void tell_other_ends(const struct telling *t)
{
	const double ok = figure_at(t->total, "requests/ok");
	json_t *others = json_object();
	double other = 0;
	char number[40], all[40], share[40];
	const char *reason;
	json_t *count;
	json_object_foreach(json_at(t->total, "tokens/finish_reasons"), reason, count)
	{
		if (verdict_usual_finish(slice_of(reason)) || !(json_number_value(count) > 0))
			continue;
		other += json_number_value(count);
		t->d->failed |= json_object_set(others, reason, count) < 0;
	}
	if (other > 0 && ok > 0)
		doc_fact(t->d, "ended", "%s of %s successful answers, %s, by neither stop nor length: %s",
		         show_whole(other, number), show_whole(ok, all), show_percent(other / ok, share),
		         counts_text(t->d, others))
			->tone = TONE_WARN;
	json_decref(others);
}

static void tell_failed(const struct telling *t, double failed, double all)
{
	char a[40], b[40], c[40];
	struct doc_part *part = doc_fact(t->d, NULL, "%s of %s request%s failed, %s", show_whole(failed, a),
	                                 show_whole(all, b), plural(all), show_percent(failed / all, c));
	part->tone = TONE_BAD;
	part->hint = doc_copy(t->d, "ipf-collect --explain --where failed RECORDS shows them");
}

void section_errors(const struct telling *t)
{
	json_t *requests = json_at(t->total, "requests"), *errors = json_at(requests, "errors");
	double ok = figure_at(requests, "ok"), failed = figure_at(requests, "failed"), all = ok + failed;
	char a[40];
	if (requests_of(t->total) == 0 || isnan(failed)) /* not known */
		return;
	if (failed == 0)
		doc_fact(t->d, NULL, "none in %s request%s", show_whole(all, a), plural(all));
	else
		tell_failed(t, failed, all);
	if (json_object_size(errors) && !(t->brief && json_array_size(json_at(t->report, "errors"))))
		doc_fact(t->d, "kinds", "%s", counts_text(t->d, errors));
	tell(t, NULL, requests, "{stale_resets#} of the resets: kept-alive connections that the server had already closed");
	tell_reasons(t);
	tell(t, NULL, requests,
	     json_at(t->report, "verdict/observed") ? "{hung_up#} more: the client disconnected"
	                                            : "{hung_up#} more: disconnected by ipf-fire on purpose");
	tell(t, NULL, requests, "{unseen#} more: a part of them is not in the capture");
	tell_early_ends(t);
	tell_other_ends(t);
	if (figure_at(requests, "empty") > 0)
		tell(t, NULL, requests, "empty: {empty#} complete response{s:empty} without content");
	tell(t, NULL, t->total,
	     "after the end mark: {after_end/events#} content event{s:after_end/events} of {after_end/responses#} "
	     "response{s:after_end/responses}");
}

/* ---- objectives ---- */

static const char *infinite_of(json_t *objective)
{
	return figure_at(objective, "absent") > 0 ? "the requests without one" : "the failed requests";
}

/* "3 successful requests have no ttft: not met" */
static void tell_absent(const struct telling *t, json_t *objective)
{
	const char *text = words_at(objective, "objective"), *colon = strchr(text, ':'), *name = colon ? colon + 1 : text;
	tell(t, NULL, objective,
	     doc_say(t->d, "{absent#} successful request{s:absent} without %.*s: not met", (int)strcspn(name, "=@"), name));
}

/* "met: 84.5 ms", "98.2 % of the requests" */
static void tell_objective(const struct telling *t, json_t *objective)
{
	const char *text = text_at(objective, "objective");
	const bool met = json_is_true(json_at(objective, "met"));
	if (json_at(objective, "met"))
		tell(t, text, objective,
		     isinf(figure_at(objective, "value_ms")) ? doc_say(t->d, "missed: among %s", infinite_of(objective))
		     : met                                   ? "met: {value_ms} ms"
		                                             : "missed: {value_ms} ms")
			->tone = met ? TONE_GOOD : TONE_BAD;
	else if (json_at(objective, "share"))
		tell(t, text, objective, "{share%} of the requests");
	else
		doc_fact(t->d, text,
		         figure_at(objective, "unmeasured") > 0 ? "not measurable: not streamed" : "no request to compare");
	tell_absent(t, objective);
}

/* "model big missed p99:ttft=500ms (812 ms), p90:tpot=50ms (61 ms)": a fact for each member missing any. `label`: of
 * the first; NULL: none. */
static void tell_missed_by(const struct telling *t, const struct group *group, const char *label)
{
	enum { SHOWN = 12 };
	size_t missing = 0, judged = 0, i;
	const char *member;
	json_t *block, *objective;
	char name[200];

	json_object_foreach(group->members, member, block)
	{
		const char *missed = NULL;
		json_array_foreach(json_at(block, "goodput/objectives"), i, objective)
		{
			judged += json_is_boolean(json_at(objective, "met"));
			if (json_is_false(json_at(objective, "met")))
				missed = doc_say(
					t->d, "%s%s%s (%s)", missed ? missed : "", missed ? ", " : "", words_at(objective, "objective"),
					isinf(figure_at(objective, "value_ms")) ? doc_say(t->d, "among %s", infinite_of(objective))
															: phrase(t->d, objective, "{value_ms} ms"));
		}
		if (missed && missing++ < SHOWN)
			doc_fact(t->d, missing == 1 ? label : NULL, "%s %s missed %s", group->what,
			         group_member(group, member, name), missed)
				->tone = TONE_BAD;
	}
	if (missing > SHOWN)
		doc_fact(t->d, NULL, "%zu more %ss missed objectives", missing - SHOWN, group->what);
	if (judged > 0 && missing == 0)
		doc_fact(t->d, label, "each %s met all objectives of percentiles", group->what);
}

/* For the values of a tag, with --by tag. */
static void tell_fairness(const struct telling *t)
{
	tell(t, "fairness", json_at(t->total, "fairness"),
	     "of {groups#} tags: [{goodput} of goodput, ]{output_tokens} of output tokens (Jain's index, 1 is equal)");
}

/* ---- objectives by load ---- */

enum { LOAD_COLUMNS_MOST = 24 };

static const struct {
	const char *state, *word;
	enum tone tone;
} state_words[] = {
	{"met", "met", TONE_GOOD}, {"missed", "missed", TONE_BAD}, {"too few requests", "too few", TONE_WARN}};

static void state_cell(const struct telling *t, struct doc_table *table, json_t *load)
{
	const char *state = words_at(load, "state");
	for (size_t i = 0; i < sizeof state_words / sizeof *state_words; i++)
		if (strcmp(state_words[i].state, state) == 0) {
			doc_cell_said(t->d, table, (double)i, state_words[i].word, state_words[i].tone);
			return;
		}
	const char *why = text_at(load, "left_out");
	doc_cell_said(t->d, table, 9, why ? "left out" : "none", TONE_WARN);
}

/* The columns: the load, each objective on a percentile, the share of good requests, and the load's kind. */
static int load_columns(const struct telling *t, json_t *o, struct doc_column *columns)
{
	const char *by = words_at(o, "by");
	const bool users = strcmp(by, "users") == 0;
	int count = 0;
	size_t i;
	json_t *objective;
	columns[count++] = (struct doc_column){users ? NULL : "requests/s",      by,  NULL, doc_copy(t->d, by),
	                                       users ? CELL_COUNT : CELL_NUMBER, KEEP};
	json_array_foreach(json_at(o, "loads/0/objectives"), i, objective)
	{
		if (count < LOAD_COLUMNS_MOST - 2)
			columns[count++] = (struct doc_column){words_at(objective, "objective"),
			                                       "ms",
			                                       NULL,
			                                       doc_say(t->d, "objectives/%zu/value_ms", i),
			                                       CELL_NUMBER,
			                                       KEEP};
	}
	if (json_at(o, "loads/0/good_share"))
		columns[count++] = (struct doc_column){"requests", "good", NULL, "good_share", CELL_PERCENT, KEEP};
	columns[count++] = (struct doc_column){NULL, "objectives", NULL, NULL, CELL_NUMBER, KEEP};
	return count;
}

/* A row for each load, with the values of its objectives. */
static void loads_table(const struct telling *t, json_t *o)
{
	struct doc_column columns[LOAD_COLUMNS_MOST];
	const int count = load_columns(t, o, columns);
	size_t i;
	json_t *load;
	struct doc_table *table = doc_table(t->d, &(struct doc_table_spec){.id = "objectives",
	                                                                   .caption = "By load",
	                                                                   .rows = "stage",
	                                                                   .columns = columns,
	                                                                   .count = count,
	                                                                   .sortable = true,
	                                                                   .few = true});
	json_array_foreach(json_at(o, "loads"), i, load)
	{
		const char *begin = json_at(load, "begin_s") ? phrase(t->d, load, "from {begin_s} s") : NULL;
		doc_row(t->d, table, words_at(load, "stage"), begin ? begin : text_at(load, "run"));
		for (int k = 0; k < count - 1; k++)
			doc_cell_figure(t->d, table, figure_at(load, columns[k].path), columns[k].kind);
		state_cell(t, table, load);
	}
}

/* The verdict of a run with several loads: one line, and each load in a row. */
static void tell_loads(const struct telling *t)
{
	json_t *o = json_at(t->report, "objectives");
	const char *line = objectives_line(t->d, o);
	if (line)
		doc_fact(t->d, "objectives", "%s", line)->tone = json_at(o, "met") ? TONE_PLAIN : TONE_BAD;
	tell(t, NULL, json_at(t->total, "goodput"), "{unmeasured#} excluded: not streamed");
	tell(t, NULL, json_at(t->total, "goodput"), "{left_out#} excluded: disconnected on purpose");
	loads_table(t, o);
}

/* Members of the groups missing objectives, stage by stage. */
static void tell_missed_by_stage(const struct telling *t)
{
	json_t *stage;
	struct group group;
	size_t i;
	json_array_foreach(json_at(t->report, "stages"), i, stage)
	{
		struct telling those = *t;
		those.total = stage;
		if (!json_is_true(json_at(stage, "measured")))
			continue;
		for (void *at = group_first(&those, &group); at; at = group_next(&those, &group, at))
			tell_missed_by(t, &group, text_at(stage, "name"));
	}
}

void section_goodput(const struct telling *t)
{
	if (json_at(t->report, "objectives")) {
		tell_loads(t);
		tell_missed_by_stage(t);
		tell_fairness(t);
		return;
	}
	json_t *goodput = json_at(t->total, "goodput"), *list = json_at(goodput, "objectives"), *objective;
	/* a brief report with one objective of each request says it in the first line */
	const bool one = t->brief && json_array_size(list) == 1 && !json_at(list, "0/met");
	size_t i;
	if (json_at(goodput, "share")) {
		doc_fact(t->d, NULL, "%s %s",
		         phrase(t->d, goodput, "{requests_per_s} requests/s, {share%} of the requests met"),
		         one ? words_at(list, "0/objective") : "all objectives");
		tell(t, NULL, goodput, "{unmeasured#} excluded: not streamed");
	} else {
		tell(t, NULL, goodput, "not measurable: {unmeasured#} request{s:unmeasured} not streamed[, {of#} streamed]");
	}
	tell(t, NULL, goodput, "{left_out#} excluded: disconnected on purpose");
	tell_fairness(t);
	if (one && json_at(goodput, "share")) {
		tell_absent(t, json_at(list, "0"));
		return;
	}
	json_array_foreach(list, i, objective) tell_objective(t, objective);
	struct group group;
	for (void *at = group_first(t, &group); at; at = group_next(t, &group, at))
		tell_missed_by(t, &group, NULL);
}
