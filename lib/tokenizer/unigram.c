/* Unigram: of all ways to cut a word into tokens the one with the highest sum of scores (Viterbi), as the reference computes it: from
 * left to right in doubles, the first found of equals; a character that is no token of its own counts as unknown, ten below the lowest
 * score; unknown neighbours are one; what is unknown is written in bytes where there are tokens for them.
 *
 * Tokens are found in a trie whose edges are in one hash table: a slot has the node (28 bits), the byte and the child (28 bits).
 */
#include "config.h"

#include <math.h>
#include <stdlib.h>

#define UNKNOWN_PENALTY 10.0
#define MAX_NODES (1u << 28)
#define UNREACHED UINT32_MAX

struct node {
	double score;
	uint32_t id; /* VOCABULARY_NONE: no token ends here */
};

struct unigram {
	struct model model;
	const struct vocabulary *vocabulary;
	struct node *nodes; /* the root is 0 */
	uint32_t node_count;
	uint64_t *edges; /* 0: free; the root is nobody's child */
	uint32_t edge_mask;
	double unknown_score;
	uint32_t unk; /* VOCABULARY_NONE: there is none */
	bool byte_fallback; /* and each byte has a token or not: VOCABULARY_NONE */
	uint32_t fallback[256];
};

/* What is known of the best way to a place in the word. */
struct place {
	double score;
	uint32_t from, id;
};

struct scratch {
	struct place *places;
	size_t cap;
};

/* ---- the trie -------------------------------------------------------------------------------------------------------------------- */

/* The slot of an edge, or the free one where it would be. */
static uint64_t *edge(const struct unigram *u, uint32_t node, unsigned char byte)
{
	uint64_t key = (uint64_t)node << 8 | byte;
	for (uint32_t i = (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32);; i++) {
		uint64_t *slot = &u->edges[i & u->edge_mask];
		if (!*slot || *slot >> 28 == key)
			return slot;
	}
}

static uint32_t child(const struct unigram *u, uint32_t node, unsigned char byte)
{
	return (uint32_t)(*edge(u, node, byte) & (MAX_NODES - 1));
}

static void insert(struct unigram *u, uint32_t id)
{
	const struct vocabulary *v = u->vocabulary;
	uint32_t node = 0;
	for (uint32_t at = v->word_offsets[id]; at < v->word_offsets[id + 1]; at++) {
		unsigned char byte = (unsigned char)v->word[at];
		uint64_t *slot = edge(u, node, byte);
		if (!*slot) {
			u->nodes[u->node_count].id = VOCABULARY_NONE;
			*slot = ((uint64_t)node << 8 | byte) << 28 | u->node_count++;
		}
		node = (uint32_t)(*slot & (MAX_NODES - 1));
	}
	if (node) /* a token that stands twice: the last one counts */
		u->nodes[node] = (struct node){v->scores[id], id};
}

static int build(struct unigram *u, struct ipf_error *err)
{
	const struct vocabulary *v = u->vocabulary;
	uint64_t bytes = v->word_offsets[v->size], slots = 16;
	if (bytes >= MAX_NODES)
		return ipf_error_set(err, IPF_INPUT, "model: Unigram: %llu bytes of tokens are more than it can hold", (unsigned long long)bytes);
	while (slots < bytes * 2)
		slots *= 2;
	u->nodes = malloc((bytes + 1) * sizeof *u->nodes);
	u->edges = calloc(slots, sizeof *u->edges);
	if (!u->nodes || !u->edges)
		return ipf_error_set(err, IPF_SYSTEM, "out of memory");
	u->edge_mask = (uint32_t)(slots - 1);
	u->nodes[0].id = VOCABULARY_NONE;
	u->node_count = 1;
	double lowest = HUGE_VAL;
	for (uint32_t id = 0; id < v->size; id++) {
		insert(u, id);
		if (v->scores[id] < lowest)
			lowest = v->scores[id];
	}
	u->unknown_score = lowest - UNKNOWN_PENALTY;
	struct node *fitted = realloc(u->nodes, u->node_count * sizeof *fitted);
	if (fitted)
		u->nodes = fitted;
	return 0;
}

/* ---- the best way ---------------------------------------------------------------------------------------------------------------- */

static void offer(struct place *to, double score, uint32_t from, uint32_t id)
{
	if (to->from == UNREACHED || score > to->score)
		*to = (struct place){score, from, id};
}

static int fill_places(const struct unigram *u, struct place *places, const char *word, uint32_t len, struct ipf_error *err)
{
	for (uint32_t i = 0; i <= len; i++)
		places[i] = (struct place){0, UNREACHED, 0};
	for (uint32_t at = 0; at < len;) {
		const char *next = word + at;
		utf8_next(&next);
		uint32_t after = (uint32_t)(next - word), node = 0;
		double score = places[at].score;
		bool alone = false;
		for (uint32_t end = at; end < len && (node = child(u, node, (unsigned char)word[end])) != 0;) {
			end++;
			if (u->nodes[node].id == VOCABULARY_NONE)
				continue;
			offer(&places[end], u->nodes[node].score + score, at, u->nodes[node].id);
			alone = alone || end == after;
		}
		if (!alone) {
			double worse = u->unknown_score + score;
			struct place *to = &places[after];
			if (u->unk == VOCABULARY_NONE && (to->from == UNREACHED || worse > to->score))
				return ipf_error_set(err, IPF_INPUT, "model: Unigram: an unknown character, and no unk_id");
			offer(to, worse, at, u->unk);
		}
		at = after;
	}
	return 0;
}

/* Turns the way round: places[start].from is where the token from there ends; its id stays with that end. */
static void turn_round(struct place *places, uint32_t len)
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
			if (!token_ids_add(ids, u->fallback[(unsigned char)text[i]]))
				return false;
		if (all)
			return true;
	}
	return token_ids_add(ids, id == VOCABULARY_NONE ? u->unk : id);
}

static int encode(const struct model *self, void *scratch, const char *word, size_t len, struct token_ids *ids, struct ipf_error *err)
{
	const struct unigram *u = (const struct unigram *)self;
	struct scratch *s = scratch;

	if (len >= UNREACHED)
		return ipf_error_set(err, IPF_INPUT, "model: Unigram: a word of 4 GiB");
	if (len + 1 > s->cap) {
		free(s->places);
		s->cap = len + 1 < 256 ? 256 : len + 1;
		s->places = malloc(s->cap * sizeof *s->places);
		if (!s->places) {
			s->cap = 0;
			return ipf_error_set(err, IPF_SYSTEM, "out of memory");
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
		if (id == u->unk ? !add_unknown(u, word + at, end - at, ids) : !token_ids_add(ids, id))
			return ipf_error_set(err, IPF_SYSTEM, "out of memory");
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

/* ---- making it ------------------------------------------------------------------------------------------------------------------- */

static void free_unigram(struct model *self)
{
	struct unigram *u = (struct unigram *)self;
	free(u->nodes);
	free(u->edges);
	free(u);
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
	for (unsigned i = 0; i < 256; i++) {
		char name[8];
		int len = snprintf(name, sizeof name, "<0x%02X>", i);
		u->fallback[i] = vocabulary_find(u->vocabulary, name, (size_t)len);
	}
	return build(u, err);
}

int unigram_new(struct model **model, const json_t *config, const struct vocabulary *vocabulary, struct ipf_error *err)
{
	struct unigram *u = calloc(1, sizeof *u);
	*model = NULL;
	if (!u)
		return ipf_error_set(err, IPF_SYSTEM, "out of memory");
	u->model = (struct model){.encode = encode, .scratch_new = scratch_new, .scratch_free = scratch_free, .free = free_unigram};
	u->vocabulary = vocabulary;
	if (configure(u, config, err) < 0) {
		free_unigram(&u->model);
		return -1;
	}
	*model = &u->model;
	return 0;
}
