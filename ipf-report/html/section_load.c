/* Stages, models and targets: their load, and what the server made of it. */
#include "html/sections.h"

#include "html/html_table.h"
#include "html/html_text.h"
#include "html/json_path.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct html_column columns[] = {
	{NULL, "stage", NULL, true},
	{"requests", "offered", "per s", false},
	{"requests", "achieved", "per s", false},
	{"requests", "completed", "per s", false},
	{"requests", "ok", NULL, false},
	{"requests", "failed", NULL, false},
	{"in flight", "mean", NULL, false},
	{"in flight", "max", NULL, false},
	{"tokens", "input", "per s", false},
	{"tokens", "output", "per s", false},
	{"goodput", "rate", "per s", false},
	{"goodput", "share", NULL, false},
};
enum { COLUMNS = sizeof columns / sizeof *columns, GOODPUT_COLUMNS = 2 };

static void failed_cell(struct html_table *t, double failed)
{
	if (failed > 0)
		buffer_format(t->out, "<td class=\"number bad\" data-v=\"%.15g\">%.15g</td>", failed, failed);
	else
		html_count(t, failed);
}

static void load_row(struct html_table *t, json_t *block, const char *name, bool goodput)
{
	html_row(t, name, json_is_false(json_at(block, "measured")) ? "not measured" : NULL);
	html_number(t, figure_at(block, "rate/offered"));
	html_number(t, figure_at(block, "rate/achieved"));
	html_number(t, figure_at(block, "rate/completed"));
	html_count(t, figure_at(block, "requests/ok"));
	failed_cell(t, figure_at(block, "requests/failed"));
	html_number(t, figure_at(block, "in_flight/mean"));
	html_count(t, figure_at(block, "in_flight/max"));
	html_number(t, figure_at(block, "throughput/input_tokens_per_s"));
	html_number(t, figure_at(block, "throughput/output_tokens_per_s"));
	if (goodput) {
		html_number(t, figure_at(block, "goodput/requests_per_s"));
		html_percent(t, figure_at(block, "goodput/share"));
	}
	html_row_end(t);
}

static bool has_goodput(const struct page *page)
{
	return !isnan(figure_at(page->json, "total/goodput/of")) ||
	       !isnan(figure_at(page->json, "total/goodput/unmeasured"));
}

/* The members of a grouping of the total, such as "by_model". */
static void show_group(const struct page *page, const char *key, json_t *group)
{
	struct html_column own[COLUMNS];
	char what[64], id[64], caption[120];
	const char *member;
	json_t *block;
	size_t shown = 0;
	memcpy(own, columns, sizeof own);
	own[0].name = spaced(key + strlen("by_"), what);
	snprintf(id, sizeof id, "load-%.40s", key + strlen("by_"));
	snprintf(caption, sizeof caption, "By %s, measured stages", what);
	struct html_table t = {.out = page->out, .name = id, .columns = own, .sortable = true, .wide = true};
	t.count = COLUMNS - (has_goodput(page) ? 0 : GOODPUT_COLUMNS);
	html_table_begin(&t, caption);
	json_object_foreach(group, member, block)
	{
		if (shown++ < HTML_ROWS_MOST)
			load_row(&t, block, member, has_goodput(page));
	}
	html_table_end(&t);
	html_left_out(page->out, shown, HTML_ROWS_MOST);
}

void section_stages(const struct page *page)
{
	json_t *stages = json_at(page->json, "stages"), *block, *total = json_at(page->json, "total");
	const char *key, *absent = text_at(total, "throughput/absent");
	size_t i;
	struct html_table t = {.out = page->out, .name = "stages", .columns = columns, .sortable = true, .wide = true};
	t.count = COLUMNS - (has_goodput(page) ? 0 : GOODPUT_COLUMNS);
	html_table_begin(&t, "Load of each stage");
	json_array_foreach(stages, i, block)
	{
		if (i < HTML_ROWS_MOST)
			load_row(&t, block, text_at(block, "name"), has_goodput(page));
	}
	html_table_foot(&t);
	load_row(&t, total, "total", has_goodput(page));
	html_table_end(&t);
	html_left_out(page->out, json_array_size(stages), HTML_ROWS_MOST);
	if (absent) {
		buffer_text(page->out, "<p class=\"note\">No throughput: ");
		html_text(page->out, absent);
		buffer_text(page->out, ".</p>\n");
	}
	json_object_foreach(total, key, block)
	{
		if (strncmp(key, "by_", 3) == 0 && json_object_size(block) > 0)
			show_group(page, key, block);
	}
}
