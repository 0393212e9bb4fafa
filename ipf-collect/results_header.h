/* The first and the last line of the results: their sources, the conventions, and the verdict of the run.
 */
#ifndef COLLECT_RESULTS_HEADER_H
#define COLLECT_RESULTS_HEADER_H

#include "collect.h"
#include "record_inputs.h"
#include "series/steady.h"
#include "verdict/verdict.h"

/* The headers of the inputs, and the conventions the metrics follow. It has no date and no host, so the same records
 * always give the same bytes in files of the same name. `tokens`: NULL without --tokenizer. `argv` is taken over. New;
 * NULL: out of memory. */
json_t *results_header(const struct record_inputs *inputs, const struct collect_options *options,
                       const struct token_counter *tokens, json_t *argv);

/* The findings about the run as a whole. */
struct results_findings {
	const char *incomplete;                  /* why some of it is missing; "": nothing is */
	const struct until_stable *until_stable; /* NULL: --until-stable was not given */
	const struct steady *steady;
	json_t *clocks; /* borrowed; NULL: the run has one client */
};

/* The members of the trailer: the lines read of each input, the findings, the verdict. New. */
json_t *results_trailer(const struct record_inputs *inputs, const struct results_findings *findings,
                        struct verdict *verdict);

#endif
