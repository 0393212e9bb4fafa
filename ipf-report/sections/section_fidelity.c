/* How faithful a replay was, and what it lost to each cause. */
#include "sections/sections.h"

#include "document/shown_numbers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A sentence of each cause; with the mean of the cause between `before` and `after`, if it has one. */
static const struct {
	const char *cause, *subject, *was, *mean, *before, *after;
} words[] = {
	{"unsent", "request", "not sent, although scheduled", NULL, NULL, NULL},
	{"schedule", "request", "scheduled at another time than recorded", "late_ms", ", by ", " ms on average"},
	{"slots", "request", "held back by slots or connections", "late_ms", ", for ", " ms on average"},
	{"client", "request", "late because of the client", "late_ms", ", by ", " ms on average"},
	{"causality", "request", "sent before the requests that it follows had ended", NULL, NULL, NULL},
	{"input", "prompt", "of another length", "tokens_ratio", ": ",
     " tokens for each recorded one (another tokenizer, or a chat template)"},
	{"routing", "prompt", "in the prefix cache of another replica only", NULL, NULL, NULL},
	{"failed", "request", "without a complete answer", NULL, NULL, NULL},
	{"output", "answer", "of another length", "tokens_ratio", ": ", " tokens for each recorded one"},
	{"prefix", "prompt", "not in the server's prefix cache, although computed before", NULL, NULL, NULL},
};

static const char *describe(const struct telling *t, const char *name, json_t *cause)
{
	double requests = figure_at(cause, "requests");
	char a[40], b[40];
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		double mean = words[i].mean ? figure_at(cause, words[i].mean) : NAN;
		if (strcmp(words[i].cause, name) == 0)
			return doc_say(t->d, "%s %s%s %s %s%s%s%s", show_whole(requests, a), words[i].subject,
			               plural(requests), requests == 1 ? "was" : "were", words[i].was,
			               words[i].mean ? words[i].before : "", words[i].mean ? show_number(mean, b) : "",
			               words[i].mean ? words[i].after : "");
	}
	return doc_say(t->d, "%s requests", show_whole(requests, a));
}

static void tell_causes(const struct telling *t, json_t *causes)
{
	static const struct doc_column columns[] = {{.name = "loss"},
	                                            {.name = "requests", .kind = CELL_COUNT, .keep = KEEP_ROOM},
	                                            {.name = "by", .kind = CELL_WORDS},
	                                            {.name = "effect", .kind = CELL_WORDS}};
	const char *name;
	json_t *cause;
	if (json_object_size(causes) == 0)
		return;
	struct doc_table *table = doc_table(
		t->d, &(struct doc_table_spec){
				  .id = "fidelity", .caption = "Losses by cause", .rows = "cause", .columns = columns, .count = 4});
	json_object_foreach(causes, name, cause)
	{
		double loss = figure_at(cause, "loss");
		doc_row(t->d, table, name, NULL);
		doc_cell_said(t->d, table, loss, loss < 0.0005 ? "below 0.001" : doc_say(t->d, "-%.3f", loss), TONE_PLAIN);
		doc_cell_figure(t->d, table, figure_at(cause, "requests"), CELL_COUNT);
		doc_cell_text(t->d, table, text_at(cause, "by"), TONE_PLAIN);
		doc_cell_text(t->d, table, describe(t, name, cause), TONE_PLAIN);
	}
}

void section_fidelity(const struct telling *t)
{
	static const struct doc_column worst_columns[] = {{.name = "fidelity", .path = "value"},
	                                                  {.name = "cause", .path = "cause", .kind = CELL_WORDS}};
	json_t *f = json_at(t->report, "fidelity"), *moved = json_at(f, "moved_by_server"), *worst = json_at(f, "worst"),
		   *one;
	double requests = figure_at(f, "requests"), speed = figure_at(f, "speed");
	bool other = !isnan(speed) && fabs(speed - 1) > 1e-6;
	char a[40], b[40], c[40];
	size_t i;
	if (text_at(f, "absent") && !t->brief)
		doc_fact(t->d, NULL, "unknown: %s", text_at(f, "absent"));
	if (!f || isnan(figure_at(f, "value")))
		return;
	doc_fact(t->d, NULL, "%.3f of a replay as recorded: %s request%s%s%s%s", figure_at(f, "value"),
	         show_whole(requests, a), plural(requests), other ? ", at " : "",
	         other ? show_number(speed, b) : "", other ? " times the speed" : "");
	tell_causes(t, json_at(f, "causes"));
	if (figure_at(moved, "requests") > 0)
		doc_fact(t->d, "no loss", "the server's own speed moved %s of %s later turns, by %s ms on average",
		         show_whole(figure_at(moved, "requests"), a), show_whole(figure_at(moved, "of"), b),
		         show_number(figure_at(moved, "mean_ms"), c));
	if (t->brief || json_array_size(worst) == 0)
		return;
	struct doc_table *table = doc_table(t->d, &(struct doc_table_spec){.id = "fidelity-worst",
	                                                                   .caption = "Least faithful requests",
	                                                                   .rows = "request",
	                                                                   .columns = worst_columns,
	                                                                   .count = 2});
	json_array_foreach(worst, i, one) doc_row_of(t->d, table, doc_say(t->d, "%.0f", figure_at(one, "n")), NULL, one);
}
