/* The verdict in a word, its four checks, and the figures read first. */
#include "sections/sections.h"
#include "sections/sentence.h"

#include "document/shown_numbers.h"
#include "sections/objectives_line.h"
#include "stream/predicted.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static enum tone tone_of(const char *status)
{
	return strcmp(status, "OK") == 0        ? TONE_GOOD
	       : strcmp(status, "N/A") == 0     ? TONE_PLAIN
	       : strcmp(status, "INVALID") == 0 ? TONE_BAD
	                                        : TONE_WARN;
}

static const char *sentence_of(const struct telling *t, const char *status, int less)
{
	struct document *d = t->d;
	if (json_at(t->report, "verdict/predicted"))
		return doc_say(d, "A twin predicted these figures, no server was measured; of the applicable checks: %s.",
		               status);
	if (json_at(t->report, "verdict/observed"))
		return doc_say(d,
		               "A capture of production traffic shows these figures, no load was made; of the applicable "
		               "checks: %s.",
		               status);
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

/* An interrupted run: nothing was sent in the gap, which is in no figure. */
void section_continued(const struct telling *t)
{
	json_t *gap;
	size_t i;
	json_array_foreach(json_at(t->report, "run/continued"), i, gap) tell(
		t, NULL, gap,
		"at {at_s} s of the schedule[, after a gap of {gap_s} s in which nothing was sent and which no figure counts]; "
		"{restarted#} request{s:restarted} in flight or of unfinished sessions sent again");
}

/* "TTFT 2 % at p50, 8 % at p99; TPOT not known; …" */
static const char *errors_of(const struct telling *t, json_t *predicted)
{
	static const char *const labels[TWIN_ERROR_COUNT] = {"TTFT", "TPOT", "E2E"};
	const char *all = "";
	const double in_flight = figure_at(t->report, "total/in_flight/mean");
	char a[40], b[40];
	for (enum twin_error_of of = 0; of < TWIN_ERROR_COUNT; of++) {
		const double p50 = predicted_error(predicted, of, 50, in_flight);
		const double p99 = predicted_error(predicted, of, 99, in_flight);
		const char *one = isnan(p50) || isnan(p99)
		                      ? "not known, so it has no error bars"
		                      : doc_say(t->d, "%s at p50, %s at p99", show_percent(p50, a), show_percent(p99, b));
		all = doc_say(t->d, "%s%s%s %s", all, *all ? "; " : "", labels[of], one);
	}
	return all;
}

/* The twin, its fit, and properties of the run beyond its runs. */
static void tell_prediction(const struct telling *t)
{
	json_t *predicted = json_at(t->report, "run/predicted"), *name;
	const double requests = figure_at(predicted, "requests"), steps = figure_at(predicted, "steps");
	char a[40], b[40];
	size_t i;
	if (!predicted)
		return;
	const char *fitted = isnan(requests) || isnan(steps) ? "it does not say from how many requests it was fitted"
	                                                     : doc_say(t->d, "fitted from %s requests and %s steps",
	                                                               show_whole(requests, a), show_whole(steps, b));
	doc_fact(t->d, "predicted", "by %s, %s; its error on the runs it was fitted from: %s", predicted_by(predicted).text,
	         fitted, errors_of(t, predicted));
	json_array_foreach(json_at(predicted, "extrapolated"), i, name)
		doc_fact(t->d, i ? "" : "exceeded", "%s (%s): beyond here the prediction is a guess",
	             predicted_beyond(words_of(name)), words_of(name))
			->tone = TONE_WARN;
}

/* A brief report says no more of this answer. */
static bool is_quiet(const char *answer)
{
	return strcmp(answer, "OK") == 0 || strcmp(answer, "N/A") == 0;
}

void section_verdict(const struct telling *t)
{
	json_t *checks = json_at(t->report, "verdict/checks"), *check;
	const char *status = words_at(t->report, "verdict/status");
	int less = 0;
	size_t i;
	json_array_foreach(checks, i, check) less += strcmp(words_at(check, "status"), "OK") != 0;
	const char *kind = json_at(t->report, "verdict/predicted")  ? "PREDICTED, "
	                   : json_at(t->report, "verdict/observed") ? "OBSERVED, "
	                                                            : "";
	const char *shown_status = doc_say(t->d, "%s%s", kind, status);
	struct doc_part *word = doc_part(t->d, PART_CHECK, NULL, t->brief ? t->d->heading : NULL);
	word->media = IN_TEXT;
	word->status = doc_copy(t->d, shown_status);
	word->tone = tone_of(status);
	struct doc_part *sentence = doc_part(t->d, PART_TEXT, NULL, sentence_of(t, status, less));
	sentence->media = IN_PAGE | IN_MARKDOWN;
	sentence->status = doc_copy(t->d, shown_status);
	sentence->tone = tone_of(status);
	json_array_foreach(checks, i, check)
	{
		const char *answer = words_at(check, "status");
		/* a brief report has only the cause */
		const char *cause = text_at(check, "cause"), *detail = text_at(check, "detail");
		const char *shown = !t->brief ? detail : is_quiet(answer) ? NULL : cause ? cause : detail;
		struct doc_part *part = doc_part(t->d, PART_CHECK, doc_replace(t->d, words_at(check, "name"), "_", ' '), shown);
		part->hint = doc_copy(t->d, cause);
		part->status = doc_copy(t->d, answer);
		part->tone = tone_of(answer);
	}
	tell_prediction(t);
}

/* ---- summary: tiles of a page ---- */

/* A figure with its unit; `more` is a line below it; NULL: none. */
static struct doc_part *tile(const struct telling *t, const char *name, double value, const char *unit,
                             const char *more)
{
	char text[40];
	bool whole = !*unit || strncmp(unit, "of ", 3) == 0;
	struct doc_part *part = doc_part(t->d, PART_TILE, name, whole ? show_whole(value, text) : show_number(value, text));
	part->media = isnan(value) ? 0 : part->media;
	part->value = value;
	part->unit = doc_copy(t->d, unit);
	part->hint = doc_copy(t->d, more);
	return part;
}

/* "1.25~": a percentile, marked if it has too few samples. */
static const char *marked(const struct telling *t, json_t *summary, const char *name)
{
	char a[40];
	return doc_say(t->d, "%s%s", show_number(figure_at(summary, name), a), doc_is_weak(summary, name) ? "~" : "");
}

/* The load that tiles show of a run of several: of whose figures all together describe none. */
struct tiled {
	json_t *block;
	const char *stage; /* "sweep 40/s"; "": all of the run */
};

/* The p50, or the first percentile chosen, and a higher one below it; their values if failures counted. Is one of them
 * weak? */
static bool latency_tile(const struct telling *t, const struct tiled *of, const char *label, const char *member)
{
	const char *key, *low = NULL, *high = NULL, *origin = "", *rest = "";
	json_t *summary = json_object_get(json_at(of->block, "latency"), member), *value,
		   *all = json_object_get(json_at(of->block, "latency_with_failures"), member);
	char mean[40];
	if (json_at(summary, "from_due") || json_at(summary, "from_start")) {
		origin = json_at(summary, "from_due") ? " from due" : " from start";
		summary = json_object_get(summary, json_at(summary, "from_due") ? "from_due" : "from_start");
	}
	json_object_foreach(summary, key, value)
	{
		if (isnan(percentile_named(key)))
			continue;
		low = !low || strcmp(key, "p50") == 0 ? key : low;
		high = !high || strcmp(high, "p99") != 0 ? key : high;
	}
	if (!low)
		return false;
	if (isinf(figure_at(all, low)))
		rest = doc_say(t->d, "; %s with failures: infinite", low);
	else if (!isnan(figure_at(all, low)))
		rest = doc_say(t->d, "; %s with failures: %s", low, marked(t, all, low));
	const char *second = high == low ? "" : doc_say(t->d, "%s %s, ", high, marked(t, summary, high));
	const char *more = doc_say(t->d, "%smean %s%s%s%s", second, show_number(figure_at(summary, "mean"), mean), rest,
	                           *of->stage ? "; " : "", of->stage);
	tile(t, doc_say(t->d, "%s%s, %s", label, origin, low), figure_at(summary, low), "ms", more)->text = marked(
		t, summary, low);
	return doc_is_weak(summary, low) || doc_is_weak(summary, high);
}

/* The line below a figure: more of it, and of which stage it is; NULL: nothing. */
static const char *below(const struct telling *t, const struct tiled *of, const char *more)
{
	if (!*of->stage)
		return more;
	return more ? doc_say(t->d, "%s; %s", more, of->stage) : of->stage;
}

static void load_tiles(const struct telling *t, const struct tiled *of)
{
	json_t *block = of->block;
	double ok = figure_at(t->total, "requests/ok"), failed = figure_at(t->total, "requests/failed"),
		   offered = figure_at(block, "rate/offered"), input = figure_at(block, "throughput/input_tokens_per_s"),
		   most = figure_at(block, "in_flight/max");
	char unit[60] = "", a[40];
	if (!isnan(failed))
		snprintf(unit, sizeof unit, "of %s", show_whole(ok + failed, a));
	tile(t, "successful requests", ok, unit,
	     isnan(failed) ? NULL
	                   : doc_say(t->d, "%s failed%s", failed > 0 ? show_whole(failed, a) : "none",
	                             *of->stage ? ", in all stages" : ""));
	tile(t, "completed", figure_at(block, "rate/completed"), "requests/s",
	     below(t, of, isnan(offered) ? NULL : doc_say(t->d, "%s offered", show_number(offered, a))));
	tile(t, "output", figure_at(block, "throughput/output_tokens_per_s"), "tokens/s",
	     below(t, of, isnan(input) ? NULL : doc_say(t->d, "%s input tokens/s", show_number(input, a))));
	tile(t, "in flight, mean", figure_at(block, "in_flight/mean"), "requests",
	     below(t, of, isnan(most) ? NULL : doc_say(t->d, "at most %s", show_whole(most, a))));
}

/* The highest load that met the objectives or, if there is none, that the server could complete; else the lowest. */
static json_t *shown_stage(const struct telling *t)
{
	json_t *stages = json_at(t->report, "stages"), *point, *best = NULL, *stage;
	const double index = figure_at(t->report, "objectives/met/index");
	const double capacity = figure_at(t->report, "saturation/requests_per_s");
	size_t i;
	if (!isnan(index))
		return element_at(stages, index);
	json_array_foreach(json_at(t->report, "saturation/points"), i, point)
	{
		const bool beyond = figure_at(point, "offered") > capacity || json_at(point, "left_out");
		if (!beyond && !json_at(t->report, "objectives"))
			best = element_at(stages, figure_at(point, "index"));
	}
	json_array_foreach(stages, i, stage)
	{
		if (!best && json_is_true(json_at(stage, "measured")) && figure_at(stage, "requests/ok") > 0)
			best = stage;
	}
	return best;
}

static struct tiled tiled_of(const struct telling *t)
{
	json_t *stage = json_is_true(json_at(t->report, "run/several_loads")) ? shown_stage(t) : NULL;
	return stage ? (struct tiled){stage, words_at(stage, "name")} : (struct tiled){t->total, ""};
}

static void objectives_tile(const struct telling *t)
{
	json_t *o = json_at(t->report, "objectives"), *met = json_at(o, "met");
	const char *by = words_at(o, "by");
	const bool users = strcmp(by, "users") == 0;
	if (!o)
		return;
	struct doc_part *part = tile(t, "objectives met up to", met ? figure_at(met, by) : 0, users ? "" : "requests/s",
	                             objectives_line(t->d, o));
	part->unit = !met ? "" : users ? "users" : part->unit;
	part->text = met ? part->text : "none";
}

void section_summary(const struct telling *t)
{
	char more[80], a[40];
	const struct tiled of = tiled_of(t);
	load_tiles(t, &of);
	bool weak = latency_tile(t, &of, "TTFT", "ttft_ms");
	weak |= latency_tile(t, &of, "ITL", "itl_ms");
	weak |= latency_tile(t, &of, "TPOT", "tpot_ms");
	weak |= latency_tile(t, &of, "E2E", "e2e_ms");
	snprintf(more, sizeof more, "%s of the requests", show_percent(figure_at(of.block, "goodput/share"), a));
	tile(t, "goodput", figure_at(of.block, "goodput/requests_per_s"), "requests/s", below(t, &of, more));
	objectives_tile(t);
	tile(t, "capacity", figure_at(t->report, "saturation/requests_per_s"), "requests/s", NULL);
	if (weak)
		doc_note(t->d, DOC_WEAK)->media = IN_PAGE;
	if (*of.stage)
		doc_note(t->d, "the figures are those of %s: the stages of this run differ in load", of.stage)->media = IN_PAGE;
}
