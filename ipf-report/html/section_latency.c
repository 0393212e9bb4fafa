/* Distributions: latencies of all measured stages with all percentiles, of each stage and model with few; tokens. */
#include "html/sections.h"

#include "html/html_table.h"
#include "html/html_text.h"
#include "html/json_path.h"
#include "formats/text_layout.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- all percentiles ---- */

enum { COLUMNS_MOST = PERCENTILES_MOST + 8 };

/* Columns of a table of distributions, which hold their names. */
struct columns {
	struct html_column column[COLUMNS_MOST];
	char name[PERCENTILES_MOST][24];
	int count;
};

static void make_columns(struct columns *c, const struct percentiles *list, const char *what)
{
	*c = (struct columns){.count = 0};
	c->column[c->count++] = (struct html_column){.name = what, .text = true};
	c->column[c->count++] = (struct html_column){.name = "n"};
	c->column[c->count++] = (struct html_column){.name = "mean"};
	c->column[c->count++] = (struct html_column){.name = "std"};
	c->column[c->count++] = (struct html_column){.name = "min"};
	for (int i = 0; i < list->count; i++)
		c->column[c->count++] = (struct html_column){.name = percentile_name(list->p[i], c->name[i])};
	c->column[c->count++] = (struct html_column){.name = "max"};
	c->column[c->count++] = (struct html_column){.group = "mean, 95 % interval", .name = "from"};
	c->column[c->count++] = (struct html_column){.group = "mean, 95 % interval", .name = "to"};
}

static void summary_cells(struct html_table *t, json_t *summary, const struct percentiles *list)
{
	double n = figure_at(summary, "n");
	char name[24];
	html_count(t, n);
	html_number(t, figure_at(summary, "mean"));
	html_number(t, figure_at(summary, "std"));
	html_number(t, figure_at(summary, "min"));
	for (int i = 0; i < list->count; i++)
		html_percentile(t, figure_at(summary, percentile_name(list->p[i], name)), n, list->p[i]);
	html_number(t, figure_at(summary, "max"));
	json_t *interval = json_at(summary, "ci95");
	for (size_t i = 0; i < 2; i++)
		html_number(t, interval ? json_number_value(json_array_get(interval, i)) : NAN);
	html_row_end(t);
}

static void metric_row(struct html_table *t, const char *key, json_t *summary, const char *remark,
                       const struct percentiles *list)
{
	char label[40], definition[40];
	html_row_defined(t, metric_label(key, label), metric_definition(key, definition), remark);
	summary_cells(t, summary, list);
}

/* Rows of the latencies whose names begin with "server_", or of all others. */
static void latency_rows(struct html_table *t, const struct page *page, bool server)
{
	const struct percentiles *list = &page->report->options->percentiles;
	const char *key, *itl = run_data_itl(page->report->run, 0);
	char per[40];
	json_t *value;
	snprintf(per, sizeof per, "per %.20s", itl);
	json_object_foreach(json_at(page->json, "total/latency"), key, value)
	{
		if ((strncmp(key, "server_", 7) == 0) != server)
			continue;
		if (json_object_get(value, "n")) {
			metric_row(t, key, value, strcmp(key, "itl_ms") == 0 ? per : NULL, list);
			continue;
		}
		const char *origin;
		json_t *summary;
		char remark[64];
		json_object_foreach(value, origin, summary) metric_row(t, key, summary, spaced(origin, remark), list);
	}
}

static bool has_latency(const struct page *page, bool server)
{
	const char *key;
	json_t *value;
	json_object_foreach(json_at(page->json, "total/latency"), key, value)
	{
		if ((strncmp(key, "server_", 7) == 0) == server)
			return true;
	}
	return false;
}

static void show_total(const struct page *page)
{
	static const char *const lateness[] = {"lag_ms", "client_lag_ms", "slot_wait_ms"};
	const struct percentiles *list = &page->report->options->percentiles;
	json_t *total = json_at(page->json, "total");
	struct columns c;
	make_columns(&c, list, "metric");
	struct html_table t = {.out = page->out, .name = "latency", .columns = c.column, .count = c.count, .wide = true};
	html_table_begin(&t, "Latency of the measured stages, ms");
	latency_rows(&t, page, false);
	for (size_t i = 0; i < sizeof lateness / sizeof *lateness; i++)
		if (json_at(total, lateness[i]))
			metric_row(&t, lateness[i], json_at(total, lateness[i]), NULL, list);
	html_table_end(&t);
	if (!has_latency(page, true))
		return;
	struct html_table s = {
		.out = page->out, .name = "server-times", .columns = c.column, .count = c.count, .wide = true};
	html_table_begin(&s, "As the server reports them, ms");
	latency_rows(&s, page, true);
	html_table_end(&s);
}

/* ---- each stage, model or target ---- */

enum { EACH = 4, EACH_PERCENTILES = 3 };

/* The percentiles of these tables: 50, 90 and 99, or the last of those that were chosen. */
static int few(const struct percentiles *list, double p[EACH_PERCENTILES])
{
	int count = 0;
	for (int i = 0; i < list->count; i++)
		if (list->chosen ? i >= list->count - EACH_PERCENTILES
		                 : list->p[i] == 50 || list->p[i] == 90 || list->p[i] == 99)
			p[count++] = list->p[i];
	return count;
}

static void each_row(struct html_table *t, json_t *block, const char *name, const double *p, int count)
{
	static const char *const paths[EACH] = {"latency/ttft_ms", "latency/itl_ms", "latency/tpot_ms", "latency/e2e_ms"};
	char percentile[24];
	bool due = json_at(block, "latency/e2e_ms/from_due") != NULL;
	html_row(t, name, NULL);
	for (int i = 0; i < EACH; i++) {
		json_t *summary = json_at(block, paths[i]);
		if (i == 0 || i == EACH - 1)
			summary = json_at(summary, due ? "from_due" : "from_start");
		for (int k = 0; k < count; k++)
			html_percentile(t, figure_at(summary, percentile_name(p[k], percentile)), figure_at(summary, "n"), p[k]);
	}
	html_row_end(t);
}

/* `blocks`: an array of stages, or an object of the members of a grouping. */
static void show_each(const struct page *page, const char *what, json_t *blocks)
{
	/* what another tool states of several stages has no total */
	bool due = json_at(page->json, "total/latency/e2e_ms/from_due") ||
	           json_at(json_array_get(blocks, 0), "latency/e2e_ms/from_due");
	const char *const groups[EACH] = {due ? "TTFT from due, ms" : "TTFT from start, ms", "ITL, ms", "TPOT, ms",
	                                  due ? "E2E from due, ms" : "E2E from start, ms"};
	struct html_column columns[1 + EACH * EACH_PERCENTILES] = {{.name = what, .text = true}};
	char names[EACH_PERCENTILES][24], id[64], caption[64];
	double p[EACH_PERCENTILES];
	int count = few(&page->report->options->percentiles, p);
	for (int i = 0; i < EACH; i++)
		for (int k = 0; k < count; k++)
			columns[1 + i * count + k] = (struct html_column){groups[i], percentile_name(p[k], names[k]), NULL, false};
	snprintf(id, sizeof id, "latency-by-%.40s", what);
	snprintf(caption, sizeof caption, "Latency by %.40s", what);
	for (char *c = id; *c; c++)
		*c = *c == ' ' ? '-' : *c;
	struct html_table t = {.out = page->out, .name = id, .columns = columns, .sortable = true, .wide = true};
	t.count = 1 + EACH * count;
	html_table_begin(&t, caption);
	size_t shown = 0, i;
	const char *key;
	json_t *block;
	json_array_foreach(blocks, i, block)
	{
		if (json_is_true(json_at(block, "measured")) && figure_at(block, "requests/ok") > 0 && shown++ < HTML_ROWS_MOST)
			each_row(&t, block, text_at(block, "name"), p, count);
	}
	json_object_foreach(blocks, key, block)
	{
		if (figure_at(block, "requests/ok") > 0 && shown++ < HTML_ROWS_MOST)
			each_row(&t, block, key, p, count);
	}
	html_table_end(&t);
	html_left_out(page->out, shown, HTML_ROWS_MOST);
}

/* What the plot of the same name shows, for a page without plots. */
static void show_positions(const struct page *page)
{
	json_t *list = json_at(page->json, "total/itl_by_position_ms"), *one;
	struct html_column columns[2 + EACH_PERCENTILES] = {{.name = "gaps of an answer", .text = true}, {.name = "n"}};
	char names[EACH_PERCENTILES][24], label[64], a[40], b[40];
	double p[EACH_PERCENTILES];
	int count = few(&page->report->options->percentiles, p);
	size_t i;
	if (json_array_size(list) < 2)
		return;
	for (int k = 0; k < count; k++)
		columns[2 + k] = (struct html_column){.group = "ITL, ms", .name = percentile_name(p[k], names[k])};
	struct html_table t = {.out = page->out, .name = "itl-by-position", .columns = columns, .count = 2 + count};
	html_table_begin(&t, "ITL by position in the answer");
	json_array_foreach(list, i, one)
	{
		double from = figure_at(one, "from"), to = figure_at(one, "to"), n = figure_at(one, "n");
		snprintf(label, sizeof label, from < to ? "%s to %s" : "%s", show_count((int64_t)from, a),
		         show_count((int64_t)to, b));
		html_row_defined(&t, label, i == 0 ? "itl_by_position" : NULL, NULL);
		html_count(&t, n);
		for (int k = 0; k < count; k++)
			html_percentile(&t, figure_at(one, percentile_name(p[k], names[k])), n, p[k]);
		html_row_end(&t);
	}
	html_table_end(&t);
}

static void show_not_streamed(const struct page *page)
{
	char a[40], b[40];
	double sum = 0;
	const char *reason;
	json_t *count;
	json_object_foreach(json_at(page->json, "total/not_streamed"), reason, count) sum += json_number_value(count);
	if (sum > 0) {
		buffer_format(page->out, "<p class=\"note\">No TTFT, TTFA, ITL and TPOT for %s of ",
		              show_count((int64_t)sum, a));
		buffer_format(page->out, "%s responses, which came as a whole.</p>\n",
		              show_count((int64_t)figure_at(page->json, "total/requests/ok"), b));
	}
}

void section_latency(const struct page *page)
{
	json_t *stages = json_at(page->json, "stages"), *total = json_at(page->json, "total"), *block;
	const char *key;
	char what[64];
	size_t i, measured = 0, with_latency = 0;
	json_array_foreach(stages, i, block)
	{
		bool shown = json_is_true(json_at(block, "measured")) && figure_at(block, "requests/ok") > 0;
		measured += shown;
		with_latency += shown && json_object_size(json_at(block, "latency")) > 0;
	}
	if (json_at(total, "lag_ms") || has_latency(page, false))
		show_total(page);
	else if (with_latency < 2)
		return;
	show_not_streamed(page);
	show_positions(page);
	if (measured > 1)
		show_each(page, "stage", stages);
	json_object_foreach(total, key, block)
	{
		if (strncmp(key, "by_", 3) != 0 || json_object_size(block) == 0)
			continue;
		show_each(page, spaced(key + strlen("by_"), what), block);
	}
}

/* ---- tokens ---- */

/* "usage 746": how many there are of each, the members of an object. */
static void counts_fact(const struct page *page, const char *name, json_t *counts)
{
	struct buffer text = {0};
	char number[40];
	const char *key;
	json_t *count;
	json_object_foreach(counts, key, count)
		buffer_format(&text, "%s%.80s %s", text.len ? ", " : "", key, show_count(json_integer_value(count), number));
	if (text.len)
		fact(page, name, text.data);
	page->out->failed |= text.failed;
	buffer_release(&text);
}

static void show_residuals(const struct page *page)
{
	static const struct html_column columns[] = {{NULL, "counts of the same tokens", NULL, true},
	                                             {NULL, "n", NULL, false},
	                                             {NULL, "mean", NULL, false},
	                                             {NULL, "min", NULL, false},
	                                             {NULL, "max", NULL, false},
	                                             {NULL, "share", NULL, false}};
	json_t *all = json_at(page->json, "total/tokens/residual"), *one;
	const char *key;
	char name[64];
	if (json_object_size(all) == 0)
		return;
	struct html_table t = {.out = page->out, .name = "residuals", .columns = columns, .count = 6};
	html_table_begin(&t, "Differences between counts");
	json_object_foreach(all, key, one)
	{
		html_row_defined(&t, spaced(key, name), "residual", NULL);
		html_count(&t, figure_at(one, "n"));
		html_number(&t, figure_at(one, "mean"));
		html_number(&t, figure_at(one, "min"));
		html_number(&t, figure_at(one, "max"));
		html_percent(&t, figure_at(one, "share"));
		html_row_end(&t);
	}
	html_table_end(&t);
}

static void show_events(const struct page *page)
{
	json_t *events = json_at(page->json, "total/events"), *fluidity = json_at(page->json, "total/fluidity");
	char text[200], a[40], b[40];
	if (events) {
		bool reads = !isnan(figure_at(events, "coalesced_share"));
		snprintf(text, sizeof text, "%s with content%s%s%s", show_count((int64_t)figure_at(events, "content"), a),
		         reads ? ", " : "", reads ? show_percent(figure_at(events, "coalesced_share"), b) : "",
		         reads ? " of them shared a read" : "");
		fact(page, "events", text);
	}
	if (figure_at(events, "stalls") > 0) {
		snprintf(text, sizeof text, "%s in %s requests", show_count((int64_t)figure_at(events, "stalls"), a),
		         show_count((int64_t)figure_at(events, "stalled_requests"), b));
		fact(page, "stalls", text);
	}
	if (fluidity) {
		snprintf(text, sizeof text, "%s of %s tokens met their deadline", show_percent(figure_at(fluidity, "share"), a),
		         show_count((int64_t)figure_at(fluidity, "deadlines"), b));
		fact(page, "fluidity", text);
	}
}

void section_tokens(const struct page *page)
{
	static const char *const rows[][2] = {{"input", "input"},
	                                      {"output", "output"},
	                                      {"asked_input", "requested input"},
	                                      {"asked_output", "requested output"},
	                                      {"reasoning", "reasoning"}};
	const struct percentiles *list = &page->report->options->percentiles;
	json_t *tokens = json_at(page->json, "total/tokens");
	char cached[40];
	struct columns c;
	if (!(figure_at(page->json, "total/requests/ok") > 0))
		return;
	make_columns(&c, list, "tokens");
	struct html_table t = {
		.out = page->out, .name = "tokens", .columns = c.column, .count = c.count, .wide = true, .whole = true};
	html_table_begin(&t, "Tokens of successful requests");
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (json_at(tokens, rows[i][0])) {
			html_row(&t, rows[i][1], NULL);
			summary_cells(&t, json_at(tokens, rows[i][0]), list);
		}
	html_table_end(&t);
	facts_begin(page);
	fact(page, "output counted by", text_at(tokens, "source"));
	counts_fact(page, "counted by", json_at(tokens, "sources"));
	if (!isnan(figure_at(tokens, "cached_share")))
		fact(page, "from the server's cache", show_percent(figure_at(tokens, "cached_share"), cached));
	show_events(page);
	counts_fact(page, "finish reasons", json_at(tokens, "finish_reasons"));
	facts_end(page);
	show_residuals(page);
}
