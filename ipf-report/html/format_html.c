/* -f html: one page that needs no network and is readable without script. The verdict comes first; figures are those of
 * the JSON report.
 *
 * The page's Content-Security-Policy allows its own style and script by their digests and nothing else: no text in the
 * page could load or run anything, even if its escaping had a fault. */
#include "base64.h"
#include "formats/json_report.h"
#include "html/html_plots.h"
#include "html/html_text.h"
#include "html/json_path.h"
#include "html/page_files.h"
#include "html/sections.h"
#include "version.h"

#include <openssl/evp.h>
#include <stdio.h>
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

/* The source expression that allows this text within an element: 'sha256-…' (W3C, Content Security Policy Level 3). */
static void allow(struct buffer *out, struct slice text)
{
	unsigned char digest[EVP_MAX_MD_SIZE];
	unsigned len = 0;
	if (EVP_Digest(text.data, text.len, digest, &len, EVP_sha256(), NULL) != 1)
		out->failed = true; /* OpenSSL ran out of memory */
	buffer_text(out, " 'sha256-");
	base64_encode((struct slice){(const char *)digest, len}, out);
	buffer_byte(out, '\'');
}

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

static void show_head(struct buffer *out, const struct page *page)
{
	struct buffer style = {0};
	buffer_text(&style, page_report_css);
	if (page->report->plots && page->report->plots->count)
		svg_style(&style);
	buffer_text(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	                 "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src");
	allow(out, buffer_all(&style));
	buffer_text(out, "; script-src");
	allow(out, slice_of(page_report_js));
	buffer_text(
		out, "; base-uri 'none'; form-action 'none'\">\n"
			 "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
			 "<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"generator\" content=\"ipf-report\">\n");
	buffer_format(out, "<title>%s: ", verdict_status_name(page->report->finding->status));
	show_name(out, page);
	buffer_text(out, "</title>\n<style>");
	buffer_slice(out, buffer_all(&style));
	buffer_text(out, "</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#verdict\">To the verdict</a>\n");
	out->failed |= style.failed;
	buffer_release(&style);
}

static void show_header(struct buffer *out, const struct page *page)
{
	const char *started = text_at(page->json, "run/started"), *target = text_at(page->json, "run/target");
	buffer_text(out, "<header>\n<p class=\"kind\">ipf report</p>\n<h1>");
	show_name(out, page);
	buffer_text(out, "</h1>\n<p class=\"when\">");
	html_text(out, target);
	if (started) {
		buffer_text(out, target ? ", started " : "started ");
		html_text(out, started);
	}
	buffer_text(out, "</p>\n</header>\n");
}

static void show_contents(struct buffer *out, const struct buffer *bodies)
{
	buffer_text(out, "<nav aria-label=\"Sections\"><ul>\n");
	for (int i = 0; i < SECTIONS; i++)
		if (bodies[i].len)
			buffer_format(out, "<li><a href=\"#%s\">%s</a></li>\n", sections[i].id, sections[i].title);
	buffer_text(out, "</ul></nav>\n");
}

static void render_html(const struct report *report, struct buffer *out)
{
	struct buffer bodies[SECTIONS] = {{0}};
	struct page page = {.report = report, .json = report_json(report)};
	for (int i = 0; i < SECTIONS; i++) {
		page.out = &bodies[i];
		sections[i].show(&page);
		out->failed |= bodies[i].failed;
	}
	show_head(out, &page);
	show_header(out, &page);
	show_contents(out, bodies);
	buffer_text(out, "<main>\n");
	for (int i = 0; i < SECTIONS; i++)
		if (bodies[i].len) {
			buffer_format(out, "<section id=\"%s\" aria-labelledby=\"%s-title\">\n<h2 id=\"%s-title\">%s</h2>\n",
			              sections[i].id, sections[i].id, sections[i].id, sections[i].title);
			buffer_slice(out, buffer_all(&bodies[i]));
			buffer_text(out, "</section>\n");
		}
	buffer_text(out,
	            "</main>\n<footer><p>Made by ipf-report " IPF_VERSION ". This page loads nothing and sends nothing."
	            "</p></footer>\n<script>");
	buffer_text(out, page_report_js);
	buffer_text(out, "</script>\n</body>\n</html>\n");
	for (int i = 0; i < SECTIONS; i++)
		buffer_release(&bodies[i]);
	json_decref(page.json);
}

const struct report_format format_html = {.render = render_html, .all_groups = true, .plots = true};
