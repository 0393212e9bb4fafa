/* The run: its target, model, trace and schedule, when it was, and whose definitions its figures have. */
#include "sections/sections.h"
#include "sections/sentence.h"
#include "sections/time_facts.h"

#include "cli/units.h"
#include "document/shown_numbers.h"
#include "series/clock_offsets.h"
#include "absent.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whose file it is and whose definitions its figures have, if they are not ours. */
static void tell_imported(const struct telling *t)
{
	json_t *imported = json_at(t->report, "run/imported"), *note;
	const char *tool = text_at(imported, "tool"), *version = text_at(imported, "version"),
			   *has = text_at(imported, "has");
	size_t i;
	if (!tool)
		return;
	doc_fact(t->d, "imported", "%s of %s%s%s",
	         has && strcmp(has, "figures") == 0 ? "figures, as stated by the file" : "requests", tool,
	         version ? " " : ", which does not give its version", version ? version : "");
	doc_fact(t->d, "definitions", "those of %s, read as of version %s:", tool, words_at(imported, "as_of"));
	json_array_foreach(json_at(imported, "notes"), i, note) doc_fact(t->d, "", "%s", words_of(note));
}

/* Those ipf-collect --definition applied. */
static void tell_definition(const struct telling *t)
{
	const char *tool = text_at(t->report, "run/definition/tool"),
			   *version = text_at(t->report, "run/definition/version"), *figure;
	json_t *rule;
	if (!tool || !version)
		return;
	doc_fact(t->d, "definitions", "those of %s %s, not ours:", tool, version);
	json_object_foreach(json_at(t->report, "run/definition/rules"), figure, rule)
		doc_fact(t->d, "", "%s: %s", figure, json_is_string(rule) ? json_string_value(rule) : "");
}

static void tell_plain(const struct telling *t, const char *label, const char *path)
{
	const char *text = text_at(t->report, path);
	if (text)
		doc_fact(t->d, label, "%s", text);
}

static void tell_trace(const struct telling *t)
{
	tell(t, "tokenizer", json_at(t->report, "run/tokenizer"), "{name!}[ ({rule!})]");
	tell(t, "trace", json_at(t->report, "run/trace"), "{requests#} request{s:requests}[, SHA-256 {sha256!}]");
}

/* The declared state of the prefix cache, and the proof of the first target. */
static void tell_cache(const struct telling *t)
{
	tell(
		t, "prefix cache", json_at(t->report, "run"),
		"declared {cache!}[; reset by {cache_reset/0/request!}, {cache_reset/0/outcome!}][ by {cache_reset/0/proof!}: of "
		"{cache_reset/0/before#} cached tokens of a probe, {cache_reset/0/after#} were left][; {cache_warm/requests#} "
		"requests filled it]");
}

static void tell_when(const struct telling *t)
{
	json_t *run = json_at(t->report, "run");
	if (text_at(run, "started"))
		tell(t, "started", run, "{started!}[, {duration_s} s][, seed {seed!}][, pooled from {pooled!}]");
	else
		tell(t, "lasted", run, "{duration_s} s[, seed {seed!}][, pooled from {pooled!}]");
}

/* Notes of the user, versions, the machine of the client. */
static void tell_notes(const struct telling *t)
{
	struct buffer text = {0}, versions = {0};
	const char *key;
	json_t *value;
	json_object_foreach(json_at(t->report, "run/meta"), key, value)
		buffer_format(&text, "%s%s=%s", text.len ? ", " : "", key, words_of(value));
	json_object_foreach(json_at(t->report, "run/versions"), key, value)
		buffer_format(&versions, "%s%s %s", versions.len ? ", " : "", key, words_of(value));
	if (text.len)
		doc_fact(t->d, "meta", "%s", text.data);
	tell_plain(t, "client", "run/host/name");
	if (versions.len)
		doc_fact(t->d, "versions", "%s", versions.data)->media = IN_PAGE | IN_MARKDOWN;
	t->d->failed |= text.failed || versions.failed;
	buffer_release(&text);
	buffer_release(&versions);
}

/* ": the clock of shard 3 is not known to be synchronised" */
static const char *unsynchronised(const struct telling *t, json_t *clocks)
{
	json_t *list = json_at(clocks, "unsynchronised");
	size_t count = json_array_size(list);
	if (count == 0)
		return "";
	if (count == (size_t)json_integer_value(json_at(clocks, "clients")))
		return ": no clock of them is known to be synchronised";
	if (count > 1)
		return doc_say(t->d, ": %zu of their clocks are not known to be synchronised", count);
	return doc_say(t->d, ": the clock of shard %.0f is not known to be synchronised",
	               json_number_value(json_array_get(list, 0)) + 1);
}

/* Did all shards run on one machine? */
static bool one_clock(json_t *clocks)
{
	json_t *offset, *offsets = json_at(clocks, "offsets");
	size_t i;
	json_array_foreach(offsets, i, offset) if (strcmp(words_at(offset, "by/0"), "machine") != 0) return false;
	return json_array_size(offsets) > 0;
}

/* How far apart the shards began: by their clocks, and for certain. */
static void tell_starts(const struct telling *t, json_t *clocks)
{
	json_t *starts = json_at(clocks, "starts"), *most = json_at(starts, "at_most_ns"),
		   *shard = json_at(starts, "last_shard");
	int64_t apart_ns = json_integer_value(json_at(starts, "apart_ns"));
	double last = shard ? json_number_value(shard) : json_number_value(json_at(starts, "last")) + 1;
	char a[40], b[40];
	if (!starts)
		return;
	const char *apart = apart_ns == 0 ? "all shards at one time by their clocks"
	                                  : doc_say(t->d, "%s apart by the shards' clocks, shard %.0f last",
	                                            format_duration(apart_ns, a), last);
	if (one_clock(clocks))
		doc_fact(t->d, "starts", "%s, exactly: all ran on one machine", apart);
	else if (json_is_integer(most))
		doc_fact(t->d, "starts", "%s; at most %s apart, given the known clock offsets", apart,
		         format_duration(json_integer_value(most), b));
	else
		doc_fact(t->d, "starts", "%s; the true distance is unknown%s", apart, unsynchronised(t, clocks));
}

/* Clocks further apart than this are none. */
#define CLOCK_MOST (INT64_MAX / 4)

/* How far apart the clocks of shards are: of several, the one that can be furthest from the first. */
static void tell_clocks(const struct telling *t)
{
	json_t *clocks = json_at(t->report, "clocks");
	int client;
	struct clock_offset o = clock_offsets_worst(clocks, &client);
	char middle[40], bound[40];
	if (!clocks)
		return;
	if (one_clock(clocks)) {
		doc_fact(t->d, "clocks", "one: all shards ran on one machine");
		tell_starts(t, clocks);
		return;
	}
	if (o.low_ns == IPF_ABSENT && json_at(t->report, "run/headers/0/series"))
		doc_fact(t->d, "clocks", "the distance between the shards' clocks is unknown");
	if (o.low_ns > -CLOCK_MOST && o.high_ns < CLOCK_MOST && o.low_ns <= o.high_ns) {
		int64_t middle_ns = o.low_ns + (o.high_ns - o.low_ns) / 2;
		doc_fact(t->d, "clocks", "shard %d of %lld is %s %s the first, to within %s%s; times are not corrected by it",
		         client + 1, (long long)json_integer_value(json_at(clocks, "clients")),
		         format_duration(llabs(middle_ns), middle), middle_ns < 0 ? "behind" : "ahead of",
		         format_duration((o.high_ns - o.low_ns) / 2, bound),
		         o.contradiction ? " (the evidence is contradictory)" : "");
	}
	tell_starts(t, clocks);
}

void section_run(const struct telling *t)
{
	const char *target = text_at(t->report, "run/target"), *api = text_at(t->report, "run/api");
	tell_imported(t);
	tell_definition(t);
	tell_plain(t, "name", "run/name");
	if (target || api)
		doc_fact(t->d, "target", "%s%s%s", target ? target : "", target && api ? ", " : "", api ? api : "");
	tell_plain(t, "model", "run/model");
	tell_trace(t);
	tell_plain(t, "schedule", "run/schedule");
	tell_cache(t);
	tell(t, "answers", json_at(t->report, "run"), "{answers!}, given to the server token by token");
	tell_when(t);
	tell_notes(t);
	tell_event_times(t)->media = IN_TEXT;
	tell_clocks(t);
	tell_calibration(t)->media = IN_TEXT;
}
