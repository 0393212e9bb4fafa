#include "compare/compare_html.h"

#include "absent.h"
#include "compare/compare_pictures.h"
#include "compare/compare_words.h"
#include "formats/text_layout.h"
#include "html/html_page.h"
#include "html/html_streams.h"
#include "html/html_table.h"
#include "html/html_text.h"
#include "stream/provenance.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const side_names[SIDES] = {"base", "new"};

/* ---- result ---- */

static void show_result(const struct comparison *c, struct buffer *out)
{
	static const char *const classes[] = {
		[OUTCOME_SAME] = "ok",        [OUTCOME_SLOWER] = "invalid",    [OUTCOME_FASTER] = "ok",
		[OUTCOME_MIXED] = "doubtful", [OUTCOME_FEW_RUNS] = "doubtful", [OUTCOME_UNJUDGED] = "doubtful",
		[OUTCOME_INVALID] = "invalid"};
	char text[COMPARE_WORDS];
	const char *whole = compare_outcome(c, text), *name = strstr(whole, outcome_names[c->outcome]);
	const char *rest = name ? name + strlen(outcome_names[c->outcome]) : whole + strcspn(whole, ":");
	buffer_format(out, "<p class=\"verdict %s\"><strong class=\"status\">", classes[c->outcome]);
	html_slice(out, (struct slice){whole, (size_t)(rest - whole)});
	buffer_text(out, "</strong>");
	html_text(out, rest);
	buffer_text(out, "</p>\n");
	for (int s = 0; s < SIDES; s++)
		for (int i = 0; i < c->runs[s]->part_count; i++)
			if (c->runs[s]->parts[i].incomplete[0]) {
				buffer_format(out, "<p class=\"notice\"><strong>Incomplete, %s:</strong> ", side_names[s]);
				html_text(out, c->runs[s]->parts[i].incomplete);
				buffer_text(out, "</p>\n");
			}
}

static void show_check(struct buffer *out, bool good, const char *class, const char *name, const char *status,
                       const char *detail)
{
	buffer_format(out, "<li class=\"%s\"><span class=\"name\">", good ? "ok" : class);
	html_text(out, name);
	buffer_format(out, "</span> <span class=\"status\">%s</span> <span class=\"detail\">", status);
	html_text(out, detail);
	buffer_text(out, "</span></li>\n");
}

static void show_conditions(const struct comparison *c, struct buffer *out)
{
	if (c->condition_count == 0)
		return;
	buffer_text(out, "<ul class=\"checks\">\n");
	for (size_t k = 0; k < c->condition_count; k++)
		show_check(out, !c->conditions[k].failed, "invalid", c->conditions[k].text,
		           c->conditions[k].failed ? "failed" : "passed", c->conditions[k].detail);
	buffer_text(out, "</ul>\n");
}

/* ---- settings ---- */

static void show_settings(const struct comparison *c, struct buffer *out)
{
	static const struct html_column columns[] = {
		{.name = "setting"}, {.name = "base", .text = true}, {.name = "new", .text = true}};
	struct html_table t = {.out = out, .name = "settings", .columns = columns, .count = 3};
	json_t *entry;
	size_t i;
	if (json_array_size(c->settings) == 0) {
		buffer_text(out, "<p>None: the headers of the streams say the same of both sides.</p>\n");
		return;
	}
	html_table_begin(&t, "What the headers of the streams say");
	json_array_foreach(c->settings, i, entry)
	{
		html_row(&t, json_string_value(json_object_get(entry, "name")), NULL);
		for (int s = 0; s < SIDES; s++) {
			const char *value = json_string_value(json_object_get(entry, side_names[s]));
			html_words(&t, value ? value : "–");
		}
		html_row_end(&t);
	}
	html_table_end(&t);
}

/* ---- figures ---- */

enum { COLUMNS = 9 };

static void put_finding(struct html_table *t, const struct figure_difference *f)
{
	const char *name = finding_name(f->figure, f->d.finding);
	if (compare_differs(f))
		buffer_format(t->out, "<td class=\"text short\"><span class=\"%s\">%s</span></td>",
		              finding_is_worse(f->figure, f->d.finding) ? "invalid" : "ok", name);
	else
		buffer_format(t->out, "<td class=\"text short\">%s</td>", name);
}

static void show_figure(struct html_table *t, const struct figure_difference *f)
{
	const struct difference *d = &f->d;
	char name[80], text[64];
	snprintf(name, sizeof name, "%s%s%s", f->figure->label, *f->figure->unit ? ", " : "", f->figure->unit);
	html_row(t, name, NULL);
	html_figure(t, d->base, compare_value(f->figure, d->base, text));
	html_figure(t, d->value, compare_value(f->figure, d->value, text));
	html_figure(t, d->change, compare_change(d, text));
	buffer_text(t->out, "<td class=\"number\">");
	html_text(t->out, isnan(d->low) ? "–" : compare_interval(d, text));
	buffer_text(t->out, "</td>");
	html_figure(t, d->adjusted, compare_p(d, text));
	put_finding(t, f);
	html_figure(t, d->visible, isnan(d->visible) ? "" : compare_percent(d->visible, text));
	if (d->runs_needed == IPF_ABSENT && !isnan(d->p))
		html_figure(t, INFINITY, "many");
	else
		html_count(t, d->runs_needed == IPF_ABSENT ? NAN : (double)d->runs_needed);
	html_row_end(t);
}

/* What the columns mean, and what to do to know more. */
static void explain_figures(const struct comparison *c, struct buffer *out)
{
	char effect[40], text[COMPARE_WORDS];
	compare_percent(c->options->effect, effect);
	buffer_format(out,
	              "<p>A figure differs if p, adjusted for %zu figures, is below 0.05 and the change is at least %s.",
	              c->family, effect);
	buffer_format(out,
	              " “Can be seen” is the least change that 80 of 100 comparisons like this one would find;"
	              " “runs for %s” says how many runs of each side would find one of %s.</p>\n<p>Noise: ",
	              effect, effect);
	html_text(out, compare_noise(c, text));
	buffer_text(out, ".</p>\n<p>Requests: ");
	html_text(out, compare_pairing(c, text));
	buffer_text(out, ".</p>\n");
}

static void show_figures(const struct comparison *c, struct buffer *out)
{
	const struct figure_difference *order[COMPARED_FIGURES];
	char effect[40], needed[60];
	if (c->count == 0)
		return;
	compare_percent(c->options->effect, effect);
	snprintf(needed, sizeof needed, "runs for %s", effect);
	const struct html_column columns[COLUMNS] = {{.name = "figure"},
	                                             {.name = "base"},
	                                             {.name = "new"},
	                                             {.name = "change"},
	                                             {.name = "95 % interval"},
	                                             {.name = "p"},
	                                             {.name = "new is", .text = true},
	                                             {.name = "can be seen"},
	                                             {.name = needed}};
	struct html_table t = {.out = out, .name = "figures", .columns = columns, .count = COLUMNS, .wide = true};
	compare_order(c, order);
	html_table_begin(&t, "Figures, what changed first");
	for (size_t k = 0; k < c->count; k++)
		show_figure(&t, order[k]);
	html_table_end(&t);
	buffer_text(out, "<div class=\"pictures\">\n");
	compare_forest(c, out);
	buffer_text(out, "</div>\n");
	explain_figures(c, out);
}

static void show_distributions(const struct comparison *c, struct buffer *out)
{
	if (c->distribution_count == 0)
		return;
	buffer_text(out,
	            "<p>Which share of the successful requests took at most how long, up to p99, of all runs of a side "
	            "together. Curves show no noise: whether two of them differ is said above.</p>\n"
	            "<div class=\"pictures\">\n");
	compare_distributions(c, out);
	buffer_text(out, "</div>\n");
}

/* ---- sides ---- */

static void show_sides(const struct comparison *c, struct buffer *out)
{
	static const char *const classes[] = {[VERDICT_OK] = "ok",
	                                      [VERDICT_DOUBTFUL] = "doubtful",
	                                      [VERDICT_INVALID] = "invalid",
	                                      [VERDICT_UNKNOWN] = "doubtful"};
	char text[COMPARE_WORDS];
	for (int s = 0; s < SIDES; s++) {
		buffer_format(out, "<h3>%s</h3>\n<p>", s == SIDE_BASE ? "Base" : "New");
		html_text(out, compare_side(c, (enum compared_side)s, text));
		buffer_text(out, "</p>\n<ul class=\"checks\">\n");
		for (size_t i = 0; i < VERDICT_QUESTIONS; i++) {
			const struct verdict_check *check = &c->verdicts[s]->checks[i];
			show_check(out, false, classes[check->status], check->name, verdict_status_name(check->status),
			           check->detail);
		}
		buffer_text(out, "</ul>\n");
	}
}

/* ---- commands ---- */

static void put_words(struct buffer *out, const struct comparison *c, int side)
{
	for (int i = 0; i < c->runs[side]->part_count; i++) {
		buffer_byte(out, ' ');
		html_shell_word(out, c->runs[side]->parts[i].name);
	}
}

static void show_commands(const struct comparison *c, struct buffer *out)
{
	struct html_streams streams;
	buffer_text(out, "<p>This comparison:</p>\n<pre class=\"commands\"><code>ipf-report --compare");
	buffer_format(out, " --min-effect %g%%", 100 * c->options->effect);
	for (size_t k = 0; k < c->condition_count; k++) {
		buffer_text(out, " --fail-if ");
		html_shell_word(out, c->conditions[k].text);
	}
	put_words(out, c, SIDE_BASE);
	buffer_text(out, " --");
	put_words(out, c, SIDE_NEW);
	buffer_text(out, "</code></pre>\n");
	for (int s = 0; s < SIDES; s++) {
		json_t *headers = json_array();
		json_array_append(headers, c->runs[s]->parts[0].header);
		html_streams_find(&streams, headers);
		buffer_format(out, "<p>The first run of %s:</p>\n", side_names[s]);
		html_commands(out, &streams);
		json_decref(headers);
	}
}

/* ---- the page ---- */

static void name_page(struct html_page *page, const struct comparison *c)
{
	html_text(&page->title, outcome_names[c->outcome]);
	buffer_text(&page->title, ": ");
	for (int s = 0; s < SIDES; s++) {
		const struct run_data *run = c->runs[s];
		json_t *header = run->parts[0].header, *records = provenance_find(header, "records");
		const char *name = json_string_value(json_object_get(records, "name")),
				   *target = json_string_value(json_object_get(records, "target"));
		html_text(&page->heading, name ? name : run->parts[0].name);
		buffer_text(&page->heading, s == SIDE_BASE ? " and " : " compared");
		if (target) {
			buffer_format(&page->when, "%s%s: ", page->when.len ? "; " : "", side_names[s]);
			html_text(&page->when, target);
		}
	}
	buffer_slice(&page->title, buffer_all(&page->heading));
}

void compare_html(const struct comparison *c, struct buffer *out)
{
	static const struct {
		const char *id, *title;
		void (*show)(const struct comparison *c, struct buffer *out);
	} sections[] = {
		{"result", "Result", show_result},
		{"settings", "Settings that differ", show_settings},
		{"conditions", "Conditions", show_conditions},
		{"figures", "Figures", show_figures},
		{"distributions", "Distributions", show_distributions},
		{"sides", "Sides", show_sides},
		{"commands", "Commands", show_commands},
	};
	enum { SECTIONS = sizeof sections / sizeof *sections };
	struct html_section list[SECTIONS];
	struct html_page page = {.kind = "ipf comparison"};
	for (int i = 0; i < SECTIONS; i++) {
		list[i] = (struct html_section){.id = sections[i].id, .title = sections[i].title};
		sections[i].show(c, &list[i].body);
	}
	name_page(&page, c);
	html_page_write(&page, list, SECTIONS, out);
}
