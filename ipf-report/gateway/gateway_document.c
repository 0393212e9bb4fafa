#include "gateway/gateway_document.h"

#include "document/shown_numbers.h"
#include "sections/sentence.h"

#include <math.h>
#include <string.h>

static enum tone tone_of(const char *status)
{
	return strcmp(status, "OK") == 0 || strcmp(status, "N/A") == 0 ? TONE_PLAIN
	       : strcmp(status, "INVALID") == 0                        ? TONE_BAD
	                                                               : TONE_WARN;
}

static bool has(json_t *from, const char *path)
{
	return figure_at(from, path) > 0;
}

/* ---- result ---- */

static void tell_side(struct document *d, json_t *side, const char *name)
{
	json_t *check, *reason;
	size_t i;
	const bool observed = json_is_true(json_object_get(side, "observed"));
	doc_fact(d, name, "%s%s", observed ? "OBSERVED, " : "",
	         phrase(d, side, "{requests#} request{s:requests}, {ok#} answered"));
	json_array_foreach(json_object_get(side, "incomplete"), i, reason)
	{
		doc_part(d, PART_TEXT, doc_say(d, "Incomplete, %s:", name), words_of(reason))->tone = TONE_BAD;
	}
	json_array_foreach(json_at(side, "verdict/checks"), i, check)
	{
		const char *status = doc_copy(d, words_at(check, "status"));
		const enum tone tone = tone_of(status);
		struct doc_part *part = doc_part(d, PART_CHECK, doc_say(d, "%s: %s", name, words_at(check, "name")),
		                                 words_at(check, "detail"));
		part->status = status;
		part->tone = tone;
		part->media = IN_PAGE | IN_MARKDOWN;
		/* the table marks percentiles of too few samples */
		if (tone == TONE_PLAIN || strcmp(words_at(check, "name"), "enough_samples") == 0)
			continue;
		part = doc_part(d, PART_CHECK, name, words_at(check, "detail"));
		part->status = status;
		part->tone = tone;
		part->media = IN_TEXT;
	}
}

static void tell_clock(struct document *d, json_t *clock)
{
	if (json_is_false(json_object_get(clock, "one")))
		doc_fact(
			d, "clock", "%s",
			phrase(d, clock,
		           "two: {outside#} of {checked#} requests are not within their partners, by {apart_ms} ms; no times "
		           "of both sides are compared, and only ids pair"))
			->tone = TONE_WARN;
	else if (has(clock, "checked"))
		doc_fact(d, "clock", "%s",
		         phrase(d, clock,
		                "one: {checked#} request{s:checked} with unique ids, {outside#} outside of their partners"));
	else if (strcmp(words_at(clock, "hosts"), "same") != 0)
		doc_fact(d, "clock",
		         "not checked, as no ids are unique on both sides: both captures need one clock (hosts: %s)",
		         words_at(clock, "hosts"))
			->tone = TONE_WARN;
}

static void tell_pairing(struct document *d, json_t *pairing)
{
	const char *key;
	json_t *count;
	struct buffer by = {0};
	char number[40];
	json_object_foreach(json_object_get(pairing, "by"), key, count)
	{
		const char *name = doc_replace(d, key, "_", ' ');
		buffer_format(&by, "%s%s by %s", by.len ? ", " : "", show_count(json_integer_value(count), number), name);
	}
	doc_fact(d, "paired", "%s%s%s", phrase(d, pairing, "{paired#} request{s:paired} in front with some behind"),
	         by.len ? ": " : "", by.len ? by.data : "")
		->tone = has(pairing, "paired") ? TONE_PLAIN : TONE_BAD;
	d->failed |= by.failed;
	buffer_release(&by);
	if (has(pairing, "ambiguous_front") || has(pairing, "ambiguous_back"))
		doc_fact(d, "ambiguous", "%s",
		         phrase(d, pairing,
		                "{ambiguous_front#} in front and {ambiguous_back#} behind: several could belong "
		                "together, so they are not paired"))
			->tone = TONE_WARN;
	if (has(pairing, "without_front"))
		doc_fact(d, "behind only", "%s",
		         phrase(d, pairing,
		                "{without_front#} request{s:without_front} without one in front: other clients', or "
		                "the gateway's own"));
}

static void tell_result(struct document *d, json_t *g)
{
	json_t *ttft = json_at(g, "added_ms/ttft"), *e2e = json_at(g, "added_ms/e2e");
	doc_section(d, "result", "Result");
	if (ttft || e2e)
		doc_part(d, PART_TEXT, NULL,
		         doc_say(d, "The gateway adds%s%s%s at the median.", phrase(d, ttft, " {p50} ms to the first token"),
		                 ttft && e2e ? " and" : "", phrase(d, e2e, " {p50} ms to the end")))
			->tone = TONE_STRONG;
	else
		doc_part(d, PART_TEXT, NULL, "No request was paired, so the added time is not known.")->tone = TONE_BAD;
	if (figure_at(e2e, "p50") < 0)
		doc_part(d, PART_TEXT, NULL,
		         "Requests behind last longer than those in front: are the sides in the right order?")
			->tone = TONE_BAD;
	tell_side(d, json_object_get(g, "front"), "front");
	tell_side(d, json_object_get(g, "back"), "back");
	tell_clock(d, json_object_get(g, "clock"));
	tell_pairing(d, json_object_get(g, "pairing"));
}

/* ---- added time ---- */

static void tell_added(struct document *d, json_t *g)
{
	static const struct doc_column columns[] = {
		{.name = "mean", .path = "mean"},
		{.name = "p50", .path = "p50", .kind = CELL_PERCENTILE},
		{.name = "p90", .path = "p90", .kind = CELL_PERCENTILE},
		{.name = "p99", .path = "p99", .kind = CELL_PERCENTILE},
		{.name = "max", .path = "max", .keep = KEEP_ROOM},
		{.name = "n", .path = "n", .kind = CELL_COUNT},
	};
	static const struct {
		const char *member, *label;
	} rows[] = {{"ttft", "first token"},
	            {"forward", "  sending on"},
	            {"return", "  first token back"},
	            {"event", "each event"},
	            {"e2e", "end"}};
	json_t *added = json_object_get(g, "added_ms");
	if (!json_at(added, "ttft") && !json_at(added, "e2e"))
		return;
	doc_section(d, "added", "Added time");
	struct doc_table *t = doc_table(d, &(struct doc_table_spec){.id = "added",
	                                                            .caption = "Added by the gateway, ms",
	                                                            .rows = "until",
	                                                            .columns = columns,
	                                                            .count = sizeof columns / sizeof *columns});
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (json_object_get(added, rows[i].member))
			doc_row_of(d, t, rows[i].label, NULL, json_object_get(added, rows[i].member));
	doc_note(d, "Latency in front minus latency behind, of %s",
	         phrase(d, added, "{requests#} request{s:requests} passed on once and answered on both sides."));
	if (!json_at(added, "event") && json_is_false(json_at(g, "clock/one")))
		doc_note(d, "The time added to each event requires one clock.");
	else if (!json_at(added, "event") && !has(g, "events/unmatched"))
		doc_note(d, "The time added to each event requires results of ipf-collect --events on both sides.");
}

static void tell_events(struct document *d, json_t *events)
{
	const struct telling t = {.d = d};
	if (!json_object_size(events))
		return;
	doc_section(d, "events", "Events");
	if (has(events, "merged"))
		tell(&t, "merged", events, "{merged#} of {requests#} answers have fewer events in front")->tone = TONE_WARN;
	if (has(events, "split"))
		tell(&t, "split", events, "{split#} of {requests#} answers have more events in front")->tone = TONE_WARN;
	if (!has(events, "merged") && !has(events, "split"))
		tell(&t, "same", events, "all {requests#} answers have as many events in front as behind");
	tell(&t, "events", events, "{back#} behind, {front#} in front");
	tell(&t, "in one read", events, "{back_coalesced_share%} of the events behind, {front_coalesced_share%} in front");
	if (has(events, "unmatched"))
		tell(&t, "not timed", events,
		     "{unmatched#} answer{s:unmatched}, since it is not known which events in front have those behind");
}

/* ---- everything else it did ---- */

static void tell_retries(struct document *d, json_t *retries)
{
	const struct telling t = {.d = d};
	if (!has(retries, "requests"))
		return;
	doc_section(d, "retries", "Sent again");
	tell(&t, "requests", retries,
	     "{requests#} request{s:requests} went behind {behind#} times, {answered#} answered in the end");
	if (has(retries, "same_target"))
		tell(&t, "retries", retries, "{same_target#} request{s:same_target} to the same server");
	if (has(retries, "failover"))
		tell(&t, "failovers", retries, "{failover#} request{s:failover} to another server");
	if (has(retries, "at_once"))
		tell(&t, "at once", retries, "{at_once#} request{s:at_once} while the attempt before was in flight");
	tell(&t, "until last", retries,
	     "{until_last_ms/p50} ms at the median from the first attempt to the last, at most {until_last_ms/max} ms");
}

static void tell_own_answers(struct document *d, json_t *own)
{
	const struct telling t = {.d = d};
	if (!has(own, "requests") && !has(own, "outside"))
		return;
	doc_section(d, "own-answers", "Answered by the gateway");
	if (has(own, "requests"))
		tell(&t, "requests", own, "{requests#} request{s:requests} in front without one behind");
	if (has(own, "ok"))
		tell(&t, "cache", own, "{ok#} with a complete answer");
	if (has(own, "rate_limited"))
		tell(&t, "rate limit", own, "{rate_limited#} with status 429");
	if (has(own, "other"))
		doc_fact(d, "other", "%s", phrase(d, own, "{other#} with another status or none"));
	if (json_object_size(json_object_get(own, "statuses")))
		doc_fact(d, "by status", "%s", counts_text(d, json_object_get(own, "statuses")));
	if (has(own, "outside"))
		tell(&t, "not judged", own, "{outside#} request{s:outside} before or after the results of the other side");
}

static void tell_targets(struct document *d, json_t *targets, json_t *sessions)
{
	static const struct doc_column columns[] = {
		{.name = "requests", .path = "requests", .kind = CELL_COUNT},
		{.name = "share", .path = "share", .kind = CELL_PERCENT},
		{.name = "answered", .path = "ok", .kind = CELL_COUNT},
		{.name = "output tokens", .path = "output_tokens", .kind = CELL_COUNT},
	};
	const struct telling t = {.d = d};
	json_t *list = json_object_get(targets, "list");
	if (!json_at(list, "0/share") || (json_array_size(list) < 2 && !json_object_size(sessions)))
		return;
	doc_section(d, "targets", "Servers behind");
	if (json_array_size(list) > 1) {
		struct doc_table *table = doc_table(d, &(struct doc_table_spec){.id = "targets",
		                                                                .caption = "Requests by server",
		                                                                .rows = "server",
		                                                                .columns = columns,
		                                                                .count = 4,
		                                                                .sortable = true,
		                                                                .few = true});
		doc_rows_of(d, table, list, "target");
		tell(&t, "balance", targets, "{jain_index} by Jain's index: 1 if all servers got as many requests");
	}
	if (json_object_size(sessions))
		tell(
			&t, "sessions", sessions,
			"{one_target#} of {sessions#} stayed at one server; {same_target_share%} of the later requests went where the "
			"one before went");
}

static void tell_windows(struct document *d, json_t *windows)
{
	static const struct doc_column columns[] = {
		{.name = "requests", .path = "requests", .kind = CELL_COUNT},
		{.group = "added, p50", .name = "first token", .unit = "ms", .path = "ttft_p50_ms"},
		{.group = "added, p50", .name = "end", .unit = "ms", .path = "e2e_p50_ms"},
	};
	json_t *list = json_object_get(windows, "list"), *window;
	size_t i;
	if (json_array_size(list) < 2)
		return;
	doc_section(d, "windows", "Over time");
	struct doc_table *t = doc_table(d, &(struct doc_table_spec){.id = "windows",
	                                                            .caption = "Added time, by the start of the request",
	                                                            .rows = "from",
	                                                            .columns = columns,
	                                                            .count = 3});
	json_array_foreach(list, i, window)
	{
		doc_row_of(d, t, phrase(d, window, "{begin_ns@}"), NULL, window);
	}
}

static void name_document(struct document *d, json_t *g)
{
	const char *front = words_of(json_at(g, "front/results/0")), *back = words_of(json_at(g, "back/results/0"));
	d->kind = "ipf gateway";
	d->heading = doc_say(d, "Gateway between %s and %s", front, back);
	d->title = d->heading;
	d->when = "";
}

void gateway_document(struct document *d, json_t *gateway)
{
	name_document(d, gateway);
	tell_result(d, gateway);
	tell_added(d, gateway);
	tell_events(d, json_object_get(gateway, "events"));
	tell_retries(d, json_object_get(gateway, "retries"));
	tell_own_answers(d, json_object_get(gateway, "own_answers"));
	tell_targets(d, json_object_get(gateway, "targets"), json_object_get(gateway, "sessions"));
	tell_windows(d, json_object_get(gateway, "windows"));
}
