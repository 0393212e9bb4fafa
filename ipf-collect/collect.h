/* The run of the program: records in, results out, as they come. */
#ifndef COLLECT_COLLECT_H
#define COLLECT_COLLECT_H

#include "cli/options.h"
#include "measure.h"

struct collect_options {
	struct common_options common;
	const char *api, *tokenizer, *itl;
	int64_t stall_ns, deadline_ns;
	bool events, text, explain;
};

/* The descriptor by which records are to be understood: `asked`, or the one in their header. */
int collect_api(struct record_reader *records, const char *asked, struct api **api, struct ipf_error *err);

struct collect;

/* Opens all inputs (none: standard input) and the output, and writes the header, which tells what every input said of
 * itself. `argv` (taken over) is what shapes the content. */
int collect_open(struct collect **collect, const struct collect_options *options, const struct operands *records,
                 json_t *argv, struct ipf_error *err);
/* Rows until the inputs end. What is bad in one input is kept in `err`, and the next input follows; -1 only when
 * nothing can be written any more or the user has asked to stop. */
int collect_run(struct collect *collect, struct ipf_error *err);
/* What is to be said at the end, a line each: requests that --itl token had to leave out; with `verbose`, how many
 * requests failed, and of what. */
void collect_describe(const struct collect *collect, bool verbose, struct buffer *out);
/* Histograms, trailer, close. Frees it in every case. */
int collect_close(struct collect *collect, struct ipf_error *err);
/* Frees it without sealing the output. NULL is fine. */
void collect_abandon(struct collect *collect);

#endif
