/* What a whole run shows: autoscaling, sessions, and what it cost. */
#include "html/sections.h"

#include "formats/text_layout.h"
#include "html/html_table.h"
#include "html/html_text.h"
#include "html/json_path.h"

#include <math.h>
#include <stdio.h>

static void note(const struct page *page, const char *text)
{
	buffer_text(page->out, "<p class=\"note\">");
	html_prose(page->out, text);
	buffer_text(page->out, "</p>\n");
}

/* ---- autoscaling ---- */

static const struct html_column event_columns[] = {
	{NULL, "stage", NULL, true},
	{NULL, "at", "s of the run", false},
	{"requests", "before", "per s", false},
	{"requests", "peak", "per s", false},
	{"requests", "all", NULL, false},
	{"replicas", "before", NULL, false},
	{"replicas", "most", NULL, false},
	{"replicas", "added", "s", false},
	{"replicas", "enough", NULL, false},
	{"objectives", "missed", "s", false},
	{"objectives", "met again", "s", false},
	{"beyond them", "requests", NULL, false},
	{"beyond them", "tokens", NULL, false},
};
enum { EVENT_COLUMNS = sizeof event_columns / sizeof *event_columns, OBJECTIVE_COLUMNS = 4 };

static void event_row(struct html_table *t, json_t *event)
{
	html_row(t, text_at(event, "stage"), text_at(event, "event"));
	html_number(t, figure_at(event, "begin_s"));
	html_number(t, figure_at(event, "rate_before"));
	html_number(t, figure_at(event, "rate_peak"));
	html_count(t, figure_at(event, "requests"));
	html_number(t, figure_at(event, "replicas_before"));
	html_number(t, figure_at(event, "replicas_most"));
	html_number(t, figure_at(event, "added_after_s"));
	html_number(t, figure_at(event, "replicas_enough"));
	if (t->count == EVENT_COLUMNS) {
		html_number(t, figure_at(event, "missed_after_s"));
		html_number(t, figure_at(event, "met_after_s"));
		html_count(t, figure_at(event, "missed_requests"));
		html_count(t, figure_at(event, "missed_output_tokens"));
	}
	html_row_end(t);
}

void section_autoscaling(const struct page *page)
{
	json_t *all = json_at(page->json, "autoscaling"), *events = json_at(all, "events"), *event;
	const char *no_enough = text_at(all, "no_replicas_enough");
	bool objectives = json_at(json_array_get(events, 0), "missed_before") != NULL;
	char text[320], number[40];
	size_t i;
	if (json_array_size(events) == 0)
		return;
	struct html_table t = {
		.out = page->out, .name = "events", .columns = event_columns, .sortable = true, .wide = true, .whole = true};
	t.count = EVENT_COLUMNS - (objectives ? 0 : OBJECTIVE_COLUMNS);
	html_table_begin(&t, "Spikes and ramps of the load: times from their beginning");
	json_array_foreach(events, i, event)
	{
		if (i < HTML_ROWS_MOST)
			event_row(&t, event);
	}
	html_table_end(&t);
	html_left_out(page->out, json_array_size(events), HTML_ROWS_MOST);
	if (no_enough)
		snprintf(text, sizeof text, "How many replicas would have been enough is not known: %.200s.", no_enough);
	else
		snprintf(text, sizeof text, "Enough: at %s requests/s a replica the objectives were met.",
		         show_number(figure_at(all, "rate_per_replica"), number));
	note(page, text);
}

/* ---- sessions ---- */

static const struct html_column session_columns[] = {{NULL, "time of a session", "s", true},
                                                     {NULL, "n", NULL, false},
                                                     {NULL, "mean", NULL, false},
                                                     {NULL, "min", NULL, false},
                                                     {NULL, "p50", NULL, false},
                                                     {NULL, "p90", NULL, false},
                                                     {NULL, "p99", NULL, false},
                                                     {NULL, "max", NULL, false},
                                                     {NULL, "share", NULL, false}};

static void session_row(struct html_table *t, json_t *sessions, const char *member, const char *name, double share)
{
	json_t *summary = json_at(sessions, member);
	double n = figure_at(summary, "n");
	if (!summary)
		return;
	html_row(t, name, NULL);
	html_count(t, n);
	html_number(t, figure_at(summary, "mean"));
	html_number(t, figure_at(summary, "min"));
	html_percentile(t, figure_at(summary, "p50"), n, 50);
	html_percentile(t, figure_at(summary, "p90"), n, 90);
	html_percentile(t, figure_at(summary, "p99"), n, 99);
	html_number(t, figure_at(summary, "max"));
	html_percent(t, share);
	html_row_end(t);
}

void section_sessions(const struct page *page)
{
	json_t *s = json_at(page->json, "sessions"), *share;
	const char *part;
	char member[80], name[64], a[40], b[40], c[40], text[240];
	if (!s)
		return;
	struct html_table t = {.out = page->out,
	                       .name = "sessions",
	                       .columns = session_columns,
	                       .count = sizeof session_columns / sizeof *session_columns};
	html_table_begin(&t, "Sessions, first request to last answer");
	session_row(&t, s, "time_s", "all", NAN);
	json_object_foreach(json_at(s, "share"), part, share)
	{
		snprintf(member, sizeof member, "%.60s_s", part);
		session_row(&t, s, member, spaced(part, name), json_number_value(share));
	}
	html_table_end(&t);
	facts_begin(page);
	snprintf(text, sizeof text, "%s of %s sessions, %s an hour", show_count((int64_t)figure_at(s, "complete"), a),
	         show_count((int64_t)figure_at(s, "sessions"), b), show_number(figure_at(s, "complete_per_hour"), c));
	fact(page, "without failures", text);
	if (!isnan(figure_at(s, "of"))) {
		snprintf(text, sizeof text, "%s of %s", show_count((int64_t)figure_at(s, "good"), a),
		         show_count((int64_t)figure_at(s, "of"), b));
		fact(page, "met all objectives", text);
	}
	if (!isnan(figure_at(s, "requests_each/mean"))) {
		snprintf(text, sizeof text, "%s on average, at most %s", show_number(figure_at(s, "requests_each/mean"), a),
		         show_count((int64_t)figure_at(s, "requests_each/max"), b));
		fact(page, "requests", text);
	}
	facts_end(page);
}

/* ---- cost ---- */

/* A price or an energy; prices of a token are small. */
static void amount(const struct page *page, json_t *cost, const char *member, const char *name)
{
	double value = figure_at(cost, member);
	const char *currency = text_at(cost, "currency");
	bool price = member[0] == 'p' && member[1] == 'e';
	char text[120], number[40];
	if (isnan(value))
		return;
	if (value > 0 && value < 1)
		snprintf(number, sizeof number, "%.*f", (int)(2 - floor(log10(value))), value);
	else
		show_number(value, number);
	snprintf(text, sizeof text, "%s%s%s", price && currency ? currency : "", price && currency ? " " : "", number);
	fact(page, name, text);
}

void section_cost(const struct page *page)
{
	static const char *const amounts[][2] = {{"per_hour", "price of an hour"},
	                                         {"per_million_output_tokens", "of a million output tokens"},
	                                         {"per_request", "of a request"},
	                                         {"per_good_request", "of a good request"},
	                                         {"energy_j", "energy, J"},
	                                         {"power_w", "power, W"},
	                                         {"j_per_output_token", "J per output token"},
	                                         {"j_per_good_output_token", "J per output token of good requests"},
	                                         {"j_per_request", "J per request"}};
	json_t *cost = json_at(page->json, "cost");
	if (!cost)
		return;
	facts_begin(page);
	for (size_t i = 0; i < sizeof amounts / sizeof *amounts; i++)
		amount(page, cost, amounts[i][0], amounts[i][1]);
	fact(page, "no price", text_at(cost, "no_price"));
	fact(page, "no energy", text_at(cost, "no_energy"));
	fact(page, "no figures of good requests", text_at(cost, "no_good"));
	facts_end(page);
}
