/* How exact the figures are: which clock gave the times, what the client added, what the client may have added to each
 * figure, how far apart clocks were, whether the run was steady, what the way between client and server did. */
#include "html/sections.h"

#include "cli/units.h"
#include "formats/event_clock.h"
#include "formats/text_layout.h"
#include "html/html_table.h"
#include "html/html_text.h"
#include "html/json_path.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int64_t ns_of(json_t *json, const char *path)
{
	json_t *value = json_at(json, path);
	return json_is_integer(value) ? json_integer_value(value) : -1;
}

static void show_lag(const struct page *page, const char *name, const char *path)
{
	json_t *lag = json_at(page->json, path);
	const struct percentiles *list = &page->report->options->percentiles;
	char text[200], percentile[24], a[40], b[40];
	if (!lag || list->count == 0)
		return;
	int last = list->count - 1;
	for (int i = 0; i < list->count; i++)
		last = list->p[i] == 99 ? i : last;
	percentile_name(list->p[last], percentile);
	snprintf(text, sizeof text, "%s ms at %s, %s ms at most", show_number(figure_at(lag, percentile), a), percentile,
	         show_number(figure_at(lag, "max"), b));
	fact(page, name, text);
}

static void show_calibration(const struct page *page, json_t *found)
{
	char text[400], a[32], b[32], c[32], rate[40], events[40];
	int64_t ttft = ns_of(found, "ttft_error_ns/p99"), itl = ns_of(found, "itl_error_ns/p99"),
			lag = ns_of(found, "lag_ns/p99");
	if (ttft < 0 || itl < 0 || lag < 0) {
		if (!page->report->reproducible)
			fact(page, "calibration", "none: ipf-fire --calibrate measures what the client adds on this machine");
		return;
	}
	snprintf(text, sizeof text, "p99 of the error at %s requests/s, %s events/s: TTFT %s, ITL %s, start %s",
	         show_number(figure_at(found, "shape/requests_per_s"), rate),
	         show_number(figure_at(found, "shape/events_per_s"), events), format_duration(ttft, a),
	         format_duration(itl, b), format_duration(lag, c));
	fact(page, "calibration", text);
	if (!json_at(found, "highest")) {
		fact(page, "error below 1 ms", "at no load tried");
		return;
	}
	snprintf(text, sizeof text, "up to %s requests/s, %s events/s",
	         show_number(figure_at(found, "highest/requests_per_s"), rate),
	         show_number(figure_at(found, "highest/events_per_s"), events));
	fact(page, "error below 1 ms", text);
}

static void show_bar(struct html_table *t, const char *name, const struct metric_summary *w)
{
	if (w->n == 0)
		return;
	html_row_defined(t, name, "accuracy", NULL);
	html_number(t, w->mean);
	html_number(t, w->median);
	html_number(t, w->p90);
	html_number(t, w->p99);
	html_number(t, w->max);
	html_row_end(t);
}

static void show_bars(const struct page *page)
{
	static const struct html_column columns[] = {{NULL, "latency", NULL, true}, {NULL, "mean", "± ms", false},
	                                             {NULL, "p50", "± ms", false},  {NULL, "p90", "± ms", false},
	                                             {NULL, "p99", "± ms", false},  {NULL, "max", "± ms", false}};
	const struct run_accuracy *a = page->report->accuracy;
	char name[64], version[64];
	if (!a->known)
		return;
	struct html_table t = {.out = page->out, .name = "bars", .columns = columns, .count = 6};
	html_table_begin(&t, "Error of the client");
	for (enum bar bar = 0; bar < ERROR_BARS; bar++) {
		const struct bar_spec *spec = &bar_specs[bar];
		const struct metric_summary w = bar_widths(&a->total.bars[bar],
		                                           bar_summary(&page->report->figures->total, bar));
		snprintf(name, sizeof name, "%s%s%s", spec->label, spec->version ? " " : "",
		         spec->version ? spaced(spec->version, version) : "");
		show_bar(&t, name, &w);
	}
	html_table_end(&t);
}

static void show_clocks(const struct page *page)
{
	static const struct html_column columns[] = {
		{NULL, "client", NULL, true}, {NULL, "ahead of the first, least", "ms", false}, {NULL, "most", "ms", false}};
	json_t *offsets = json_at(page->json, "clocks/offsets"), *offset;
	char name[40];
	size_t i;
	if (json_array_size(offsets) == 0)
		return;
	struct html_table t = {.out = page->out, .name = "clocks", .columns = columns, .count = 3, .sortable = true};
	html_table_begin(&t, "Clocks of the clients");
	json_array_foreach(offsets, i, offset)
	{
		if (i >= HTML_ROWS_MOST)
			break;
		snprintf(name, sizeof name, "%.0f", figure_at(offset, "client") + 1);
		html_row(&t, name, json_is_true(json_at(offset, "contradiction")) ? "contradictory" : NULL);
		html_number(&t, figure_at(offset, "low_ns") / 1e6);
		html_number(&t, figure_at(offset, "high_ns") / 1e6);
		html_row_end(&t);
	}
	html_table_end(&t);
	html_left_out(page->out, json_array_size(offsets), HTML_ROWS_MOST);
}

static void show_steady(const struct page *page)
{
	static const struct html_column columns[] = {{NULL, "stage", NULL, true},
	                                             {NULL, "steady", NULL, true},
	                                             {NULL, "from", "s", false},
	                                             {NULL, "to", "s", false},
	                                             {NULL, "reason", NULL, true}};
	json_t *steady = json_at(page->json, "steady"), *one;
	const struct schedule *schedule = &page->report->run->schedule;
	size_t i;
	if (json_array_size(steady) == 0)
		return;
	struct html_table t = {.out = page->out, .name = "steady", .columns = columns, .count = 5, .sortable = true};
	html_table_begin(&t, "Steady parts of the stages");
	json_array_foreach(steady, i, one)
	{
		json_int_t stage = json_integer_value(json_at(one, "stage"));
		bool known = stage >= 0 && (size_t)stage < schedule->count;
		if (i >= HTML_ROWS_MOST)
			break;
		html_row(&t, known ? schedule->stages[stage].name : "", NULL);
		html_words(&t, json_is_true(json_at(one, "found")) ? "yes" : "no");
		html_number(&t, figure_at(one, "from_ns") / 1e9);
		html_number(&t, figure_at(one, "to_ns") / 1e9);
		html_words(&t, text_at(one, "reason"));
		html_row_end(&t);
	}
	html_table_end(&t);
	html_left_out(page->out, json_array_size(steady), HTML_ROWS_MOST);
}

/* Findings of the transport, with what they can be. */
static void show_transport(const struct page *page)
{
	static const struct html_column columns[] = {{NULL, "finding", NULL, true},
	                                             {NULL, "what was seen", NULL, true},
	                                             {NULL, "what it can be", NULL, true},
	                                             {NULL, "advice", NULL, true}};
	json_t *findings = json_at(page->json, "transport"), *finding;
	size_t i;
	if (json_array_size(findings) == 0)
		return;
	struct html_table t = {.out = page->out, .name = "transport", .columns = columns, .count = 4};
	html_table_begin(&t, "Between client and server");
	json_array_foreach(findings, i, finding)
	{
		if (i >= HTML_ROWS_MOST)
			break;
		html_row(&t, text_at(finding, "finding"), text_at(finding, "part"));
		html_words(&t, text_at(finding, "detail"));
		html_words(&t, text_at(finding, "can_be"));
		html_words(&t, text_at(finding, "advice"));
		html_row_end(&t);
	}
	html_table_end(&t);
	html_left_out(page->out, json_array_size(findings), HTML_ROWS_MOST);
}

void section_accuracy(const struct page *page)
{
	json_t *run = json_at(page->json, "run");
	struct event_clock times;
	facts_begin(page);
	if (event_clock_say(run, &times))
		fact(page, "event times", times.text);
	show_lag(page, "late starts", "total/lag_ms");
	show_lag(page, "because of the client", "total/client_lag_ms");
	show_calibration(page, json_at(run, "calibration"));
	facts_end(page);
	show_bars(page);
	show_clocks(page);
	show_transport(page);
	show_steady(page);
}
