/* Latencies of all measured stages, and of each stage and group. */
#include "sections/distribution_table.h"
#include "sections/groups.h"
#include "sections/sections.h"
#include "sections/sentence.h"

#include "document/shown_numbers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The latencies of each stage: TTFT, ITL, TPOT, E2E. */
enum { EACH = 4 };

/* ---- all measured stages ---- */

static bool is_server(const char *member)
{
	return strncmp(member, "server_", 7) == 0;
}

/* A brief report has the latencies a user waits for: TTFA only if it is another one. */
static bool is_shown(const struct telling *t, const char *member)
{
	static const char *const waited[] = {"ttft_ms", "ttfa_ms", "itl_ms", "tpot_ms", "e2e_ms"};
	json_t *latency = json_at(t->total, "latency");
	if (!t->brief)
		return true;
	if (strcmp(member, "ttfa_ms") == 0 && json_equal(json_at(latency, "ttfa_ms"), json_at(latency, "ttft_ms")))
		return false;
	for (size_t i = 0; i < sizeof waited / sizeof *waited; i++)
		if (strcmp(waited[i], member) == 0)
			return true;
	return false;
}

static void latency_row(const struct telling *t, struct doc_table *table, const char *member, const char *remark,
                        json_t *summary)
{
	struct latency_name name = latency_name(member);
	if (json_object_size(summary) == 0)
		return;
	struct doc_row *row = doc_row_of(t->d, table, name.label, remark ? remark : name.remark, summary);
	row->definition = doc_copy(t->d, name.definition);
}

/* From the start and from the due time, of which a brief report has the one that a user waits. */
static void waited_rows(const struct telling *t, struct doc_table *table, const char *member, json_t *both)
{
	json_t *due = json_at(both, "from_due");
	if (!(t->brief && due))
		latency_row(t, table, member, "from start", json_at(both, "from_start"));
	latency_row(t, table, member, "from due", due);
}

static void metric_rows(const struct telling *t, struct doc_table *table, const char *member)
{
	json_t *value = json_object_get(json_at(t->total, "latency"), member);
	const char *itl = text_at(t->report, "run/itl");
	if (!value || !is_shown(t, member))
		return;
	if (!json_object_get(value, "from_start") && !json_object_get(value, "from_due"))
		latency_row(t, table, member, strcmp(member, "itl_ms") == 0 ? doc_say(t->d, "per %s", itl ? itl : "gap") : NULL,
		            value);
	else
		waited_rows(t, table, member, value);
	latency_row(t, table, member, "with failures", json_object_get(json_at(t->total, "latency_with_failures"), member));
}

/* Those read most come first. */
static void latency_rows(const struct telling *t, struct doc_table *table, bool server)
{
	static const char *const first[] = {"ttft_ms", "ttfa_ms", "itl_ms", "tpot_ms", "ntpot_ms", "e2e_ms"};
	enum { COUNT = sizeof first / sizeof *first };
	const char *member;
	json_t *value;
	for (int i = 0; i < COUNT && !server; i++)
		metric_rows(t, table, first[i]);
	json_object_foreach(json_at(t->total, "latency"), member, value)
	{
		bool done = false;
		for (int i = 0; i < COUNT; i++)
			done |= strcmp(first[i], member) == 0;
		if (!done && is_server(member) == server)
			metric_rows(t, table, member);
	}
}

static bool has_latency(const struct telling *t, bool server)
{
	const char *member;
	json_t *value;
	json_object_foreach(json_at(t->total, "latency"), member, value)
	{
		if (is_server(member) == server)
			return true;
	}
	return false;
}

/* Vectors and scores do not come one by one: of the latencies they have the last, E2E. */
static int first_latency(const struct telling *t)
{
	return json_object_size(json_at(t->total, "inputs")) > 0 ? EACH - 1 : 0;
}

/* Says why figures are missing that a reader looks for. */
static void note_not_streamed(const struct telling *t)
{
	static const struct {
		const char *member, *words;
	} reasons[] = {{"ignored", "the server ignored the request for streaming"},
	               {"not-asked", "streaming was not requested"},
	               {"no-streaming", "the API has no streaming"}};
	const char *member, *why;
	char a[40], b[40];
	json_t *count;
	json_object_foreach(json_at(t->total, "not_streamed"), member, count)
	{
		double ok = figure_at(t->total, "requests/ok");
		why = member;
		for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
			why = strcmp(reasons[i].member, member) == 0 ? reasons[i].words : why;
		const bool expected = first_latency(t) > 0 && strcmp(member, "no-streaming") == 0;
		doc_note(t->d, "no TTFT, TTFA, ITL and TPOT for %s of %s response%s, which came as a whole: %s",
		         show_count(json_integer_value(count), a), show_whole(ok, b), plural(ok), why)
			->tone = expected ? TONE_PLAIN : TONE_WARN;
	}
}

/* How far each figure can be from its value in a longer run. */
static void tell_intervals(const struct telling *t)
{
	static const char *const members[] = {"ttft_ms", "ttfa_ms", "tpot_ms", "ntpot_ms", "e2e_ms"};
	struct doc_column columns[2 + 2 * FEW_PERCENTILES] = {{"mean", "from", NULL, "ci95/0", CELL_NUMBER, KEEP},
	                                                      {"mean", "to", NULL, "ci95/1", CELL_NUMBER, KEEP}};
	const char *names[FEW_PERCENTILES];
	const int few = few_percentiles(t, json_at(t->total, "latency"), names);
	int count = 2;
	for (int k = 0; k < few; k++)
		for (int end = 0; end < 2; end++)
			columns[count++] = (struct doc_column){names[k],    end ? "to" : "from",
			                                       NULL,        doc_say(t->d, "percentiles_ci95/%s/%d", names[k], end),
			                                       CELL_NUMBER, KEEP};
	struct doc_table *table = NULL;
	for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
		json_t *value = json_object_get(json_at(t->total, "latency"), members[i]);
		json_t *due = json_object_get(value, "from_due"), *start = json_object_get(value, "from_start");
		json_t *one = due ? due : start ? start : value;
		if (!json_object_get(one, "ci95") && !json_object_get(one, "percentiles_ci95"))
			continue;
		if (!table)
			table = doc_table(t->d, &(struct doc_table_spec){.id = "intervals",
			                                                 .caption = "95 % intervals, ms",
			                                                 .rows = "latency",
			                                                 .columns = columns,
			                                                 .count = count,
			                                                 .few = true});
		latency_row(t, table, members[i], due ? "from due" : NULL, one);
	}
}

static void note_bursts(const struct telling *t)
{
	json_t *bursts = json_at(t->report, "bursts");
	if (bursts)
		doc_note(
			t->d, "%s",
			phrase(t->d, bursts,
		           "too short for these bursts: the load changed {seen} times, and {needed#} are needed to know what "
		           "another run would show: there are no intervals"))
			->tone = TONE_WARN;
}

static void tell_total(const struct telling *t)
{
	static const char *const lateness[] = {"lag_ms", "client_lag_ms", "slot_wait_ms"};
	const char *has = text_at(t->report, "run/imported/has");
	const bool stated = has && strcmp(has, "figures") == 0;
	struct doc_table *table = distribution_table(
		t,
		(struct doc_table_spec){
			.id = "latency", .caption = stated ? "Latency, ms, as stated" : "Latency, ms", .rows = "latency"},
		t->total);
	latency_rows(t, table, false);
	for (size_t i = 0; i < 3 && !t->brief; i++)
		latency_row(t, table, lateness[i], NULL, json_object_get(t->total, lateness[i]));
	note_not_streamed(t);
	note_bursts(t);
	if (!t->brief)
		tell_intervals(t);
	if (t->brief || !has_latency(t, true))
		return;
	table = distribution_table(
		t, (struct doc_table_spec){.id = "server-times", .caption = "As the server reports, ms", .rows = "latency"},
		json_at(t->total, "latency"));
	latency_rows(t, table, true);
}

/* ---- early stopping ---- */

static void tell_early_stopping(const struct telling *t)
{
	static const struct doc_column columns[] = {{.name = "p90", .path = "p90"},
	                                            {.name = "p95", .path = "p95"},
	                                            {.name = "p97", .path = "p97"},
	                                            {.name = "p99", .path = "p99"},
	                                            {.name = "p99.9", .path = "p99.9"}};
	const char *member;
	json_t *estimates;
	if (!json_at(t->total, "early_stopping"))
		return;
	struct doc_table *table = doc_table(t->d, &(struct doc_table_spec){.id = "early-stopping",
	                                                                   .caption = "Early stopping, ms",
	                                                                   .rows = "latency",
	                                                                   .columns = columns,
	                                                                   .count = 5});
	json_object_foreach(json_at(t->total, "early_stopping"), member, estimates)
		latency_row(t, table, member, NULL, estimates);
	doc_note(t->d, "MLPerf's bounds at 99 %% confidence, from due if there is one, failures as infinite; -: too few "
	               "requests");
}

/* ---- each stage or member of a group ---- */

struct each {
	struct doc_table *table;
	int percentiles;
	const char *names[FEW_PERCENTILES];
	bool due, closed;
	bool itl, tpot; /* any of them has these */
	int first;      /* the first of the latencies shown */
};

/* A measured stage, or member of a group, with answers. */
static bool is_answered(json_t *block)
{
	return json_is_true(json_at(block, "measured")) && figure_at(block, "requests/ok") > 0;
}

static bool has_due(json_t *block)
{
	return json_at(block, "latency/e2e_ms/from_due") != NULL;
}

static void each_table(const struct telling *t, struct each *e, const char *what, const char *id)
{
	static const char *const labels[EACH] = {"TTFT", "ITL", "TPOT", "E2E"};
	struct doc_column columns[EACH * FEW_PERCENTILES];
	int count = 0;
	e->first = first_latency(t);
	for (int i = e->first; i < EACH; i++)
		for (int k = 0; k < e->percentiles; k++)
			columns[count++] = (struct doc_column){
				.group = i == 1 || i == 2 ? labels[i]
			                              : doc_say(t->d, "%s %s", labels[i], e->due ? "from due" : "from start"),
				.name = e->names[k],
				.keep = e->percentiles == FEW_PERCENTILES && k == 1 ? KEEP_ROOM : KEEP};
	e->table = doc_table(t->d, &(struct doc_table_spec){.id = doc_say(t->d, "latency-by-%s", id),
	                                                    .caption = doc_say(t->d, "By %s, ms", what),
	                                                    .rows = what,
	                                                    .columns = columns,
	                                                    .count = count,
	                                                    .sortable = true,
	                                                    .few = true});
}

static void each_row(const struct telling *t, struct each *e, const char *name, json_t *block)
{
	static const char *const paths[EACH] = {"ttft_ms", "itl_ms", "tpot_ms", "e2e_ms"};
	if (!is_answered(block))
		return;
	doc_row(t->d, e->table, name, NULL);
	e->itl |= json_at(block, "latency/itl_ms") != NULL;
	e->tpot |= json_at(block, "latency/tpot_ms") != NULL;
	for (int i = e->first; i < EACH; i++) {
		json_t *summary = json_object_get(json_at(block, "latency"), paths[i]);
		if (i == 0 || i == EACH - 1)
			summary = json_at(summary, has_due(block) ? "from_due" : "from_start");
		for (int k = 0; k < e->percentiles; k++)
			doc_cell_percentile(t->d, e->table, e->names[k], summary);
	}
}

static void look_at(struct each *e, json_t *block)
{
	if (!is_answered(block))
		return;
	e->due |= has_due(block);
	e->closed |= !has_due(block);
}

/* Why a table has no ITL although answers have several tokens. */
static void note_no_itl(const struct telling *t, const struct each *e, const char *what)
{
	if (e->itl || !e->tpot || e->first > 1)
		return;
	if (json_at(t->total, "latency/itl_ms"))
		doc_note(
			t->d,
			"no ITL by %s: the results keep the gaps between tokens of all requests together; TPOT is the mean gap "
			"of a request",
			what);
	else
		doc_note(t->d, "no ITL: the results have no gaps between tokens; TPOT is the mean gap of a request");
}

static void tell_stages(const struct telling *t)
{
	json_t *stages = json_at(t->report, "stages"), *stage;
	struct each e = {.percentiles = 0};
	size_t i;
	json_array_foreach(stages, i, stage) look_at(&e, stage);
	json_array_foreach(stages, i, stage)
	{
		if (e.percentiles == 0)
			e.percentiles = few_percentiles(t, json_at(stage, "latency"), e.names);
	}
	if (!(e.due || e.closed) || e.percentiles == 0)
		return;
	each_table(t, &e, "stage", "stage");
	json_array_foreach(stages, i, stage) each_row(t, &e, text_at(stage, "name"), stage);
	note_no_itl(t, &e, "stage");
	if (e.due && e.closed)
		doc_note(t->d, "closed loops have no due times: their latencies count from start");
}

static void tell_group(const struct telling *t, const struct group *group)
{
	struct each e = {.percentiles = few_percentiles(t, t->total, e.names)};
	const char *member;
	char shown[200];
	json_t *block;
	json_object_foreach(group->members, member, block) look_at(&e, block);
	if (!(e.due || e.closed) || e.percentiles == 0)
		return;
	each_table(t, &e, group->what, group->id);
	json_object_foreach(group->members, member, block) each_row(t, &e, group_member(group, member, shown), block);
	e.table->left_out += group->left_out;
	note_no_itl(t, &e, group->what);
}

/* ---- positions ---- */

/* The content of the plot of the same name, for those who do not see it. */
static void tell_positions(const struct telling *t)
{
	json_t *list = json_at(t->total, "itl_by_position_ms"), *one;
	struct doc_column columns[1 + FEW_PERCENTILES] = {{.name = "n", .path = "n", .kind = CELL_COUNT}};
	const char *names[FEW_PERCENTILES];
	char a[40], b[40];
	int count = few_percentiles(t, json_array_get(list, 0), names);
	size_t i;
	if (json_array_size(list) < 2)
		return;
	for (int k = 0; k < count; k++)
		columns[1 + k] = (struct doc_column){"ITL, ms", names[k], NULL, names[k], CELL_PERCENTILE, KEEP};
	struct doc_table *table = doc_table(t->d, &(struct doc_table_spec){.id = "itl-by-position",
	                                                                   .caption = "ITL by position in the answer",
	                                                                   .rows = "gaps of an answer",
	                                                                   .columns = columns,
	                                                                   .count = 1 + count});
	json_array_foreach(list, i, one)
	{
		double from = figure_at(one, "from"), to = figure_at(one, "to");
		const char *name = from < to ? doc_say(t->d, "%s to %s", show_whole(from, a), show_whole(to, b))
		                             : show_whole(from, a);
		doc_row_of(t->d, table, name, NULL, one)->definition = i == 0 ? "itl_by_position" : NULL;
	}
}

/* Parts of some requests' latencies that are no work of the model server. */
static void note_syn_retransmits(const struct telling *t, json_t *check)
{
	const double count = figure_at(check, "syn_retransmits");
	char a[40];
	if (count > 0)
		doc_note(t->d,
		         "%s connection%s took a second or more, until a SYN was sent again: the server's listen queue was "
		         "full, or packets were lost",
		         show_whole(count, a), plural(count))
			->tone = TONE_WARN;
}

/* Latencies of a burst and of the load after it. */
static void note_started_together(const struct telling *t)
{
	json_t *stage;
	size_t i;
	json_array_foreach(json_at(t->report, "stages"), i, stage)
	{
		if (json_is_false(json_at(stage, "measured")) || isnan(figure_at(stage, "started_together/requests")))
			continue;
		doc_note(
			t->d, "%s: %s", words_at(stage, "name"),
			phrase(t->d, stage,
		           "{started_together/requests#} of {requests/started#} requests began at the same moment, without a "
		           "warm-up or rampup=[; TTFT p99 of the others {started_together/ttft_p99_ms} ms][, E2E p99 "
		           "{started_together/e2e_p99_ms} ms]"))
			->tone = TONE_WARN;
		return;
	}
}

/* Tokens before the first event that no event brings. */
static void note_hidden(const struct telling *t, json_t *check)
{
	const double tokens = figure_at(check, "hidden_tokens"), answers = figure_at(check, "hidden_responses");
	char a[40], b[40];
	if (tokens > 0)
		doc_note(t->d,
		         "%s token%s of %s answer%s (%.3g each) were generated before the first event and not sent: TPOT does "
		         "not count them",
		         show_whole(tokens, a), plural(tokens), show_whole(answers, b), plural(answers), tokens / answers);
}

void section_latency(const struct telling *t)
{
	json_t *stages = json_at(t->report, "stages"), *stage, *checks = json_at(t->report, "verdict/checks"), *check;
	struct group group;
	size_t i, measured = 0, with_latency = 0;
	json_array_foreach(stages, i, stage)
	{
		bool shown = is_answered(stage);
		measured += shown;
		with_latency += shown && json_object_size(json_at(stage, "latency")) > 0;
	}
	if (!json_at(t->total, "lag_ms") && !has_latency(t, false) && with_latency < 2)
		return;
	if (!(t->brief && measured > 1) && (json_at(t->total, "lag_ms") || has_latency(t, false)))
		tell_total(t);
	json_array_foreach(checks, i, check) note_syn_retransmits(t, check);
	json_array_foreach(checks, i, check) note_hidden(t, check);
	note_started_together(t);
	tell_early_stopping(t);
	if (measured > 1)
		tell_stages(t);
	for (void *at = group_first(t, &group); at; at = group_next(t, &group, at))
		tell_group(t, &group);
	if (!t->brief)
		tell_positions(t);
}
