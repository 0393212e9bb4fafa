/* A prefix cache's possible hits in the prompts, beside the server's. */
#include "sections/sentence.h"

#include "document/shown_numbers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { POINTS_SHOWN = 5, INTERVALS_LEAST = 8 };

static void sum_row(const struct telling *t, struct doc_table *table, const char *name, double tokens, double share)
{
	if (isnan(tokens))
		return;
	doc_row(t->d, table, name, NULL);
	doc_cell_figure(t->d, table, tokens, CELL_COUNT);
	doc_cell_figure(t->d, table, share, CELL_PERCENT);
}

/* All rows are about the same requests: those for which the server reports its cache, or all if it reports none. */
static void tell_sums(const struct telling *t, json_t *cache)
{
	static const struct doc_column columns[] = {{.name = "tokens", .kind = CELL_COUNT},
	                                            {.name = "share of the prompts", .kind = CELL_PERCENT}};
	static const char *const tiers[] = {"device", "host", "disk", "remote"};
	json_t *reported = json_at(cache, "reported"), *of = reported ? reported : cache;
	double prompts = figure_at(of, "prompt_tokens"), ideal = figure_at(of, "ideal_tokens");
	struct doc_table *table = doc_table(t->d, &(struct doc_table_spec){.id = "cache-sums",
	                                                                   .caption = "Prefix cache",
	                                                                   .rows = "prompt tokens",
	                                                                   .columns = columns,
	                                                                   .count = 2,
	                                                                   .whole = true});
	sum_row(t, table, "prompts", prompts, NAN);
	sum_row(t, table, "possible", ideal, ideal / prompts);
	sum_row(t, table, "found by the server", figure_at(reported, "tokens"), figure_at(reported, "share"));
	for (size_t i = 0; i < sizeof tiers / sizeof *tiers; i++) {
		double tokens = figure_at(reported, doc_say(t->d, "%s_tokens", tiers[i]));
		sum_row(t, table, doc_say(t->d, "  on %s", tiers[i]), tokens, tokens / prompts);
	}
	sum_row(t, table, "gap", figure_at(reported, "gap_tokens"), figure_at(reported, "gap_share"));
	sum_row(t, table, "warm", figure_at(cache, "warm/tokens"), figure_at(cache, "warm/tokens") / prompts);
}

static void tell_notes(const struct telling *t, json_t *cache)
{
	const char *from = text_at(cache, "block_from");
	tell(t, "blocks", cache,
	     from && strcmp(from, "metrics") == 0
	         ? "of {block_tokens#} tokens, as the server's metrics say; possible: at most, in a cache without a limit "
	           "that is empty at first"
	     : from && strcmp(from, "option") == 0
	         ? "of {block_tokens#} tokens (--cache-block); possible: at most, in a cache without a limit that is empty "
	           "at first"
	         : "of {block_tokens#} tokens; possible: in a cache without a limit that is empty at first; a server "
	           "with longer blocks finds less (--cache-block)");
	if (!json_at(cache, "reported"))
		doc_fact(t->d, "found", "the server does not report it");
	else if (figure_at(cache, "reported/requests") < figure_at(cache, "requests"))
		tell(t, "found", cache,
		     "reported for {reported/requests#} of {requests#} request{s:requests}, which the table is about; "
		     "{ideal_share%} are possible for all");
	tell(t, "recorded", json_at(cache, "recorded"),
	     "a cache finds {ideal_share%} of the trace's recorded blocks in {requests#} request{s:requests}");
	tell(t, "by metrics", cache, "{counters_share%} of the tokens that the server looked up");
	if (figure_at(cache, "warm/tokens") > 0 && json_at(cache, "reported"))
		tell(t, "warm", cache,
		     "{warm/tokens#} tokens found that this run had not sent before, {warm/share%} of all such tokens");
}

/* A few of the sizes in the text, from the first that finds a fifth of the most; all of them elsewhere. */
static void tell_curve(const struct telling *t, json_t *cache)
{
	static const struct doc_column columns[] = {{NULL, "tokens", NULL, "ideal_tokens", CELL_COUNT, KEEP},
	                                            {NULL, "share", NULL, "share", CELL_PERCENT, KEEP}};
	json_t *curve = json_at(cache, "curve"), *size = json_at(cache, "size"), *point;
	size_t count = json_array_size(curve), i;
	double most = count ? figure_at(json_array_get(curve, count - 1), "share") : 0;
	int next = 1;
	char a[40];
	if (count == 0 && !size)
		return;
	const struct doc_table_spec spec = {.id = "cache-sizes",
	                                    .caption = "Possible by cache size",
	                                    .rows = "cache of tokens",
	                                    .columns = columns,
	                                    .count = 2,
	                                    .whole = true};
	struct doc_table_spec few = spec, all = spec;
	few.media = IN_TEXT;
	all.media = IN_PAGE | IN_MARKDOWN;
	struct doc_table *table = doc_table(t->d, &few);
	json_array_foreach(curve, i, point)
	{
		double share = figure_at(point, "share");
		if (next > POINTS_SHOWN || (i + 1 < count && share < most * next / POINTS_SHOWN))
			continue;
		while (next <= POINTS_SHOWN && share >= most * next / POINTS_SHOWN)
			next++;
		doc_row_of(t->d, table, show_whole(figure_at(point, "tokens"), a), NULL, point);
	}
	if (size)
		doc_row_of(t->d, table, show_whole(figure_at(size, "tokens"), a), "as given", size);
	table = doc_table(t->d, &all);
	json_array_foreach(curve, i, point) doc_row_of(t->d, table, show_whole(figure_at(point, "tokens"), a), NULL, point);
	if (size)
		doc_row_of(t->d, table, show_whole(figure_at(size, "tokens"), a), "as given", size);
}

/* A bar for each interval: `path` is "ideal_tokens" or "tokens". */
static void tell_interval_row(const struct telling *t, json_t *intervals, const char *label, const char *path,
                              double top)
{
	size_t count = json_array_size(intervals);
	double *levels = doc_numbers(t->d, count);
	char most[40];
	for (size_t i = 0; levels && i < count; i++) {
		json_t *one = json_array_get(intervals, i);
		double share = figure_at(one, path) / figure_at(one, "prompt_tokens");
		levels[i] = top > 0 ? fmin(1, share / top) : share * 0;
	}
	struct doc_part *part = doc_part(
		t->d, PART_LEVELS, label, strcmp(path, "tokens") == 0 ? NULL : doc_say(t->d, "of %s", show_percent(top, most)));
	part->levels = levels;
	part->level_count = levels ? (int)count : 0;
}

static void tell_intervals(const struct telling *t, json_t *cache)
{
	json_t *intervals = json_at(cache, "series/intervals"), *one;
	double top = 0;
	size_t i;
	if (json_array_size(intervals) < INTERVALS_LEAST || !(figure_at(cache, "ideal_tokens") > 0))
		return;
	json_array_foreach(intervals, i, one)
	{
		double share = figure_at(one, "ideal_tokens") / figure_at(one, "prompt_tokens");
		top = share > top ? share : top;
	}
	tell_interval_row(t, intervals, "over time", "ideal_tokens", top);
	if (figure_at(cache, "reported/requests") == figure_at(cache, "requests"))
		tell_interval_row(t, intervals, "  found", "tokens", top);
}

static void tell_sessions(const struct telling *t, json_t *cache)
{
	static const struct doc_column columns[] = {{NULL, "requests", NULL, "requests", CELL_COUNT, KEEP},
	                                            {"tokens", "prompts", NULL, "prompt_tokens", CELL_COUNT, KEEP},
	                                            {"tokens", "possible", NULL, "ideal_tokens", CELL_COUNT, KEEP},
	                                            {"tokens", "found", NULL, "tokens", CELL_COUNT, KEEP}};
	json_t *sessions = json_at(cache, "sessions");
	tell(t, "sessions", sessions,
	     "{count#} of several requests: found {share/p50%} of the prompts at the median, {ideal_share/p50%} possible");
	if (json_array_size(json_at(sessions, "worst")) == 0 || t->brief)
		return;
	struct doc_table *table = doc_table(t->d, &(struct doc_table_spec){.id = "cache-sessions",
	                                                                   .caption = "Sessions with most misses",
	                                                                   .rows = "session",
	                                                                   .columns = columns,
	                                                                   .count = 4,
	                                                                   .whole = true});
	doc_rows_of(t->d, table, json_at(sessions, "worst"), "session");
}

void section_cache(const struct telling *t)
{
	json_t *cache = json_at(t->report, "cache");
	tell(t, NULL, cache, "unknown: {absent!}");
	if (!cache || text_at(cache, "absent"))
		return;
	tell_sums(t, cache);
	tell_notes(t, cache);
	if (!t->brief) {
		tell_curve(t, cache);
		tell_intervals(t, cache);
	}
	tell_sessions(t, cache);
}
