/* How much the runs of a schedule differ. */
#include "html/sections.h"

#include "formats/text_repeats.h"
#include "html/html_table.h"
#include "html/html_text.h"
#include "safe_text.h"

#include <math.h>
#include <stdio.h>

static void figure_row(struct html_table *t, const struct repeated_figure *f)
{
	char text[100], a[40], b[40];
	snprintf(text, sizeof text, "%s%s%s", f->label, *f->unit ? ", " : "", f->unit);
	html_row(t, text, NULL);
	html_figure(t, f->mean, repeats_value(f, f->mean, a));
	snprintf(text, sizeof text, "%s to %s", repeats_value(f, f->low, a), repeats_value(f, f->high, b));
	buffer_text(t->out, "<td class=\"number\">");
	html_text(t->out, text);
	buffer_text(t->out, "</td>");
	html_percent(t, *f->unit && f->mean > 0 ? f->std / f->mean : NAN);
	html_figure(t, f->of_runs[f->least], repeats_value(f, f->of_runs[f->least], a));
	html_figure(t, f->of_runs[f->most], repeats_value(f, f->of_runs[f->most], a));
	html_row_end(t);
}

/* A column for each figure, a row for each run. */
static void runs_table(const struct page *page, const struct repeats *r)
{
	struct html_column columns[1 + REPEATED_FIGURES] = {{.name = "run"}};
	struct html_table t = {.out = page->out,
	                       .name = "runs",
	                       .columns = columns,
	                       .count = 1 + (int)r->count,
	                       .sortable = true,
	                       .wide = true};
	char name[80], a[40];
	for (size_t i = 0; i < r->count; i++)
		columns[i + 1] = (struct html_column){.name = r->figures[i].label, .unit = r->figures[i].unit};
	html_table_begin(&t, "Each run by itself");
	for (int k = 0; k < r->runs && k < HTML_ROWS_MOST; k++) {
		snprintf(name, sizeof name, "%d: %.60s", k + 1, shown(page->report->run->parts[k].name).text);
		html_row(&t, name, NULL);
		for (size_t i = 0; i < r->count; i++)
			html_figure(&t, r->figures[i].of_runs[k], repeats_value(&r->figures[i], r->figures[i].of_runs[k], a));
		html_row_end(&t);
	}
	html_table_end(&t);
	html_left_out(page->out, (size_t)r->runs, r->runs < HTML_ROWS_MOST ? (size_t)r->runs : HTML_ROWS_MOST);
}

void section_repeats(const struct page *page)
{
	static const struct html_column columns[] = {{.name = "figure"}, {.name = "mean"},   {.name = "95 % interval"},
	                                             {.name = "spread"}, {.name = "lowest"}, {.name = "highest"}};
	const struct repeats *r = &page->report->analyses->repeats;
	struct html_table t = {.out = page->out, .name = "repeats", .columns = columns, .count = 6};
	char title[120], text[REPEATS_WORDS];
	bool any = false;
	if (r->count == 0)
		return;
	html_table_begin(&t, repeats_title(r, title));
	for (size_t i = 0; i < r->count; i++)
		figure_row(&t, &r->figures[i]);
	html_table_end(&t);
	buffer_text(
		page->out,
		"<p class=\"note\">Means over the runs, with intervals that hold whatever made runs differ; the spread is "
		"the standard deviation between runs. Elsewhere in this report, the runs are pooled.</p>\n");
	for (int k = 0; k < r->runs; k++)
		if (repeats_outliers(page->report, k, text)) {
			buffer_text(page->out, any ? "<li>" : "<p>Outliers:</p>\n<ul class=\"plain\">\n<li>");
			html_text(page->out, text);
			buffer_text(page->out, "</li>\n");
			any = true;
		}
	buffer_text(page->out, any ? "</ul>\n" : "");
	runs_table(page, r);
}
