/* The program's run: reads records from one or several inputs and writes results as they come.
 */
#ifndef COLLECT_COLLECT_H
#define COLLECT_COLLECT_H

#include "cli/options.h"
#include "live/until_stable.h"
#include "measure/measure.h"
#include "output/output_check.h"
#include "publish/publish.h"
#include "scrape/scrape_options.h"

struct collect_options {
	struct common_options common;
	const char *api, *tokenizer; /* NULL: not given */
	struct measure_options measure;
	struct until_stable_rule until_stable;
	struct publish_options publish;
	struct output_check_options output_check;
	int definition; /* enum tool, whose definitions the rows have; -1: ipf's own */
	bool explain, check, sandbox;
	const char *where; /* --where: which responses are explained; NULL: all */
	struct scrape_options scrape;
	struct string_list gpu; /* where samples of accelerators come from; empty: no samples */
	const char *samples;    /* --samples: results of the same run; NULL: not given */
	int64_t every_ns;       /* the length of the windows, and the time between two samples */
};

/* Opens the tokenizer that --tokenizer names. */
int open_token_counter(struct token_counter **tokens, const struct collect_options *options, struct ipf_error *err);

struct collect;

/* Opens all inputs (none: standard input) and the output, and writes the results' header with the headers of all
 * inputs. `argv` (taken over) holds the options for the content. */
int collect_open(struct collect **collect, const struct collect_options *options, const struct operands *records,
                 json_t *argv, struct ipf_error *err);
/* Writes rows until the inputs end, or the run is stable (--until-stable). Bad input is kept in `err`, and the next
 * input follows; -1 only if the output failed or the user stopped the program. */
int collect_run(struct collect *collect, struct ipf_error *err);
/* After the last input: draws the last state of the view, which stays, and appends the notes for the end of the run, a
 * line each: how many requests failed and why most often (if the input was `whole`), those that --itl token left out
 * and, with `verbose`, how many there were. They are to be printed before collect_close, after which the reader of the
 * results may print its own. */
int collect_end(struct collect *collect, bool whole, bool verbose, struct buffer *notes, struct ipf_error *err);
/* Writes the histograms and the trailer and closes the output. Frees `collect` in any case. */
int collect_close(struct collect *collect, struct ipf_error *err);
/* Frees it without sealing the output. NULL is fine. */
void collect_abandon(struct collect *collect);

#endif
