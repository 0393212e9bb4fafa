/* The sections of a report: each writes its topic of the JSON report into a document, or nothing. Every sentence a
 * report can print is in one of these files; how it looks is the renderers' business (document.h).
 *
 *     struct document d = {0};
 *     struct report_view view = {.brief = true};
 *     if (report_document(&d, report_json, &view, &err) == 0) …
 *
 * A section of a new topic is a function in a file of its own and a row of the table below.
 */
#ifndef REPORT_SECTIONS_H
#define REPORT_SECTIONS_H

#include "document/document.h"
#include "json_report/json_path.h"
#include "error.h"

/* The parts of a report to show. */
struct report_view {
	bool brief;           /* the sections answering first, and deviations */
	const char *sections; /* --section: names separated by commas; NULL: all the depth shows */
	const char *pictures; /* HTML of the plots; NULL: none */
};

/* The sources of a section. */
struct telling {
	struct document *d;
	json_t *report; /* the JSON report */
	json_t *total;  /* "total" of it */
	bool brief;
	bool asked; /* --section chose the sections */
	const char *pictures;
};

/* Makes the document of a JSON report. -1: IPF_USAGE for an unknown section; out of memory. */
int report_document(struct document *d, json_t *report, const struct report_view *view, struct ipf_error *err);

/* The members of the JSON report (REPORT_… of json_report.h) from which such a view is made. */
unsigned sections_members(const struct report_view *view);

/* Do these names exist? IPF_USAGE. */
int sections_check(const char *names, struct ipf_error *err);

/* The sections in their order: name, title, where it is shown, whether Markdown folds it, and the members of the JSON
 * report it needs besides those of all sections. */
/* clang-format off */
#define SECTIONS(SECTION)                                                                                              \
	SECTION(incomplete, "Incomplete", FIRST, false, 0) /* the reasons why a part of the run is missing */              \
	SECTION(continued, "Continued", FIRST, false, 0)                                                                   \
	SECTION(verdict, "Verdict", FIRST, false, 0)                                                                       \
	SECTION(summary, "Summary", PAGE, false, REPORT_SATURATION | REPORT_OBJECTIVES)                                    \
	SECTION(answers, "Answers", FIRST, false, REPORT_ANSWERS)                                                          \
	SECTION(stages, "Stages", FIRST, false, REPORT_STEADY)                                                             \
	SECTION(plots, "Plots", PAGE, false, REPORT_PLOTS)                                                                 \
	SECTION(latency, "Latency", FIRST, false, REPORT_BURSTS)                                                           \
	SECTION(batches, "Batches", FIRST, false, 0)                                                                       \
	SECTION(why, "Where the time went", FIRST, false, REPORT_WHY)                                                      \
	SECTION(shape, "Shape", FULL, false, REPORT_SHAPE)                                                                 \
	SECTION(repeats, "Repeats", FIRST, false, REPORT_REPEATS)                                                          \
	SECTION(saturation, "Saturation", FIRST, false, REPORT_SATURATION)                                                 \
	SECTION(autoscaling, "Autoscaling", FIRST, false, REPORT_AUTOSCALING)                                              \
	SECTION(sessions, "Sessions", FULL, true, REPORT_SESSIONS)                                                         \
	SECTION(history, "History", FIRST, false, 0)                                                                       \
	SECTION(fidelity, "Fidelity", FIRST, false, REPORT_FIDELITY)                                                       \
	SECTION(reference, "Recorded", FIRST, false, REPORT_REFERENCE)                                                     \
	SECTION(cache, "Prefix cache", FIRST, true, REPORT_CACHE)                                                          \
	SECTION(speculation, "Speculative decoding", FIRST, true, REPORT_SERVER)                                           \
	SECTION(tokens, "Tokens", FULL, true, 0)                                                                           \
	SECTION(timeline, "Time line", FULL, true, REPORT_TIME_LINE)                                                       \
	SECTION(server, "Server", FIRST, true, REPORT_SERVER)                                                              \
	SECTION(accelerators, "Accelerators", FULL, true, REPORT_ACCELERATORS)                                             \
	SECTION(cost, "Cost", FIRST, false, REPORT_COST)                                                                   \
	SECTION(errors, "Errors", FIRST, false, REPORT_ERRORS | REPORT_TRANSPORT)                                          \
	SECTION(refusals, "Rate limits", FIRST, false, 0)                                                                  \
	SECTION(output, "Structured output", FIRST, false, REPORT_INVALID_OUTPUTS)                                         \
	SECTION(goodput, "Goodput", FIRST, false, REPORT_OBJECTIVES)                                                       \
	SECTION(accuracy, "Accuracy", FULL, true, REPORT_ACCURACY | REPORT_CLOCKS | REPORT_STEADY | REPORT_TRANSPORT)      \
	SECTION(as, "Other tools", FIRST, true, REPORT_AS)                                                                 \
	SECTION(run, "Run", FULL, true, REPORT_CLOCKS)                                                                     \
	SECTION(commands, "Commands", PAGE_AND_MD, true, 0)                                                                \
	SECTION(provenance, "Provenance", PAGE, true, 0)                                                                   \
	SECTION(definitions, "Definitions", PAGE, true, 0)
/* clang-format on */

/* section_verdict, …: each tells its topic. */
#define SECTION_FUNCTION(name_, title_, depth_, folded_, from_) void section_##name_(const struct telling *t);
SECTIONS(SECTION_FUNCTION)

/* ---- documents of their own ---- */

void definitions_document(struct document *d);
/* ipf-report certificate: `certificate` as certificate.h makes it, `total` the JSON report's. */
void certificate_document(struct document *d, json_t *certificate, json_t *total);

#endif
