/* -f text, html and md: the JSON report as a document, drawn by a renderer each. */
#include "formats/formats_for_people.h"

#include "document/document_md.h"
#include "json_report/json_report.h"
#include "html/document_html.h"
#include "html/html_plots.h"
#include "sections/sections.h"

void render_for_people(json_t *json, const struct report_view *view, const struct people_style *style,
                       struct buffer *out)
{
	struct document d = {0};
	struct ipf_error ignored = {0}; /* names of sections have been checked */
	if (report_document(&d, json, view, &ignored) < 0)
		out->failed = true;
	else if (style->format == &format_html)
		document_html(&d, out);
	else if (style->format == &format_md)
		document_md(&d, out);
	else
		document_text(&d, &style->text, out);
	document_release(&d);
}

static void render(const struct report *report, const struct report_format *format, struct buffer *out)
{
	struct report_view view = *report->view;
	json_t *json = report_json_members(report, report->members);
	if (report->plots && report->plots->count)
		view.pictures = report->plots->figures.data;
	render_for_people(json, &view, &(struct people_style){format, *report->style}, out);
	json_decref(json);
}

static void render_text(const struct report *report, struct buffer *out)
{
	render(report, &format_text, out);
}

static void render_md(const struct report *report, struct buffer *out)
{
	render(report, &format_md, out);
}

static void render_html(const struct report *report, struct buffer *out)
{
	render(report, &format_html, out);
}

const struct report_format format_text = {
	.render = render_text, .predicted = true, .sections = true, .groups = true, .all_groups = true};
const struct report_format format_md = {
	.render = render_md, .predicted = true, .sections = true, .groups = true, .all_groups = true};
const struct report_format format_html = {.predicted = true,
                                          .render = render_html,
                                          .sections = true,
                                          .groups = true,
                                          .all_groups = true,
                                          .plots = true,
                                          .drawn = true};
