/* The verdict in a word, its four checks, and the figures that are read first. */
#include "sections/sections.h"

#include "document/shown_numbers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static enum tone tone_of(const char *status)
{
	return strcmp(status, "OK") == 0 ? TONE_GOOD : strcmp(status, "INVALID") == 0 ? TONE_BAD : TONE_WARN;
}

static const char *sentence_of(const char *status, struct document *d, int less)
{
	if (strcmp(status, "OK") == 0)
		return "The figures can be trusted: all four checks passed.";
	if (strcmp(status, "DOUBTFUL") == 0)
		return doc_say(d, "Read the figures with care: %d of the four checks found cause for doubt.", less);
	if (strcmp(status, "UNKNOWN") == 0)
		return "Whether the figures can be trusted is unknown: not all checks could be made.";
	return "The figures do not answer the question of the run: a check failed.";
}

void section_incomplete(const struct telling *t)
{
	json_t *reason;
	size_t i;
	json_array_foreach(json_at(t->report, "run/incomplete"), i, reason) doc_fact(t->d, NULL, "%s", words_of(reason))
		->tone = TONE_BAD;
}

void section_verdict(const struct telling *t)
{
	json_t *checks = json_at(t->report, "verdict/checks"), *check;
	const char *status = words_at(t->report, "verdict/status");
	int less = 0;
	size_t i;
	json_array_foreach(checks, i, check) less += strcmp(words_at(check, "status"), "OK") != 0;
	struct doc_part *word = doc_part(t->d, PART_CHECK, NULL, t->brief ? t->d->heading : NULL);
	word->media = IN_TEXT;
	word->status = doc_copy(t->d, status);
	word->tone = tone_of(status);
	struct doc_part *sentence = doc_part(t->d, PART_TEXT, NULL, sentence_of(status, t->d, less));
	sentence->media = IN_PAGE | IN_MARKDOWN;
	sentence->status = doc_copy(t->d, status);
	sentence->tone = tone_of(status);
	json_array_foreach(checks, i, check)
	{
		const char *answer = words_at(check, "status");
		struct doc_part *part = doc_part(t->d, PART_CHECK, doc_replace(t->d, words_at(check, "name"), "_", ' '),
		                                 t->brief && strcmp(answer, "OK") == 0 ? NULL : text_at(check, "detail"));
		part->status = doc_copy(t->d, answer);
		part->tone = tone_of(answer);
	}
}

/* ---- summary: tiles of a page ---- */

/* A figure with its unit; `more` is a line below it; NULL: none. */
static void tile(const struct telling *t, const char *name, double value, const char *unit, const char *more)
{
	char text[40];
	if (isnan(value))
		return;
	bool whole = !*unit || strncmp(unit, "of ", 3) == 0;
	struct doc_part *part = doc_part(t->d, PART_TILE, name, whole ? show_whole(value, text) : show_number(value, text));
	part->value = value;
	part->unit = doc_copy(t->d, unit);
	part->hint = doc_copy(t->d, more);
}

/* The p50, or the first percentile that was chosen, and a higher one below it. */
static void latency_tile(const struct telling *t, const char *label, json_t *summary, const char *origin)
{
	const char *key, *low = NULL, *high = NULL;
	char more[120], a[40], b[40];
	json_t *value;
	json_object_foreach(summary, key, value)
	{
		if (isnan(percentile_named(key)))
			continue;
		low = !low || strcmp(key, "p50") == 0 ? key : low;
		high = !high || strcmp(high, "p99") != 0 ? key : high;
	}
	if (!low)
		return;
	snprintf(more, sizeof more, "%s %s, mean %s", high, show_number(figure_at(summary, high), a),
	         show_number(figure_at(summary, "mean"), b));
	tile(t, doc_say(t->d, "%s%s, %s", label, origin, low), figure_at(summary, low), "ms", more);
}

static void waited_tile(const struct telling *t, const char *label, json_t *both)
{
	json_t *due = json_at(both, "from_due");
	latency_tile(t, label, due ? due : json_at(both, "from_start"), due ? " from due" : " from start");
}

static void load_tiles(const struct telling *t)
{
	double ok = figure_at(t->total, "requests/ok"), failed = figure_at(t->total, "requests/failed");
	char unit[60] = "", more[120], a[40];
	if (!isnan(failed))
		snprintf(unit, sizeof unit, "of %s", show_whole(ok + failed, a));
	snprintf(more, sizeof more, failed > 0 ? "%s failed" : "none failed", show_whole(failed, a));
	tile(t, "successful requests", ok, unit, isnan(failed) ? NULL : more);
	snprintf(more, sizeof more, "%s offered", show_number(figure_at(t->total, "rate/offered"), a));
	tile(t, "completed", figure_at(t->total, "rate/completed"), "requests/s",
	     isnan(figure_at(t->total, "rate/offered")) ? NULL : more);
	snprintf(more, sizeof more, "%s input tokens/s",
	         show_number(figure_at(t->total, "throughput/input_tokens_per_s"), a));
	tile(t, "output", figure_at(t->total, "throughput/output_tokens_per_s"), "tokens/s",
	     isnan(figure_at(t->total, "throughput/input_tokens_per_s")) ? NULL : more);
	snprintf(more, sizeof more, "at most %s", show_whole(figure_at(t->total, "in_flight/max"), a));
	tile(t, "in flight, mean", figure_at(t->total, "in_flight/mean"), "requests",
	     isnan(figure_at(t->total, "in_flight/max")) ? NULL : more);
}

void section_summary(const struct telling *t)
{
	char more[80], a[40];
	load_tiles(t);
	waited_tile(t, "TTFT", json_at(t->total, "latency/ttft_ms"));
	latency_tile(t, "ITL", json_at(t->total, "latency/itl_ms"), "");
	latency_tile(t, "TPOT", json_at(t->total, "latency/tpot_ms"), "");
	waited_tile(t, "E2E", json_at(t->total, "latency/e2e_ms"));
	snprintf(more, sizeof more, "%s of the requests", show_percent(figure_at(t->total, "goodput/share"), a));
	tile(t, "goodput", figure_at(t->total, "goodput/requests_per_s"), "requests/s", more);
	tile(t, "capacity", figure_at(t->report, "saturation/requests_per_s"), "requests/s", NULL);
}
