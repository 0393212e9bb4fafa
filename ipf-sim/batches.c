#include "batches.h"

#include "absent.h"
#include "answer.h"
#include "json/jout.h"
#include "plain_modes.h"
#include "token_text.h"

#include <string.h>

/* How an answer is written. */
enum shape { SHAPE_EMBEDDINGS, SHAPE_COHERE, SHAPE_LISTS, SHAPE_RESULTS, SHAPE_SCORES, SHAPE_TEI_SCORES, SHAPE_LOGITS };

/* Where a request has its inputs and its query. */
struct api {
	const char *path, *inputs, *query;
	enum shape shape;
	const char *limit; /* the member with the number of results that are wanted; NULL */
};

static const struct api apis[] = {
	{"/v1/embeddings", "input", NULL, SHAPE_EMBEDDINGS, NULL},
	{"/v2/embed", "texts", NULL, SHAPE_COHERE, NULL},
	{"/embed", "inputs", NULL, SHAPE_LISTS, NULL},
	{"/v1/rerank", "documents", "query", SHAPE_RESULTS, "top_n"},
	{"/v2/rerank", "documents", "query", SHAPE_RESULTS, "top_n"},
	{"/rerank", "texts", "query", SHAPE_TEI_SCORES, NULL},
	{"/score", "text_2", "text_1", SHAPE_SCORES, NULL},
	{"/v1/ranking", "passages", "query", SHAPE_LOGITS, NULL},
};
enum { APIS = sizeof apis / sizeof *apis };

static const struct api *api_of(struct slice path)
{
	for (size_t i = 0; i < APIS; i++)
		if (slice_is(path, apis[i].path))
			return &apis[i];
	return NULL;
}

bool batches_has_path(struct slice path)
{
	return api_of(path) != NULL;
}

/* ---- the request ---- */

struct request {
	const struct api *api;
	struct modes modes;
	int64_t inputs, wanted; /* results: as many, unless fewer are asked for */
	int64_t tokens;         /* all inputs together, and of the query beside each */
};

/* Four bytes a token, as everywhere in this server; a list of token ids is as long as it is. -1: it is neither. */
static int64_t tokens_of(const struct jdoc *doc, jdoc_id node)
{
	struct buffer text = {0};
	if (jdoc_type_of(doc, node) == JDOC_MAP)
		node = jdoc_get(doc, node, "text");
	if (jdoc_type_of(doc, node) == JDOC_LIST)
		return jdoc_count(doc, node);
	if (jdoc_type_of(doc, node) != JDOC_TEXT)
		return -1;
	jdoc_text(doc, node, &text);
	int64_t tokens = (int64_t)(text.len + TOKEN_BYTES - 1) / TOKEN_BYTES;
	buffer_release(&text);
	return tokens;
}

/* A list of texts or of lists of ids; or one of them alone. */
static int count_inputs(struct request *r, const struct jdoc *doc, jdoc_id inputs, int64_t query, struct ipf_error *err)
{
	jdoc_id first = jdoc_at(doc, inputs, 0);
	bool many = jdoc_type_of(doc, inputs) == JDOC_LIST && jdoc_type_of(doc, first) != JDOC_NUMBER;
	if (!many) {
		r->inputs = 1;
		r->tokens = tokens_of(doc, inputs) + query;
		return tokens_of(doc, inputs) < 0 ? ipf_error_set(err, IPF_INPUT, "%s: expected texts", r->api->inputs) : 0;
	}
	for (struct jdoc_each e = jdoc_each(doc, inputs); jdoc_step(&e); r->inputs++) {
		int64_t tokens = tokens_of(doc, e.value);
		if (tokens < 0)
			return ipf_error_set(err, IPF_INPUT, "%s: expected texts", r->api->inputs);
		r->tokens += tokens + query;
	}
	return r->inputs ? 0 : ipf_error_set(err, IPF_INPUT, "%s: expected at least one", r->api->inputs);
}

static int parse(struct request *r, struct slice body, struct ipf_error *err)
{
	struct jdoc doc = {0};
	int64_t query = 0;
	int status = jdoc_parse(&doc, body.data, body.len, err);
	if (status == 0 && r->api->query) {
		query = tokens_of(&doc, jdoc_get(&doc, JDOC_ROOT, r->api->query));
		if (query < 0)
			status = ipf_error_set(err, IPF_INPUT, "%s: expected a text", r->api->query);
	}
	if (status == 0)
		status = count_inputs(r, &doc, jdoc_get(&doc, JDOC_ROOT, r->api->inputs), query, err);
	r->wanted = r->inputs;
	int64_t limit;
	if (r->api->limit && jdoc_to_int(&doc, jdoc_get(&doc, JDOC_ROOT, r->api->limit), &limit) && limit < r->inputs)
		r->wanted = limit;
	jdoc_release(&doc);
	return status;
}

/* ---- the answer ---- */

static void say_vector(struct buffer *out, int64_t i)
{
	buffer_format(out, "[%.3f,-0.5,0.125]", (double)(i % 100) / 100);
}

/* Rankings have the best first: here the last. */
static int64_t rank_of(const struct request *r, int64_t i)
{
	return r->inputs - 1 - i;
}

static void say_result(const struct request *r, struct buffer *out, int64_t i)
{
	const bool ranked = r->api->shape >= SHAPE_RESULTS && r->api->shape != SHAPE_SCORES;
	const int64_t index = modes_find(&r->modes, MODE_INDEX) ? 0 : ranked ? rank_of(r, i) : i;
	const double score = 1 / (double)(i + 2);
	switch (r->api->shape) {
	case SHAPE_EMBEDDINGS:
		buffer_format(out, "{\"object\":\"embedding\",\"index\":%lld,\"embedding\":", (long long)index);
		say_vector(out, index);
		buffer_byte(out, '}');
		break;
	case SHAPE_COHERE:
	case SHAPE_LISTS:
		say_vector(out, index);
		break;
	case SHAPE_RESULTS:
		buffer_format(out, "{\"index\":%lld,\"relevance_score\":%.6f}", (long long)index, score);
		break;
	case SHAPE_SCORES:
		buffer_format(out, "{\"index\":%lld,\"object\":\"score\",\"score\":%.6f}", (long long)index, score);
		break;
	case SHAPE_TEI_SCORES:
		buffer_format(out, "{\"index\":%lld,\"score\":%.6f}", (long long)index, score);
		break;
	case SHAPE_LOGITS:
		buffer_format(out, "{\"index\":%lld,\"logit\":%.6f}", (long long)index, score);
		break;
	}
}

static void say_answer(const struct request *r, struct buffer *out)
{
	static const char *const begin[] = {"{\"object\":\"list\",\"data\":[",
	                                    "{\"embeddings\":{\"float\":[",
	                                    "[",
	                                    "{\"results\":[",
	                                    "{\"object\":\"list\",\"data\":[",
	                                    "[",
	                                    "{\"rankings\":["};
	const struct mode *shorter = modes_find(&r->modes, MODE_SHORT);
	const int64_t count = shorter && shorter->tokens < r->wanted ? shorter->tokens : r->wanted;
	const long long tokens = (long long)r->tokens;
	buffer_text(out, begin[r->api->shape]);
	for (int64_t i = 0; i < count; i++) {
		if (i)
			buffer_byte(out, ',');
		say_result(r, out, i);
	}
	buffer_byte(out, ']');
	if (r->api->shape == SHAPE_COHERE)
		buffer_format(out, "},\"meta\":{\"billed_units\":{\"input_tokens\":%lld}}}", tokens);
	else if (r->api->shape != SHAPE_LISTS && r->api->shape != SHAPE_TEI_SCORES)
		buffer_format(out, ",\"usage\":{\"prompt_tokens\":%lld,\"total_tokens\":%lld}}", tokens, tokens);
}

static void answer(const struct request *r, struct conn *c)
{
	struct buffer body = {0};
	char tokens[64] = "";
	if (plain_modes_answer(&r->modes, c))
		return;
	say_answer(r, &body);
	if (r->api->shape == SHAPE_LISTS || r->api->shape == SHAPE_TEI_SCORES)
		snprintf(tokens, sizeof tokens, "x-compute-tokens: %lld\r\n", (long long)r->tokens);
	answer_plain(&c->out, 200, "application/json", *tokens ? tokens : NULL, buffer_all(&body), c->request.keep_alive);
	buffer_release(&body);
}

bool batches_answer(struct conn *c)
{
	struct request r = {.api = api_of(c->request.path)};
	struct ipf_error err = {0};
	if (!r.api)
		return false;
	c->server->totals.requests++;
	if (parse(&r, buffer_all(&c->request.body), &err) < 0 || plain_modes_choose(&r.modes, c, &err) < 0) {
		answer_error(&c->out, err.kind == IPF_SYSTEM ? 500 : 400, NULL, err.text, NULL, c->request.keep_alive);
		c->server->totals.refused++;
	} else {
		const struct server_options *o = c->server->options;
		outbox_hold(&c->out, o->batch_base_ns + r.inputs * o->batch_input_ns);
		answer(&r, c);
	}
	conn_answered(c);
	return true;
}
