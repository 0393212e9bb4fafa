/* The texts of an answer's tokens: the part of answer.h on which faults and log probabilities depend. */
#include "answer.h"

#include <string.h>

#define OTHER_BRANCH 29 /* words from a text to that of the second candidate */

int64_t answer_reasoning_tokens(const struct answer *a)
{
	const struct mode *reasoning = modes_find(a->modes, MODE_REASONING);
	if (!reasoning || !a->ask->chat)
		return 0;
	return reasoning->tokens < a->output_tokens ? reasoning->tokens : a->output_tokens;
}

enum token_text answer_words(const struct modes *modes)
{
	return modes_find(modes, MODE_SPLIT_UTF8) ? TOKEN_TEXT_UTF8
	       : modes_find(modes, MODE_ESCAPES)  ? TOKEN_TEXT_ESCAPES
	                                          : TOKEN_TEXT_PLAIN;
}

uint64_t answer_start(uint64_t seed, uint64_t fingerprint)
{
	return (fingerprint ^ seed * UINT64_C(0x9e3779b97f4a7c15)) >> 20;
}

static struct answer_piece piece_of(struct token_bytes token)
{
	return (struct answer_piece){token.json, {token.bytes, TOKEN_BYTES}};
}

static struct answer_piece written_piece(const struct written_token *token)
{
	return (struct answer_piece){token->json, {token->bytes, token->len}};
}

struct answer_piece answer_text_at(const struct answer *a, int64_t k)
{
	const struct answer_script *s = &a->script;
	const struct mode *json = modes_find(a->modes, MODE_JSON);
	uint64_t start = answer_start(a->seed, s->fingerprint);
	int64_t before = answer_reasoning_tokens(a);
	if (s->altered_number == k + 1)
		return written_piece(&s->altered);
	if (s->tokens && k >= before && k - before < s->count)
		return written_piece(&s->tokens[k - before]);
	if (json)
		return piece_of(json_text_at(json->text, start, k - before, a->output_tokens - before));
	if (s->flipped && k + 1 >= s->tie_number)
		start += OTHER_BRANCH;
	return piece_of(token_text_at(answer_words(a->modes), start, k));
}

uint32_t answer_id_at(const struct answer *a, int64_t k)
{
	const struct buffer *forced = &a->ask->forced;
	uint32_t id;
	if ((uint64_t)k >= forced->len / sizeof id)
		return token_of_text(answer_text_at(a, k).bytes);
	memcpy(&id, forced->data + (size_t)k * sizeof id, sizeof id);
	return id;
}

struct answer_piece answer_candidate_at(const struct answer *a, int64_t k, int64_t rank)
{
	const struct answer_script *s = &a->script;
	uint64_t start = answer_start(a->seed, s->fingerprint);
	if (rank == 0)
		return answer_text_at(a, k);
	if (rank == 1 && s->tie_number == k + 1)
		return piece_of(token_text_at(answer_words(a->modes), s->flipped ? start : start + OTHER_BRANCH, k));
	return piece_of(token_text_at(answer_words(a->modes), start + 1 + 5 * (uint64_t)rank, k));
}
