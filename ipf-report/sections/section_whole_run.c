/* Analyses of a whole run: autoscaling, sessions, cost. */
#include "sections/distribution_table.h"
#include "sections/sentence.h"

#include "document/shown_numbers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- autoscaling ---- */

enum { EVENTS_BRIEF = 3 };

static void tell_objectives(const struct telling *t, json_t *e)
{
	if (!json_at(e, "missed_before"))
		return;
	if (!json_at(e, "missed_after_s")) {
		doc_fact(t->d, "", "the objectives were met throughout");
		return;
	}
	const char *missed = json_is_true(json_at(e, "missed_before"))
	                         ? "missed the objectives after {missed_after_s} s (and before), "
	                         : "missed the objectives after {missed_after_s} s, ";
	tell(t, "", e,
	     doc_say(t->d, "%s%s", missed,
	             json_at(e, "met_after_s") ? "met them after {met_after_s} s" : "did not meet them again"));
	tell(t, "", e, "time to recover: {recovery_s} s");
	tell(t, "", e,
	     "SLO debt: {missed_requests#} of {requests#} request{s:requests}, with {missed_output_tokens#} output "
	     "token{s:missed_output_tokens}");
}

static void tell_replicas(const struct telling *t, json_t *e)
{
	tell(t, "", e,
	     "replicas: {replicas_before#} before, at most {replicas_most#}[, the first was added after {added_after_s} s]"
	     "[; {replicas_enough#} would have been enough]");
}

enum { EVENT_COLUMNS_MOST = 16 };

static int add_columns(struct doc_column *to, int count, const struct doc_column *from, size_t more)
{
	memcpy(to + count, from, more * sizeof *from);
	return count + (int)more;
}

static void events_table(const struct telling *t, json_t *events, bool replicas)
{
	static const struct doc_column load[] = {
		{NULL, "at", "s of the run", "begin_s", CELL_NUMBER, KEEP},
		{"requests per s", "before", NULL, "rate_before", CELL_NUMBER, KEEP},
		{"requests per s", "peak", NULL, "rate_peak", CELL_NUMBER, KEEP},
		{NULL, "requests", NULL, "requests", CELL_COUNT, KEEP},
	};
	static const struct doc_column scaling[] = {
		{"replicas", "before", NULL, "replicas_before", CELL_NUMBER, KEEP},
		{"replicas", "most", NULL, "replicas_most", CELL_NUMBER, KEEP},
		{"replicas", "added", "s", "added_after_s", CELL_NUMBER, KEEP},
		{"replicas", "enough", NULL, "replicas_enough", CELL_NUMBER, KEEP},
	};
	static const struct doc_column objectives[] = {
		{"objectives", "missed", "s", "missed_after_s", CELL_NUMBER, KEEP},
		{"objectives", "met again", "s", "met_after_s", CELL_NUMBER, KEEP},
		{"objectives", "time to recover", "s", "recovery_s", CELL_NUMBER, KEEP},
		{"SLO debt", "requests", NULL, "missed_requests", CELL_COUNT, KEEP},
		{"SLO debt", "tokens", NULL, "missed_output_tokens", CELL_COUNT, KEEP},
	};
	struct doc_column columns[EVENT_COLUMNS_MOST];
	json_t *event;
	size_t i;
	int count = add_columns(columns, 0, load, sizeof load / sizeof *load);
	if (replicas)
		count = add_columns(columns, count, scaling, sizeof scaling / sizeof *scaling);
	if (json_at(events, "0/missed_before"))
		count = add_columns(columns, count, objectives, sizeof objectives / sizeof *objectives);
	struct doc_table *table = doc_table(
		t->d, &(struct doc_table_spec){.id = "events",
	                                   .caption = "Spikes and ramps of the load: times from their beginning",
	                                   .rows = "stage",
	                                   .columns = columns,
	                                   .count = count,
	                                   .sortable = true,
	                                   .whole = true,
	                                   .media = IN_PAGE | IN_MARKDOWN});
	json_array_foreach(events, i, event)
		doc_row_of(t->d, table, text_at(event, "stage"), text_at(event, "event"), event);
}

/* Were replicas sampled? Without them, and unless the section was asked for, this is about spikes of the load. */
static bool has_replicas(json_t *events)
{
	json_t *e;
	size_t i;
	json_array_foreach(events, i, e) if (json_at(e, "replicas_before") || json_at(e, "replicas_most")) return true;
	return false;
}

void section_autoscaling(const struct telling *t)
{
	json_t *all = json_at(t->report, "autoscaling"), *events = json_at(all, "events"), *e;
	size_t i, shown = t->brief ? EVENTS_BRIEF : DOC_ROWS_MOST,
			  first = t->d->count ? t->d->sections[t->d->count - 1].count : 0;
	const bool replicas = t->asked || has_replicas(events);
	if (json_array_size(events) == 0)
		return;
	if (!replicas && !t->d->failed)
		t->d->sections[t->d->count - 1].title = "Spikes";
	tell(t, NULL, all, "in windows of {window_s} s")->tone = TONE_FAINT;
	json_array_foreach(events, i, e)
	{
		if (i >= shown)
			break;
		tell(t, text_at(e, "event"), e, "{stage!}, at {begin_s} s: from {rate_before}/s to {rate_peak}/s");
		tell_objectives(t, e);
		tell_replicas(t, e);
	}
	if (json_array_size(events) > shown)
		doc_fact(t->d, "", "%zu more: --full shows them", json_array_size(events) - shown);
	const struct doc_section *s = t->d->count ? &t->d->sections[t->d->count - 1] : NULL;
	for (size_t k = first; s && k < s->count; k++)
		s->parts[k].media = IN_TEXT; /* elsewhere there is the table */
	events_table(t, events, replicas);
	if (!replicas)
		return;
	tell(t, "enough", all, "the replicas needed are unknown: {no_replicas_enough!}");
	tell(t, "enough", all, "at {rate_per_replica} requests/s a replica the objectives were met");
}

/* ---- sessions ---- */

/* The stages' use of the trace's sessions. */
static void tell_made(const struct telling *t)
{
	json_t *stages = json_at(t->report, "run/sessions"), *stage;
	size_t i;
	json_array_foreach(stages, i, stage)
	{
		const char *name = doc_say(t->d, "stage %s", text_at(stage, "stage"));
		tell(t, name, stage,
		     "its first sessions began in their middle, after {primers#} primer{s:primers} that are not measured");
		if (json_is_true(json_at(stage, "salt")))
			doc_fact(t->d, name, "each round of the trace had prompts of its own (salt)");
		tell(t, name, stage, "recorded waits that were longer are {idle_max_ns@} (idle-max)");
	}
	tell(
		t, "cut", json_at(t->report, "run"),
		"{cut_sessions#} session{s:cut_sessions} in progress at the end of a stage, warm-ups included, of which no further turn "
		"was sent");
}

static void tell_complete(const struct telling *t, json_t *s)
{
	tell(t, "complete", s,
	     doc_say(t->d, "{complete#} of {sessions#} session{s:sessions}%s%s[; {complete_per_hour} complete an hour]",
	             figure_at(s, "cut") > 0 ? ", {cut#} cut before the last turn" : "",
	             figure_at(s, "failed") > 0 ? ", {failed#} with failures" : ""));
}

void section_sessions(const struct telling *t)
{
	json_t *s = json_at(t->report, "sessions"), *share;
	const char *part;
	char member[80], text[240] = "", a[40];
	if (!s)
		return;
	struct doc_table *table = distribution_table(
		t, (struct doc_table_spec){.id = "sessions", .caption = "Sessions, s", .rows = "time of a session"}, s);
	doc_row_of(t->d, table, "time", NULL, json_at(s, "time_s"));
	json_object_foreach(json_at(s, "share"), part, share)
	{
		const char *name = doc_replace(t->d, part, "_", ' ');
		snprintf(member, sizeof member, "%.60s_s", part);
		if (json_object_size(json_at(s, member)))
			doc_row_of(t->d, table, name, NULL, json_at(s, member));
		join(text, sizeof text, ", ", name, show_percent(json_number_value(share), a));
	}
	if (json_object_size(json_at(s, "requests_each")))
		doc_row_of(t->d, table, "requests", NULL, json_at(s, "requests_each"));
	if (figure_at(s, "complete") > 0 && *text)
		doc_fact(t->d, "time for", "%s", text);
	tell_complete(t, s);
	tell_made(t);
	tell(
		t, "router", json_at(t->report, "run/session_tokens"),
		"{given#} answer{s:given} named a server, {returned#} request{s:returned} of {sessions#} session{s:sessions} returned "
		"the name (--session-header)");
	tell(
		t, "branches", s,
		"at most {in_flight_most/max#} request{s:in_flight_most/max} of a session in flight at the same time, "
		"{in_flight_mean/mean} on average[; together they took {parallelism/mean} times as long as the critical path]");
	tell(t, "waits", s,
	     "a request waits for up to {waits_for/max#} other{s:waits_for/max}; up to {waited_by/max#} for the same one");
	if (figure_at(s, "of") > 0)
		doc_fact(t->d, "good", "%s, %s, met all objectives", phrase(t->d, s, "{good#} of {of#}"),
		         show_percent(figure_at(s, "good") / figure_at(s, "of"), a));
}

/* ---- cost ---- */

/* Behind the price or the energy, the first without a separator. */
static const char amounts[] = "[; {per_million_output_tokens$} per million output tokens]"
							  "[; {per_million_good_output_tokens$} per million of good requests]"
							  "[; {per_request$} per request][; {per_good_request$} per good request]";
static const char energies[] =
	"[; {energy_j$} J][; {power_w$} W][; {j_per_output_token$} J per output token]"
	"[; {j_per_good_output_token$} J per output token of good requests][; {j_per_request$} J per request]";

static void tell_price(const struct telling *t, json_t *cost)
{
	const bool each = json_is_true(json_at(cost, "per_gpu"));
	tell(t, "price", cost, "unknown: {no_price!}");
	if (!json_at(cost, "no_price"))
		tell(t, "price", cost,
		     doc_say(t->d, "[{currency!} ]{per_hour$} an hour%s%s", each ? "[ for {gpus#} GPU{s:gpus}]" : "", amounts));
}

static void tell_energy(const struct telling *t, json_t *cost)
{
	const char *known = sentence(t->d, cost, energies);
	if (json_at(cost, "no_energy"))
		tell(t, "energy", cost, doc_say(t->d, "unknown: {no_energy!}%s", energies));
	else if (!json_at(cost, "gpus"))
		doc_fact(t->d, "energy", "unknown: no accelerators were sampled (ipf-collect --gpu)");
	else if (known)
		doc_fact(t->d, "energy", "%s", *known ? known + strlen("; ") : "");
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
	if (!(text_at(cost, "no_price") && text_at(cost, "no_energy")))
		tell(t, "of good", cost, "unknown: {no_good!}");
}
