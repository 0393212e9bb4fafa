#include "compare/compare_text.h"

#include "absent.h"
#include "compare/compare_words.h"
#include "formats/text_layout.h"
#include "safe_text.h"

#include <math.h>
#include <stdio.h>

/* Where columns end. */
enum { END_BASE = 33, END_NEW = 42, END_CHANGE = 52, END_INTERVAL = 70, END_LAST = WIDTH };

static bool differs(const struct figure_difference *f)
{
	return f->d.finding == FINDING_LOWER || f->d.finding == FINDING_HIGHER;
}

static void show_label(struct layout *l, const struct compared_figure *figure)
{
	layout_to(l, 2);
	layout_format(l, PLAIN, "%s%s%s", figure->label, *figure->unit ? ", " : "", figure->unit);
}

static void show_row(struct layout *l, const struct figure_difference *f)
{
	char text[64];
	show_label(l, f->figure);
	layout_right(l, END_BASE, PLAIN, compare_value(f->figure, f->d.base, text));
	layout_right(l, END_NEW, PLAIN, compare_value(f->figure, f->d.value, text));
	const enum style style = !differs(f) ? PLAIN : finding_is_worse(f->figure, f->d.finding) ? BAD : GOOD;
	layout_right(l, END_CHANGE, style, compare_change(&f->d, text));
	layout_right(l, END_INTERVAL, PLAIN, compare_interval(&f->d, text));
	if (f->d.finding == FINDING_FEW_RUNS && f->d.runs_needed == IPF_ABSENT)
		layout_right(l, END_LAST, PLAIN, "many");
	else if (f->d.finding == FINDING_FEW_RUNS)
		layout_right(l, END_LAST, PLAIN, show_count(f->d.runs_needed, text));
	else if (differs(f))
		layout_right(l, END_LAST, style, finding_name(f->figure, f->d.finding));
	else
		layout_right(l, END_LAST, PLAIN, compare_p(&f->d, text));
	layout_end_line(l);
}

/* A table of the figures with this finding; `finding` FINDING_LOWER: of those that differ. */
static void show_table(struct layout *l, const struct comparison *c, enum finding finding, const char *title,
                       const char *last)
{
	bool any = false;
	for (size_t k = 0; k < c->count; k++) {
		const struct figure_difference *f = &c->figures[k];
		if (finding == FINDING_LOWER ? !differs(f) : f->d.finding != finding)
			continue;
		if (!any) {
			layout_heading(l, title);
			layout_right(l, END_BASE, FAINT, "base");
			layout_right(l, END_NEW, FAINT, "new");
			layout_right(l, END_CHANGE, FAINT, "change");
			layout_right(l, END_INTERVAL, FAINT, finding == FINDING_NONE ? "" : "95 % interval");
			layout_right(l, END_LAST, FAINT, last);
			layout_end_line(l);
		}
		any = true;
		show_row(l, f);
	}
}

static void show_settings(struct layout *l, const struct comparison *c)
{
	json_t *entry;
	size_t i;
	if (json_array_size(c->settings) == 0)
		return;
	layout_heading(l, "Settings that differ");
	layout_end_line(l);
	json_array_foreach(c->settings, i, entry)
	{
		const char *base = json_string_value(json_object_get(entry, "base")),
				   *value = json_string_value(json_object_get(entry, "new"));
		layout_to(l, 2);
		layout_clipped(l, 26, PLAIN, json_string_value(json_object_get(entry, "name")));
		layout_to(l, 30);
		layout_clipped(l, WIDTH - 30, PLAIN, base ? base : "-");
		layout_end_line(l);
		layout_to(l, 28);
		layout_text(l, FAINT, "→");
		layout_to(l, 30);
		layout_clipped(l, WIDTH - 30, PLAIN, value ? value : "-");
		layout_end_line(l);
	}
}

/* What the verdict has against a side. */
static void show_verdict(struct layout *l, const struct comparison *c, int side)
{
	for (size_t i = 0; i < VERDICT_QUESTIONS; i++) {
		const struct verdict_check *check = &c->verdicts[side]->checks[i];
		if (check->status == VERDICT_OK)
			continue;
		layout_to(l, 10);
		layout_text(l, check->status == VERDICT_INVALID ? BAD : WARN, verdict_status_name(check->status));
		layout_to(l, 20);
		layout_wrapped(l, 20, PLAIN, check->detail);
	}
}

static void show_entry(struct layout *l, const char *label, const char *text)
{
	layout_to(l, 2);
	layout_text(l, PLAIN, label);
	layout_to(l, 10);
	layout_wrapped(l, 10, PLAIN, text);
}

void compare_text(const struct comparison *c, bool colour, struct buffer *out)
{
	struct layout l = {.out = out, .colour = colour};
	char text[COMPARE_WORDS], title[80], last[80], effect[40];
	layout_text(&l, STRONG, "Comparison");
	layout_end_line(&l);
	for (int s = 0; s < SIDES; s++) {
		show_entry(&l, s == SIDE_BASE ? "base" : "new", compare_side(c, (enum compared_side)s, text));
		show_verdict(&l, c, s);
	}
	show_entry(&l, "load", compare_pairing(c, text));
	show_entry(&l, "noise", compare_noise(c, text));
	show_settings(&l, c);
	layout_heading(&l, "Result");
	layout_to(&l, 10);
	const enum style styles[] = {
		[OUTCOME_SAME] = GOOD,     [OUTCOME_SLOWER] = BAD,    [OUTCOME_FASTER] = GOOD, [OUTCOME_MIXED] = WARN,
		[OUTCOME_FEW_RUNS] = WARN, [OUTCOME_UNJUDGED] = WARN, [OUTCOME_INVALID] = BAD,
	};
	layout_wrapped(&l, 10, styles[c->outcome], compare_outcome(c, text));
	for (size_t k = 0; k < c->condition_count; k++) {
		layout_to(&l, 2);
		layout_text(&l, c->conditions[k].failed ? BAD : GOOD, c->conditions[k].failed ? "failed" : "passed");
		layout_to(&l, 10);
		snprintf(text, sizeof text, "%s: %s", shown(c->conditions[k].text).text, c->conditions[k].detail);
		layout_wrapped(&l, 10, PLAIN, text);
	}
	compare_percent(c->options->effect, effect);
	show_table(&l, c, FINDING_LOWER, "What changed", "new is");
	snprintf(title, sizeof title, "Not enough runs to tell");
	snprintf(last, sizeof last, "for %s", effect);
	show_table(&l, c, FINDING_FEW_RUNS, title, last);
	snprintf(title, sizeof title, "No difference of %s or more", effect);
	show_table(&l, c, FINDING_SAME, title, "p");
	show_table(&l, c, FINDING_NONE, "Not judged", "");
}
