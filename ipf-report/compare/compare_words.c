#include "compare/compare_words.h"

#include "absent.h"
#include "cli/units.h"
#include "compare/settings.h"
#include "document/shown_numbers.h"
#include "safe_text.h"
#include "figures/load_episodes.h"
#include "stream/provenance.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *compare_percent(double share, char text[40])
{
	char number[40];
	if (fabs(100 * share) < 999.5)
		snprintf(text, 40, "%.3g %%", 100 * share);
	else
		snprintf(text, 40, "%.30s %%", show_number(100 * share, number));
	return text;
}

static size_t differing(const struct comparison *c)
{
	size_t count = 0;
	for (size_t k = 0; k < c->count; k++)
		count += c->figures[k].d.finding == FINDING_LOWER || c->figures[k].d.finding == FINDING_HIGHER ? 1 : 0;
	return count;
}

const char *compare_outcome(const struct comparison *c, char text[COMPARE_WORDS])
{
	char effect[40];
	compare_percent(c->options->effect, effect);
	const bool alone = c->noise == NOISE_BLOCKS;
	switch (c->outcome) {
	case OUTCOME_SAME:
		snprintf(text, COMPARE_WORDS, "no difference of %s or more was found", effect);
		break;
	case OUTCOME_SLOWER:
	case OUTCOME_FASTER:
	case OUTCOME_MIXED:
		snprintf(text, COMPARE_WORDS, "new is %s%s: %zu of %zu figures differ by %s or more%s",
		         c->outcome == OUTCOME_MIXED    ? "slower in some figures and faster in others"
		         : c->outcome == OUTCOME_SLOWER ? "slower"
		                                        : "faster",
		         alone ? " in these two runs" : "", differing(c), c->family, effect,
		         alone ? "; whether the servers differ needs several runs of each" : "");
		break;
	case OUTCOME_FEW_RUNS:
		snprintf(text, COMPARE_WORDS, "not enough runs to tell whether there is a difference of %s", effect);
		break;
	case OUTCOME_UNJUDGED:
		if (c->bursty)
			snprintf(
				text, COMPARE_WORDS,
				"not judged: too short for these bursts: the load of a run changed %.0f times, and %.0f are needed",
				fmin(c->episodes[SIDE_BASE], c->episodes[SIDE_NEW]), LOAD_EPISODES_FEWEST);
		else
			snprintf(text, COMPARE_WORDS, "not judged: how much the figures vary is not known");
		break;
	case OUTCOME_WRONG:
		snprintf(text, COMPARE_WORDS, "new gives wrong answers: its latencies do not count");
		break;
	case OUTCOME_INVALID:
		snprintf(text, COMPARE_WORDS, "not compared: the verdict of %s is INVALID",
		         c->verdicts[SIDE_NEW]->status != VERDICT_INVALID    ? "base"
		         : c->verdicts[SIDE_BASE]->status != VERDICT_INVALID ? "new"
		                                                             : "both sides");
		break;
	}
	return text;
}

const char *compare_noise(const struct comparison *c, char text[COMPARE_WORDS])
{
	if (c->noise == NOISE_RUNS)
		snprintf(text, COMPARE_WORDS, "measured between the runs of a side, and within them");
	else if (c->noise == NOISE_BLOCKS)
		snprintf(text, COMPARE_WORDS,
		         "estimated from blocks within a run; how much more runs differ is not known: give several runs of "
		         "each side");
	else
		snprintf(text, COMPARE_WORDS, "not known: %s",
		         c->bursty
		             ? "the runs are too short for the bursts of their loads: longer runs, several of each side, or "
		               "the same schedule on both sides"
		             : "too few independent requests, or another tool's figures");
	return text;
}

const char *compare_pairing(const struct comparison *c, char text[COMPARE_WORDS])
{
	snprintf(text, COMPARE_WORDS, "%s%s",
	         c->replays_capture
	             ? "a side replays the captured trace of the other: each block is compared with the other side's, "
	               "latencies count from the start of requests"
	         : c->paired ? "the same on both sides: each block is compared with the other side's"
	                     : "not the same on both sides: the effect of other requests is part of the noise",
	         c->same_records ? "; the records of a run are on both sides" : "");
	return text;
}

const char *compare_lengths(const struct comparison *c, char text[COMPARE_WORDS])
{
	const double base = c->output_tokens[SIDE_BASE], new = c->output_tokens[SIDE_NEW], change = new / base - 1;
	char percent[40], a[40], b[40];
	if (!(base > 0) || !(fabs(change) >= COMPARE_LENGTHS))
		return NULL;
	snprintf(text, COMPARE_WORDS,
	         "answers of new have %s %s output tokens (%s instead of %s on average): E2E and tokens per second do not "
	         "compare",
	         compare_percent(fabs(change), percent), change < 0 ? "fewer" : "more", show_number(new, a),
	         show_number(base, b));
	return text;
}

/* A value of a setting, for a sentence. */
static const char *value_in_words(const char *value, char words[240])
{
	char *plain = value ? setting_value(value) : NULL;
	snprintf(words, 240, "%s", plain ? shown(plain).text : "none");
	free(plain);
	return words;
}

const char *compare_load(const struct comparison *c, char text[COMPARE_WORDS])
{
	const char *base, *new;
	char a[240], b[240];
	if (c->replays_capture)
		return NULL;
	if (!settings_named(c->settings, "load", &base, &new) || !base || !new || strcmp(base, "[]") == 0 ||
	    strcmp(new, "[]") == 0)
		return NULL;
	snprintf(text, COMPARE_WORDS, "not the same: base %s; new %s: the load may be the difference",
	         value_in_words(base, a), value_in_words(new, b));
	return text;
}

const char *compare_trace(const struct comparison *c, char text[COMPARE_WORDS])
{
	const char *base, *new, *base_requests, *new_requests;
	char a[240], b[240];
	if (c->replays_capture)
		return NULL;
	if (!settings_named(c->settings, "trace", &base, &new))
		return NULL;
	if (settings_named(c->settings, "requests of the trace", &base_requests, &new_requests))
		snprintf(text, COMPARE_WORDS, "not the same: %s requests in base, %s in new", value_in_words(base_requests, a),
		         value_in_words(new_requests, b));
	else
		snprintf(text, COMPARE_WORDS, "not the same: the sides had other requests");
	return text;
}

static void append_mixed(const struct compared_answers *a, char text[COMPARE_WORDS])
{
	const size_t len = strlen(text);
	char base[40], new[40];
	if (a->other_marks[SIDE_BASE] || a->other_marks[SIDE_NEW])
		snprintf(text + len, COMPARE_WORDS - len, "%sanswers with the code of another request: base %s, new %s",
		         len ? "; " : "", show_count(a->other_marks[SIDE_BASE], base),
		         show_count(a->other_marks[SIDE_NEW], new));
}

const char *compare_answers_text(const struct comparison *c, char text[COMPARE_WORDS])
{
	const struct compared_answers *a = &c->answers;
	char wrong[SIDES][40], all[SIDES][40];
	*text = '\0';
	if (a->known) {
		for (int s = 0; s < SIDES; s++) {
			show_count(a->wrong[s], wrong[s]);
			show_count(a->canaries[s], all[s]);
		}
		const bool differ = a->p_worse < VERDICT_ANSWERS_P || a->p_better < VERDICT_ANSWERS_P;
		snprintf(text, COMPARE_WORDS, "%s of %s canaries wrong in new, %s of %s in base%s, p = %.2g", wrong[SIDE_NEW],
		         all[SIDE_NEW], wrong[SIDE_BASE], all[SIDE_BASE], differ ? "" : ": no more than chance",
		         fmin(a->p_worse, a->p_better));
	}
	append_mixed(a, text);
	return *text ? text : NULL;
}

const char *compare_cached(const struct comparison *c, char text[COMPARE_WORDS])
{
	char base[40], new[40];
	if (isnan(c->cached[SIDE_BASE]) || isnan(c->cached[SIDE_NEW]) ||
	    fabs(c->cached[SIDE_NEW] - c->cached[SIDE_BASE]) < COMPARE_CACHED)
		return NULL;
	snprintf(text, COMPARE_WORDS,
	         "%s of the input tokens of base were in the server's prefix cache, %s of those of new: the cache may be "
	         "the cause",
	         show_percent(c->cached[SIDE_BASE], base), show_percent(c->cached[SIDE_NEW], new));
	return text;
}

/* Are both known, and so far apart that it is said? */
static bool far_apart(double base, double new)
{
	return !isnan(base) && !isnan(new) && fabs(new - base) >= COMPARE_CACHED;
}

const char *compare_later_turns(const struct comparison *c, char text[COMPARE_WORDS])
{
	const struct later_turns *base = &c->later[SIDE_BASE], *new = &c->later[SIDE_NEW];
	const bool cached = far_apart(base->cached_share, new->cached_share);
	const bool servers = !isnan(base->same_server) && !isnan(new->same_server);
	char a[40], b[40];
	size_t len = 0;
	if (!cached && !far_apart(base->same_server, new->same_server))
		return NULL;
	if (cached)
		len = (size_t)snprintf(text, COMPARE_WORDS,
		                       "of the input tokens of later turns, base had %s in the prefix cache, new %s%s",
		                       show_percent(base->cached_share, a), show_percent(new->cached_share, b),
		                       servers ? "; " : ": a router may not have kept sessions on their servers");
	if (servers)
		snprintf(text + len, COMPARE_WORDS - len, "later turns went to the server of the turn before: base %s, new %s",
		         show_percent(base->same_server, a), show_percent(new->same_server, b));
	return text;
}

const char *compare_accepted(const struct comparison *c, char text[COMPARE_WORDS])
{
	const double base = c->accepted[SIDE_BASE], new = c->accepted[SIDE_NEW];
	char a[40] = "no drafts reported", b[40] = "no drafts reported";
	if (isnan(base) && isnan(new))
		return NULL;
	if (!isnan(base) && !isnan(new) && fabs(new - base) < COMPARE_ACCEPTED)
		return NULL;
	snprintf(text, COMPARE_WORDS,
	         "accepted draft tokens: base %s, new %s; TPOT, ITL and throughput differ by prompts and drafts as well",
	         isnan(base) ? a : show_percent(base, a), isnan(new) ? b : show_percent(new, b));
	return text;
}

const char *compare_predicted(const struct comparison *c, char text[COMPARE_WORDS])
{
	const json_t *base = c->runs[SIDE_BASE]->parts[0].predicted, *new = c->runs[SIDE_NEW]->parts[0].predicted;
	if (!base && !new)
		return NULL;
	snprintf(
		text, COMPARE_WORDS,
		"PREDICTED: %s by %.100s%s%.100s, not measured; the error of the twin is not in the intervals of the changes",
		!new    ? "base"
		: !base ? "new"
				: "both sides",
		predicted_by(base ? base : new).text, base && new ? " and " : "", base && new ? predicted_by(new).text : "");
	return text;
}

/* "DOUBTFUL (enough samples, server answers)": the status, and which checks have a worse answer than OK. */
static const char *verdict_words(const struct verdict_finding *verdict, char text[200])
{
	size_t len = (size_t)snprintf(text, 200, "%s", verdict_status_name(verdict->status));
	const char *before = " (";
	for (int i = 0; i < VERDICT_QUESTIONS; i++) {
		if (verdict->checks[i].status == VERDICT_OK || verdict->checks[i].status == VERDICT_NOT_APPLICABLE)
			continue;
		len += (size_t)snprintf(text + len, 200 - len, "%s%s", before, verdict->checks[i].name);
		before = ", ";
	}
	if (verdict->status != VERDICT_OK)
		snprintf(text + len, 200 - len, ")");
	for (char *at = text; (at = strchr(at, '_')); at++)
		*at = ' ';
	return text;
}

const char *compare_side(const struct comparison *c, enum compared_side side, char text[COMPARE_WORDS])
{
	const struct run_data *run = c->runs[side];
	const char *target = json_string_value(json_object_get(provenance_find(run->parts[0].header, "records"), "target")),
			   *tool = json_string_value(json_object_get(json_object_get(run->parts[0].header, "imported"), "tool"));
	char requests[40], name[240], verdict[200];
	snprintf(name, sizeof name, "%s", shown(run->parts[0].name).text);
	snprintf(text, COMPARE_WORDS, "%s%s; %d run%s, %s request%s; verdict %s%s%s%s%s", name,
	         run->part_count > 1 ? ", …" : "", c->run_count[side], plural((double)c->run_count[side]),
	         show_count(c->requests[side], requests), plural((double)c->requests[side]),
	         verdict_words(c->verdicts[side], verdict), tool ? "; of " : "", tool ? shown(tool).text : "",
	         target ? "; " : "", target ? shown(target).text : "");
	return text;
}

/* "+4.2" of a share or of percentage points. */
static const char *signed_number(const struct difference *d, double value, char text[40])
{
	snprintf(text, 40, "%+.*f", !d->relative ? 2 : fabs(value) < 0.0995 ? 1 : 0, 100 * value);
	separate_thousands(text + 1);
	return text;
}

const char *compare_change(const struct difference *d, char text[40])
{
	char number[40];
	if (isnan(d->change))
		snprintf(text, 40, "-");
	else
		snprintf(text, 40, "%.30s %s", signed_number(d, d->change, number), d->relative ? "%" : "pp");
	return text;
}

const char *compare_interval(const struct difference *d, char text[64])
{
	const char *unit = d->relative ? "%" : "pp";
	const bool no_low = !difference_has_low(d), no_high = !difference_has_high(d);
	char low[40], high[40];
	signed_number(d, d->low, low);
	signed_number(d, d->high, high);
	if (no_low && no_high)
		snprintf(text, 64, "-");
	else if (no_low || no_high)
		snprintf(text, 64, "%s %.20s %s", no_low ? "below" : "above", no_low ? high : low, unit);
	else
		snprintf(text, 64, "%.20s to %.20s %s", low, high, unit);
	return text;
}

const char *compare_p(double p, char text[40])
{
	if (isnan(p))
		snprintf(text, 40, "-");
	else if (p < 0.001)
		snprintf(text, 40, "<0.001");
	else
		snprintf(text, 40, p < 0.1 ? "%.3f" : "%.2f", p);
	return text;
}

const char *compare_value(const struct compared_figure *figure, double value, char text[40])
{
	if (!figure_is_share(figure))
		return show_number(value, text);
	if (isnan(value))
		snprintf(text, 40, "-");
	else
		snprintf(text, 40, "%.2f %%", 100 * value);
	return text;
}
