#include "formats/text_cache.h"

#include "absent.h"

#include <math.h>
#include <stdio.h>

enum { LINE_TEXT = 320, POINTS_SHOWN = 5 };

static double share(int64_t part, int64_t of)
{
	return of > 0 ? (double)part / (double)of : NAN;
}

/* What the trace says of its own prompts, where it has their blocks. */
static void show_recorded(struct layout *l, const struct workload *w)
{
	const struct prefix_reuse *r = &w->recorded;
	char text[LINE_TEXT], a[40], b[40];
	if (w->recorded_cut || r->block_count == 0 || r->tokens == IPF_ABSENT)
		return;
	snprintf(text, sizeof text, "%s of %s prompt tokens, by the blocks of the trace",
	         show_percent(share(r->hit_tokens, r->tokens), a), show_count(r->tokens, b));
	layout_entry(l, "recorded", text);
}

static void show_found(struct layout *l, const struct cache_truth *t)
{
	const struct cache_sums *r = &t->reported;
	char text[LINE_TEXT], item[80], a[40], b[40];
	if (r->requests == 0) {
		layout_entry(l, "found", "the server does not say");
		return;
	}
	int64_t gap = r->ideal - r->found;
	snprintf(text, sizeof text, "%s, as the server says", show_percent(share(r->found, r->prompt), a));
	if (r->requests < t->all.requests) {
		snprintf(item, sizeof item, "of %s request%s", show_count(r->requests, a), plural(r->requests));
		join(text, sizeof text, " ", item, "");
	}
	if (gap != 0) {
		snprintf(item, sizeof item, "%s tokens (%s) %s", show_count(gap < 0 ? -gap : gap, a),
		         show_percent(share(gap < 0 ? -gap : gap, r->prompt), b), gap < 0 ? "more" : "less");
		join(text, sizeof text, ": ", item, "");
	}
	for (int i = 0, any = 0; i < CACHE_TIERS; i++)
		if (t->tiers[i] != IPF_ABSENT) {
			snprintf(item, sizeof item, "%s %s", cache_tiers[i], show_percent(share(t->tiers[i], r->prompt), a));
			join(text, sizeof text, any++ ? ", " : "; ", item, "");
		}
	layout_entry(l, "found", text);
}

/* A few of the sizes, from the first that finds a tenth of the most to the one that finds all. */
static void show_curve(struct layout *l, const struct cache_truth *t)
{
	char text[LINE_TEXT] = "", item[100], a[40], b[40];
	double most = t->curve_count ? t->curve[t->curve_count - 1].share : 0;
	int next = 1;
	for (int i = 0; i < t->curve_count && next <= POINTS_SHOWN; i++) {
		if (i + 1 < t->curve_count && t->curve[i].share < most * next / POINTS_SHOWN)
			continue;
		while (next <= POINTS_SHOWN && t->curve[i].share >= most * next / POINTS_SHOWN)
			next++;
		snprintf(item, sizeof item, "%s with %s", show_percent(t->curve[i].share, a),
		         show_count(t->curve[i].tokens, b));
		join(text, sizeof text, ", ", item, "");
	}
	if (text[0]) {
		join(text, sizeof text, " ", "tokens", "");
		layout_entry(l, "by size", text);
	}
	if (isnan(t->size.share))
		return;
	snprintf(text, sizeof text, "%s in a cache of %s tokens, as asked for", show_percent(t->size.share, a),
	         show_count(t->size.tokens, b));
	layout_entry(l, "", text);
}

static void show_interval_row(struct layout *l, const struct cache_truth *t, const char *label, bool found, bool ascii)
{
	char most[40];
	double top = 0;
	layout_to(l, 2);
	layout_text(l, PLAIN, label);
	layout_to(l, 14);
	for (int i = 0; i < t->interval_count; i++)
		top = fmax(top, share(t->intervals[i].all.ideal, t->intervals[i].all.prompt));
	for (int i = 0; i < t->interval_count; i++) {
		const struct cache_interval *at = &t->intervals[i];
		double value = found ? share(at->reported.found, at->reported.prompt) : share(at->all.ideal, at->all.prompt);
		layout_level(l, top > 0 ? fmin(1, value / top) : value * 0, ascii);
	}
	if (!found)
		layout_format(l, FAINT, " of %s", show_percent(top, most));
	layout_end_line(l);
}

static void show_sessions(struct layout *l, const struct cache_truth *t)
{
	char text[LINE_TEXT], a[40], b[40], c[40];
	if (t->sessions == 0)
		return;
	snprintf(text, sizeof text, "%s of several requests: found %s of the prompts at the median, %s possible",
	         show_count(t->sessions, a), show_percent(t->found_share.median, b),
	         show_percent(t->ideal_share.median, c));
	layout_entry(l, "sessions", text);
	if (t->worst_count == 0)
		return;
	snprintf(text, sizeof text, "most is missing in %.60s: %s tokens", t->worst[0].name,
	         show_count(t->worst[0].sums.ideal - t->worst[0].sums.found, a));
	layout_entry(l, "", text);
}

static void show_warm(struct layout *l, const struct cache_truth *t)
{
	char text[LINE_TEXT], a[40], b[40];
	if (t->reported.requests == 0 || t->no_warm || t->warm <= 0)
		return;
	snprintf(text, sizeof text, "%s tokens found that this run had not sent before, %s of all such tokens",
	         show_count(t->warm, a), show_percent(share(t->warm, t->warm_of), b));
	layout_entry(l, "warm", text);
}

void text_cache(struct layout *l, const struct report *report)
{
	const struct cache_truth *t = &report->trace->cache;
	char text[LINE_TEXT], a[40], b[40];
	if (!report->trace->given)
		return;
	layout_heading(l, "Prefix cache");
	layout_to(l, 14);
	if (t->absent) {
		snprintf(text, sizeof text, "not known: %s", t->absent);
		layout_wrapped(l, 14, PLAIN, text);
		return;
	}
	layout_format(l, FAINT, "%s prompt tokens, ", show_count(t->all.prompt, a));
	layout_format(l, FAINT, "in blocks of %s", show_count(t->block_tokens, a));
	layout_end_line(l);
	snprintf(text, sizeof text, "%s, in a cache without a limit that is empty at first",
	         show_percent(share(t->all.ideal, t->all.prompt), a));
	layout_entry(l, "possible", text);
	show_recorded(l, &report->trace->workload);
	show_found(l, t);
	if (report->servers->count > 0 && !isnan(report->servers->hit_rate)) {
		snprintf(text, sizeof text, "%s of the tokens that it looked up", show_percent(report->servers->hit_rate, b));
		layout_entry(l, "by metrics", text);
	}
	show_warm(l, t);
	show_curve(l, t);
	show_sessions(l, t);
	if (t->interval_count < 8 || t->all.ideal == 0)
		return;
	show_interval_row(l, t, "over time", false, report->ascii);
	if (t->reported.requests == t->all.requests)
		show_interval_row(l, t, "  found", true, report->ascii);
}
