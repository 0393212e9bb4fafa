/* Figures of a request trace: arrivals, lengths, sessions, and common beginnings of prompts.
 *
 *     struct trace_summary summary = {0};
 *     trace_summary_read(&summary, reader, &cut, &err);
 *     json_t *figures = trace_summary_json(&summary);
 *     trace_summary_release(&summary);
 *
 * ipf-prep(1) defines the figures.
 */
#ifndef PREP_TRACE_SUMMARY_H
#define PREP_TRACE_SUMMARY_H

#include "stat/context_lengths.h"
#include "stat/tag_measures.h"
#include "stats/prefix_reuse.h"
#include "stats/samples.h"
#include "stream/media_list.h"
#include "stream/trace.h"

struct trace_summary {
	struct samples at, wait;      /* arrivals, and waits between turns, in seconds */
	struct samples hang_up;       /* from the start to the client's disconnecting, in seconds */
	struct samples input, output; /* tokens */
	struct samples inputs;        /* each request with a list of them */
	struct samples turns;         /* each session's */
	int64_t requests, failed;
	int64_t canaries;                    /* requests with a known answer */
	double tokens_wanted, canary_tokens; /* tokens in prompts and answers: all, and the canaries' */
	int64_t sessions, single_requests, with_parents, with_query;
	int64_t shorter;                   /* requests of sessions with a shorter prompt than the one before */
	struct prefix_reuse blocks, texts; /* the requests with recorded blocks, and the others */
	struct tag_measures tags;
	struct media_sums media;
	int64_t with_media; /* requests */
	json_t *models;     /* {NAME: requests} */
	json_t *tokens;     /* who counted the tokens */
	json_t *left_out;   /* records that are not in the trace; NULL: none */
	json_t *unread;     /* members of records that are not; NULL: none */
	/* the current session's */
	struct buffer session; /* its name */
	int64_t session_turns;
	struct context_lengths lengths;
	struct buffer pending; /* text that does not fill a block yet */
	int64_t context_bytes; /* text in blocks */
};

/* Reads the whole trace. If it is cut, *cut is the error, and the summary covers the part before the cut. */
int trace_summary_read(struct trace_summary *t, struct trace_reader *reader, struct ipf_error *cut,
                       struct ipf_error *err);
/* New; NULL when memory runs out. Sorts the samples and computes the reuse. */
json_t *trace_summary_json(struct trace_summary *t);
/* By recorded blocks if the trace has any, else by text. */
struct prefix_reuse *trace_summary_reuse(struct trace_summary *t);
void trace_summary_release(struct trace_summary *t);

#endif
