#include "html/html_table.h"

#include "figures/metric_summary.h"
#include "formats/text_layout.h"
#include "html/html_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- columns ---- */

static void show_unit(struct buffer *out, const struct html_column *column)
{
	if (column->unit) {
		buffer_text(out, " <span class=\"unit\">");
		html_text(out, column->unit);
		buffer_text(out, "</span>");
	}
}

static int group_length(const struct html_table *t, int from)
{
	int i = from + 1;
	while (i < t->count && t->columns[i].group && t->columns[from].group &&
	       strcmp(t->columns[i].group, t->columns[from].group) == 0)
		i++;
	return i - from;
}

static void show_groups(const struct html_table *t)
{
	buffer_text(t->out, "<tr>");
	for (int i = 0; i < t->count; i += group_length(t, i)) {
		if (!t->columns[i].group) {
			buffer_text(t->out, "<td></td>");
			continue;
		}
		buffer_format(t->out, "<th scope=\"colgroup\" colspan=\"%d\">", group_length(t, i));
		html_text(t->out, t->columns[i].group);
		buffer_text(t->out, "</th>");
	}
	buffer_text(t->out, "</tr>\n");
}

void html_table_begin(struct html_table *t, const char *caption)
{
	bool groups = false;
	for (int i = 0; i < t->count; i++)
		groups |= t->columns[i].group != NULL;
	buffer_format(t->out,
	              "<div class=\"box\" role=\"region\" aria-labelledby=\"%s-caption\" tabindex=\"0\"><table "
	              "id=\"%s-table\"%s>\n<caption id=\"%s-caption\">",
	              t->name, t->name,
	              t->sortable ? t->wide ? " class=\"sortable wide\"" : " class=\"sortable\""
	              : t->wide   ? " class=\"wide\""
	                          : "",
	              t->name);
	html_text(t->out, caption);
	buffer_text(t->out, "</caption>\n<thead>\n");
	if (groups)
		show_groups(t);
	buffer_text(t->out, "<tr>");
	for (int i = 0; i < t->count; i++) {
		buffer_text(t->out,
		            i > 0 && !t->columns[i].text ? "<th scope=\"col\" class=\"number\">" : "<th scope=\"col\">");
		html_text(t->out, t->columns[i].name);
		show_unit(t->out, &t->columns[i]);
		buffer_text(t->out, "</th>");
	}
	buffer_text(t->out, "</tr>\n</thead>\n<tbody>\n");
}

/* ---- rows ---- */

void html_row_defined(struct html_table *t, const char *name, const char *definition, const char *remark)
{
	buffer_text(t->out, remark && strcmp(remark, "not measured") == 0 ? "<tr class=\"aside\">" : "<tr>");
	buffer_text(t->out, "<th scope=\"row\">");
	if (definition) {
		buffer_text(t->out, "<a href=\"#def-");
		html_id(t->out, definition);
		buffer_text(t->out, "\">");
	}
	html_text(t->out, name);
	if (definition)
		buffer_text(t->out, "</a>");
	if (remark) {
		buffer_text(t->out, " <span class=\"soft\">");
		html_text(t->out, remark);
		buffer_text(t->out, "</span>");
	}
	buffer_text(t->out, "</th>");
}

void html_row(struct html_table *t, const char *name, const char *remark)
{
	html_row_defined(t, name, NULL, remark);
}

static void begin_number(struct html_table *t, double value)
{
	if (isinf(value))
		buffer_text(t->out, "<td class=\"number\" data-v=\"inf\">");
	else if (isnan(value))
		buffer_text(t->out, "<td class=\"number\">");
	else
		buffer_format(t->out, "<td class=\"number\" data-v=\"%.15g\">", value);
}

/* A dash for the eye, which is read as "minus" or not read. */
static void show_figure(struct html_table *t, double value, const char *text)
{
	if (isnan(value))
		buffer_text(t->out, "<span class=\"soft\">–</span>");
	else
		html_text(t->out, text);
}

static const char *show_value(double value, bool whole, char text[40])
{
	whole = whole && fabs(value - round(value)) < 1e-9 && fabs(value) < 1e15;
	return whole ? show_count((int64_t)round(value), text) : show_number(value, text);
}

void html_number(struct html_table *t, double value)
{
	char text[40];
	begin_number(t, value);
	show_figure(t, value, show_value(value, t->whole, text));
	buffer_text(t->out, "</td>");
}

void html_count(struct html_table *t, double value)
{
	char text[40];
	begin_number(t, value);
	show_figure(t, value, show_value(value, true, text));
	buffer_text(t->out, "</td>");
}

void html_percent(struct html_table *t, double share)
{
	char text[40];
	begin_number(t, share);
	show_figure(t, share, show_percent(share, text));
	buffer_text(t->out, "</td>");
}

void html_figure(struct html_table *t, double value, const char *text)
{
	begin_number(t, value);
	show_figure(t, value, text);
	buffer_text(t->out, "</td>");
}

void html_percentile(struct html_table *t, double value, double n, double p)
{
	char text[40];
	bool weak = !isnan(value) && n >= 0 && n < 1e18 && !percentile_is_firm((int64_t)n, p);
	begin_number(t, value);
	show_figure(t, value, show_value(value, t->whole, text));
	if (weak)
		buffer_text(t->out, "<span class=\"weak\">~</span>");
	buffer_text(t->out, "</td>");
	t->weak |= weak;
}

void html_words(struct html_table *t, const char *text)
{
	buffer_text(t->out, "<td class=\"text\">");
	html_text(t->out, text);
	buffer_text(t->out, "</td>");
}

void html_row_end(struct html_table *t)
{
	buffer_text(t->out, "</tr>\n");
}

void html_table_foot(struct html_table *t)
{
	if (!t->foot)
		buffer_text(t->out, "</tbody>\n<tfoot>\n");
	t->foot = true;
}

void html_table_end(struct html_table *t)
{
	buffer_text(t->out, t->foot ? "</tfoot>\n" : "</tbody>\n");
	buffer_text(t->out, "</table></div>\n");
	if (t->weak)
		buffer_text(t->out, "<p class=\"note\">~ too few samples for this percentile: p90 needs 44, p99 459, p99.9 "
		                    "4,603</p>\n");
}

void html_left_out(struct buffer *out, size_t all, size_t shown)
{
	if (all > shown)
		buffer_format(out, "<p class=\"note\">The first %zu of %zu; the JSON report has all.</p>\n", shown, all);
}
