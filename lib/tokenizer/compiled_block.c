#include "tokenizer/compiled_block.h"

#include "tokenizer/hash_mix.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define ALIGNMENT       64
#define MAGIC           "ipf-tok\n"
#define BYTE_ORDER_MARK 0x01020304

/* Detects damage, not malice. Four lanes, so the multiplications overlap. */
static uint64_t checksum(const void *data, size_t len)
{
	static const uint64_t keys[4] = {UINT64_C(0x9e3779b97f4a7c15), UINT64_C(0xbf58476d1ce4e5b9),
	                                 UINT64_C(0x94d049bb133111eb), UINT64_C(0xd6e8feb86659fd93)};
	const unsigned char *at = data;
	uint64_t lanes[4] = {len, 1, 2, 3};
	for (; len >= 64; len -= 64, at += 64) {
		uint64_t w[8];
		memcpy(w, at, 64);
		for (int i = 0; i < 4; i++)
			lanes[i] = hash_mix(lanes[i] ^ w[2 * i] ^ keys[i], w[2 * i + 1] ^ keys[3 - i]) + lanes[i];
	}
	unsigned char rest[64] = {0};
	memcpy(rest, at, len);
	for (int i = 0; i < 8; i++) {
		uint64_t w;
		memcpy(&w, rest + 8 * i, 8);
		lanes[i & 3] = hash_mix(lanes[i & 3] ^ w ^ keys[i & 3], keys[3 - (i & 3)] + (uint64_t)i);
	}
	return hash_mix(lanes[0] ^ keys[0], lanes[1]) ^ hash_mix(lanes[2] ^ keys[2], lanes[3]);
}

/* The part covered by the checksum. */
static size_t checked_from(void)
{
	return offsetof(struct compiled_header, checksum) + sizeof((struct compiled_header *)NULL)->checksum;
}

bool compiled_is_sound(const void *memory, size_t size, const char *sha256)
{
	const struct compiled_header *h = memory;
	if (size < sizeof *h || memcmp(h->magic, MAGIC, sizeof h->magic) != 0 || h->version != COMPILED_VERSION ||
	    h->order != BYTE_ORDER_MARK || h->size != size || memcmp(h->source_sha256, sha256, 65) != 0)
		return false;
	if (checksum((const char *)memory + checked_from(), size - checked_from()) != h->checksum)
		return false;
	/* exactly as compiled_build lays them out: so there is a zero after each, too */
	uint64_t at = (sizeof *h + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	for (int s = 0; s < SECTION_COUNT; s++) {
		if (h->sections[s].offset != at || at > size || h->sections[s].bytes >= size - at)
			return false;
		at = (at + h->sections[s].bytes + ALIGNMENT) / ALIGNMENT * ALIGNMENT;
		if (at <= size && ((const char *)memory)[h->sections[s].offset + h->sections[s].bytes] != 0)
			return false;
	}
	return at == size;
}

void compiled_seal(struct compiled_block *c)
{
	struct compiled_header *h = c->memory;
	h->checksum = checksum((const char *)c->memory + checked_from(), h->size - checked_from());
}

int compiled_build(struct compiled_builder *b, struct compiled_block *out, struct ipf_error *err)
{
	uint64_t size = (sizeof *out->header + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	struct compiled_header h = b->header;

	memcpy(h.magic, MAGIC, sizeof h.magic);
	h.version = COMPILED_VERSION;
	h.order = BYTE_ORDER_MARK;
	for (int s = 0; s < SECTION_COUNT; s++) {
		if (b->sections[s].failed)
			return ipf_error_memory(err);
		h.sections[s].offset = size;
		h.sections[s].bytes = b->sections[s].len;
		/* At least one zero byte after each section: texts may be read a machine word at a time. */
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
	*out = (struct compiled_block){.header = (const struct compiled_header *)memory, .memory = memory};
	return 0;
}

void *compiled_builder_fill(struct compiled_builder *b, enum compiled_section s, size_t bytes, int fill)
{
	char *at = buffer_reserve(&b->sections[s], bytes);
	if (!at)
		return NULL;
	memset(at, fill, bytes);
	b->sections[s].len = bytes;
	return at;
}

void compiled_builder_release(struct compiled_builder *b)
{
	for (int s = 0; s < SECTION_COUNT; s++)
		buffer_release(&b->sections[s]);
}

void compiled_release(struct compiled_block *c)
{
	if (c->mapped)
		munmap(c->memory, c->mapped);
	else
		free(c->memory);
	*c = (struct compiled_block){0};
}

void compiled_vocabulary(const struct compiled_block *c, struct vocabulary *v)
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
