/* The compiled form of a tokenizer: one block of memory with tables ready for use. compiler.h makes it from a
 * tokenizer.json or a rank file; compiled_cache.h keeps it on disk and maps it from there.
 *
 * The block's header says where each section begins, aligned to 64 bytes. Integers have the machine's byte order: a
 * block is a cache and is never exchanged. `order` and `version` detect a block of another machine or version,
 * `checksum` a damaged one.
 */
#ifndef IPF_TOKENIZER_COMPILED_BLOCK_H
#define IPF_TOKENIZER_COMPILED_BLOCK_H

#include "buffer.h"
#include "error.h"
#include "tokenizer/vocabulary.h"

#include <stddef.h>
#include <stdint.h>

enum compiled_section {
	SECTION_CONFIG,       /* JSON: tokenizer.json without added_tokens, model.vocab and model.merges */
	SECTION_TEXT_OFFSETS, /* uint32_t[size + 1] */
	SECTION_TEXT,
	SECTION_WORD_OFFSETS, /* byte mode only */
	SECTION_WORD,
	SECTION_SLOTS,  /* uint64_t: hash table of the vocabulary */
	SECTION_SCORES, /* double[size]: Unigram */
	SECTION_ADDED,  /* struct added_record */
	SECTION_ADDED_TEXT,
	SECTION_MERGED,      /* uint32_t[merges]: the id a merge gives, by rank */
	SECTION_PAIRS,       /* uint64_t: pair to rank (bpe_tables.h) */
	SECTION_PAIR_ROWS,   /* struct pair_row[size + 1]: where the pairs of a left token are */
	SECTION_BYTE_PAIRS,  /* uint32_t[65536]: rank of the merge of two single bytes (outside byte mode: of ASCII) */
	SECTION_BYTES,       /* uint32_t[256]: ids of single bytes (outside byte mode: of ASCII) */
	SECTION_CHARS,       /* uint32_t[65536]: id of a character of the basic plane; not in byte mode */
	SECTION_WHOLE,       /* bit by id: the word of this token encodes to this token alone */
	SECTION_NEIGHBOURS,  /* bits: which characters are next to each other in a token; not in byte mode */
	SECTION_TRIE_EDGES,  /* uint64_t: Unigram (unigram_trie.h) */
	SECTION_TRIE_IDS,    /* uint32_t by node */
	SECTION_CLASS_PAGES, /* uint16_t[0x1100]: page of 256 code points to a block of SECTION_CLASSES */
	SECTION_CLASSES,     /* unsigned char[][256] of enum unicode_class */
	SECTION_COUNT
};

#define COMPILED_VERSION 10

struct compiled_header {
	char magic[8];           /* "ipf-tok\n" */
	uint32_t version, order; /* order: 0x01020304 */
	uint64_t size;           /* the block's, in bytes */
	uint64_t checksum;       /* covers the bytes after this member */
	uint64_t source_bytes;
	char source_sha256[65]; /* hex */
	uint8_t byte_mode, bpe;
	uint32_t vocabulary_size, vocabulary_count, vocabulary_longest;
	struct {
		uint64_t offset, bytes;
	} sections[SECTION_COUNT];
};

struct added_record {
	uint32_t id, text, bytes; /* text: offset in SECTION_ADDED_TEXT */
	uint8_t special, normalized, lstrip, rstrip, single_word;
};

/* A block in memory: mapped or allocated. */
struct compiled_block {
	const struct compiled_header *header;
	void *memory;
	size_t mapped; /* bytes to unmap; 0: the memory was allocated */
};

static inline const void *compiled_section(const struct compiled_block *c, enum compiled_section s)
{
	return (const char *)c->header + c->header->sections[s].offset;
}
static inline uint64_t compiled_bytes(const struct compiled_block *c, enum compiled_section s)
{
	return c->header->sections[s].bytes;
}
void compiled_release(struct compiled_block *c);
/* Makes a view of the block's vocabulary. */
void compiled_vocabulary(const struct compiled_block *c, struct vocabulary *v);

/* True if memory[0, size) is a complete, undamaged block of this version, made from the file with this digest. */
bool compiled_is_sound(const void *memory, size_t size, const char *sha256);
/* Sets the checksum of a block just built and changed afterwards. */
void compiled_seal(struct compiled_block *c);

/* Makes a block out of sections. */
struct compiled_builder {
	struct buffer sections[SECTION_COUNT];
	struct compiled_header header; /* all but the sections' members */
};
/* Leaves the builder empty. The block has no checksum yet. */
int compiled_build(struct compiled_builder *b, struct compiled_block *out, struct ipf_error *err);
void compiled_builder_release(struct compiled_builder *b);
/* Makes a section of `bytes` bytes with the value `fill`. NULL: out of memory. */
void *compiled_builder_fill(struct compiled_builder *b, enum compiled_section s, size_t bytes, int fill);

#endif
