/* The sections of a report: each says in a document what the JSON report has of its topic, or nothing. Every sentence
 * that a report can print is in one of these files; how it looks is the renderers' business (document.h).
 *
 *     struct document d = {0};
 *     struct report_view view = {.brief = true};
 *     if (report_document(&d, report_json, &view, &err) == 0) …
 *
 * A section of a new topic is a function in a file of its own, declared below, and a row of the table in sections.c.
 */
#ifndef REPORT_SECTIONS_H
#define REPORT_SECTIONS_H

#include "document/document.h"
#include "json_report/json_path.h"
#include "error.h"

/* What to show of a report. */
struct report_view {
	bool brief;           /* the sections that answer first, and what is not as it should be */
	const char *sections; /* --section: names separated by commas; NULL: all that the depth shows */
	const char *pictures; /* HTML of the plots; NULL: none */
};

/* What a section is told from. */
struct telling {
	struct document *d;
	json_t *report; /* the JSON report */
	json_t *total;  /* "total" of it */
	bool brief;
	bool asked; /* --section chose what to show */
	const char *pictures;
};

/* Makes the document of a JSON report. -1: IPF_USAGE for an unknown section; out of memory. */
int report_document(struct document *d, json_t *report, const struct report_view *view, struct ipf_error *err);

/* The members of the JSON report (REPORT_… of json_report.h) from which such a view is made. */
unsigned sections_members(const struct report_view *view);

/* Do these names exist? IPF_USAGE. */
int sections_check(const char *names, struct ipf_error *err);
#define SECTION_NAMES                                                                                                                                                        \
	"incomplete, verdict, summary, stages, plots, latency, batches, why, shape, repeats, saturation, autoscaling, sessions, history, fidelity, cache, speculation, tokens, " \
	"timeline, server, accelerators, cost, errors, refusals, output, goodput, accuracy, as, run, commands, provenance, definitions"

/* The reasons why a part of the run is missing. */
void section_incomplete(const struct telling *t);
void section_continued(const struct telling *t);
void section_verdict(const struct telling *t);
void section_summary(const struct telling *t);
void section_run(const struct telling *t);
void section_stages(const struct telling *t);
void section_latency(const struct telling *t);
void section_batches(const struct telling *t);
void section_why(const struct telling *t);
void section_shape(const struct telling *t);
void section_repeats(const struct telling *t);
void section_saturation(const struct telling *t);
void section_autoscaling(const struct telling *t);
void section_sessions(const struct telling *t);
void section_fidelity(const struct telling *t);
void section_cache(const struct telling *t);
void section_history(const struct telling *t);
void section_speculation(const struct telling *t);
void section_tokens(const struct telling *t);
void section_timeline(const struct telling *t);
void section_server(const struct telling *t);
void section_accelerators(const struct telling *t);
void section_cost(const struct telling *t);
void section_errors(const struct telling *t);
void section_refusals(const struct telling *t);
void section_output(const struct telling *t);
void section_goodput(const struct telling *t);
void section_accuracy(const struct telling *t);
void section_as(const struct telling *t);
void section_commands(const struct telling *t);
void section_provenance(const struct telling *t);
void section_definitions(const struct telling *t);

/* ---- documents of their own ---- */

void definitions_document(struct document *d);
/* --certificate: `certificate` as certificate.h makes it, `total` that of the JSON report. */
void certificate_document(struct document *d, json_t *certificate, json_t *total);

#endif
