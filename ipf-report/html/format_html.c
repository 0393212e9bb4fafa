/* -f html: one page. The verdict comes first; figures are those of the JSON report. */
#include "formats/json_report.h"
#include "html/html_page.h"
#include "html/html_plots.h"
#include "html/html_text.h"
#include "html/json_path.h"
#include "html/sections.h"

#include <string.h>

static const struct section {
	const char *id, *title;
	void (*show)(const struct page *page);
} sections[] = {
	{"verdict", "Verdict", section_verdict},
	{"summary", "Summary", section_summary},
	{"stages", "Stages", section_stages},
	{"plots", "Plots", section_plots},
	{"latency", "Latency", section_latency},
	{"repeats", "Repeats", section_repeats},
	{"saturation", "Saturation", section_saturation},
	{"autoscaling", "Autoscaling", section_autoscaling},
	{"sessions", "Sessions", section_sessions},
	{"fidelity", "Fidelity", section_fidelity},
	{"cache", "Prefix cache", section_cache},
	{"tokens", "Tokens", section_tokens},
	{"server", "Server", section_server},
	{"accelerators", "Accelerators", section_accelerators},
	{"cost", "Cost", section_cost},
	{"errors", "Errors and goodput", section_errors},
	{"accuracy", "Accuracy", section_accuracy},
	{"run", "Run", section_run},
	{"commands", "Commands", section_commands},
	{"provenance", "Provenance", section_provenance},
	{"definitions", "Definitions", section_definitions},
};
enum { SECTIONS = sizeof sections / sizeof *sections };

/* What the run is called: its name, or model and target. */
static void show_name(struct buffer *out, const struct page *page)
{
	const char *name = text_at(page->json, "run/name"), *model = text_at(page->json, "run/model"),
			   *target = text_at(page->json, "run/target");
	const char *host = target && strstr(target, "://") ? strstr(target, "://") + 3 : NULL;
	html_text(out, name ? name : model ? model : "ipf report");
	if (!name && model && host) {
		buffer_text(out, " at ");
		html_slice(out, (struct slice){host, strcspn(host, "/")});
	}
}

static void name_page(struct html_page *to, const struct page *page)
{
	const char *started = text_at(page->json, "run/started"), *target = text_at(page->json, "run/target");
	buffer_format(&to->title, "%s: ", verdict_status_name(page->report->finding->status));
	show_name(&to->title, page);
	show_name(&to->heading, page);
	html_text(&to->when, target);
	if (started) {
		buffer_text(&to->when, target ? ", started " : "started ");
		html_text(&to->when, started);
	}
}

static void render_html(const struct report *report, struct buffer *out)
{
	struct html_section list[SECTIONS];
	struct html_page frame = {.kind = "ipf report", .plots = report->plots && report->plots->count};
	struct page page = {.report = report, .json = report_json(report)};
	for (int i = 0; i < SECTIONS; i++) {
		list[i] = (struct html_section){.id = sections[i].id, .title = sections[i].title};
		page.out = &list[i].body;
		sections[i].show(&page);
	}
	name_page(&frame, &page);
	html_page_write(&frame, list, SECTIONS, out);
	json_decref(page.json);
}

const struct report_format format_html = {.render = render_html, .groups = true, .all_groups = true, .plots = true};
