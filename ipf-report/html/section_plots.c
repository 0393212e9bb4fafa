#include "html/sections.h"

#include "html/html_plots.h"

void section_plots(const struct page *page)
{
	const struct html_plots *plots = page->report->plots;
	if (!plots || plots->count == 0)
		return;
	buffer_text(page->out, "<div class=\"plots\">\n");
	buffer_slice(page->out, buffer_all(&plots->figures));
	buffer_text(page->out, "</div>\n");
}
