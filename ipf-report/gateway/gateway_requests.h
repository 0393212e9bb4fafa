/* The requests of one side of a gateway, as pairing.h needs them: in front of it, or behind it.
 *
 *     struct gateway_requests front = {0};
 *     if (gateway_requests_read(&front, &run, &err) < 0) …     // the run keeps its lines (run_data_keep_lines)
 *     front.list[0].start_ns
 *     gateway_requests_release(&front);
 *
 * Times are nanoseconds since the epoch, so several results and both sides share one axis.
 */
#ifndef GATEWAY_GATEWAY_REQUESTS_H
#define GATEWAY_GATEWAY_REQUESTS_H

#include "results/run_data.h"

/* Ids of a request on both sides, in the order of trying them. */
enum gateway_id { GATEWAY_REQUEST_ID, GATEWAY_TRACE_ID, GATEWAY_RESPONSE_ID, GATEWAY_IDS };

/* Unknown integers are IPF_ABSENT, unknown hashes 0. */
struct gateway_request {
	int64_t start_ns, end_ns;
	int64_t ttft_ns, e2e_ns;             /* durations, of successful requests */
	int64_t input_tokens, output_tokens; /* by the server's count or a tokenizer */
	int64_t events, coalesced;
	int64_t status;
	uint64_t ids[GATEWAY_IDS], model, text; /* hashes */
	int32_t target, session;                /* in the run's groups; -1: not known */
	bool ok;
	bool unseen; /* a part of it is not in the capture */
	const struct row *row;
};

struct gateway_requests {
	const struct run_data *run;
	struct gateway_request *list; /* by their start */
	size_t count;
	int64_t begin_ns, end_ns; /* the time covered by the results */
};

/* IPF_INPUT: the results do not say when their run began. */
int gateway_requests_read(struct gateway_requests *to, const struct run_data *run, struct ipf_error *err);
void gateway_requests_release(struct gateway_requests *requests);

#endif
