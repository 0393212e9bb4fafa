/* What a prefix cache could have found in the prompts, and what the server says it found. */
#include "html/sections.h"

#include "formats/text_layout.h"
#include "html/html_table.h"
#include "html/html_text.h"
#include "html/json_path.h"

#include <math.h>
#include <stdio.h>

static const struct html_column sum_columns[] = {
	{NULL, "tokens of prompts", NULL, true}, {NULL, "tokens", NULL, false}, {NULL, "share", NULL, false}};
static const struct html_column curve_columns[] = {
	{NULL, "size of the cache, tokens", NULL, true}, {NULL, "found", "tokens", false}, {NULL, "share", NULL, false}};
static const struct html_column session_columns[] = {{NULL, "session", NULL, true},
                                                     {NULL, "requests", NULL, false},
                                                     {NULL, "prompts", "tokens", false},
                                                     {NULL, "possible", "tokens", false},
                                                     {NULL, "found", "tokens", false}};

static void sum_row(struct html_table *t, const char *name, double tokens, double share)
{
	if (isnan(tokens))
		return;
	html_row(t, name, NULL);
	html_count(t, tokens);
	html_percent(t, share);
	html_row_end(t);
}

static void show_sums(const struct page *page, json_t *cache)
{
	static const char *const tiers[] = {"device_tokens", "host_tokens", "disk_tokens", "remote_tokens"};
	json_t *reported = json_at(cache, "reported");
	double prompts = figure_at(reported, "prompt_tokens");
	char name[64];
	struct html_table t = {.out = page->out, .name = "cache-sums", .columns = sum_columns, .count = 3, .whole = true};
	html_table_begin(&t, "Prompt tokens that a cache without a limit finds, and that the server says it found");
	sum_row(&t, "all", figure_at(cache, "prompt_tokens"), NAN);
	sum_row(&t, "possible", figure_at(cache, "ideal_tokens"), figure_at(cache, "ideal_share"));
	sum_row(&t, "recorded, by the blocks of the trace", figure_at(cache, "recorded/ideal_tokens"),
	        figure_at(cache, "recorded/ideal_share"));
	sum_row(&t, "found", figure_at(reported, "tokens"), figure_at(reported, "share"));
	for (size_t i = 0; i < sizeof tiers / sizeof *tiers; i++)
		sum_row(&t, spaced(tiers[i], name), figure_at(reported, tiers[i]), figure_at(reported, tiers[i]) / prompts);
	sum_row(&t, "gap", figure_at(reported, "gap_tokens"), figure_at(reported, "gap_share"));
	sum_row(&t, "warm", figure_at(cache, "warm/tokens"), figure_at(cache, "warm/tokens") / prompts);
	html_table_end(&t);
}

static void curve_row(struct html_table *t, json_t *point, const char *remark)
{
	char number[40];
	html_row(t, show_count((int64_t)figure_at(point, "tokens"), number), remark);
	html_count(t, figure_at(point, "ideal_tokens"));
	html_percent(t, figure_at(point, "share"));
	html_row_end(t);
}

static void show_curve(const struct page *page, json_t *cache)
{
	json_t *curve = json_at(cache, "curve"), *size = json_at(cache, "size"), *point;
	size_t i;
	if (json_array_size(curve) == 0 && !size)
		return;
	struct html_table t = {
		.out = page->out, .name = "cache-sizes", .columns = curve_columns, .count = 3, .whole = true};
	html_table_begin(&t, "Possible in a cache that replaces what was used least recently");
	json_array_foreach(curve, i, point)
	{
		curve_row(&t, point, NULL);
	}
	if (size)
		curve_row(&t, size, "as asked for");
	html_table_end(&t);
}

static void show_sessions(const struct page *page, json_t *cache)
{
	json_t *worst = json_at(cache, "sessions/worst"), *session;
	size_t i;
	if (json_array_size(worst) == 0)
		return;
	struct html_table t = {
		.out = page->out, .name = "cache-sessions", .columns = session_columns, .count = 5, .whole = true};
	html_table_begin(&t, "Sessions in which most is missing");
	json_array_foreach(worst, i, session)
	{
		html_row(&t, text_at(session, "session"), NULL);
		html_count(&t, figure_at(session, "requests"));
		html_count(&t, figure_at(session, "prompt_tokens"));
		html_count(&t, figure_at(session, "ideal_tokens"));
		html_count(&t, figure_at(session, "tokens"));
		html_row_end(&t);
	}
	html_table_end(&t);
}

void section_cache(const struct page *page)
{
	json_t *cache = json_at(page->json, "cache");
	const char *absent = text_at(cache, "absent");
	if (!cache)
		return;
	if (absent) {
		facts_begin(page);
		fact(page, "not known", absent);
		facts_end(page);
		return;
	}
	show_sums(page, cache);
	show_curve(page, cache);
	show_sessions(page, cache);
}
