/* Why requests failed, and which objectives were met. */
#include "html/sections.h"

#include "formats/text_layout.h"
#include "html/html_table.h"
#include "html/html_text.h"
#include "html/json_path.h"

#include <math.h>
#include <stdio.h>

static void show_reasons(const struct page *page)
{
	static const struct html_column columns[] = {{NULL, "kind", NULL, true},
	                                             {NULL, "status", NULL, false},
	                                             {NULL, "requests", NULL, false},
	                                             {NULL, "text of the error", NULL, true},
	                                             {NULL, "what may help", NULL, true}};
	json_t *reasons = json_at(page->json, "errors"), *reason;
	size_t i;
	struct html_table t = {.out = page->out, .name = "reasons", .columns = columns, .count = 5, .sortable = true};
	if (json_array_size(reasons) == 0)
		return;
	html_table_begin(&t, "Why requests failed");
	json_array_foreach(reasons, i, reason)
	{
		html_row_defined(&t, text_at(reason, "kind"), text_at(reason, "kind"), NULL);
		html_count(&t, figure_at(reason, "status"));
		html_count(&t, figure_at(reason, "count"));
		html_words(&t, text_at(reason, "text"));
		html_words(&t, text_at(reason, "hint"));
		html_row_end(&t);
	}
	html_table_end(&t);
}

static void show_failures(const struct page *page)
{
	json_t *requests = json_at(page->json, "total/requests");
	double ok = figure_at(requests, "ok"), failed = figure_at(requests, "failed");
	char text[160], a[40], b[40], c[40];
	if (isnan(failed)) /* not known */
		return;
	if (failed > 0)
		snprintf(text, sizeof text, "%s of %s requests failed, %s", show_count((int64_t)failed, a),
		         show_count((int64_t)(ok + failed), b), show_percent(failed / (ok + failed), c));
	else
		snprintf(text, sizeof text, "None in %s request%s", show_count((int64_t)ok, a), plural((int64_t)ok));
	buffer_format(page->out, "<p>%s.</p>\n", text);
	if (figure_at(requests, "stale_resets") > 0)
		buffer_format(page->out,
		              "<p>%s of the resets: kept-alive connections that the server had already closed.</p>\n",
		              show_count((int64_t)figure_at(requests, "stale_resets"), a));
	if (figure_at(requests, "hung_up") > 0)
		buffer_format(page->out, "<p>%s more: disconnected by ipf-fire on purpose.</p>\n",
		              show_count((int64_t)figure_at(requests, "hung_up"), a));
	if (json_at(page->json, "total/after_end")) {
		buffer_format(page->out, "<p>After the end mark: %s content events",
		              show_count((int64_t)figure_at(page->json, "total/after_end/events"), a));
		buffer_format(page->out, " of %s responses.</p>\n",
		              show_count((int64_t)figure_at(page->json, "total/after_end/responses"), b));
	}
}

static void objective_row(struct html_table *t, json_t *objective)
{
	bool percentile = json_at(objective, "value_ms") != NULL || json_at(objective, "met") != NULL;
	json_t *met = json_at(objective, "met");
	html_row(t, text_at(objective, "objective"), NULL);
	html_number(t, figure_at(objective, "limit_ms"));
	html_number(t, figure_at(objective, "value_ms"));
	html_percent(t, figure_at(objective, "share"));
	if (met)
		buffer_text(t->out, json_is_true(met) ? "<td class=\"text\"><span class=\"ok\">met</span></td>"
		                                      : "<td class=\"text\"><span class=\"invalid\">missed</span></td>");
	else
		html_words(t, percentile || !isnan(figure_at(objective, "share")) ? "" : "not measurable");
	html_row_end(t);
}

static void show_goodput(const struct page *page)
{
	static const struct html_column columns[] = {{NULL, "objective", NULL, true},
	                                             {NULL, "limit", "ms", false},
	                                             {NULL, "percentile", "ms", false},
	                                             {NULL, "requests within", NULL, false},
	                                             {NULL, "result", NULL, true}};
	json_t *goodput = json_at(page->json, "total/goodput"), *objective;
	char text[160], a[40], b[40];
	size_t i;
	if (!goodput)
		return;
	buffer_text(page->out, "<h3>Goodput</h3>\n");
	if (!isnan(figure_at(goodput, "share"))) {
		snprintf(text, sizeof text, "%s requests/s; %s of the requests met all objectives",
		         show_number(figure_at(goodput, "requests_per_s"), a), show_percent(figure_at(goodput, "share"), b));
		buffer_format(page->out, "<p>%s.</p>\n", text);
	}
	if (figure_at(goodput, "unmeasured") > 0)
		buffer_format(page->out, "<p>%s excluded: not streamed.</p>\n",
		              show_count((int64_t)figure_at(goodput, "unmeasured"), a));
	if (figure_at(goodput, "left_out") > 0)
		buffer_format(page->out, "<p>%s excluded: disconnected on purpose.</p>\n",
		              show_count((int64_t)figure_at(goodput, "left_out"), a));
	if (!json_at(goodput, "objectives"))
		return;
	struct html_table t = {.out = page->out, .name = "objectives", .columns = columns, .count = 5};
	html_table_begin(&t, "Objectives");
	json_array_foreach(json_at(goodput, "objectives"), i, objective) objective_row(&t, objective);
	html_table_end(&t);
}

void section_errors(const struct page *page)
{
	if (figures_requests(&page->report->figures->total) == 0)
		return;
	show_failures(page);
	show_reasons(page);
	show_goodput(page);
}
