/* The latencies that production recorded, beside those of the replay, and what differed in the load. */
#include "sections/sentence.h"

#include "document/shown_numbers.h"

#include <math.h>
#include <string.h>

static const struct {
	const char *member, *label;
} latencies[] = {{"ttft_ms", "TTFT"}, {"e2e_ms", "E2E"}, {"tpot_ms", "TPOT"}};
enum { LATENCIES = sizeof latencies / sizeof *latencies };

/* Percents and milliseconds have a sign, ratios do not. */
enum shown_as { AS_PERCENT, AS_MS, AS_RATIO };

static const char *value_text(const struct telling *t, double value, enum shown_as as)
{
	return as == AS_PERCENT ? doc_say(t->d, "%+.3g %%", 100 * value)
	       : as == AS_MS    ? doc_say(t->d, "%+.3g", value)
	                        : doc_say(t->d, "%.3f", value);
}

/* An unknown limit is open. */
static void interval_cell(const struct telling *t, struct doc_table *table, json_t *of, enum shown_as as)
{
	const double low = figure_at(of, "low"), high = figure_at(of, "high");
	const char *const from = value_text(t, low, as), *const to = value_text(t, high, as);
	doc_cell_said(t->d, table, isnan(low) ? high : low,
	              isnan(high)  ? doc_say(t->d, "above %s", from)
	              : isnan(low) ? doc_say(t->d, "below %s", to)
	                           : doc_say(t->d, "%s to %s", from, to),
	              TONE_PLAIN);
}

static void value_cell(const struct telling *t, struct doc_table *table, double value, enum shown_as as, enum tone tone)
{
	doc_cell_said(t->d, table, value, value_text(t, value, as), tone);
}

static enum tone tone_of(const char *finding)
{
	return !finding || (strcmp(finding, "slower") != 0 && strcmp(finding, "faster") != 0) ? TONE_PLAIN
	       : strcmp(finding, "slower") == 0                                               ? TONE_BAD
	                                                                                      : TONE_GOOD;
}

static void tell_changes(const struct telling *t, json_t *reference)
{
	static const struct doc_column columns[] = {{.name = "recorded"},
	                                            {.name = "replayed"},
	                                            {.name = "change"},
	                                            {.name = "95 % interval"},
	                                            {.name = "replayed is"}};
	struct doc_table *table = doc_table(t->d, &(struct doc_table_spec){.id = "reference",
	                                                                   .caption = "Recorded and replayed, ms",
	                                                                   .rows = "latency",
	                                                                   .columns = columns,
	                                                                   .count = 5});
	const char *name;
	json_t *change;
	for (int i = 0; i < LATENCIES; i++)
		json_object_foreach(json_at(json_at(reference, latencies[i].member), "changes"), name, change)
		{
			const char *finding = text_at(change, "finding");
			doc_row(t->d, table, doc_say(t->d, "%s %s", latencies[i].label, name), NULL);
			doc_cell_figure(t->d, table, figure_at(change, "recorded"), CELL_NUMBER);
			doc_cell_figure(t->d, table, figure_at(change, "replayed"), CELL_NUMBER);
			value_cell(t, table, figure_at(change, "change"), AS_PERCENT, tone_of(finding));
			interval_cell(t, table, change, AS_PERCENT);
			doc_cell_text(t->d, table, finding, tone_of(finding));
		}
}

static void tell_pairs(const struct telling *t, json_t *reference)
{
	static const struct doc_column columns[] = {{.name = "requests", .kind = CELL_COUNT},
	                                            {.group = "replayed / recorded", .name = "median"},
	                                            {.group = "replayed / recorded", .name = "95 % interval"},
	                                            {.group = "difference, ms", .name = "median"},
	                                            {.group = "difference, ms", .name = "95 % interval"}};
	struct doc_table *table = doc_table(t->d, &(struct doc_table_spec){.id = "reference-pairs",
	                                                                   .caption = "Request by request",
	                                                                   .rows = "latency",
	                                                                   .columns = columns,
	                                                                   .count = 5});
	for (int i = 0; i < LATENCIES; i++) {
		json_t *pairs = json_at(reference, latencies[i].member), *ratio = json_at(pairs, "ratio"),
			   *difference = json_at(pairs, "difference_ms");
		if (!pairs)
			continue;
		doc_row(t->d, table, latencies[i].label, NULL);
		doc_cell_figure(t->d, table, figure_at(pairs, "pairs"), CELL_COUNT);
		value_cell(t, table, figure_at(ratio, "median"), AS_RATIO, TONE_PLAIN);
		interval_cell(t, table, ratio, AS_RATIO);
		value_cell(t, table, figure_at(difference, "median"), AS_MS, TONE_PLAIN);
		interval_cell(t, table, difference, AS_MS);
	}
}

static void tell_load(const struct telling *t, json_t *load)
{
	static const struct doc_column columns[] = {{NULL, "recorded", NULL, "recorded", CELL_NUMBER, KEEP},
	                                            {NULL, "replayed", NULL, "replayed", CELL_NUMBER, KEEP}};
	static const struct {
		const char *member, *label;
	} rows[] = {{"requests_per_s", "requests per s"},
	            {"input_tokens", "prompt tokens, mean"},
	            {"output_tokens", "output tokens, mean"},
	            {"hang_ups", "clients that disconnected"}};
	struct doc_table *table = doc_table(t->d, &(struct doc_table_spec){.id = "reference-load",
	                                                                   .caption = "Load of the same requests",
	                                                                   .rows = "load",
	                                                                   .columns = columns,
	                                                                   .count = 2});
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		json_t *row = json_at(load, rows[i].member);
		if (row && (figure_at(row, "recorded") > 0 || figure_at(row, "replayed") > 0))
			doc_row_of(t->d, table, rows[i].label, NULL, row);
	}
}

static void tell_counts(const struct telling *t, json_t *requests)
{
	static const struct {
		const char *member, *label, *text;
	} counts[] = {
		{"not_run", "not run", "{not_run#} request{s:not_run} of the trace"},
		{"failed", "failed", "{failed#} request{s:failed}, in no latency"},
		{"hung_up", "disconnected", "{hung_up#} request{s:hung_up}, in no latency"},
		{"unrecorded", "without", "{unrecorded#} request{s:unrecorded} without a recorded latency"},
		{"repeats", "repeated", "{repeats#} request{s:repeats} beyond the first answer, in no latency"},
	};
	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
		if (figure_at(requests, counts[i].member) > 0)
			tell(t, counts[i].label, requests, counts[i].text);
}

void section_reference(const struct telling *t)
{
	json_t *reference = json_at(t->report, "reference"), *requests = json_at(reference, "requests");
	const char *outcome = text_at(reference, "outcome");
	if (!requests)
		return;
	if (outcome)
		doc_fact(t->d, NULL, "%s, %s",
		         phrase(t->d, requests, "{compared#} request{s:compared} with recorded latencies"),
		         strcmp(outcome, "slower") == 0 || strcmp(outcome, "faster") == 0
		             ? doc_say(t->d, "the replay is %s", outcome)
		             : outcome);
	else
		doc_fact(t->d, NULL, "no answered request has recorded latencies");
	tell_counts(t, requests);
	if (outcome) {
		tell_changes(t, reference);
		if (!t->brief)
			tell_pairs(t, reference);
	}
	tell_load(t, json_at(reference, "load"));
	if (!outcome)
		return;
	doc_note(
		t->d,
		"recorded: the latencies that production saw, by the observer of its log%s: a gateway, a server or a client",
		phrase(t->d, reference, " ({source!})"));
	doc_note(t->d, "replayed: those of this run; a difference includes the network between both observers");
}
