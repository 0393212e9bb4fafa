/* Blocks: putting sections together, looking at them. */
#include "tokenizer/load.h"

#include <stdlib.h>
#include <sys/mman.h>

#define ALIGNMENT 64

static uint64_t mix(uint64_t a, uint64_t b)
{
	__uint128_t product = (__uint128_t)a * b;
	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Four lanes, so that the multiplications overlap: some 10 GB/s. Against damage, not against malice. */
uint64_t compiled_checksum(const void *data, size_t len)
{
	static const uint64_t keys[4] = {UINT64_C(0x9e3779b97f4a7c15), UINT64_C(0xbf58476d1ce4e5b9),
	                                 UINT64_C(0x94d049bb133111eb), UINT64_C(0xd6e8feb86659fd93)};
	const unsigned char *at = data;
	uint64_t lanes[4] = {len, 1, 2, 3};
	for (; len >= 64; len -= 64, at += 64) {
		uint64_t w[8];
		memcpy(w, at, 64);
		for (int i = 0; i < 4; i++)
			lanes[i] = mix(lanes[i] ^ w[2 * i] ^ keys[i], w[2 * i + 1] ^ keys[3 - i]) + lanes[i];
	}
	unsigned char rest[64] = {0};
	memcpy(rest, at, len);
	for (int i = 0; i < 8; i++) {
		uint64_t w;
		memcpy(&w, rest + 8 * i, 8);
		lanes[i & 3] = mix(lanes[i & 3] ^ w ^ keys[i & 3], keys[3 - (i & 3)] + (uint64_t)i);
	}
	return mix(lanes[0] ^ keys[0], lanes[1]) ^ mix(lanes[2] ^ keys[2], lanes[3]);
}

int compiled_build(struct compiled_builder *b, struct compiled *out, struct ipf_error *err)
{
	uint64_t size = (sizeof *out->header + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	struct compiled_header h = b->header;

	memcpy(h.magic, "ipf-tok\n", 8);
	h.version = COMPILED_VERSION;
	h.order = 0x01020304;
	for (int s = 0; s < SECTION_COUNT; s++) {
		if (b->sections[s].failed)
			return ipf_error_memory(err);
		h.sections[s].offset = size;
		h.sections[s].bytes = b->sections[s].len;
		/* At least one byte of nothing after each: texts may be read a word at a time. */
		size = (size + b->sections[s].len + ALIGNMENT) / ALIGNMENT * ALIGNMENT;
	}
	h.size = size;
	char *memory = aligned_alloc(ALIGNMENT, size);
	if (!memory)
		return ipf_error_memory(err);
	memset(memory, 0, size);
	memcpy(memory, &h, sizeof h);
	for (int s = 0; s < SECTION_COUNT; s++) {
		if (b->sections[s].len)
			memcpy(memory + h.sections[s].offset, b->sections[s].data, b->sections[s].len);
		buffer_release(&b->sections[s]);
	}
	*out = (struct compiled){.header = (const struct compiled_header *)memory, .memory = memory};
	return 0;
}

void compiled_builder_release(struct compiled_builder *b)
{
	for (int s = 0; s < SECTION_COUNT; s++)
		buffer_release(&b->sections[s]);
}

void compiled_release(struct compiled *c)
{
	if (c->mapped)
		munmap(c->memory, c->mapped);
	else
		free(c->memory);
	*c = (struct compiled){0};
}

void compiled_vocabulary(const struct compiled *c, struct vocabulary *v)
{
	const struct compiled_header *h = c->header;
	*v = (struct vocabulary){
		.size = h->vocabulary_size,
		.count = h->vocabulary_count,
		.longest = h->vocabulary_longest,
		.byte_mode = h->byte_mode,
		.text_offsets = compiled_section(c, SECTION_TEXT_OFFSETS),
		.text = compiled_section(c, SECTION_TEXT),
		.word_offsets = compiled_section(c, h->byte_mode ? SECTION_WORD_OFFSETS : SECTION_TEXT_OFFSETS),
		.word = compiled_section(c, h->byte_mode ? SECTION_WORD : SECTION_TEXT),
		.slots = compiled_section(c, SECTION_SLOTS),
		.slot_mask = (uint32_t)(compiled_bytes(c, SECTION_SLOTS) / sizeof(uint64_t) - 1),
		.scores = compiled_bytes(c, SECTION_SCORES) ? compiled_section(c, SECTION_SCORES) : NULL,
	};
}

uint32_t word_hash(const char *word, size_t len)
{
	uint64_t h = len * UINT64_C(0x9e3779b97f4a7c15), w;
	for (; len >= 8; len -= 8, word += 8) {
		memcpy(&w, word, 8);
		h = mix(h ^ w, UINT64_C(0xd6e8feb86659fd93));
	}
	w = 0;
	memcpy(&w, word, len);
	h = mix(h ^ w, UINT64_C(0xbf58476d1ce4e5b9));
	return (uint32_t)(h ^ h >> 32);
}

uint32_t vocabulary_find(const struct vocabulary *v, const char *word, size_t len)
{
	if (len > v->longest)
		return VOCABULARY_NONE;
	uint32_t hash = word_hash(word, len);
	for (uint32_t i = hash & v->slot_mask;; i = (i + 1) & v->slot_mask) {
		uint64_t slot = v->slots[i];
		if (!slot)
			return VOCABULARY_NONE;
		if ((uint32_t)(slot >> 32) != hash)
			continue;
		uint32_t id = (uint32_t)slot - 1;
		uint32_t begin = v->word_offsets[id];
		if (v->word_offsets[id + 1] - begin == len && memcmp(v->word + begin, word, len) == 0)
			return id;
	}
}
