#include "formats/text_repeats.h"

#include "safe_text.h"

#include <math.h>
#include <stdio.h>

/* Where columns end. */
enum { END_MEAN = 33, END_INTERVAL = 52, END_SPREAD = 60, END_LEAST = 70, END_MOST = WIDTH };

const char *repeats_title(const struct repeats *r, char text[120])
{
	snprintf(text, 120, r->one_schedule ? "%d runs of one schedule" : "%d runs, not all of the same requests", r->runs);
	return text;
}

const char *repeats_value(const struct repeated_figure *f, double value, char text[40])
{
	if (*f->unit || isnan(value))
		return show_number(value, text);
	snprintf(text, 40, "%.2f %%", 100 * value);
	return text;
}

/* The least and the most of the other runs. */
static void range_of_others(const struct repeated_figure *f, int runs, double *least, double *most)
{
	*least = INFINITY;
	*most = -INFINITY;
	for (int r = 0; r < runs; r++)
		if (r != f->outlier && !isnan(f->of_runs[r])) {
			*least = fmin(*least, f->of_runs[r]);
			*most = fmax(*most, f->of_runs[r]);
		}
}

const char *repeats_outliers(const struct report *report, int run, char text[REPEATS_WORDS])
{
	const struct repeats *r = &report->analyses->repeats;
	char one[200], a[40], b[40], c[40];
	double least, most;
	bool any = false;
	snprintf(text, REPEATS_WORDS, "run %d (%.200s)", run + 1, shown(report->run->parts[run].name).text);
	for (size_t i = 0; i < r->count; i++) {
		const struct repeated_figure *f = &r->figures[i];
		if (f->outlier != run)
			continue;
		range_of_others(f, r->runs, &least, &most);
		snprintf(one, sizeof one, "%s is %s%s%s, in the others %s to %s", f->label,
		         repeats_value(f, f->of_runs[run], a), *f->unit ? " " : "", f->unit, repeats_value(f, least, b),
		         repeats_value(f, most, c));
		join(text, REPEATS_WORDS, any ? "; " : ": ", one, "");
		any = true;
	}
	return any ? text : NULL;
}

static void show_row(struct layout *l, const struct repeated_figure *f)
{
	char text[100], a[40], b[40];
	layout_to(l, 2);
	layout_format(l, PLAIN, "%s%s%s", f->label, *f->unit ? ", " : "", f->unit);
	layout_right(l, END_MEAN, PLAIN, repeats_value(f, f->mean, a));
	snprintf(text, sizeof text, "%s to %s", repeats_value(f, f->low, a), repeats_value(f, f->high, b));
	layout_right(l, END_INTERVAL, PLAIN, text);
	if (*f->unit && f->mean > 0)
		snprintf(text, sizeof text, "%.1f %%", 100 * f->std / f->mean);
	else
		snprintf(text, sizeof text, "-");
	layout_right(l, END_SPREAD, PLAIN, text);
	snprintf(text, sizeof text, "%s", repeats_value(f, f->of_runs[f->least], a));
	layout_right(l, END_LEAST, f->outlier == f->least ? WARN : PLAIN, text);
	snprintf(text, sizeof text, "%s", repeats_value(f, f->of_runs[f->most], a));
	layout_right(l, END_MOST, f->outlier == f->most ? WARN : PLAIN, text);
	layout_end_line(l);
}

void text_repeats(struct layout *l, const struct report *report)
{
	const struct repeats *r = &report->analyses->repeats;
	char title[120], text[REPEATS_WORDS];
	bool any = false;
	if (r->count == 0)
		return;
	layout_heading(l, "Repeats");
	layout_right(l, END_MEAN, FAINT, "mean");
	layout_right(l, END_INTERVAL, FAINT, "95 % interval");
	layout_right(l, END_SPREAD, FAINT, "spread");
	layout_right(l, END_LEAST, FAINT, "lowest");
	layout_right(l, END_MOST, FAINT, "highest");
	layout_end_line(l);
	for (size_t i = 0; i < r->count; i++)
		show_row(l, &r->figures[i]);
	layout_entry(l, "runs", repeats_title(r, title));
	for (int k = 0; k < r->runs; k++)
		if (repeats_outliers(report, k, text)) {
			layout_entry(l, any ? "" : "outliers", text);
			any = true;
		}
}
