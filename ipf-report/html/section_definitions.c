#include "html/sections.h"

#include "formats/definitions.h"
#include "html/html_text.h"

#include <string.h>

static void show_rules(const struct page *page)
{
	const char *about, *rule, *before = "";
	buffer_text(
		page->out,
		"<h3>Verdict</h3>\n<p>OK, DOUBTFUL or INVALID, or UNKNOWN if it cannot be judged; the run has the worst verdict of its checks.</p>\n"
		"<dl class=\"definitions\">\n");
	for (size_t i = 0; (rule = verdict_rule(i, &about)) != NULL; i++) {
		if (about != before) {
			buffer_text(page->out, "<dt>");
			html_text(page->out, about);
			buffer_text(page->out, "</dt>");
		}
		buffer_text(page->out, "<dd>");
		html_prose(page->out, rule);
		buffer_text(page->out, "</dd>\n");
		before = about;
	}
	buffer_text(page->out, "</dl>\n");
}

/* An id of a name that is defined twice belongs to the first. */
static bool is_first(size_t definition, const char *name)
{
	const char *other;
	for (size_t i = 0; i < definition; i++) {
		definition_at(i, &other);
		if (other && strcmp(other, name) == 0)
			return false;
	}
	return true;
}

void section_definitions(const struct page *page)
{
	const char *name, *text;
	bool open = false;
	for (size_t i = 0; (text = definition_at(i, &name)) != NULL; i++) {
		if (!name) {
			buffer_text(page->out, open ? "</dl>\n<h3>" : "<h3>");
			html_prose(page->out, text);
			buffer_text(page->out, "</h3>\n<dl class=\"definitions\">\n");
			open = true;
			continue;
		}
		buffer_text(page->out, "<dt");
		if (is_first(i, name)) {
			buffer_text(page->out, " id=\"def-");
			html_id(page->out, name);
			buffer_byte(page->out, '"');
		}
		buffer_byte(page->out, '>');
		html_text(page->out, name);
		buffer_text(page->out, "</dt><dd>");
		html_prose(page->out, text);
		buffer_text(page->out, "</dd>\n");
	}
	if (open)
		buffer_text(page->out, "</dl>\n");
	show_rules(page);
}
