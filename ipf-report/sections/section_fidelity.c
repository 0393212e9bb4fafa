/* How faithful a replay was, and its loss to each cause. */
#include "sections/sentence.h"

#include "document/shown_numbers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The cause of a loss, of one request and of several. */
static const struct {
	const char *cause, *one, *several;
} effects[] = {
	{"unsent", "1 request was not sent, although scheduled", "{requests#} requests were not sent, although scheduled"},
	{"schedule", "1 request was scheduled at another time than recorded, by {late_ms} ms on average",
     "{requests#} requests were scheduled at another time than recorded, by {late_ms} ms on average"},
	{"slots", "1 request was held back by slots or connections, for {late_ms} ms on average",
     "{requests#} requests were held back by slots or connections, for {late_ms} ms on average"},
	{"client", "1 request was late because of the client, by {late_ms} ms on average",
     "{requests#} requests were late because of the client, by {late_ms} ms on average"},
	{"causality", "1 request was sent before its parents had ended",
     "{requests#} requests were sent before the requests that they follow had ended"},
	{"input",
     "1 prompt was of another length: {tokens_ratio} tokens for each recorded one (another tokenizer, or a chat template)",
     "{requests#} prompts were of another length: {tokens_ratio} tokens for each recorded one (another tokenizer, or a chat "
     "template)"},
	{"routing", "1 prompt was in the prefix cache of another replica only",
     "{requests#} prompts were in the prefix cache of another replica only"},
	{"failed", "1 request was without a complete answer", "{requests#} requests were without a complete answer"},
	{"output", "1 answer was of another length: {tokens_ratio} tokens for each recorded one",
     "{requests#} answers were of another length: {tokens_ratio} tokens for each recorded one"},
	{"prefix", "1 prompt was not in the server's prefix cache, although computed before",
     "{requests#} prompts were not in the server's prefix cache, although computed before"},
};

static const char *describe(const struct telling *t, const char *name, json_t *cause)
{
	for (size_t i = 0; i < sizeof effects / sizeof *effects; i++)
		if (strcmp(effects[i].cause, name) == 0)
			return sentence(t->d, cause, figure_at(cause, "requests") == 1 ? effects[i].one : effects[i].several);
	return sentence(t->d, cause, "{requests#} request{s:requests}");
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
	json_t *f = json_at(t->report, "fidelity"), *worst = json_at(f, "worst"), *one;
	size_t i;
	if (!t->brief)
		tell(t, NULL, f, "unknown: {absent!}");
	if (!json_at(f, "value"))
		return;
	doc_fact(t->d, NULL, "%.3f of a replay as recorded: %s", figure_at(f, "value"),
	         phrase(t->d, f,
	                fabs(figure_at(f, "speed") - 1) > 1e-6
	                    ? "{requests#} request{s:requests}, at {speed} times the speed"
	                    : "{requests#} request{s:requests}"));
	tell_causes(t, json_at(f, "causes"));
	if (figure_at(f, "moved_by_server/requests") > 0)
		tell(t, "no loss", f,
		     "the server's own speed moved {moved_by_server/requests#} of {moved_by_server/of#} later turns, by "
		     "{moved_by_server/mean_ms} ms on average");
	if (t->brief || json_array_size(worst) == 0)
		return;
	struct doc_table *table = doc_table(t->d, &(struct doc_table_spec){.id = "fidelity-worst",
	                                                                   .caption = "Least faithful requests",
	                                                                   .rows = "request",
	                                                                   .columns = worst_columns,
	                                                                   .count = 2});
	json_array_foreach(worst, i, one) doc_row_of(t->d, table, doc_say(t->d, "%.0f", figure_at(one, "n")), NULL, one);
}
