/* How exact the figures are: which clock gave the times, how late the client was, the error it may have added to each
 * figure, the distance between clocks, steady parts, and findings about the way between client and server. */
#include "sections/distribution_table.h"
#include "sections/sections.h"
#include "sections/time_facts.h"

#include "cli/units.h"
#include "document/shown_numbers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* An error bar of this part of its figure needs a reason. */
#define WIDE_SHARE 0.25

static struct doc_part nothing; /* an unknown fact */

/* The greatest of the clients; -1: none says it. */
static int64_t latest(json_t *run, const char *path)
{
	json_t *client;
	size_t i;
	int64_t most = -1;
	json_array_foreach(json_at(run, "clients"), i, client)
	{
		json_t *value = json_at(client, path);
		if (json_is_integer(value) && json_integer_value(value) > most)
			most = json_integer_value(value);
	}
	return most;
}

struct doc_part *tell_event_times(const struct telling *t)
{
	json_t *run = json_at(t->report, "run");
	const char *stamps = text_at(run, "stamps");
	int64_t p99 = latest(run, "delay_ns/p99"), most = latest(run, "delay_ns/max");
	char a[32], b[32];
	if (json_at(run, "predicted")) /* virtual times have no clock */
		return &nothing;
	if (stamps && strcmp(stamps, "user") == 0)
		return doc_fact(t->d, "event times", "clock of ipf-fire, when it read the data");
	if (!stamps || strcmp(stamps, "kernel") != 0)
		return &nothing;
	if (p99 < 0)
		return doc_fact(t->d, "event times", "receive timestamps of the kernel");
	return doc_fact(t->d, "event times",
	                "receive timestamps of the kernel; ipf-fire read the data %s later at p99, at most %s later",
	                format_duration(p99, a), format_duration(most, b));
}

static int64_t ns_at(json_t *json, const char *path)
{
	json_t *value = json_at(json, path);
	return json_is_integer(value) ? json_integer_value(value) : -1;
}

static const char *load_of(const struct telling *t, json_t *shape)
{
	char rate[40], events[40];
	return doc_say(t->d, "%s requests/s, %s events/s", show_number(figure_at(shape, "requests_per_s"), rate),
	               show_number(figure_at(shape, "events_per_s"), events));
}

/* The result of ipf-fire --calibrate on this machine. */
struct doc_part *tell_calibration(const struct telling *t)
{
	json_t *found = json_at(t->report, "run/calibration"), *highest = json_at(found, "highest");
	int64_t ttft = ns_at(found, "ttft_error_ns/p99"), itl = ns_at(found, "itl_error_ns/p99"),
			lag = ns_at(found, "lag_ns/p99");
	char a[32], b[32], c[32];
	if (ttft < 0 || itl < 0 || lag < 0 || json_at(t->report, "run/predicted"))
		return &nothing;
	return doc_fact(t->d, "calibrated", "p99 of the error at %s: TTFT %s, ITL %s, start %s; below 1 ms %s%s",
	                load_of(t, json_at(found, "shape")), format_duration(ttft, a), format_duration(itl, b),
	                format_duration(lag, c), highest ? "up to " : "at none of the tried loads",
	                highest ? load_of(t, highest) : "");
}

static void tell_lag(const struct telling *t, const char *label, const char *path)
{
	json_t *lag = json_at(t->report, path);
	const char *names[FEW_PERCENTILES];
	int count = lag ? few_percentiles(t, lag, names) : 0;
	char a[40], b[40];
	if (count)
		doc_fact(t->d, label, "%s ms at %s, %s ms at most", show_number(figure_at(lag, names[count - 1]), a),
		         names[count - 1], show_number(figure_at(lag, "max"), b))
			->media = IN_PAGE | IN_MARKDOWN;
}

static void bar_row(const struct telling *t, struct doc_table *table, const char *member, const char *remark,
                    json_t *bar)
{
	struct latency_name name = latency_name(member);
	if (json_at(bar, "error"))
		doc_row_of(t->d, table, name.label, remark, json_at(bar, "error"))->definition = "accuracy";
}

/* The larger of the distances of a figure from the ends of its error bar. */
void tell_error_bars(const struct telling *t, json_t *bars, const char *itl)
{
	const char *member;
	json_t *bar;
	const bool predicted = json_at(t->report, "run/predicted") != NULL;
	struct doc_table *table = distribution_table(
		t,
		(struct doc_table_spec){.id = "bars",
	                            .caption = predicted ? "Error of the prediction, ms ±" : "Error of the client, ms ±",
	                            .rows = "latency"},
		bars);
	json_object_foreach(bars, member, bar)
	{
		bar_row(t, table, member, strcmp(member, "itl_ms") == 0 ? doc_say(t->d, "per %s", itl ? itl : "gap") : NULL,
		        bar);
		bar_row(t, table, member, "from start", json_at(bar, "from_start"));
		bar_row(t, table, member, "from due", json_at(bar, "from_due"));
	}
	if (table->count)
		doc_note(t->d,
		         "each is the error of that statistic, not a statistic of errors: a maximum can be surer than a mean")
			->media = IN_TEXT;
}

/* Why the E2E is not known well, if its error at the median is a large part of it. The error of the TTFT has the same
 * part from before the response: the rest is the last content's. */
static void tell_cause(const struct telling *t)
{
	const char *stamps = text_at(t->report, "run/stamps");
	double e2e = figure_at(t->total, "latency/e2e_ms/from_start/p50"),
		   error = figure_at(t->total, "accuracy/e2e_ms/from_start/error/p50"),
		   before = figure_at(t->total, "accuracy/ttft_ms/from_start/error/p50");
	char a[40], b[40];
	if (!(error > WIDE_SHARE * e2e) || json_at(t->report, "run/predicted"))
		return;
	const char *which =
		before > error / 2
			? "the request took long until it was on its way, or the first content came in one read with more"
			: "the last content came in one read with the end of the response or with more content";
	const char *how =
		stamps && strcmp(stamps, "user") == 0
			? "at any time since the read before: the times are those of ipf-fire's reads, and the kernel's "
			  "(--stamps kernel) would say more"
			: "by at most ipf-fire's read delay; fewer requests per core tighten this bound";
	doc_note(
		t->d,
		"E2E of %s ms is right to %s ms at p50: %s; it may have come earlier, %s; ipf-report certificate has each source",
		show_number(e2e, a), show_number(error, b), which, how);
}

static void tell_clocks(const struct telling *t)
{
	static const struct doc_column columns[] = {{.name = "at least", .unit = "ms"}, {.name = "at most", .unit = "ms"}};
	json_t *offsets = json_at(t->report, "clocks/offsets"), *offset;
	size_t i;
	if (json_array_size(offsets) == 0)
		return;
	struct doc_table *table = doc_table(t->d, &(struct doc_table_spec){.id = "clocks",
	                                                                   .caption = "Clocks ahead of the first client's",
	                                                                   .rows = "client",
	                                                                   .columns = columns,
	                                                                   .count = 2,
	                                                                   .sortable = true});
	json_array_foreach(offsets, i, offset)
	{
		doc_row(t->d, table, doc_say(t->d, "%.0f", figure_at(offset, "client") + 1),
		        json_is_true(json_at(offset, "contradiction")) ? "contradictory" : NULL);
		doc_cell_figure(t->d, table, figure_at(offset, "low_ns") / 1e6, CELL_NUMBER);
		doc_cell_figure(t->d, table, figure_at(offset, "high_ns") / 1e6, CELL_NUMBER);
	}
}

static void tell_steady(const struct telling *t)
{
	static const struct doc_column columns[] = {{.name = "steady", .kind = CELL_WORDS},
	                                            {.name = "from", .unit = "s"},
	                                            {.name = "to", .unit = "s"},
	                                            {.name = "reason", .kind = CELL_WORDS}};
	json_t *steady = json_at(t->report, "steady"), *one;
	size_t i;
	if (json_array_size(steady) == 0)
		return;
	struct doc_table *table = doc_table(t->d, &(struct doc_table_spec){.id = "steady",
	                                                                   .caption = "Steady parts of the stages",
	                                                                   .rows = "stage",
	                                                                   .columns = columns,
	                                                                   .count = 4,
	                                                                   .sortable = true});
	json_array_foreach(steady, i, one)
	{
		json_t *stage = element_at(json_at(t->report, "stages"), figure_at(one, "stage"));
		doc_row(t->d, table, text_at(stage, "name"), NULL);
		doc_cell_text(t->d, table, json_is_true(json_at(one, "found")) ? "yes" : "no", TONE_PLAIN);
		doc_cell_figure(t->d, table, figure_at(one, "from_ns") / 1e9, CELL_NUMBER);
		doc_cell_figure(t->d, table, figure_at(one, "to_ns") / 1e9, CELL_NUMBER);
		doc_cell_text(t->d, table, text_at(one, "reason"), TONE_PLAIN);
	}
}

/* Findings about the transport; the details of one that the verdict has are there. */
static void tell_transport(const struct telling *t)
{
	json_t *findings = json_at(t->report, "transport"), *finding;
	size_t i;
	if (json_array_size(findings))
		doc_part(t->d, PART_HEADING, NULL, "Transport");
	json_array_foreach(findings, i, finding)
	{
		const char *part = text_at(finding, "part"), *can_be = text_at(finding, "can_be"),
				   *advice = text_at(finding, "advice");
		doc_fact(t->d, text_at(finding, "finding"), "%s%s%s",
		         json_is_true(json_at(finding, "doubt")) ? "see the verdict" : words_at(finding, "detail"),
		         part ? ", in " : "", part ? part : "");
		if (can_be && *can_be)
			doc_fact(t->d, "", "possible cause: %s", can_be);
		if (advice && *advice)
			doc_fact(t->d, "", "advice: %s", advice);
	}
}

void section_accuracy(const struct telling *t)
{
	tell_event_times(t)->media = IN_PAGE | IN_MARKDOWN;
	tell_lag(t, "late starts", "total/lag_ms");
	if (!json_at(t->report, "run/predicted"))
		tell_lag(t, "late by client", "total/client_lag_ms");
	struct doc_part *calibrated = tell_calibration(t);
	calibrated->media = IN_PAGE | IN_MARKDOWN;
	if (calibrated == &nothing && text_at(t->report, "run/started"))
		doc_fact(t->d, "calibration", "none: ipf-fire --calibrate measures the client's own delay on this machine")
			->media = IN_PAGE;
	if (json_at(t->total, "accuracy"))
		tell_error_bars(t, json_at(t->total, "accuracy"), text_at(t->report, "run/itl"));
	tell_cause(t);
	tell_clocks(t);
	tell_steady(t);
	tell_transport(t);
}
