#include "draft/canary_maker.h"

#define OUTPUT_LEAST 64 /* tokens: room for a model's spaces and line breaks */

/* The kinds are dealt out like cards. */
static enum canary_kind kind_of(const struct canary_maker *m)
{
	enum canary_kind kinds[CANARY_KINDS];
	int64_t index = m->number - 1;
	struct rng rng;
	rng_init(&rng, m->seed, "canary kinds", (uint64_t)(index / CANARY_KINDS));
	for (int i = 0; i < CANARY_KINDS; i++) {
		uint64_t at = rng_below(&rng, (uint64_t)i + 1);
		kinds[i] = kinds[at];
		kinds[at] = (enum canary_kind)i;
	}
	return kinds[index % CANARY_KINDS];
}

/* Makes the canary and its text; the same random numbers each time. */
static int make(struct canary_maker *m, enum canary_kind kind, bool completion, int64_t context_tokens,
                struct ipf_error *err)
{
	struct rng rng;
	rng_init(&rng, m->seed, "canary", (uint64_t)m->number);
	if (canary_make(&m->canary, kind, &rng, context_tokens, err) < 0)
		return -1;
	buffer_clear(&m->text);
	if (completion)
		canary_completion(&m->canary, &m->text);
	m->prompt = completion ? buffer_all(&m->text) : buffer_all(&m->canary.prompt);
	m->input_tokens = token_counter_count(m->tokens, m->prompt.data, m->prompt.len);
	return m->text.failed ? ipf_error_memory(err) : 0;
}

int canary_maker_next(struct canary_maker *m, bool completion, int64_t context_tokens, struct ipf_error *err)
{
	int64_t context = context_tokens < CANARY_CONTEXT_MOST ? context_tokens : CANARY_CONTEXT_MOST;
	m->number++;
	enum canary_kind kind = kind_of(m);
	if (make(m, kind, completion, context, err) < 0)
		return -1;
	/* the first length shows how many tokens a line has */
	if (kind == CANARY_RECALL && context > 0 && m->input_tokens > 0 &&
	    make(m, kind, completion, (int64_t)((double)context * (double)context / (double)m->input_tokens), err) < 0)
		return -1;
	int64_t answer = token_counter_count(m->tokens, m->canary.answer.data, m->canary.answer.len);
	m->output_tokens = 2 * answer > OUTPUT_LEAST ? 2 * answer : OUTPUT_LEAST;
	buffer_clear(&m->tags_json);
	buffer_text(&m->tags_json, "{\"canary\":");
	canary_tag(&m->canary, &m->tags_json);
	buffer_byte(&m->tags_json, '}');
	m->tags = buffer_all(&m->tags_json);
	m->body = slice_of(completion ? "{\"temperature\":0,\"stop\":[\"\\n\"]}" : "{\"temperature\":0}");
	return m->tags_json.failed ? ipf_error_memory(err) : token_counter_check(m->tokens, err);
}

void canary_maker_release(struct canary_maker *m)
{
	canary_release(&m->canary);
	buffer_release(&m->text);
	buffer_release(&m->tags_json);
}
