/* Analyses of a whole run: autoscaling, sessions, cost. */
#include "sections/distribution_table.h"
#include "sections/sections.h"

#include "document/shown_numbers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- autoscaling ---- */

enum { EVENTS_BRIEF = 3 };

static void tell_objectives(const struct telling *t, json_t *e)
{
	double missed = figure_at(e, "missed_after_s"), met = figure_at(e, "met_after_s");
	char a[40], b[40], c[40];
	if (!json_at(e, "missed_before"))
		return;
	if (isnan(missed)) {
		doc_fact(t->d, "", "the objectives were met throughout");
		return;
	}
	doc_fact(t->d, "", "missed the objectives after %s s%s, %s%s%s", show_number(missed, a),
	         json_is_true(json_at(e, "missed_before")) ? " (and before)" : "",
	         isnan(met) ? "did not meet them again" : "met them after ", isnan(met) ? "" : show_number(met, b),
	         isnan(met) ? "" : " s");
	doc_fact(t->d, "", "%s of %s requests missed them, with %s output tokens",
	         show_whole(figure_at(e, "missed_requests"), a), show_whole(figure_at(e, "requests"), b),
	         show_whole(figure_at(e, "missed_output_tokens"), c));
}

static void tell_replicas(const struct telling *t, json_t *e)
{
	double added = figure_at(e, "added_after_s"), enough = figure_at(e, "replicas_enough");
	char a[40];
	if (isnan(figure_at(e, "replicas_most")))
		return;
	doc_fact(t->d, "", "replicas: %.3g before, at most %.3g%s%s%s%s", figure_at(e, "replicas_before"),
	         figure_at(e, "replicas_most"), isnan(added) ? "" : ", the first was added after ",
	         isnan(added) ? "" : show_number(added, a), isnan(added) ? "" : " s",
	         isnan(enough) ? "" : doc_say(t->d, "; %.6g would have been enough", enough));
}

static void events_table(const struct telling *t, json_t *events)
{
	static const struct doc_column columns[] = {
		{NULL, "at", "s of the run", "begin_s", CELL_NUMBER, KEEP},
		{"requests per s", "before", NULL, "rate_before", CELL_NUMBER, KEEP},
		{"requests per s", "peak", NULL, "rate_peak", CELL_NUMBER, KEEP},
		{NULL, "requests", NULL, "requests", CELL_COUNT, KEEP},
		{"replicas", "before", NULL, "replicas_before", CELL_NUMBER, KEEP},
		{"replicas", "most", NULL, "replicas_most", CELL_NUMBER, KEEP},
		{"replicas", "added", "s", "added_after_s", CELL_NUMBER, KEEP},
		{"replicas", "enough", NULL, "replicas_enough", CELL_NUMBER, KEEP},
		{"objectives", "missed", "s", "missed_after_s", CELL_NUMBER, KEEP},
		{"objectives", "met again", "s", "met_after_s", CELL_NUMBER, KEEP},
		{"beyond them", "requests", NULL, "missed_requests", CELL_COUNT, KEEP},
		{"beyond them", "tokens", NULL, "missed_output_tokens", CELL_COUNT, KEEP},
	};
	enum { COLUMNS = sizeof columns / sizeof *columns, OBJECTIVES = 4 };
	json_t *event;
	size_t i;
	struct doc_table *table = doc_table(
		t->d, &(struct doc_table_spec){.id = "events",
	                                   .caption = "Spikes and ramps of the load: times from their beginning",
	                                   .rows = "stage",
	                                   .columns = columns,
	                                   .count = COLUMNS - (json_at(events, "0/missed_before") ? 0 : OBJECTIVES),
	                                   .sortable = true,
	                                   .whole = true,
	                                   .media = IN_PAGE | IN_MARKDOWN});
	json_array_foreach(events, i, event)
		doc_row_of(t->d, table, text_at(event, "stage"), text_at(event, "event"), event);
}

void section_autoscaling(const struct telling *t)
{
	json_t *all = json_at(t->report, "autoscaling"), *events = json_at(all, "events"), *e;
	size_t i, shown = t->brief ? EVENTS_BRIEF : DOC_ROWS_MOST,
			  first = t->d->count ? t->d->sections[t->d->count - 1].count : 0;
	char a[40], b[40], c[40];
	if (json_array_size(events) == 0)
		return;
	doc_fact(t->d, NULL, "in windows of %s s", show_number(figure_at(all, "window_s"), a))->tone = TONE_FAINT;
	json_array_foreach(events, i, e)
	{
		if (i >= shown)
			break;
		doc_fact(t->d, text_at(e, "event"), "%s, at %s s: from %s/s to %s/s", words_at(e, "stage"),
		         show_number(figure_at(e, "begin_s"), a), show_number(figure_at(e, "rate_before"), b),
		         show_number(figure_at(e, "rate_peak"), c));
		tell_objectives(t, e);
		tell_replicas(t, e);
	}
	if (json_array_size(events) > shown)
		doc_fact(t->d, "", "%zu more: --full shows them", json_array_size(events) - shown);
	const struct doc_section *s = t->d->count ? &t->d->sections[t->d->count - 1] : NULL;
	for (size_t k = first; s && k < s->count; k++)
		s->parts[k].media = IN_TEXT; /* elsewhere there is the table */
	events_table(t, events);
	if (text_at(all, "no_replicas_enough"))
		doc_fact(t->d, "enough", "the replicas needed are unknown: %s", text_at(all, "no_replicas_enough"));
	else
		doc_fact(t->d, "enough", "at %s requests/s a replica the objectives were met",
		         show_number(figure_at(all, "rate_per_replica"), a));
}

/* ---- sessions ---- */

void section_sessions(const struct telling *t)
{
	json_t *s = json_at(t->report, "sessions"), *share;
	const char *part;
	char name[64], member[80], text[240] = "", a[40], b[40], c[40];
	if (!s)
		return;
	struct doc_table *table = distribution_table(
		t, (struct doc_table_spec){.id = "sessions", .caption = "Sessions, s", .rows = "time of a session"}, s);
	doc_row_of(t->d, table, "time", NULL, json_at(s, "time_s"));
	json_object_foreach(json_at(s, "share"), part, share)
	{
		snprintf(name, sizeof name, "%s", part);
		for (char *at = name; *at; at++)
			*at = *at == '_' ? ' ' : *at;
		snprintf(member, sizeof member, "%.60s_s", part);
		if (json_object_size(json_at(s, member)))
			doc_row_of(t->d, table, name, NULL, json_at(s, member));
		join(text, sizeof text, ", ", name, show_percent(json_number_value(share), a));
	}
	if (json_object_size(json_at(s, "requests_each")))
		doc_row_of(t->d, table, "requests", NULL, json_at(s, "requests_each"));
	if (figure_at(s, "complete") > 0 && *text)
		doc_fact(t->d, "time for", "%s", text);
	doc_fact(t->d, "complete", "%s of %s sessions without failures, %s an hour",
	         show_whole(figure_at(s, "complete"), a), show_whole(figure_at(s, "sessions"), b),
	         show_number(figure_at(s, "complete_per_hour"), c));
	if (figure_at(s, "of") > 0)
		doc_fact(t->d, "good", "%s of %s, %s, met all objectives", show_whole(figure_at(s, "good"), a),
		         show_whole(figure_at(s, "of"), b), show_percent(figure_at(s, "good") / figure_at(s, "of"), c));
}

/* ---- cost ---- */

static void add(struct buffer *text, json_t *cost, const char *member, const char *words)
{
	double value = figure_at(cost, member);
	char number[40];
	if (!isnan(value))
		buffer_format(text, "%s%s %s", text->len ? "; " : "", show_small(value, number), words);
}

static void tell_price(const struct telling *t, json_t *cost)
{
	const char *currency = text_at(cost, "currency");
	struct buffer text = {0};
	char a[40];
	if (text_at(cost, "no_price")) {
		doc_fact(t->d, "price", "unknown: %s", text_at(cost, "no_price"));
		return;
	}
	if (isnan(figure_at(cost, "per_hour")))
		return;
	buffer_format(&text, "%s%s%s an hour", currency ? currency : "", currency ? " " : "",
	              show_small(figure_at(cost, "per_hour"), a));
	if (json_is_true(json_at(cost, "per_gpu")))
		buffer_format(&text, " for %.0f GPU%s", figure_at(cost, "gpus"), plural(figure_at(cost, "gpus")));
	add(&text, cost, "per_million_output_tokens", "per million output tokens");
	add(&text, cost, "per_million_good_output_tokens", "per million of good requests");
	add(&text, cost, "per_request", "per request");
	add(&text, cost, "per_good_request", "per good request");
	doc_fact(t->d, "price", "%s", text.data ? text.data : "");
	t->d->failed |= text.failed;
	buffer_release(&text);
}

static void tell_energy(const struct telling *t, json_t *cost)
{
	struct buffer text = {0};
	if (text_at(cost, "no_energy"))
		buffer_format(&text, "unknown: %s", text_at(cost, "no_energy"));
	else if (isnan(figure_at(cost, "gpus")))
		buffer_text(&text, "unknown: no accelerators were sampled (ipf-collect --gpu)");
	add(&text, cost, "energy_j", "J");
	add(&text, cost, "power_w", "W");
	add(&text, cost, "j_per_output_token", "J per output token");
	add(&text, cost, "j_per_good_output_token", "J per output token of good requests");
	add(&text, cost, "j_per_request", "J per request");
	doc_fact(t->d, "energy", "%s", text.data ? text.data : "");
	t->d->failed |= text.failed;
	buffer_release(&text);
}

void section_cost(const struct telling *t)
{
	json_t *cost = json_at(t->report, "cost");
	const bool asked = json_at(cost, "per_hour") || json_at(cost, "no_price");
	/* without a price, the reason for an unknown energy is with the accelerators */
	if (!cost || (!asked && (t->brief || text_at(cost, "no_energy"))))
		return;
	tell_price(t, cost);
	tell_energy(t, cost);
	if (text_at(cost, "no_good") && !(text_at(cost, "no_price") && text_at(cost, "no_energy")))
		doc_fact(t->d, "of good", "unknown: %s", text_at(cost, "no_good"));
}
