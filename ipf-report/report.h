/* What a report says, and the formats that say it. Each of them renders into a buffer; main.c writes that. */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include "blocks.h"
#include "buffer.h"

struct report {
	const struct run_data *run;
	const struct blocks *blocks;
	const struct block_options *options;
	const struct verdict_finding *finding;
	json_t *verdict;   /* as verdict_json gives it */
	json_t *about;     /* "run" of the JSON: where it all came from */
	bool reproducible; /* leave out what changes from run to run */
	bool colour;       /* text: escape sequences */
};

/* What is known of the run from the headers of its streams (about.c). New; NULL: out of memory. */
json_t *report_about(const struct run_data *run, bool reproducible);

/* 0; -1 when memory runs out. */
int report_json(const struct report *report, struct buffer *out);
void report_text(const struct report *report, struct buffer *out); /* the buffer knows whether memory ran out */
void report_csv(const struct report *report, struct buffer *out);

/* Every metric, and when the verdict doubts (definitions.c). */
void report_definitions(struct buffer *out);
/* Their names, i = 0, 1, … until NULL. */
const char *report_definition_name(size_t i);

#endif
