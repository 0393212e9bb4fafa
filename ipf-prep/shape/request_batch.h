/* Makes one request of several: --batch. Each prompt becomes one of its inputs; --query-tokens adds a synthetic query
 * they are ranked for. It is between the sources of requests and their consumers.
 *
 *     struct request_batch batch;
 *     request_batch_init(&batch, config, to);
 *     … hands its requests to &batch.sink …
 *     if (request_batch_finish(&batch, &err) < 0) …   // the last batch, which may have fewer inputs
 *     request_batch_release(&batch);
 *
 * A batch has the id, the model, the tags and the objectives of its first request, and arrives with its last. It is of
 * no session, and asks for no output.
 */
#ifndef PREP_REQUEST_BATCH_H
#define PREP_REQUEST_BATCH_H

#include "shape/trace_renderer.h"

struct request_batch {
	struct request_sink sink; /* must be first */
	const struct prep_config *config;
	struct request_sink *to;
	int64_t number;               /* the batch's, from 0 */
	int64_t size, count;          /* inputs it gets, and has */
	struct trace_request request; /* its fields are in `first` and `inputs` */
	struct buffer first, inputs;  /* JSON */
	struct buffer query, query_json;
	int64_t query_tokens;    /* 0: no query */
	struct exact_text exact; /* for queries */
};

void request_batch_init(struct request_batch *batch, const struct prep_config *config, struct request_sink *to);
int request_batch_finish(struct request_batch *batch, struct ipf_error *err);
void request_batch_release(struct request_batch *batch);

#endif
