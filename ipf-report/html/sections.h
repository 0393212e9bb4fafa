/* The sections of the page, a function each: it appends what is below the section's heading, or nothing if the run has
 * nothing for it; then the page has no such section.
 *
 * Figures come from the JSON report (page->json), so that every format has the same ones. Tables follow html_table.h,
 * texts html_text.h. To add a section, add it here and to the list in format_html.c.
 */
#ifndef REPORT_SECTIONS_H
#define REPORT_SECTIONS_H

#include "formats/report_format.h"

struct page {
	struct buffer *out;
	const struct report *report;
	json_t *json; /* the JSON report */
};

void section_verdict(const struct page *page);
void section_summary(const struct page *page);
void section_stages(const struct page *page);
void section_plots(const struct page *page);
void section_latency(const struct page *page);
void section_tokens(const struct page *page);
void section_saturation(const struct page *page);
void section_autoscaling(const struct page *page);
void section_sessions(const struct page *page);
void section_repeats(const struct page *page);
void section_fidelity(const struct page *page);
void section_cache(const struct page *page);
void section_cost(const struct page *page);
void section_errors(const struct page *page);
void section_server(const struct page *page);
void section_accelerators(const struct page *page);
void section_accuracy(const struct page *page);
void section_run(const struct page *page);
void section_commands(const struct page *page);
void section_provenance(const struct page *page);
void section_definitions(const struct page *page);

/* A list of what is known, in two columns; a value of NULL is left out. */
void facts_begin(const struct page *page);
void fact(const struct page *page, const char *name, const char *value);
void facts_end(const struct page *page);

/* A name in JSON with blanks for its underscores, in `text`: "from_due" is "from due". */
const char *spaced(const char *name, char text[64]);
/* The name of a metric, "ttft_ms", as people write it: "TTFT"; in `text`. */
const char *metric_label(const char *name, char text[40]);
/* The name of its definition, "ttft". */
const char *metric_definition(const char *name, char text[40]);

#endif
