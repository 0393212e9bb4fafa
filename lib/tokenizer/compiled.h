/* The compiled form of a tokenizer: one block of memory that holds tables ready for use, made from tokenizer.json
 * (load.c) or a rank file (tiktoken.c), kept on disk and mapped from there (cache.c).
 *
 * Sections are found by number in the block's header and aligned to 64 bytes. Integers are in the machine's own order:
 * a block is a cache, never exchanged; `order` and `version` tell a foreign one, `checksum` a damaged one.
 */
#ifndef IPF_TOKENIZER_COMPILED_H
#define IPF_TOKENIZER_COMPILED_H

#include "tokenizer/pipeline.h"

enum compiled_section {
	SECTION_CONFIG,       /* JSON: tokenizer.json without added_tokens, model.vocab and model.merges */
	SECTION_TEXT_OFFSETS, /* uint32_t[size + 1] */
	SECTION_TEXT,
	SECTION_WORD_OFFSETS, /* byte mode only */
	SECTION_WORD,
	SECTION_SLOTS,  /* uint64_t: vocabulary's hash */
	SECTION_SCORES, /* double[size]: Unigram */
	SECTION_ADDED,  /* struct added_record */
	SECTION_ADDED_TEXT,
	SECTION_MERGED,      /* uint32_t[merges]: the id that a merge gives, by rank */
	SECTION_PAIRS,       /* uint64_t: pair to rank (bpe.h) */
	SECTION_PAIR_ROWS,   /* struct pair_row[size + 1]: where the pairs of a left token are */
	SECTION_BYTE_PAIRS,  /* uint32_t[65536]: rank of the merge of two single bytes (else: of ASCII) */
	SECTION_BYTES,       /* uint32_t[256]: ids of single bytes (else: of ASCII) */
	SECTION_CHARS,       /* uint32_t[65536]: id of a character of the basic plane; not byte mode */
	SECTION_WHOLE,       /* bit by id: a word that is this token encodes to it alone */
	SECTION_NEIGHBOURS,  /* bits: which characters stand beside each other in a token; not byte mode */
	SECTION_TRIE_EDGES,  /* uint64_t: Unigram (trie.h) */
	SECTION_TRIE_IDS,    /* uint32_t by node */
	SECTION_CLASS_PAGES, /* uint16_t[0x1100]: page of 256 code points to a block of SECTION_CLASSES */
	SECTION_CLASSES,     /* unsigned char[][256] of enum unicode_class */
	SECTION_COUNT
};

#define COMPILED_VERSION 10

struct compiled_header {
	char magic[8];           /* "ipf-tok\n" */
	uint32_t version, order; /* order: 0x01020304 */
	uint64_t size;           /* of the block */
	uint64_t checksum;       /* of what follows this member */
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
struct compiled {
	const struct compiled_header *header;
	void *memory;
	size_t mapped; /* bytes to unmap; 0: memory is to be freed */
};

static inline const void *compiled_section(const struct compiled *c, enum compiled_section s)
{
	return (const char *)c->header + c->header->sections[s].offset;
}
static inline uint64_t compiled_bytes(const struct compiled *c, enum compiled_section s)
{
	return c->header->sections[s].bytes;
}
void compiled_release(struct compiled *c);
void compiled_vocabulary(const struct compiled *c, struct vocabulary *v);

/* Makes a block out of sections (load_write.c). */
struct compiled_builder {
	struct buffer sections[SECTION_COUNT];
	struct compiled_header header; /* what is not about sections */
};
int compiled_build(struct compiled_builder *b, struct compiled *out, struct ipf_error *err); /* empties the builder */
void compiled_builder_release(struct compiled_builder *b);
uint64_t compiled_checksum(const void *data, size_t len);

/* tokenizer.json or a rank file, in memory, to a block. */
int load_json(struct compiled *out, const char *text, size_t len, const char *sha256, struct ipf_error *err);
/* `kind`: what rank_file_kind said of the path. */
int load_ranks(struct compiled *out, const char *kind, const char *text, size_t len, const char *sha256,
               struct ipf_error *err);
/* "" for a path that is no rank file (*.tiktoken); else which encoding's it is by its name; -1 for one that is not
 * known. */
int rank_file_kind(const char *path, const char **kind, struct ipf_error *err);

/* Opens by way of the cache (cache.c). */
int cache_open(struct compiled *out, const char *path, struct ipf_error *err);

#endif
