#include "html/sections.h"

#include "html/html_text.h"

#include <stdio.h>
#include <string.h>

void facts_begin(const struct page *page)
{
	buffer_text(page->out, "<dl class=\"facts\">\n");
}

void fact(const struct page *page, const char *name, const char *value)
{
	if (!value)
		return;
	buffer_text(page->out, "<dt>");
	html_text(page->out, name);
	buffer_text(page->out, "</dt><dd>");
	html_text(page->out, value);
	buffer_text(page->out, "</dd>\n");
}

void facts_end(const struct page *page)
{
	buffer_text(page->out, "</dl>\n");
}

const char *spaced(const char *name, char text[64])
{
	snprintf(text, 64, "%.60s", name);
	for (char *c = text; *c; c++)
		*c = *c == '_' ? ' ' : *c;
	return text;
}

const char *metric_definition(const char *name, char text[40])
{
	size_t len = strlen(name);
	bool ms = len > 3 && strcmp(name + len - 3, "_ms") == 0;
	snprintf(text, 40, "%.*s", (int)(len - (ms ? 3 : 0)), name);
	return text;
}

const char *metric_label(const char *name, char text[40])
{
	static const struct {
		const char *name, *label;
	} known[] = {
		{"ttfb", "TTFB"},
		{"ttft", "TTFT"},
		{"ttfa", "TTFA"},
		{"ttst", "TTST"},
		{"e2e", "E2E"},
		{"tpot", "TPOT"},
		{"tpot_corrected", "TPOT, corrected"},
		{"ntpot", "NTPOT"},
		{"itl", "ITL"},
		{"itl_mean", "ITL, mean of a request"},
		{"itl_max", "ITL, longest of a request"},
		{"server_ttft", "TTFT"},
		{"server_tpot", "TPOT"},
	};
	metric_definition(name, text);
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (strcmp(known[i].name, text) == 0) {
			snprintf(text, 40, "%s", known[i].label);
			return text;
		}
	if (strncmp(text, "server_", 7) == 0)
		memmove(text, text + 7, strlen(text) - 6);
	for (char *c = text; *c; c++)
		*c = *c == '_' ? ' ' : *c;
	return text;
}
