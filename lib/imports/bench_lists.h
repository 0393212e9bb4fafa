/* The lists that vLLM's and SGLang's benchmarks write with a request an entry: "ttfts", "itls", "input_lens", … They
 * are members of one object, one list after the other; rows can only be made when all have been read.
 *
 *     struct bench_lists lists = {0};
 *     for each member: got = bench_lists_member(&lists, in, key, err);     // 1: it was one of them; 0: it was not
 *     bench_lists_rows(&lists, in, stage, err);
 *     bench_lists_release(&lists);
 *
 * Times are in seconds, 0 for a failed request. Gaps are kept in a file if someone wants the times of events.
 */
#ifndef IPF_BENCH_LISTS_H
#define IPF_BENCH_LISTS_H

#include "imports/import.h"

enum {
	LIST_INPUT_LENS,
	LIST_OUTPUT_LENS,
	LIST_TTFTS,
	LIST_LATENCIES,
	LIST_START_TIMES,
	LIST_QUEUE_TIMES,
	LIST_CACHED_TOKENS,
	BENCH_LISTS
};

struct bench_list {
	double *values;
	size_t count, cap;
	bool there;
};

struct bench_lists {
	struct bench_list list[BENCH_LISTS];
	struct bench_list gap_count, gap_sum, gap_max; /* from "itls" */
	struct bench_list event_lines;                 /* where in `events` */
	struct bench_list error_at;                    /* where in `errors`; -1: none */
	struct buffer errors;                          /* JSON texts, each with a NUL */
	struct row_lines *events;
	struct histogram *gaps; /* all requests together */
	int64_t from_ns;        /* the first start, which is at begin_ns of the run */
	int64_t begin_ns;
	int64_t end_ns;   /* the last request's; begin_ns if no time is known */
	int64_t ok_count; /* the rows made's */
};

int bench_lists_member(struct bench_lists *lists, struct import *in, struct slice key, struct ipf_error *err);
/* Has the document requests? */
bool bench_lists_there(const struct bench_lists *lists);
/* The first start as the file says it, in ns; IPF_ABSENT: there is none. */
int64_t bench_lists_first_start(const struct bench_lists *lists);
/* Adds a row for each request. A start at from_ns in the file is one at begin_ns of the run. -1: lists are not of the
 * same length. */
int bench_lists_rows(struct bench_lists *lists, struct import *in, int stage, struct ipf_error *err);
void bench_lists_release(struct bench_lists *lists);

#endif
