#include "html/html_table.h"

#include "html/html_text.h"

#include <math.h>
#include <string.h>

enum { WIDE = 9 }; /* columns: narrower, and smaller on paper */

static int group_length(const struct doc_table_spec *s, int from)
{
	int i = from + 1;
	while (i < s->count && s->columns[i].group && s->columns[from].group &&
	       strcmp(s->columns[i].group, s->columns[from].group) == 0)
		i++;
	return i - from;
}

static void show_groups(struct buffer *out, const struct doc_table_spec *s)
{
	bool any = false;
	for (int i = 0; i < s->count; i++)
		any |= s->columns[i].group != NULL;
	if (!any)
		return;
	buffer_text(out, "<tr><td></td>");
	for (int i = 0; i < s->count; i += group_length(s, i)) {
		if (!s->columns[i].group) {
			buffer_text(out, "<td></td>");
			continue;
		}
		buffer_format(out, "<th scope=\"colgroup\" colspan=\"%d\">", group_length(s, i));
		html_text(out, s->columns[i].group);
		buffer_text(out, "</th>");
	}
	buffer_text(out, "</tr>\n");
}

/* `again`: the caption is the heading of the section, and only for those who do not see it. */
static void begin(struct buffer *out, const struct doc_table_spec *s, bool again)
{
	bool wide = s->count >= WIDE;
	/* the section of that name is the landmark then */
	buffer_format(out, "<div class=\"box\" role=\"%s\" aria-labelledby=\"", again ? "group" : "region");
	html_id(out, s->id);
	buffer_text(out, "-caption\" tabindex=\"0\"><table id=\"");
	html_id(out, s->id);
	buffer_text(out, "-table\"");
	if (s->sortable || wide)
		buffer_format(out, " class=\"%s%s%s\"", s->sortable ? "sortable" : "", s->sortable && wide ? " " : "",
		              wide ? "wide" : "");
	buffer_text(out, ">\n<caption id=\"");
	html_id(out, s->id);
	buffer_text(out, again ? "-caption\" class=\"again\">" : "-caption\">");
	html_text(out, s->caption);
	buffer_text(out, "</caption>\n<thead>\n");
	show_groups(out, s);
	buffer_text(out, "<tr><th scope=\"col\">");
	html_text(out, s->rows);
	buffer_text(out, "</th>");
	for (int i = 0; i < s->count; i++) {
		buffer_text(out,
		            s->columns[i].kind == CELL_WORDS ? "<th scope=\"col\">" : "<th scope=\"col\" class=\"number\">");
		html_text(out, s->columns[i].name);
		if (s->columns[i].unit) {
			buffer_text(out, " <span class=\"unit\">");
			html_text(out, s->columns[i].unit);
			buffer_text(out, "</span>");
		}
		buffer_text(out, "</th>");
	}
	buffer_text(out, "</tr>\n</thead>\n<tbody>\n");
}

static void show_name(struct buffer *out, const struct doc_row *row)
{
	const char *remark = row->remark ? row->remark : row->aside ? "not measured" : NULL;
	buffer_text(out, row->aside ? "<tr class=\"aside\"><th scope=\"row\">" : "<tr><th scope=\"row\">");
	if (row->definition) {
		buffer_text(out, "<a href=\"#def-");
		html_id(out, row->definition);
		buffer_text(out, "\">");
	}
	html_text(out, row->name);
	if (row->definition)
		buffer_text(out, "</a>");
	if (remark) {
		buffer_text(out, " <span class=\"soft\">");
		html_text(out, remark);
		buffer_text(out, "</span>");
	}
	buffer_text(out, "</th>");
}

static void show_words(struct buffer *out, const struct doc_cell *cell)
{
	const char *class = html_tone(cell->tone);
	buffer_text(out, "<td class=\"text\">");
	if (*class)
		buffer_format(out, "<span class=\"%s\">", class);
	html_text(out, cell->text);
	buffer_text(out, *class ? "</span></td>" : "</td>");
}

/* An absent figure is a dash for the eye, which is read as "minus" or not read. */
static void show_figure(struct buffer *out, const struct doc_cell *cell)
{
	buffer_format(out, "<td class=\"number%s\"", cell->tone == TONE_BAD ? " bad" : "");
	if (cell->text && isinf(cell->value))
		buffer_text(out, " data-v=\"inf\"");
	else if (cell->text && !isnan(cell->value))
		buffer_format(out, " data-v=\"%.15g\"", cell->value);
	buffer_byte(out, '>');
	if (cell->text)
		html_text(out, cell->text);
	else
		buffer_text(out, "<span class=\"soft\">–</span>");
	buffer_text(out, cell->weak ? "<span class=\"weak\">~</span></td>" : "</td>");
}

void html_table(struct buffer *out, const struct doc_table *t, const char *title)
{
	bool foot = false;
	if (t->count == 0)
		return;
	begin(out, &t->spec, strcmp(t->spec.caption, title) == 0);
	for (size_t i = 0; i < t->count; i++) {
		const struct doc_row *row = &t->rows[i];
		if (row->total && !foot)
			buffer_text(out, "</tbody>\n<tfoot>\n");
		foot |= row->total;
		show_name(out, row);
		for (int k = 0; k < t->spec.count; k++)
			if (t->spec.columns[k].kind == CELL_WORDS)
				show_words(out, &row->cells[k]);
			else
				show_figure(out, &row->cells[k]);
		buffer_text(out, "</tr>\n");
	}
	buffer_text(out, foot ? "</tfoot>\n</table></div>\n" : "</tbody>\n</table></div>\n");
	if (t->weak)
		buffer_text(out, "<p class=\"note\">" DOC_WEAK "</p>\n");
	if (t->left_out)
		buffer_format(out, "<p class=\"note\">The first %zu of %zu; the JSON report has all.</p>\n", t->count,
		              t->count + t->left_out);
}
