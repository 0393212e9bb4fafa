/* The frame of a page: its head, heading, contents, sections and foot. It needs no network and is readable without
 * script.
 *
 *     struct html_section sections[] = {{"verdict", "Verdict", {0}}, {"figures", "Figures", {0}}};
 *     html_text(&sections[0].body, …);
 *     html_page_write(&(struct html_page){.kind = "ipf report", .title = …}, sections, 2, out);      // releases bodies
 *
 * The page's Content-Security-Policy allows its own style and script by their digests and nothing else: no text in the
 * page could load or run anything, even if its escaping had a fault.
 */
#ifndef REPORT_HTML_PAGE_H
#define REPORT_HTML_PAGE_H

#include "buffer.h"

#include <stdbool.h>

struct html_page {
	const char *kind;                   /* its kind, above its heading */
	struct buffer title, heading, when; /* HTML without elements; `when` is below the heading */
	bool plots;                         /* it has those of gnuplot, which need a style of their own */
};

struct html_section {
	const char *id, *title;
	struct buffer body; /* empty: the page has no such section */
};

/* Appends the page and releases its buffers and those of the sections. A reader can skip to its first section. */
void html_page_write(struct html_page *page, struct html_section *sections, int count, struct buffer *out);

#endif
