#include "html/document_html.h"

#include "html/html_page.h"
#include "html/html_table.h"
#include "html/html_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Elements around neighbours of one kind. */
static const struct {
	const char *before, *after;
} lists[] = {
	[PART_FACT] = {"<dl class=\"facts\">\n", "</dl>\n"},
	[PART_ITEM] = {"<ul class=\"plain\">\n", "</ul>\n"},
	[PART_CHECK] = {"<ul class=\"checks\">\n", "</ul>\n"},
	[PART_TILE] = {"<dl class=\"summary\">\n", "</dl>\n"},
	[PART_COMMAND] = {"<pre class=\"commands\">", "</pre>\n"},
	[PART_TERM] = {"<dl class=\"definitions\">\n", "</dl>\n"},
	[PART_PICTURES] = {NULL, NULL},
	[PART_TABLE] = {NULL, NULL},
};

static void show_fact(struct buffer *out, const struct doc_part *part)
{
	const char *class = html_tone(part->tone);
	buffer_text(out, "<dt>");
	html_text(out, part->label);
	buffer_text(out, "</dt><dd>");
	if (*class)
		buffer_format(out, "<span class=\"%s\">", class);
	html_text(out, part->text);
	buffer_text(out, *class ? "</span>" : "");
	if (part->hint) {
		buffer_text(out, " <span class=\"soft\">");
		html_text(out, part->hint);
		buffer_text(out, "</span>");
	}
	buffer_text(out, "</dd>\n");
}

static void show_check(struct buffer *out, const struct doc_part *part)
{
	buffer_format(out, "<li class=\"%s\"><span class=\"name\">", html_tone(part->tone));
	html_text(out, part->label);
	buffer_text(out, "</span> <span class=\"status\">");
	html_text(out, part->status);
	buffer_text(out, "</span> <span class=\"detail\">");
	size_t decides = part->text && part->hint ? strlen(part->hint) : 0;
	if (decides > 0 && strncmp(part->text, part->hint, decides) != 0)
		decides = 0;
	if (decides > 0) {
		buffer_text(out, "<strong>");
		html_slice(out, (struct slice){part->text, decides});
		buffer_text(out, "</strong>");
	}
	html_text(out, part->text ? part->text + decides : NULL);
	buffer_text(out, "</span></li>\n");
}

static void show_tile(struct buffer *out, const struct doc_part *part)
{
	buffer_text(out, "<div><dt>");
	html_text(out, part->label);
	buffer_format(out,
	              isinf(part->value) ? "</dt><dd><span class=\"value\" data-v=\"inf\">"
	                                 : "</dt><dd><span class=\"value\" data-v=\"%.15g\">",
	              part->value);
	html_text(out, part->text);
	buffer_text(out, "</span> <span class=\"unit\">");
	html_text(out, part->unit);
	buffer_text(out, "</span>");
	if (part->hint) {
		buffer_text(out, "<span class=\"more\">");
		html_text(out, part->hint);
		buffer_text(out, "</span>");
	}
	buffer_text(out, "</dd></div>\n");
}

/* A paragraph. With a status it is the sentence a page begins with. */
static void show_paragraph(struct buffer *out, const struct doc_part *part)
{
	const char *class = html_tone(part->tone);
	if (part->status)
		buffer_format(out, "<p class=\"verdict %s\"><strong class=\"status\">", class);
	else
		buffer_text(out, part->kind == PART_NOTE ? "<p class=\"note\">" : part->label ? "<p class=\"notice\">" : "<p>");
	html_text(out, part->status);
	if (part->status)
		buffer_text(out, "</strong> ");
	if (part->label) {
		buffer_text(out, "<strong>");
		html_text(out, part->label);
		buffer_text(out, "</strong> ");
	}
	html_prose(out, part->text);
	buffer_text(out, "</p>\n");
}

static void show_term(struct buffer *out, const struct doc_part *part)
{
	buffer_text(out, "<dt");
	if (part->unit) {
		buffer_text(out, " id=\"def-");
		html_id(out, part->unit);
		buffer_byte(out, '"');
	}
	buffer_byte(out, '>');
	html_text(out, part->label);
	buffer_text(out, "</dt><dd>");
	html_prose(out, part->text);
	buffer_text(out, "</dd>\n");
}

static void show_code(struct buffer *out, const struct doc_part *part)
{
	buffer_text(out, "<details><summary>");
	html_text(out, part->label);
	buffer_text(out, "</summary><pre tabindex=\"0\">");
	html_lines(out, slice_of(part->text));
	buffer_text(out, "</pre></details>\n");
}

static void wrap(struct buffer *out, const char *before, const char *text, const char *after)
{
	buffer_text(out, before);
	html_prose(out, text);
	buffer_text(out, after);
}

static void show_part(struct buffer *out, const struct doc_part *part, const char *title)
{
	switch (part->kind) {
	case PART_FACT:
		show_fact(out, part);
		break;
	case PART_CHECK:
		show_check(out, part);
		break;
	case PART_TILE:
		show_tile(out, part);
		break;
	case PART_TERM:
		show_term(out, part);
		break;
	case PART_CODE:
		show_code(out, part);
		break;
	case PART_TABLE:
		html_table(out, part->table, title);
		break;
	case PART_HEADING:
		wrap(out, "<h3>", part->text, "</h3>\n");
		break;
	case PART_ITEM:
		wrap(out, "<li>", part->text, "</li>\n");
		break;
	case PART_COMMAND:
		buffer_text(out, "<code>");
		html_text(out, part->text);
		buffer_text(out, "</code>");
		break;
	case PART_PICTURES:
		buffer_text(out, "<div class=\"");
		html_text(out, part->label);
		buffer_format(out, "\">\n%s</div>\n", part->text);
		break;
	default:
		show_paragraph(out, part);
	}
}

static void show_section(struct buffer *out, const struct doc_section *s)
{
	const struct doc_part *before = NULL;
	for (size_t i = 0; i <= s->count; i++) {
		const struct doc_part *part = i < s->count ? &s->parts[i] : NULL;
		if (part && (!(part->media & IN_PAGE) || part->kind == PART_LEVELS))
			continue;
		if (before && (!part || part->kind != before->kind) && lists[before->kind].after)
			buffer_text(out, lists[before->kind].after);
		if (part && (!before || part->kind != before->kind) && lists[part->kind].before)
			buffer_text(out, lists[part->kind].before);
		if (part)
			show_part(out, part, s->title ? s->title : "");
		before = part;
	}
}

void document_html(const struct document *d, struct buffer *out)
{
	struct html_section *list = calloc(d->count + 1, sizeof *list);
	struct html_page page = {.kind = d->kind, .plots = d->plots};
	for (size_t i = 0; list && i < d->count; i++) {
		list[i] = (struct html_section){.id = d->sections[i].id, .title = d->sections[i].title};
		show_section(&list[i].body, &d->sections[i]);
	}
	html_text(&page.title, d->title);
	html_text(&page.heading, d->heading);
	html_text(&page.when, d->when);
	if (list && d->count)
		html_page_write(&page, list, (int)d->count, out);
	out->failed |= !list || d->failed;
	free(list);
}
