#include "compare/compare_format.h"

#include "compare/compare_document.h"
#include "compare/compare_json.h"
#include "compare/compare_junit.h"
#include "document/document_md.h"
#include "html/document_html.h"

#include <string.h>

static int append(const char *bytes, size_t len, void *out)
{
	buffer_append(out, bytes, len);
	return 0;
}

static void render_json(const struct comparison *c, const struct compare_style *style, struct buffer *out)
{
	(void)style;
	json_t *json = compare_json(c);
	if (json_dump_callback(json, append, out, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) < 0)
		out->failed = true;
	buffer_byte(out, '\n');
	json_decref(json);
}

static void render_junit(const struct comparison *c, const struct compare_style *style, struct buffer *out)
{
	(void)style;
	compare_junit(c, out);
}

static void render_text(const struct comparison *c, const struct compare_style *style, struct buffer *out)
{
	struct document d = {0};
	compare_document(&d, c);
	document_text(&d, &style->text, out);
	document_release(&d);
}

static void render_md(const struct comparison *c, const struct compare_style *style, struct buffer *out)
{
	struct document d = {0};
	(void)style;
	compare_document(&d, c);
	document_md(&d, out);
	document_release(&d);
}

static void render_html(const struct comparison *c, const struct compare_style *style, struct buffer *out)
{
	struct document d = {0};
	(void)style;
	compare_document(&d, c);
	document_html(&d, out);
	document_release(&d);
}

static const struct {
	const char *name;
	void (*render)(const struct comparison *c, const struct compare_style *style, struct buffer *out);
} formats[] = {
	{"text", render_text}, {"json", render_json}, {"md", render_md}, {"html", render_html}, {"junit", render_junit}};

const char *const compare_format_names[] = {"text", "json", "md", "html", "junit", NULL};

bool compare_has_format(const char *name)
{
	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
		if (strcmp(formats[i].name, name) == 0)
			return true;
	return false;
}

void compare_render(const struct comparison *c, const char *name, const struct compare_style *style, struct buffer *out)
{
	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
		if (strcmp(formats[i].name, name) == 0)
			formats[i].render(c, style, out);
}
