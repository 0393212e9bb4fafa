/* Unigram: of all ways to cut a word into tokens, the one with the highest sum of scores (Viterbi). It is computed as
 * in the reference: from left to right, in doubles, the first one of equals. A character without its own token is
 * unknown and scores ten less than the lowest score. Unknown neighbours are joined, and written as byte tokens if all
 * their bytes have one. */
#include "tokenizer/code_point.h"
#include "tokenizer/model.h"
#include "tokenizer/part_config.h"
#include "tokenizer/unigram_trie.h"

#include <math.h>
#include <stdlib.h>

#define UNKNOWN_PENALTY 10.0
#define UNREACHED       UINT32_MAX

struct unigram {
	struct model model;
	const struct vocabulary *vocabulary;
	struct unigram_trie trie;
	double unknown_score;
	uint32_t unk;       /* VOCABULARY_NONE: there is none */
	bool byte_fallback; /* ids by byte; VOCABULARY_NONE: no token */
	uint32_t fallback[256];
};

/* The best way to a place in the word, as far as known. */
struct best_way {
	double score;
	uint32_t from, id;
};

struct scratch {
	struct best_way *places;
	size_t cap;
};

/* ---- the best way ---- */

static void offer(struct best_way *to, double score, uint32_t from, uint32_t id)
{
	if (to->from == UNREACHED || score > to->score)
		*to = (struct best_way){score, from, id};
}

static int fill_places(const struct unigram *u, struct best_way *places, const char *word, uint32_t len,
                       struct ipf_error *err)
{
	for (uint32_t i = 0; i <= len; i++)
		places[i] = (struct best_way){0, UNREACHED, 0};
	for (uint32_t at = 0; at < len;) {
		const char *next = word + at;
		utf8_next(&next);
		uint32_t after = (uint32_t)(next - word), node = 0;
		double score = places[at].score;
		bool alone = false;
		for (uint32_t end = at;
		     end < len && (node = unigram_trie_child(&u->trie, node, (unsigned char)word[end])) != 0;) {
			uint32_t id = u->trie.ids[node];
			end++;
			if (id == VOCABULARY_NONE)
				continue;
			offer(&places[end], u->vocabulary->scores[id] + score, at, id);
			alone = alone || end == after;
		}
		if (!alone) {
			double worse = u->unknown_score + score;
			struct best_way *to = &places[after];
			if (u->unk == VOCABULARY_NONE && (to->from == UNREACHED || worse > to->score))
				return ipf_error_set(err, IPF_INPUT,
				                     "model: Unigram: unknown character in the text, and the model has no unk_id");
			offer(to, worse, at, u->unk);
		}
		at = after;
	}
	return 0;
}

/* Reverses the way: places[start].from becomes the end of the token beginning there; the id stays at that end. */
static void turn_round(struct best_way *places, uint32_t len)
{
	uint32_t end = len, start = places[len].from;
	for (;;) {
		uint32_t before = places[start].from;
		places[start].from = end;
		if (start == 0)
			return;
		end = start;
		start = before;
	}
}

static bool add_unknown(const struct unigram *u, const char *text, size_t len, struct token_ids *ids)
{
	uint32_t id = vocabulary_find(u->vocabulary, text, len);
	if (id == VOCABULARY_NONE && u->byte_fallback) {
		bool all = true;
		for (size_t i = 0; i < len && all; i++)
			all = u->fallback[(unsigned char)text[i]] != VOCABULARY_NONE;
		for (size_t i = 0; i < len && all; i++)
			if (!token_ids_push(ids, u->fallback[(unsigned char)text[i]]))
				return false;
		if (all)
			return true;
	}
	return token_ids_push(ids, id == VOCABULARY_NONE ? u->unk : id);
}

static int encode(const struct model *self, void *scratch, const char *word, size_t len, struct token_ids *ids,
                  struct ipf_error *err)
{
	const struct unigram *u = (const struct unigram *)self;
	struct scratch *s = scratch;

	if (len >= UNREACHED)
		return ipf_error_set(err, IPF_INPUT, "model: Unigram: a word is longer than 4 GiB");
	if (len + 1 > s->cap) {
		free(s->places);
		s->cap = len + 1 < 256 ? 256 : len + 1;
		s->places = malloc(s->cap * sizeof *s->places);
		if (!s->places) {
			s->cap = 0;
			return ipf_error_memory(err);
		}
	}
	if (fill_places(u, s->places, word, (uint32_t)len, err) < 0)
		return -1;
	turn_round(s->places, (uint32_t)len);
	for (uint32_t at = 0, end; at < len; at = end) {
		end = s->places[at].from;
		uint32_t id = s->places[end].id;
		while (id == u->unk && end < len && s->places[s->places[end].from].id == u->unk)
			end = s->places[end].from;
		if (id == u->unk ? !add_unknown(u, word + at, end - at, ids) : !token_ids_push(ids, id))
			return ipf_error_memory(err);
	}
	return 0;
}

static void *scratch_new(const struct model *self)
{
	(void)self;
	return calloc(1, sizeof(struct scratch));
}

static void scratch_free(void *scratch)
{
	free(((struct scratch *)scratch)->places);
	free(scratch);
}

/* ---- making it ---- */

static void free_unigram(struct model *self)
{
	free(self);
}

static int configure(struct unigram *u, const json_t *config, struct ipf_error *err)
{
	static const char part[] = "model: Unigram";
	const json_t *unk = json_object_get(config, "unk_id");
	size_t id = 0;

	u->unk = VOCABULARY_NONE;
	if (unk && !json_is_null(unk)) {
		if (config_size(config, part, "unk_id", false, &id, err) < 0)
			return -1;
		if (id >= u->vocabulary->size)
			return config_refuse(part, "unk_id", "an id of the vocabulary", err);
		u->unk = (uint32_t)id;
	}
	if (config_bool(config, part, "byte_fallback", true, &u->byte_fallback, err) < 0)
		return -1;
	vocabulary_byte_fallback(u->vocabulary, u->fallback);
	double lowest = HUGE_VAL;
	for (uint32_t i = 0; i < u->vocabulary->size; i++)
		if (u->vocabulary->scores[i] < lowest)
			lowest = u->vocabulary->scores[i];
	u->unknown_score = lowest - UNKNOWN_PENALTY;
	return 0;
}

int unigram_new(struct model **model, const json_t *config, const struct compiled_block *block,
                const struct vocabulary *vocabulary, struct ipf_error *err)
{
	struct unigram *u = calloc(1, sizeof *u);
	*model = NULL;
	if (!u)
		return ipf_error_memory(err);
	u->model = (struct model){
		.encode = encode, .scratch_new = scratch_new, .scratch_free = scratch_free, .free = free_unigram};
	u->vocabulary = vocabulary;
	unigram_trie_of(&u->trie, block);
	if (!vocabulary->scores || !compiled_bytes(block, SECTION_TRIE_IDS)) {
		free_unigram(&u->model);
		return ipf_error_set(err, IPF_INPUT, "model.vocab: expected a list of tokens with scores");
	}
	if (configure(u, config, err) < 0) {
		free_unigram(&u->model);
		return -1;
	}
	*model = &u->model;
	return 0;
}
