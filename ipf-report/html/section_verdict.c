/* What a reader sees first: the verdict in a sentence, its four checks, and the figures that are compared most. */
#include "html/sections.h"

#include "formats/text_layout.h"
#include "html/html_text.h"
#include "html/json_path.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- verdict ---- */

static const char *const status_classes[] = {[VERDICT_OK] = "ok",
                                             [VERDICT_DOUBTFUL] = "doubtful",
                                             [VERDICT_INVALID] = "invalid",
                                             [VERDICT_UNKNOWN] = "doubtful"};

static void show_sentence(const struct page *page)
{
	const struct verdict_finding *finding = page->report->finding;
	int less = 0;
	for (int i = 0; i < VERDICT_QUESTIONS; i++)
		less += finding->checks[i].status != VERDICT_OK;
	buffer_format(page->out, "<p class=\"verdict %s\"><strong class=\"status\">%s</strong> ",
	              status_classes[finding->status], verdict_status_name(finding->status));
	if (finding->status == VERDICT_OK)
		buffer_text(page->out, "The figures can be trusted: all four checks passed.");
	else if (finding->status == VERDICT_DOUBTFUL)
		buffer_format(page->out, "Read the figures with care: %d of the four checks found cause for doubt.", less);
	else if (finding->status == VERDICT_UNKNOWN)
		buffer_text(page->out, "Whether the figures can be trusted is not known: not all checks could be made.");
	else
		buffer_text(page->out, "The figures do not answer what the run was to measure: a check failed.");
	buffer_text(page->out, "</p>\n");
}

void section_verdict(const struct page *page)
{
	static const char *const titles[VERDICT_QUESTIONS] = {"load delivered", "client headroom", "server answers",
	                                                      "enough samples"};
	const struct run_data *run = page->report->run;
	for (int i = 0; i < run->part_count; i++)
		if (run->parts[i].incomplete[0]) {
			buffer_text(page->out, "<p class=\"notice\"><strong>Incomplete:</strong> ");
			html_text(page->out, run->parts[i].incomplete);
			buffer_text(page->out, "</p>\n");
		}
	show_sentence(page);
	buffer_text(page->out, "<ul class=\"checks\">\n");
	for (int i = 0; i < VERDICT_QUESTIONS; i++) {
		const struct verdict_check *check = &page->report->finding->checks[i];
		buffer_format(page->out,
		              "<li class=\"%s\"><span class=\"name\">%s</span> <span class=\"status\">%s</span> "
		              "<span class=\"detail\">",
		              status_classes[check->status], titles[i], verdict_status_name(check->status));
		html_text(page->out, check->detail);
		buffer_text(page->out, "</span></li>\n");
	}
	buffer_text(page->out, "</ul>\n");
}

/* ---- summary ---- */

/* A figure with its unit; `more` is a line below it; NULL: none. */
static void tile(const struct page *page, const char *name, double value, const char *unit, const char *more)
{
	char text[40];
	if (isnan(value))
		return;
	bool whole = !*unit || strncmp(unit, "of ", 3) == 0;
	buffer_format(page->out, "<div><dt>%s</dt><dd><span class=\"value\" data-v=\"", name);
	buffer_format(page->out, isinf(value) ? "inf" : "%.15g", value);
	buffer_format(page->out, "\">%s</span> <span class=\"unit\">%s</span>",
	              whole ? show_count((int64_t)value, text) : show_number(value, text), unit);
	if (more) {
		buffer_text(page->out, "<span class=\"more\">");
		html_text(page->out, more);
		buffer_text(page->out, "</span>");
	}
	buffer_text(page->out, "</dd></div>\n");
}

/* The p50, or the first percentile that was chosen, and a higher one below it. */
static void latency_tile(const struct page *page, const char *label, json_t *summary, const char *origin)
{
	const struct percentiles *list = &page->report->options->percentiles;
	char name[80], low[24], high[24], more[120], a[40], b[40];
	int first = 0, last = list->count - 1;
	for (int i = 0; i < list->count; i++) {
		first = list->p[i] == 50 ? i : first;
		last = list->p[i] == 99 ? i : last;
	}
	if (list->count == 0 || !summary)
		return;
	percentile_name(list->p[first], low);
	percentile_name(list->p[last], high);
	snprintf(name, sizeof name, "%s%s, %s", label, origin, low);
	snprintf(more, sizeof more, "%s %s, mean %s", high, show_number(figure_at(summary, high), a),
	         show_number(figure_at(summary, "mean"), b));
	tile(page, name, figure_at(summary, low), "ms", more);
}

static void waited_tile(const struct page *page, const char *label, const char *metric)
{
	char path[80];
	snprintf(path, sizeof path, "total/latency/%s/from_due", metric);
	json_t *due = json_at(page->json, path);
	snprintf(path, sizeof path, "total/latency/%s/from_start", metric);
	latency_tile(page, label, due ? due : json_at(page->json, path), due ? " from due" : " from start");
}

static void load_tiles(const struct page *page)
{
	json_t *total = json_at(page->json, "total");
	double ok = figure_at(total, "requests/ok"), failed = figure_at(total, "requests/failed");
	char unit[60], more[120], a[40], b[40];
	snprintf(unit, sizeof unit, "of %s", show_count((int64_t)(ok + failed), a));
	snprintf(more, sizeof more, failed > 0 ? "%s failed" : "none failed", show_count((int64_t)failed, b));
	tile(page, "successful requests", ok, unit, more);
	snprintf(more, sizeof more, "%s offered", show_number(figure_at(total, "rate/offered"), a));
	tile(page, "completed", figure_at(total, "rate/completed"), "requests/s",
	     isnan(figure_at(total, "rate/offered")) ? NULL : more);
	snprintf(more, sizeof more, "%s input tokens/s", show_number(figure_at(total, "throughput/input_tokens_per_s"), a));
	tile(page, "output", figure_at(total, "throughput/output_tokens_per_s"), "tokens/s",
	     isnan(figure_at(total, "throughput/input_tokens_per_s")) ? NULL : more);
	snprintf(more, sizeof more, "at most %s", show_count((int64_t)figure_at(total, "in_flight/max"), a));
	tile(page, "in flight, mean", figure_at(total, "in_flight/mean"), "requests",
	     isnan(figure_at(total, "in_flight/max")) ? NULL : more);
}

void section_summary(const struct page *page)
{
	char more[80], a[40];
	json_t *total = json_at(page->json, "total");
	buffer_text(page->out, "<dl class=\"summary\">\n");
	load_tiles(page);
	waited_tile(page, "TTFT", "ttft_ms");
	latency_tile(page, "ITL", json_at(total, "latency/itl_ms"), "");
	latency_tile(page, "TPOT", json_at(total, "latency/tpot_ms"), "");
	waited_tile(page, "E2E", "e2e_ms");
	snprintf(more, sizeof more, "%s of the requests", show_percent(figure_at(total, "goodput/share"), a));
	tile(page, "goodput", figure_at(total, "goodput/requests_per_s"), "requests/s", more);
	tile(page, "capacity", figure_at(page->json, "saturation/requests_per_s"), "requests/s", NULL);
	buffer_text(page->out, "</dl>\n");
}
