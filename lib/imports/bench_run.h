/* A run in the files of vLLM's and SGLang's benchmarks: one JSON object, with figures whose names are keys, and with
 * lists of requests if they were asked for. A file is one such object or several, one after the other.
 *
 *     static const struct bench_dialect dialect = {.metrics = …, .numbers = …, .label = "tag"};
 *     static int read_tool(struct import *in, struct ipf_error *err) { return bench_runs_read(in, &dialect, err); }
 *
 * Requests without times of their starts (SGLang) have the rates the file states.
 */
#ifndef IPF_BENCH_RUN_H
#define IPF_BENCH_RUN_H

#include "imports/bench_lists.h"
#include "imports/flat_figures.h"

/* One object, as far as it is known; numbers that are not there are NAN. */
struct bench_run {
	struct bench_lists lists;
	struct stated_stage figures;
	struct buffer label, raw;
	bool replay;
	double rate, burstiness, slots, duration, completed, failed;
};

struct bench_dialect {
	const struct flat_metric *metrics;
	const struct bench_number {
		const char *key;
		size_t offset; /* a double's in struct bench_run */
	} * numbers;       /* NULL ends them */
	const char *label; /* the member with the name of the run */
	const char *model; /* … and the model; NULL: there is none */
};

int bench_runs_read(struct import *in, const struct bench_dialect *dialect, struct ipf_error *err);

#endif
