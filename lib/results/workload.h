/* The trace of a run, held against the run: each request of it, its recorded values, and which blocks its prompt has.
 *
 *     struct workload w = {0};
 *     if (workload_read(&w, "chat.trace.zst", &run, &err) < 0) …     // after merge_parts
 *     for (int64_t i = 0; i < w.started_count; i++) {                // the requests in the order in which they started
 *         const struct workload_request *asked = workload_request_of(&w, w.started[i]);
 *     workload_release(&w);
 *
 * Requests of the trace after the last one that was sent are read, but not kept.
 */
#ifndef IPF_WORKLOAD_H
#define IPF_WORKLOAD_H

#include "results/run_data.h"
#include "stats/prefix_reuse.h"
#include "results/tree_prompt.h"

/* A request of the trace; integers as there, IPF_ABSENT if it does not say. */
struct workload_request {
	int64_t at_ns, wait_ns;
	int64_t input_tokens, output_tokens;
	int64_t hang_up_ns, recorded_ttft_ns, recorded_e2e_ns;
	int64_t first_parent; /* in workload.parents */
	uint32_t parents;     /* requests it waits for: those it names, else the previous turn */
	uint32_t tokens;      /* its prompt's, as prompt_chain.h counts them */
	uint32_t node;        /* the last block of its prompt */
	uint32_t answer;      /* the last block of prompt and answer, if a later turn has the answer; else = node */
};

struct workload {
	struct workload_request *requests; /* by their line in the trace, from 0 */
	int64_t count, cap;
	int64_t *parents; /* lines in the trace */
	int64_t parents_count, parents_cap;
	struct prefix_tree tree;
	const struct row **started; /* all started requests, in the order of their starts on one clock */
	int64_t started_count;
	const struct row **row_of;    /* for each request, the row that answered it first; NULL: none */
	const char *no_blocks;        /* why it is not known which blocks were sent; NULL: it is */
	int64_t of_trace;             /* requests of the trace, those after the last one sent included */
	int64_t with_latencies;       /* those of them with recorded latencies */
	char *source;                 /* the format of the data of the trace; NULL: it does not say */
	struct prefix_reuse recorded; /* the recorded blocks of the requests sent, each once */
	bool recorded_cut;            /* there are more than are counted, and none is kept */
};

/* When a request started, and so on, on the clock of the first part. */
static inline int64_t workload_time(const struct run_data *run, const struct row *row, int64_t t_ns)
{
	return t_ns + run->parts[row->part].shift_ns;
}

/* Reads the trace. The run needs the column ROW_REQ. -1: IPF_INPUT also if it is not the trace of this run, which the
 * digest in the header of the results tells. */
int workload_read(struct workload *w, const char *path, const struct run_data *run, struct ipf_error *err);
/* The trace's entry for a sent request; NULL: none. */
const struct workload_request *workload_request_of(const struct workload *w, const struct row *row);
void workload_release(struct workload *w);

#endif
