/* The prompt of a request as a chain of blocks of tokens, each with a salted hash of the block and of all before it:
 * two prompts have the same hash for a block if they begin alike up to its end, and only then.
 *
 *     struct block_chain chain = {.salt = &salt, .block_tokens = 512, .tokens = counter};
 *     block_chain_begin(&chain, tools);              // a prompt; absent: without tools
 *     block_chain_mark(&chain, role);                // each message
 *     block_chain_text(&chain, text);
 *     block_chain_hashes(&chain, input_tokens, &hashes);
 *     block_chain_text(&chain, …);                   // the next turn goes on from there
 *     block_chain_release(&chain);
 *
 * Marks (roles, images, calls of tools) have no length but make prompts differ from there on. Text has the tokens of
 * the tokenizer, each text by itself, or one for every 4 bytes, as lengths are counted everywhere.
 */
#ifndef PREP_BLOCK_CHAIN_H
#define PREP_BLOCK_CHAIN_H

#include "anonymize/salt.h"
#include "buffer.h"
#include "tokenizer/token_counter.h"

struct block_hashes {
	uint64_t *ids;
	size_t count, cap;
};

struct block_chain {
	const struct salt *salt;
	int64_t block_tokens;
	const struct token_counter *tokens; /* an estimate counts 4 bytes as a token */

	int64_t length;           /* tokens so far */
	struct salted_hash block; /* the block at hand, after the hash of the blocks before */
	unsigned char before[SALTED_BYTES];
	struct block_hashes whole; /* for the whole blocks so far */
	struct token_ids ids;      /* scratch */
	bool failed;               /* out of memory */
};

/* Stands for tokens of unknown text. */
enum block_piece {
	PIECE_RECORDED, /* part of a recorded block: equal ids are equal tokens */
	PIECE_OWN,      /* tokens that no other prompt has: `id` is the request's */
	PIECE_REST,     /* tokens recorded beyond known ones */
};

/* Begins a prompt. `tools` come before all messages at a server, and are in the hash of every block. */
void block_chain_begin(struct block_chain *chain, struct slice tools);
void block_chain_mark(struct block_chain *chain, struct slice what);
void block_chain_text(struct block_chain *chain, struct slice text);
void block_chain_ids(struct block_chain *chain, const uint32_t *ids, size_t count);
/* `count` tokens of a piece, from its first one on. */
void block_chain_piece(struct block_chain *chain, enum block_piece piece, uint64_t id, int64_t count);
/* The hashes of a prompt of `length` tokens, one for each block, the last one of which may be partial; the chain stays
 * as it is. If `length` is less than the tokens added, the last hash is the whole rest's; if it is more, the rest is
 * unknown but equal in equal prompts. */
void block_chain_hashes(struct block_chain *chain, int64_t length, struct block_hashes *hashes);
void block_chain_release(struct block_chain *chain);

/* Sets the number of hashes, and makes room. False: out of memory. */
bool block_hashes_resize(struct block_hashes *hashes, size_t count);
void block_hashes_release(struct block_hashes *hashes);

#endif
