#include "tokenizer/unigram_trie.h"

#include <stdlib.h>
#include <string.h>

struct trie_builder {
	uint64_t *edges;
	uint32_t *ids;
	uint32_t mask, nodes;
};

static void insert(struct trie_builder *g, const struct vocabulary *v, uint32_t id)
{
	uint32_t node = 0;
	for (uint32_t at = v->word_offsets[id]; at < v->word_offsets[id + 1]; at++) {
		uint64_t key = (uint64_t)node << 8 | (unsigned char)v->word[at];
		uint64_t *slot = &g->edges[trie_slot(g->edges, g->mask, key)];
		if (!*slot) {
			g->ids[g->nodes] = VOCABULARY_NONE;
			*slot = key << 28 | g->nodes++;
		}
		node = (uint32_t)(*slot & (TRIE_NODES - 1));
	}
	if (node)
		g->ids[node] = id;
}

/* Copies the edges into a table of the right size: the first table was sized by the bytes of all tokens. */
static bool copy_edges(const struct trie_builder *g, struct compiled_builder *b)
{
	uint64_t slots = 16;
	while (slots * 2 < (uint64_t)g->nodes * 3)
		slots *= 2;
	struct buffer *section = &b->sections[SECTION_TRIE_EDGES];
	uint64_t *edges = (uint64_t *)(void *)buffer_reserve(section, slots * sizeof *edges);
	if (!edges)
		return false;
	memset(edges, 0, slots * sizeof *edges);
	section->len = slots * sizeof *edges;
	for (uint64_t i = 0; i <= g->mask; i++)
		if (g->edges[i])
			edges[trie_slot(edges, (uint32_t)(slots - 1), g->edges[i] >> 28)] = g->edges[i];
	buffer_append(&b->sections[SECTION_TRIE_IDS], g->ids, g->nodes * sizeof *g->ids);
	return !b->sections[SECTION_TRIE_IDS].failed;
}

int unigram_trie_build(struct compiled_builder *b, const struct vocabulary *v, struct ipf_error *err)
{
	uint64_t bytes = v->word_offsets[v->size], slots = 16;
	if (bytes >= TRIE_NODES)
		return ipf_error_set(err, IPF_INPUT, "model: Unigram: the tokens have %llu bytes, the maximum is %u",
		                     (unsigned long long)bytes, TRIE_NODES - 1);
	while (slots < bytes * 2)
		slots *= 2;
	struct trie_builder g = {.edges = calloc(slots, sizeof *g.edges),
	                         .ids = malloc((bytes + 1) * sizeof *g.ids),
	                         .mask = (uint32_t)(slots - 1),
	                         .nodes = 1};
	bool good = g.edges && g.ids;
	if (good)
		g.ids[0] = VOCABULARY_NONE;
	for (uint32_t id = 0; good && id < v->size; id++)
		insert(&g, v, id);
	good = good && copy_edges(&g, b);
	free(g.edges);
	free(g.ids);
	return good ? 0 : ipf_error_memory(err);
}

void unigram_trie_of(struct unigram_trie *t, const struct compiled_block *block)
{
	*t = (struct unigram_trie){
		.edges = compiled_section(block, SECTION_TRIE_EDGES),
		.ids = compiled_section(block, SECTION_TRIE_IDS),
		.mask = (uint32_t)(compiled_bytes(block, SECTION_TRIE_EDGES) / sizeof(uint64_t) - 1),
	};
}
