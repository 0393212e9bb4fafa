/* A saved report of any shape, in all formats for people: no absent value is read, and the output has no control
 * characters, whatever the JSON says. */
#include "document/document_md.h"
#include "document/document_text.h"
#include "html/document_html.h"
#include "html/plot_values.h"
#include "sections/sections.h"
#include "utf8.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
	if (!holds)
		abort();
}

/* No control characters but line ends, and the tabs of a page's script, and no bytes that are not UTF-8. */
static void check_characters(const struct buffer *out, bool page)
{
	must(!out->failed);
	for (size_t i = 0, bytes; i < out->len; i += bytes) {
		const unsigned char *at = (const unsigned char *)out->data + i;
		bytes = utf8_character(out->data + i, out->len - i);
		must(bytes > 0 && (*at >= ' ' || *at == '\n' || (page && *at == '\t')) && *at != 0x7f);
		must(!(bytes == 2 && at[0] == 0xc2 && at[1] < 0xa0));
		must(!(bytes == 3 && at[0] == 0xe2 && at[1] == 0x80 && (at[2] >= 0xaa && at[2] <= 0xae)));
	}
}

/* No element but ours: texts from outside are in references. */
static void check_page(const struct buffer *out)
{
	static const char script[] = "<script";
	int scripts = 0;
	for (size_t i = 0; i + sizeof script < out->len; i++)
		scripts += memcmp(out->data + i, script, sizeof script - 1) == 0;
	must(out->len == 0 || scripts == 1);
}

/* The values of plots are one element, in which none can begin. */
static void check_values(json_t *report)
{
	static const char end[] = "</script>\n";
	struct buffer out = {0};
	plot_values_write(json_object_get(report, "plots"), json_object_get(report, "outliers"), &out);
	for (size_t i = 1; i + sizeof end - 1 < out.len; i++)
		must(out.data[i] != '<');
	must(out.len == 0 || memcmp(out.data + out.len - (sizeof end - 1), end, sizeof end - 1) == 0);
	buffer_release(&out);
}

static void show(json_t *report, struct report_view view, const struct text_style *style)
{
	struct document d = {0};
	struct buffer text = {0}, md = {0}, html = {0};
	struct ipf_error err = {0};
	must(report_document(&d, report, &view, &err) == 0);
	document_text(&d, style, &text);
	check_characters(&text, false);
	document_md(&d, &md);
	check_characters(&md, false);
	document_html(&d, &html);
	check_characters(&html, true);
	check_page(&html);
	buffer_release(&text);
	buffer_release(&md);
	buffer_release(&html);
	document_release(&d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct text_style plain = {.width = 80}, narrow = {.width = 40, .ascii = true};
	json_t *report = json_loadb((const char *)data, size, JSON_REJECT_DUPLICATES, NULL);
	if (report) {
		show(report, (struct report_view){.brief = true}, &plain);
		show(report, (struct report_view){.brief = false}, &narrow);
		show(report, (struct report_view){.brief = true, .sections = "server,cache,errors,run"}, &plain);
	}
	check_values(report);
	json_decref(report);
	return 0;
}
