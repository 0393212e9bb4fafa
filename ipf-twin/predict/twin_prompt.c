#include "predict/twin_prompt.h"

#include "absent.h"
#include "batching/kv_cache.h"
#include "requests/prompt.h"
#include "requests/trace_cursor.h"
#include "stream/prompt_chain.h"
#include "text_hash.h"
#include "twin/twin_blocks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FACTOR_REQUESTS 1000
#define TOKENS_MOST     1e15

struct twin_prompt {
	struct twin_prompt_options o;
	struct prompt_chain chain;
	struct prompt_scratch scratch;
	struct prompt prompt;
	double factor; /* the server's tokens for each of the chain; 0: not known yet */
	/* The request read. */
	struct twin_answer *answer; /* NULL: its blocks are of no interest */
	int64_t given, most;        /* blocks so far, and at most */
};

/* ---- the chain ---- */

static void on_block(struct prompt_chain *chain)
{
	struct twin_prompt *p = (struct twin_prompt *)((char *)chain - offsetof(struct twin_prompt, chain));
	int64_t number = chain->tokens / PROMPT_BLOCK;
	while (p->answer && p->given < p->most && twin_blocks_place(p->factor, p->given) <= number) {
		twin_answer_block(p->answer, twin_blocks_hash(chain->hash, p->given));
		p->given++;
	}
}

/* The whole prompt, with the earlier turns. */
static int add_prompt(struct twin_prompt *p, const struct trace_request *request, struct slice context,
                      struct ipf_error *err)
{
	struct trace_request whole = *request;
	if (request->messages.data)
		whole.messages = prompt_messages(&p->prompt, request, context);
	if (request->prompt_token_ids.data && context.len) {
		buffer_clear(&p->prompt.messages);
		prompt_token_ids(request, context, &p->prompt.messages);
		whole.prompt_token_ids = buffer_all(&p->prompt.messages);
	}
	return prompt_chain_add(&p->chain, &whole, &p->scratch, err);
}

/* ---- the factor ---- */

/* Adds up the tokens of the trace's first prompts, and of the chain's. */
static int sum_up(struct twin_prompt *p, const char *trace, double *said, double *chained, struct ipf_error *err)
{
	struct trace_cursor *cursor;
	struct trace_request request;
	struct slice context;
	int got = 1;
	if (trace_cursor_open(&cursor, trace, 0, err) < 0)
		return -1;
	for (int64_t i = 0; i < FACTOR_REQUESTS && (got = trace_cursor_get(cursor, i, &request, &context, err)) == 1; i++) {
		prompt_chain_begin(&p->chain, (struct slice){0});
		if ((got = add_prompt(p, &request, context, err)) < 0)
			break;
		if (request.input_tokens == IPF_ABSENT || !p->chain.tokens)
			continue;
		*said += (double)request.input_tokens;
		*chained += (double)p->chain.tokens;
	}
	trace_cursor_close(cursor);
	return got < 0 ? -1 : 0;
}

static int find_factor(struct twin_prompt *p, const char *trace, struct ipf_error *err)
{
	double said = 0, chained = 0;
	struct twin_answer *answer = p->answer;
	p->answer = NULL;
	int result = sum_up(p, trace, &said, &chained, err);
	p->answer = answer;
	p->factor = twin_blocks_factor(said, chained) * p->o.times[TWIN_INPUT];
	return result;
}

int twin_prompt_factor(const char *trace, double *factor, struct ipf_error *err)
{
	struct twin_prompt *p;
	if (twin_prompt_open(&p, &(struct twin_prompt_options){.trace = trace, .times = {1, 1}}, err) < 0)
		return -1;
	int result = find_factor(p, trace, err);
	*factor = p->factor;
	twin_prompt_close(p);
	return result;
}

/* ---- a request ---- */

/* Multiplies a number by a factor; at least one. */
static int64_t scaled(int64_t tokens, double times)
{
	return times == 1 ? tokens : (int64_t)fmin(fmax(round((double)tokens * times), 1), TOKENS_MOST);
}

/* Where the trace does not say it, from the recorded answer. */
static int find_output(struct twin_prompt *p, const struct trace_request *q, int64_t *tokens, struct ipf_error *err)
{
	*tokens = q->output_tokens;
	if (*tokens == IPF_ABSENT) {
		if (!trace_answer(q).data)
			return ipf_error_set(err, IPF_INPUT,
			                     "output_tokens: missing, and there is no answer: a twin answers with so many tokens");
		prompt_chain_begin(&p->chain, (struct slice){0});
		if (prompt_chain_answer(&p->chain, trace_answer(q), &p->scratch, err) < 0)
			return -1;
		*tokens = p->chain.tokens;
	}
	*tokens = scaled(*tokens < 1 ? 1 : *tokens, p->o.times[TWIN_OUTPUT]);
	return 0;
}

/* Blocks the trace recorded instead of the prompt: an id for each, of some tokens. */
static int add_recorded(struct twin_prompt *p, const struct trace_request *q, struct ipf_error *err)
{
	struct jdoc *doc = &p->scratch.doc;
	uint64_t hash = 0;
	double end = 0; /* a list can hold any numbers */
	if (jdoc_parse(doc, q->blocks.data, q->blocks.len, err) < 0)
		return -1;
	jdoc_id lengths = jdoc_get(doc, JDOC_ROOT, "tokens"), scope = jdoc_get(doc, JDOC_ROOT, "scope");
	bool list = jdoc_type_of(doc, lengths) == JDOC_LIST;
	struct jdoc_each length = jdoc_each(doc, list ? lengths : JDOC_NONE);
	struct slice named = jdoc_raw(doc, scope);
	for (size_t i = 0; i < named.len; i++)
		hash = kv_hash(hash, (unsigned char)named.data[i]);
	for (struct jdoc_each id = jdoc_each(doc, jdoc_get(doc, JDOC_ROOT, "ids")); jdoc_step(&id);) {
		int64_t tokens;
		if ((list && !jdoc_step(&length)) || !jdoc_to_int(doc, list ? length.value : lengths, &tokens))
			break;
		hash = kv_hash(hash, text_hash_mixed(jdoc_raw(doc, id.value))); /* an id may be beyond int64 */
		for (end += (double)tokens * p->o.times[TWIN_INPUT];
		     p->given < p->most && (double)(p->given + 1) * KV_BLOCK <= end; p->given++)
			twin_answer_block(p->answer, twin_blocks_hash(hash, p->given));
	}
	return 0;
}

/* Where the trace does not say it, from the prompt. */
static int find_input(struct twin_prompt *p, const struct arrival_request *a, int64_t *tokens, struct ipf_error *err)
{
	*tokens = a->request.input_tokens;
	if (*tokens != IPF_ABSENT) {
		*tokens = scaled(*tokens, p->o.times[TWIN_INPUT]);
		return 0;
	}
	p->most = 0;
	prompt_chain_begin(&p->chain, (struct slice){0});
	if (add_prompt(p, &a->request, a->context, err) < 0)
		return -1;
	*tokens = (int64_t)((double)p->chain.tokens * p->factor);
	return 0;
}

/* The prompt's blocks, then those its answer completes. */
static int add_blocks(struct twin_prompt *p, const struct arrival_request *a, struct slice model, int64_t input,
                      struct ipf_error *err)
{
	const struct trace_request *q = &a->request;
	p->most = input / KV_BLOCK;
	prompt_chain_begin(&p->chain, model);
	if (add_prompt(p, q, a->context, err) < 0)
		return -1;
	if (!p->chain.tokens)
		return q->blocks.data ? add_recorded(p, q, err) : 0;
	if (!p->o.answers || !trace_answer(q).data)
		return 0;
	p->most = (input + p->answer->sequence.output_tokens) / KV_BLOCK;
	return prompt_chain_answer(&p->chain, trace_answer(q), &p->scratch, err);
}

static int read_request(struct twin_prompt *p, const struct arrival_request *a, struct slice model, int64_t *input,
                        struct ipf_error *err)
{
	int64_t *output = &p->answer->sequence.output_tokens, all;
	if (trace_refuse_inputs(&a->request, "a twin predicts requests of one prompt each", err) < 0)
		return -1;
	if (p->factor <= 0 && (p->o.blocks || a->request.input_tokens == IPF_ABSENT) && find_factor(p, p->o.trace, err) < 0)
		return -1;
	if (find_output(p, &a->request, output, err) < 0 || find_input(p, a, input, err) < 0)
		return -1;
	bool fits = !__builtin_add_overflow(*input, *output, &all) && all <= p->o.room;
	return p->o.blocks && fits ? add_blocks(p, a, model, *input, err) : 0;
}

int twin_prompt_read(struct twin_prompt *p, const struct arrival_request *a, struct slice model,
                     struct twin_answer *answer, struct ipf_error *err)
{
	int64_t input = 0;
	p->answer = answer;
	p->given = p->most = 0;
	int result = read_request(p, a, model, &input, err);
	p->answer = NULL;
	if (result < 0) {
		char where[48];
		snprintf(where, sizeof where, "request %lld of the trace", (long long)a->arrival.req);
		ipf_error_place(err, where, 0);
		return -1;
	}
	twin_answer_prompt(answer, input);
	return twin_answer_failed(answer) ? ipf_error_memory(err) : 0;
}

/* ---- making and freeing ---- */

int twin_prompt_open(struct twin_prompt **prompts, const struct twin_prompt_options *options, struct ipf_error *err)
{
	struct twin_prompt *p = *prompts = calloc(1, sizeof *p);
	if (!p)
		return ipf_error_memory(err);
	p->o = *options;
	p->chain.block = on_block;
	return 0;
}

void twin_prompt_close(struct twin_prompt *p)
{
	if (!p)
		return;
	prompt_scratch_release(&p->scratch);
	prompt_release(&p->prompt);
	free(p);
}
