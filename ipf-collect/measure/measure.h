/* Metrics: from a record and its parsed response to a row of results. Every definition of ipf-results(5) is implemented
 * here and nowhere else; ipf-report only aggregates.
 */
#ifndef COLLECT_MEASURE_H
#define COLLECT_MEASURE_H

#include "api/response.h"
#include "measure/stage_edges.h"
#include "other_tools/tool_rules.h"
#include "stream/record.h"
#include "stream/result.h"

/* The default rule for a stall: a gap of more than this many medians of the request's own gaps, and longer than this.
 */
#define STALL_MEDIANS  10
#define STALL_LEAST_NS (INT64_C(100) * 1000 * 1000)

/* The samples of inter-token latency. */
enum itl_mode {
	ITL_GAP,     /* a gap between content events */
	ITL_TOKEN,   /* the gap divided among the tokens of the event ending it, one sample for each */
	ITL_REQUEST, /* the mean gap of a request */
};
extern const char *const itl_mode_names[]; /* NULL at the end */

struct measure_options {
	enum itl_mode itl;
	int64_t stall_ns;                    /* a longer gap is a stall; IPF_ABSENT: the default rule */
	int64_t deadline_ns;                 /* time for each token, for the fluidity; not above 0: it is not measured */
	bool keep_events, keep_text;         /* --events, --text */
	bool retries;                        /* the run sends refused requests again: attempts.h */
	const char *replica_header;          /* the header of answers naming the replica; NULL: none */
	const struct token_counter *tokens;  /* NULL: no tokenizer */
	const struct tool_rules *definition; /* as_tool.h; NULL: ipf's own definitions */
	struct stage_edges *edges;           /* the input's; NULL: rows have no previous stage */
};

/* `count` inter-token latencies of this value, which ended at t_ns: the time of the event ending the gap, or, with
 * ITL_REQUEST, of the last content event. */
struct itl_sample {
	int64_t value_ns, count, t_ns;
	int64_t low_ns, high_ns; /* its bounds, given the uncertain times of its events */
};

/* A chunk counted as tokens for the tool of --definition. */
struct measure_chunk {
	int64_t t_ns, early_ns, tokens; /* early_ns as in struct response_event */
};

/* Samples of the last row and scratch space, reused for each row. Zero-initialise. */
struct measure {
	struct itl_sample *samples; /* for the last row */
	size_t samples_count;
	bool tokens_unknown; /* ITL_TOKEN: there were gaps, but the tokens of each event are unknown */
	/* The samples are of no place in the answer: the mean gap of the request. Otherwise they are in its order. */
	bool samples_are_means;
	/* The output tokens of each content event of the last row, whose sum is the row's output_tokens. If only the sum is
	 * known, it is divided evenly over the events. Meaningless if the row has no output_tokens. */
	int64_t *event_tokens;

	/* private */
	bool event_tokens_known; /* they are, and not only their sum */
	int64_t *gaps;
	size_t *event_ends;
	size_t cap, samples_cap;
	struct measure_chunk *chunks;
	size_t chunks_count, chunks_cap;
	struct jdoc headers;
	struct edge_lists edges;
	struct buffer trace_id;
	struct buffer kind, error_text, finish, finish_server, text, reasoning, event_ns, tokens_list, not_streamed,
		event_kinds, other_ns, other_kinds, outputs_text, source, doubt, given_up;
};

/* Fills `row`. Its slices point into the record, the response and `m` and are good until one of them is reused. -1: out
 * of memory, or the tokenizer cannot encode the text. */
int measure_row(struct measure *m, const struct record *record, const struct response *response,
                const struct measure_options *options, struct result *row, struct ipf_error *err);
void measure_release(struct measure *m);

#endif
