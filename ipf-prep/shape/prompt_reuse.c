#include "shape/prompt_reuse.h"

#include <math.h>

static const char *const role_json[] = {
	[ROLE_SYSTEM] = "\"system\"", [ROLE_USER] = "\"user\"", [ROLE_ASSISTANT] = "\"assistant\""};

static void note_block(struct prompt_chain *chain)
{
	struct prompt_reuse *r = (struct prompt_reuse *)chain;
	distinct_count_add(&r->beginnings, chain->hash);
}

/* Puts the answer of the turn before into the prompt, as ipf-fire does. Where the trace has none, only the server's own
 * one can be there. */
static int add_answer(struct prompt_reuse *r, struct ipf_error *err)
{
	const int64_t before = r->chain.tokens;
	if (r->answer.len && prompt_chain_answer(&r->chain, buffer_all(&r->answer), &r->scratch, err) < 0)
		return -1;
	r->answers += r->answer.len ? r->chain.tokens - before : r->answer_tokens;
	return 0;
}

/* Texts of messages as they are; anything else as it stands in the trace. */
static int add_prompt(struct prompt_reuse *r, const struct trace_request *request, const struct draft *draft,
                      struct ipf_error *err)
{
	bool plain = request->messages.data && !request->tools.data;
	for (size_t i = 0; i < draft->message_count; i++)
		plain &= !draft->messages[i].json.data;
	if (!plain)
		return prompt_chain_add(&r->chain, request, &r->scratch, err);
	for (size_t i = 0; i < draft->message_count; i++)
		prompt_chain_message(&r->chain, slice_of(role_json[draft->messages[i].role]), draft->messages[i].text);
	return 0;
}

int prompt_reuse_add(struct prompt_reuse *r, const struct trace_request *request, const struct draft *draft,
                     bool continues, struct ipf_error *err)
{
	bool has_prompt = trace_prompt(request).data;
	r->partly |= !has_prompt;
	if (!has_prompt)
		return 0;
	if (continues) {
		if (add_answer(r, err) < 0)
			return -1;
	} else {
		r->chain.block = note_block;
		prompt_chain_begin(&r->chain, request->model);
	}
	if (add_prompt(r, request, draft, err) < 0)
		return -1;
	r->partly |= r->chain.partly;
	r->tokens += r->chain.tokens;
	r->blocks += r->chain.tokens / PROMPT_BLOCK;
	buffer_clear(&r->answer);
	buffer_slice(&r->answer, trace_answer(request));
	r->answer_tokens = request->output_tokens > 0 ? request->output_tokens : 0;
	return r->beginnings.failed || r->answer.failed || r->scratch.text.failed ? ipf_error_memory(err) : 0;
}

void prompt_reuse_find(const struct prompt_reuse *r, int64_t input_tokens, struct schedule_reuse *found)
{
	*found = (struct schedule_reuse){.input_tokens = 0};
	if (r->partly || r->tokens == 0 || input_tokens <= 0)
		return;
	const double scale = (double)input_tokens / (double)r->tokens;
	const double first = distinct_count_estimate(&r->beginnings), again = fmax(0, (double)r->blocks - first);
	*found = (struct schedule_reuse){
		.input_tokens = input_tokens,
		.reusable_tokens = llround(scale * PROMPT_BLOCK * again),
		.answer_tokens = llround(scale * (double)r->answers),
		.error_tokens = llround(scale * PROMPT_BLOCK * first * distinct_count_error(&r->beginnings)),
	};
}

void prompt_reuse_release(struct prompt_reuse *r)
{
	distinct_count_release(&r->beginnings);
	buffer_release(&r->answer);
	prompt_scratch_release(&r->scratch);
	*r = (struct prompt_reuse){.tokens = 0};
}
