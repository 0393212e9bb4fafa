#include "sections/sections.h"

#include "json_report/json_report.h"
#include "memory.h"

#include <stdio.h>
#include <string.h>

void section_plots(const struct telling *t)
{
	if (t->pictures && *t->pictures)
		doc_part(t->d, PART_PICTURES, "plots", t->pictures);
}

enum depth {
	FIRST, /* a brief report has it */
	FULL,
	PAGE,        /* only a page has it, unless it is asked for … */
	PAGE_AND_MD, /* … or also Markdown */
};

static const struct kind {
	const char *name, *title;
	void (*tell)(const struct telling *t);
	enum depth depth;
	bool folded;   /* in Markdown */
	unsigned from; /* members of the JSON report, besides those of all sections */
} kinds[] = {
#define SECTION_ROW(name_, title_, depth_, folded_, from_) {#name_, title_, section_##name_, depth_, folded_, from_},
	SECTIONS(SECTION_ROW)};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* The first `len` bytes of a text are a name; NULL: of no section. */
static const struct kind *find_kind(const char *name, size_t len)
{
	for (int i = 0; i < KINDS; i++)
		if (strncmp(kinds[i].name, name, len) == 0 && !kinds[i].name[len])
			return &kinds[i];
	return NULL;
}

/* Is the name in the list? */
static bool lists(const char *names, const char *name)
{
	size_t len = strlen(name);
	for (const char *at = names; *at; at += strcspn(at, ",") + (at[strcspn(at, ",")] == ','))
		if (strcspn(at, ",") == len && strncmp(at, name, len) == 0)
			return true;
	return false;
}

static int wrong_name(const char *name, int len, struct ipf_error *err)
{
	struct buffer names = {0};
	for (int i = 0; i < KINDS; i++)
		buffer_format(&names, "%s%s", i ? ", " : "", kinds[i].name);
	ipf_error_set(err, IPF_USAGE, "there is no section \"%.*s\"; sections: %s", len < 39 ? len : 39, name,
	              names.data ? names.data : "");
	buffer_release(&names);
	return -1;
}

int sections_check(const char *names, struct ipf_error *err)
{
	for (const char *at = names; *at; at += strcspn(at, ",") + (at[strcspn(at, ",")] == ',')) {
		const size_t len = strcspn(at, ",");
		if (!find_kind(at, len))
			return wrong_name(at, (int)len, err);
	}
	return 0;
}

/* The run's name, or its model and target. */
static const char *name_of(struct document *d, json_t *report)
{
	const char *name = text_at(report, "run/name"), *model = text_at(report, "run/model"),
			   *target = text_at(report, "run/target");
	const char *host = target && strstr(target, "://") ? strstr(target, "://") + 3 : NULL;
	if (name || !model || !host)
		return name ? name : model ? model : "ipf report";
	return doc_say(d, "%s at %.*s", model, (int)strcspn(host, "/"), host);
}

/* "sim at http://127.0.0.1:8000 (vllm)": model, address and, if it was scraped, the kind of the server; "". */
static const char *server_of(struct document *d, json_t *report)
{
	const char *model = text_at(report, "run/model"), *target = text_at(report, "run/target"),
			   *kind = text_at(report, "server/targets/0/server");
	return doc_say(d, "%s%s%s%s%s%s", model ? model : "", model && target ? " at " : "", target ? target : "",
	               kind ? " (" : "", kind ? kind : "", kind ? ")" : "");
}

static void name_document(struct document *d, json_t *report)
{
	const char *started = text_at(report, "run/started"), *where = server_of(d, report);
	d->kind = "ipf report";
	d->heading = doc_copy(d, name_of(d, report));
	d->title = doc_say(d, "%s%s: %s", json_at(report, "verdict/predicted") ? "PREDICTED, " : "",
	                   words_at(report, "verdict/status"), d->heading);
	d->when = doc_say(d, "%s%s%s", where, started ? *where ? ", started " : "started " : "", started ? started : "");
}

static bool is_shown(const struct kind *kind, const struct report_view *view)
{
	return view->sections ? lists(view->sections, kind->name) : !view->brief || kind->depth == FIRST;
}

unsigned sections_members(const struct report_view *view)
{
	unsigned members = REPORT_VERDICT | REPORT_RUN | REPORT_STAGES | REPORT_TOTAL | REPORT_OPTIONS;
	for (int i = 0; i < KINDS; i++)
		members |= is_shown(&kinds[i], view) ? kinds[i].from : 0;
	return members;
}

/* The sections a brief report leaves out: those every run has, and those that "has" of the run names. */
static void tell_more(struct document *d, json_t *report)
{
	static const char always[] = "tokens,accuracy,run";
	struct buffer names = {0};
	json_t *has = json_at(report, "run/has"), *name;
	size_t k;
	for (int i = 0; i < KINDS; i++) {
		bool there = lists(always, kinds[i].name);
		json_array_foreach(has, k, name) there |= strcmp(words_of(name), kinds[i].name) == 0;
		if (there)
			buffer_format(&names, "%s%s", names.len ? "," : "", kinds[i].name);
	}
	doc_section(d, "more", NULL);
	doc_note(d, "More: --full, or --section %s", names.data ? names.data : "");
	d->failed |= names.failed;
	buffer_release(&names);
}

/* Where something of the section is shown. */
static int media_of(const struct doc_section *s)
{
	int media = 0;
	for (size_t i = 0; i < s->count; i++) {
		const struct doc_part *part = &s->parts[i];
		if (part->kind == PART_TABLE && part->table->count == 0)
			continue;
		media |= part->media & (part->kind == PART_TILE || part->kind == PART_PICTURES ? IN_PAGE
		                        : part->kind == PART_LEVELS                            ? IN_TEXT
		                                                                               : EVERYWHERE);
	}
	return media;
}

/* A section asked for is never nothing at all. */
static void tell_nothing(struct document *d)
{
	const int media = d->failed ? EVERYWHERE : media_of(&d->sections[d->count - 1]);
	if (media != EVERYWHERE)
		doc_note(d, "nothing to show: the run has no data for this section, or none for this format")->media =
			EVERYWHERE & ~media;
}

/* Names of definitions missing from this document lead nowhere. */
static void drop_definitions(struct document *d)
{
	for (size_t i = 0; i < d->count; i++)
		for (size_t k = 0; k < d->sections[i].count; k++) {
			struct doc_table *t = d->sections[i].parts[k].table;
			for (size_t r = 0; t && r < t->count; r++)
				t->rows[r].definition = NULL;
		}
}

static void restrict_media(struct doc_section *s, int media)
{
	for (size_t i = 0; i < s->count; i++)
		s->parts[i].media &= media;
}

/* Did so many requests fail that a reader must know it first? */
static bool failures_decide(json_t *report)
{
	json_t *check;
	size_t i;
	json_array_foreach(json_at(report, "verdict/checks"), i,
	                   check) if (strcmp(words_at(check, "name"), "server_answers") ==
	                              0) return strcmp(words_at(check, "status"), "OK") != 0 &&
		figure_at(report, "total/requests/failed") > 0;
	return false;
}

static void tell_section(const struct telling *t, const struct kind *kind, const struct report_view *view)
{
	if (!is_shown(kind, view))
		return;
	doc_section(t->d, kind->name, kind->title);
	if (t->d->failed)
		return;
	t->d->sections[t->d->count - 1].folded = kind->folded && !view->sections;
	kind->tell(t);
	if (t->asked)
		tell_nothing(t->d);
	else if (kind->depth >= PAGE && !t->d->failed)
		restrict_media(&t->d->sections[t->d->count - 1], kind->depth == PAGE ? IN_PAGE : IN_PAGE | IN_MARKDOWN);
}

/* As in the table, but for errors that decide: they follow the verdict. */
static void tell_sections(const struct telling *t, const struct report_view *view)
{
	const struct kind *errors = failures_decide(t->report) ? find_kind("errors", strlen("errors")) : NULL;
	for (int i = 0; i < KINDS; i++) {
		if (&kinds[i] != errors)
			tell_section(t, &kinds[i], view);
		if (errors && kinds[i].tell == section_verdict)
			tell_section(t, errors, view);
	}
}

int report_document(struct document *d, json_t *report, const struct report_view *view, struct ipf_error *err)
{
	const struct telling t = {d,
	                          report,
	                          json_object_get(report, "total"),
	                          view->brief && !view->sections,
	                          view->sections != NULL,
	                          view->pictures};
	if (view->sections && sections_check(view->sections, err) < 0)
		return -1;
	d->brief = t.brief;
	d->plots = view->pictures && *view->pictures;
	name_document(d, report);
	tell_sections(&t, view);
	if (t.asked && !lists(view->sections, "definitions"))
		drop_definitions(d);
	if (t.brief)
		tell_more(d, report);
	return d->failed ? ipf_error_memory(err) : 0;
}
