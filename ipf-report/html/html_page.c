#include "html/html_page.h"

#include "base64.h"
#include "html/page_files.h"
#include "plots/svg_finish.h"
#include "version.h"

#include <openssl/evp.h>

/* In this order: each uses the ones before. */
static const char *const scripts_of_plots[] = {page_plot_values_js, page_plot_requests_js, page_plot_stops_js,
                                               page_plot_probe_js,  page_plot_series_js,   page_plot_range_js};

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

static void put(struct buffer *out, const struct buffer *part)
{
	buffer_slice(out, buffer_all(part));
	out->failed |= part->failed;
}

/* Only a page with plots has the script for them. */
static void put_script(struct buffer *out, const struct html_page *page)
{
	buffer_text(out, page_tables_js);
	for (size_t i = 0; page->plots && i < sizeof scripts_of_plots / sizeof *scripts_of_plots; i++)
		buffer_text(out, scripts_of_plots[i]);
}

static void put_head(struct buffer *out, const struct html_page *page, const struct buffer *script)
{
	struct buffer style = {0};
	buffer_text(&style, page_report_css);
	if (page->plots) {
		buffer_text(&style, page_plots_css);
		svg_style(&style);
	}
	buffer_text(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	                 "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src");
	allow(out, buffer_all(&style));
	buffer_text(out, "; script-src");
	allow(out, buffer_all(script));
	buffer_text(
		out, "; base-uri 'none'; form-action 'none'\">\n"
			 "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
			 "<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"generator\" content=\"ipf-report\">\n"
			 "<title>");
	put(out, &page->title);
	buffer_text(out, "</title>\n<style>");
	put(out, &style);
	buffer_text(out, "</style>\n</head>\n<body>\n");
	buffer_release(&style);
}

static void put_contents(struct buffer *out, const struct html_section *sections, int count)
{
	buffer_text(out, "<nav aria-label=\"Sections\"><ul>\n");
	for (int i = 0; i < count; i++)
		if (sections[i].body.len)
			buffer_format(out, "<li><a href=\"#%s\">%s</a></li>\n", sections[i].id, sections[i].title);
	buffer_text(out, "</ul></nav>\n");
}

static void put_section(struct buffer *out, const struct html_section *section)
{
	if (section->body.len) {
		buffer_format(out, "<section id=\"%s\" aria-labelledby=\"%s-title\">\n<h2 id=\"%s-title\">%s</h2>\n",
		              section->id, section->id, section->id, section->title);
		put(out, &section->body);
		buffer_text(out, "</section>\n");
	}
	out->failed |= section->body.failed;
}

void html_page_write(struct html_page *page, struct html_section *sections, int count, struct buffer *out)
{
	int first = 0;
	struct buffer script = {0};
	while (first + 1 < count && sections[first].body.len == 0)
		first++;
	put_script(&script, page);
	put_head(out, page, &script);
	buffer_format(out, "<a class=\"skip\" href=\"#%s\">To the %s</a>\n<header>\n<p class=\"kind\">%s</p>\n<h1>",
	              sections[first].id, sections[first].id, page->kind);
	put(out, &page->heading);
	buffer_text(out, "</h1>\n<p class=\"when\">");
	put(out, &page->when);
	buffer_text(out, "</p>\n</header>\n");
	put_contents(out, sections, count);
	buffer_text(out, "<main>\n");
	for (int i = 0; i < count; i++)
		put_section(out, &sections[i]);
	buffer_text(out,
	            "</main>\n<footer><p>Made by ipf-report " IPF_VERSION ". This page loads nothing and sends nothing."
	            "</p></footer>\n<script>");
	put(out, &script);
	buffer_text(out, "</script>\n</body>\n</html>\n");
	buffer_release(&script);
	buffer_release(&page->title);
	buffer_release(&page->heading);
	buffer_release(&page->when);
	for (int i = 0; i < count; i++)
		buffer_release(&sections[i].body);
}
