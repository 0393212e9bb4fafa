#include "shape/request_batch.h"

#include "absent.h"
#include "json/jout.h"
#include "text/synthetic_text.h"
#include "token_count.h"

#include <string.h>

/* Synthetic text of a drawn length. */
static int64_t make_query(struct request_batch *b)
{
	const struct prep_config *c = b->config;
	char name[512];
	struct rng drawn, rng;
	rng_init(&drawn, c->common.seed, "query-tokens", (uint64_t)b->number);
	rng_init(&rng, c->common.seed, synthetic_text_name("query text", c->salt, name), (uint64_t)b->number);
	int64_t tokens = distribution_draw(&c->query.distribution, &drawn);
	buffer_clear(&b->query);
	if (token_counter_is_exact(c->tokens))
		exact_text_prose(&b->exact, &rng, NULL, tokens, &b->query);
	else
		synthetic_text_prose(&rng, (size_t)tokens * 4, &b->query);
	struct jout w = {.out = &b->query_json};
	buffer_clear(&b->query_json);
	jout_string(&w, buffer_all(&b->query));
	b->request.query = buffer_all(&b->query_json);
	return token_counter_count(c->tokens, b->query.data, b->query.len);
}

/* Copies the batch's members of its first request, which is gone when the batch is complete. */
static void keep_first(struct request_batch *b, const struct trace_request *request)
{
	struct trace_request *to = &b->request;
	struct slice *const slices[] = {&to->id, &to->model, &to->tags, &to->slo};
	size_t at[sizeof slices / sizeof *slices];
	const size_t count = sizeof slices / sizeof *slices;
	to->id = request->id;
	to->model = request->model;
	to->tags = request->tags;
	to->slo = request->slo;
	buffer_clear(&b->first);
	for (size_t i = 0; i < count; i++) {
		at[i] = b->first.len;
		buffer_slice(&b->first, *slices[i]);
	}
	for (size_t i = 0; i < count && !b->first.failed; i++)
		if (slices[i]->data)
			slices[i]->data = b->first.data + at[i];
}

static void begin(struct request_batch *b, const struct trace_request *request)
{
	trace_request_init(&b->request);
	keep_first(b, request);
	b->size = prep_config_batch_size(b->config, b->number);
	b->request.input_tokens = 0;
	b->query_tokens = b->config->query.given ? make_query(b) : 0;
	buffer_clear(&b->inputs);
	buffer_byte(&b->inputs, '[');
}

static int hand_over(struct request_batch *b, struct ipf_error *err)
{
	buffer_byte(&b->inputs, ']');
	b->request.inputs = buffer_all(&b->inputs);
	b->request.inputs_count = b->count;
	b->number++;
	b->count = 0;
	if (b->inputs.failed || b->first.failed || b->query.failed || b->query_json.failed || b->exact.failed)
		return ipf_error_memory(err);
	if (!token_count_is_possible(b->request.input_tokens))
		return ipf_error_set(err, IPF_INPUT, "--batch: batch %lld: expected at most 2^40 tokens in its inputs",
		                     (long long)b->number);
	return b->to->take(b->to, &b->request, err);
}

static int take(struct request_sink *sink, const struct trace_request *request, struct ipf_error *err)
{
	struct request_batch *b = (struct request_batch *)sink;
	if (request->inputs.data)
		return ipf_error_set(err, IPF_USAGE, "--batch: request %.*s of the data has several inputs already",
		                     (int)(request->id.len < 200 ? request->id.len : 200), request->id.data);
	if (request->media.data)
		return ipf_error_set(err, IPF_USAGE, "--batch: request %.*s of the data has images, audio or video",
		                     (int)(request->id.len < 200 ? request->id.len : 200), request->id.data);
	if (b->count == 0)
		begin(b, request);
	else
		buffer_byte(&b->inputs, ',');
	buffer_slice(&b->inputs, trace_prompt(request));
	b->request.input_tokens = token_sum(b->request.input_tokens, token_sum(request->input_tokens, b->query_tokens));
	b->request.at_ns = request->at_ns;
	return ++b->count < b->size ? 0 : hand_over(b, err);
}

void request_batch_init(struct request_batch *batch, const struct prep_config *config, struct request_sink *to)
{
	*batch = (struct request_batch){
		.sink = {take}, .config = config, .to = to, .exact = {.tokens = config->tokens, .salt = config->salt}};
}

int request_batch_finish(struct request_batch *batch, struct ipf_error *err)
{
	return batch->count ? hand_over(batch, err) : 0;
}

void request_batch_release(struct request_batch *b)
{
	buffer_release(&b->first);
	buffer_release(&b->inputs);
	buffer_release(&b->query);
	buffer_release(&b->query_json);
	exact_text_release(&b->exact);
}
