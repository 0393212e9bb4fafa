/* --check-output: whether the texts of answers are the JSON asked for. "Structured output" in ipf-results(5) has the
 * definitions.
 *
 *     struct output_check *check = NULL;                                  // stays NULL without a rule
 *     if (output_check_open(&check, &options, &err) < 0) …                // reads the schema, the trace
 *     if (output_check_begin(check, trace_sha256, &err) < 0) …            // is it the trace of this run?
 *     output_check_row(check, &response, &row, &err);                     // sets row.output_check, row.output_invalid
 *     output_check_close(check);
 *
 * All functions accept NULL, and do nothing then. The response must have been parsed with keep_text.
 */
#ifndef COLLECT_OUTPUT_CHECK_H
#define COLLECT_OUTPUT_CHECK_H

#include "api/response.h"
#include "stream/result.h"

#include <jansson.h>

struct output_check_options {
	const char *rule;  /* "json", "format" or the path of a JSON Schema; NULL: nothing is checked */
	const char *trace; /* the requests', whose response_format "format" goes by; NULL: none */
};

/* Longer texts are undecided. */
#define OUTPUT_BYTES_MAX (8 << 20)
/* Different formats of one trace. */
#define OUTPUT_FORMATS_MAX 10000

struct output_check;

/* Missing and surplus options. -1: IPF_USAGE. */
int output_check_usage(const struct output_check_options *options, struct ipf_error *err);
/* -1: a file cannot be read, is no schema, or no request of the trace has a format. */
int output_check_open(struct output_check **check, const struct output_check_options *options, struct ipf_error *err);
/* The rule, for the header of results: {"rule":"schema","sha256":…}, the digest of the schema's file or, for "format",
 * of the trace. New; NULL: nothing is checked, or out of memory. */
json_t *output_check_json(const struct output_check *check);
/* `sha256`: the run trace's, as its schedule says; "" if it is not known. -1: another trace was read. */
int output_check_begin(const struct output_check *check, const char *sha256, struct ipf_error *err);
/* Sets both members, or none for an unchecked row: of a failure, of an answer without text, of a request without a
 * format. They are good until the next call. -1: out of memory. */
int output_check_row(struct output_check *check, const struct response *response, struct result *row,
                     struct ipf_error *err);
void output_check_close(struct output_check *check);

#endif
