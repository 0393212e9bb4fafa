#include "compare/compare_document.h"

#include "absent.h"
#include "compare/compare_pictures.h"
#include "compare/compare_words.h"
#include "compare/settings.h"
#include "document/shown_numbers.h"
#include "output/shell_word.h"
#include "sections/stream_commands.h"
#include "stream/provenance.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const side_names[SIDES] = {"base", "new"};

static enum tone tone_of(enum verdict_status status)
{
	return status == VERDICT_OK               ? TONE_GOOD
	       : status == VERDICT_NOT_APPLICABLE ? TONE_PLAIN
	       : status == VERDICT_INVALID        ? TONE_BAD
	                                          : TONE_WARN;
}

/* ---- result ---- */

/* The outcome, and against each side the members of its verdict. */
static void tell_result(struct document *d, const struct comparison *c)
{
	static const enum tone tones[] = {
		[OUTCOME_SAME] = TONE_GOOD,  [OUTCOME_SLOWER] = TONE_BAD,    [OUTCOME_FASTER] = TONE_GOOD,
		[OUTCOME_MIXED] = TONE_WARN, [OUTCOME_FEW_RUNS] = TONE_WARN, [OUTCOME_UNJUDGED] = TONE_WARN,
		[OUTCOME_WRONG] = TONE_BAD,  [OUTCOME_INVALID] = TONE_BAD,
	};
	char text[COMPARE_WORDS];
	const char *whole = compare_outcome(c, text), *name = strstr(whole, outcome_names[c->outcome]);
	const char *rest = name ? name + strlen(outcome_names[c->outcome]) : whole + strcspn(whole, ":");
	doc_section(d, "result", "Result");
	struct doc_part *outcome = doc_part(d, PART_TEXT, NULL, whole);
	outcome->tone = tones[c->outcome];
	outcome->media = IN_TEXT;
	outcome = doc_part(d, PART_TEXT, NULL, rest + strspn(rest, ": "));
	outcome->status = doc_say(d, "%.*s", (int)(rest - whole), whole);
	outcome->tone = tones[c->outcome];
	outcome->media = IN_PAGE | IN_MARKDOWN;
	for (int s = 0; s < SIDES; s++) {
		const struct verdict_finding *verdict = c->verdicts[s];
		for (int i = 0; i < c->runs[s]->part_count; i++)
			if (c->runs[s]->parts[i].incomplete[0])
				doc_part(d, PART_TEXT, doc_say(d, "Incomplete, %s:", side_names[s]), c->runs[s]->parts[i].incomplete)
					->tone = TONE_BAD;
		doc_fact(d, side_names[s], "%s", compare_side(c, (enum compared_side)s, text))->tone =
			verdict->status == VERDICT_OK ? TONE_PLAIN : tone_of(verdict->status);
	}
	if (compare_predicted(c, text))
		doc_part(d, PART_TEXT, NULL, text)->tone = TONE_WARN;
	if (compare_answers_text(c, text))
		doc_fact(d, "answers", "%s", text)->tone = c->outcome == OUTCOME_WRONG ? TONE_BAD : TONE_PLAIN;
	if (compare_load(c, text))
		doc_fact(d, "load", "%s", text)->tone = TONE_WARN;
	if (compare_trace(c, text))
		doc_fact(d, "trace", "%s", text)->tone = TONE_WARN;
	if (compare_lengths(c, text))
		doc_fact(d, "lengths", "%s", text)->tone = TONE_WARN;
	if (compare_cached(c, text))
		doc_fact(d, "cache", "%s", text)->tone = TONE_WARN;
	if (compare_later_turns(c, text))
		doc_fact(d, "sessions", "%s", text)->tone = TONE_WARN;
	if (compare_accepted(c, text))
		doc_fact(d, "drafts", "%s", text)->tone = TONE_WARN;
}

static void tell_conditions(struct document *d, const struct comparison *c)
{
	doc_section(d, "conditions", "Conditions");
	for (size_t k = 0; k < c->condition_count; k++) {
		const struct fail_if *condition = &c->conditions[k];
		const char *status = condition->undecided ? "undecided" : condition->failed ? "failed" : "passed";
		const enum tone tone = condition->failed ? TONE_BAD : condition->undecided ? TONE_WARN : TONE_GOOD;
		struct doc_part *part = doc_part(d, PART_CHECK, condition->text, condition->detail);
		part->status = status;
		part->tone = tone;
		part->media = IN_PAGE | IN_MARKDOWN;
		part = doc_fact(d, status, "%s: %s", condition->text, condition->detail);
		part->tone = tone == TONE_GOOD ? TONE_PLAIN : tone;
		part->media = IN_TEXT;
	}
}

/* ---- figures ---- */

enum { COLUMNS = 8, RUNS = 7 };

static struct doc_table *figures_table(struct document *d, const struct comparison *c, const char *id,
                                       const char *caption, int media)
{
	char effect[40];
	compare_percent(c->options->effect, effect);
	const char *needed = doc_say(d, "for %s", effect);
	const struct doc_column columns[COLUMNS] = {{.name = "base"},
	                                            {.name = "new"},
	                                            {.name = "change"},
	                                            {.name = "95 % interval"},
	                                            {.name = "p", .keep = KEEP_FULL},
	                                            {.name = "new is", .kind = CELL_WORDS},
	                                            {.name = "can be seen", .keep = KEEP_ROOM},
	                                            {.group = "runs needed", .name = needed, .keep = KEEP_FULL}};
	return doc_table(
		d, &(struct doc_table_spec){
			   .id = id, .caption = caption, .rows = "figure", .columns = columns, .count = COLUMNS, .media = media});
}

static void figure_row(struct document *d, struct doc_table *t, const struct figure_difference *f, bool named)
{
	const struct difference *x = &f->d;
	const bool many = x->runs_needed == IPF_ABSENT && !isnan(x->p);
	const enum tone tone = !compare_differs(f)                       ? TONE_PLAIN
	                       : finding_is_worse(f->figure, x->finding) ? TONE_BAD
	                                                                 : TONE_GOOD;
	char text[64];
	doc_row(d, t, doc_say(d, "%s%s%s", f->figure->label, *f->figure->unit ? ", " : "", f->figure->unit), NULL);
	doc_cell_said(d, t, x->base, compare_value(f->figure, x->base, text), TONE_PLAIN);
	doc_cell_said(d, t, x->value, compare_value(f->figure, x->value, text), TONE_PLAIN);
	doc_cell_said(d, t, x->change, compare_change(x, text), tone);
	doc_cell_said(d, t, x->low, compare_interval(x, text), TONE_PLAIN);
	doc_cell_said(d, t, x->p, compare_p(x->p, text), TONE_PLAIN);
	doc_cell_text(d, t, named ? finding_name(f->figure, x->finding) : NULL, tone);
	const double visible = difference_visible(x);
	doc_cell_said(d, t, visible, compare_percent(visible, text), TONE_PLAIN);
	doc_cell_said(d, t,
	              many                           ? INFINITY
	              : x->runs_needed == IPF_ABSENT ? NAN
	                                             : (double)x->runs_needed,
	              many ? "many" : show_count(x->runs_needed, text), TONE_PLAIN);
}

/* In text, a table of the figures with this finding; FINDING_LOWER: of differing ones. */
static void tell_finding(struct document *d, const struct comparison *c, enum finding finding, const char *title)
{
	struct doc_table *t = figures_table(d, c, "finding", title, IN_TEXT);
	for (size_t k = 0; k < c->count; k++) {
		const struct figure_difference *f = &c->figures[k];
		if (finding == FINDING_LOWER ? compare_differs(f) : f->d.finding == finding)
			figure_row(d, t, f, finding == FINDING_LOWER);
	}
}

/* The meaning of the columns, and how to know more. */
static void explain(struct document *d, const struct comparison *c)
{
	char effect[40], text[COMPARE_WORDS];
	compare_percent(c->options->effect, effect);
	doc_part(
		d, PART_TEXT, NULL,
		doc_say(d,
	            "A figure differs if p, adjusted for %zu figures, is below 0.05 and the change is at least %s. “Can be "
	            "seen” is the least change found in 80 of 100 comparisons like this one; “runs needed for %s” is the "
	            "number of runs of each side to find one of %s.",
	            c->family, effect, effect, effect))
		->media = IN_PAGE | IN_MARKDOWN;
	if (c->family > 0)
		doc_fact(d, "p", "of each figure by itself; it counts if it is below 0.05 after adjustment for all %zu",
		         c->family)
			->media = IN_TEXT;
	doc_fact(d, "noise", "%s", compare_noise(c, text));
	doc_fact(d, "requests", "%s", compare_pairing(c, text));
}

static void add_pictures(struct document *d, const struct comparison *c,
                         void (*draw)(const struct comparison *c, struct buffer *out))
{
	struct buffer html = {0};
	draw(c, &html);
	if (html.len)
		doc_part(d, PART_PICTURES, "pictures", html.data);
	d->failed |= html.failed;
	buffer_release(&html);
}

static void tell_figures(struct document *d, const struct comparison *c)
{
	const struct figure_difference *order[COMPARED_FIGURES];
	char effect[40];
	doc_section(d, "figures", "Figures");
	compare_percent(c->options->effect, effect);
	if (c->count > 0) {
		compare_order(c, order);
		struct doc_table *t = figures_table(d, c, "figures", "Figures, changed ones first", IN_PAGE | IN_MARKDOWN);
		for (size_t k = 0; k < c->count; k++)
			figure_row(d, t, order[k], true);
		tell_finding(d, c, FINDING_LOWER, "What changed");
		tell_finding(d, c, FINDING_FEW_RUNS, "Not enough runs to tell");
		tell_finding(d, c, FINDING_SAME, doc_say(d, "No difference of %s or more", effect));
		tell_finding(d, c, FINDING_NONE, "Not judged");
		add_pictures(d, c, compare_forest);
	}
	explain(d, c);
	if (c->distribution_count == 0)
		return;
	doc_section(d, "distributions", "Distributions");
	doc_part(d, PART_TEXT, NULL,
	         "The share of the successful requests within a time, up to p99, of all runs of a side together. "
	         "Curves show no noise: whether two of them differ is said above.")
		->media = IN_PAGE;
	add_pictures(d, c, compare_distributions);
}

/* ---- sides ---- */

/* Do the headers of several streams say the same of a setting? */
static bool is_repeated(json_t *settings, size_t index)
{
	json_t *entry = json_array_get(settings, index);
	char words[160], earlier[160];
	const char *name = setting_words(json_string_value(json_object_get(entry, "name")), words);
	for (size_t i = 0; i < index; i++) {
		json_t *other = json_array_get(settings, i);
		if (strcmp(setting_words(json_string_value(json_object_get(other, "name")), earlier), name) == 0 &&
		    json_equal(json_object_get(other, "base"), json_object_get(entry, "base")) &&
		    json_equal(json_object_get(other, "new"), json_object_get(entry, "new")))
			return true;
	}
	return false;
}

static void tell_settings(struct document *d, const struct comparison *c)
{
	static const struct doc_column columns[] = {{NULL, "base", NULL, NULL, CELL_WORDS, KEEP},
	                                            {NULL, "new", NULL, NULL, CELL_WORDS, KEEP}};
	json_t *entry;
	size_t i;
	doc_section(d, "settings", "Settings that differ");
	if (json_array_size(c->settings) == 0) {
		doc_part(d, PART_TEXT, NULL, "None: the headers of the streams say the same of both sides.")->media = IN_PAGE;
		return;
	}
	struct doc_table *t = doc_table(
		d, &(struct doc_table_spec){
			   .id = "settings", .caption = "Settings that differ", .rows = "setting", .columns = columns, .count = 2});
	json_array_foreach(c->settings, i, entry)
	{
		char words[160];
		if (is_repeated(c->settings, i))
			continue;
		doc_row(d, t, setting_words(json_string_value(json_object_get(entry, "name")), words), NULL);
		for (int s = 0; s < SIDES; s++) {
			const char *value = json_string_value(json_object_get(entry, side_names[s]));
			char *shown_value = setting_value(value ? value : "–");
			doc_cell_text(d, t, shown_value, TONE_PLAIN);
			d->failed |= !shown_value;
			free(shown_value);
		}
	}
}

static void tell_sides(struct document *d, const struct comparison *c)
{
	doc_section(d, "sides", "Sides");
	for (int s = 0; s < SIDES; s++) {
		doc_part(d, PART_HEADING, NULL, s == SIDE_BASE ? "Base" : "New")->media = IN_PAGE | IN_MARKDOWN;
		for (size_t i = 0; i < VERDICT_QUESTIONS; i++) {
			const struct verdict_check *check = &c->verdicts[s]->checks[i];
			struct doc_part *part = doc_part(d, PART_CHECK, check->name, check->detail);
			part->status = verdict_status_name(check->status);
			part->tone = tone_of(check->status);
			part->media = IN_PAGE | IN_MARKDOWN;
			if (check->status == VERDICT_OK || check->status == VERDICT_NOT_APPLICABLE)
				continue;
			part = doc_part(d, PART_CHECK, side_names[s], check->detail);
			part->status = verdict_status_name(check->status);
			part->tone = tone_of(check->status);
			part->media = IN_TEXT;
		}
	}
}

/* ---- commands ---- */

static void put_words(struct buffer *line, const struct comparison *c, int side)
{
	for (int i = 0; i < c->runs[side]->part_count; i++) {
		buffer_byte(line, ' ');
		shell_word(line, c->runs[side]->parts[i].name);
	}
}

static void tell_commands(struct document *d, const struct comparison *c)
{
	struct streams streams;
	struct buffer line = {0};
	size_t first;
	doc_section(d, "commands", "Commands");
	doc_part(d, PART_TEXT, NULL, "This comparison:");
	buffer_format(&line, "ipf-report compare --min-effect %g%%", 100 * c->options->effect);
	for (size_t k = 0; k < c->condition_count; k++) {
		buffer_text(&line, " --fail-if ");
		shell_word(&line, c->conditions[k].text);
	}
	if (c->options->undecided_passes)
		buffer_text(&line, " --undecided pass");
	put_words(&line, c, SIDE_BASE);
	buffer_text(&line, " --");
	put_words(&line, c, SIDE_NEW);
	doc_part(d, PART_COMMAND, NULL, line.data ? line.data : "");
	d->failed |= line.failed;
	buffer_release(&line);
	for (int s = 0; s < SIDES; s++) {
		json_t *headers = json_array();
		json_array_append(headers, c->runs[s]->parts[0].header);
		streams_find(&streams, headers);
		doc_part(d, PART_TEXT, NULL, doc_say(d, "The first run of %s:", side_names[s]));
		streams_commands(d, &streams);
		json_decref(headers);
	}
	for (first = 0; d->count && first < d->sections[d->count - 1].count; first++)
		d->sections[d->count - 1].parts[first].media = IN_PAGE;
}

static void name_document(struct document *d, const struct comparison *c)
{
	const char *names[SIDES], *targets[SIDES];
	for (int s = 0; s < SIDES; s++) {
		json_t *records = provenance_find(c->runs[s]->parts[0].header, "records");
		const char *name = json_string_value(json_object_get(records, "name"));
		names[s] = name ? name : c->runs[s]->parts[0].name;
		targets[s] = json_string_value(json_object_get(records, "target"));
	}
	d->kind = "ipf comparison";
	d->heading = doc_say(d, "%s and %s compared", names[SIDE_BASE], names[SIDE_NEW]);
	d->title = doc_say(d, "%s: %s", outcome_names[c->outcome], d->heading);
	d->when = doc_say(d, "%s%s%s%s%s", targets[0] ? "base: " : "", targets[0] ? targets[0] : "",
	                  targets[0] && targets[1] ? "; " : "", targets[1] ? "new: " : "", targets[1] ? targets[1] : "");
}

void compare_document(struct document *d, const struct comparison *c)
{
	name_document(d, c);
	tell_result(d, c);
	tell_settings(d, c);
	tell_conditions(d, c);
	tell_figures(d, c);
	tell_sides(d, c);
	tell_commands(d, c);
}
