#include "anonymize/block_chain.h"

#include "array.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#define APPROX_BYTES 4 /* a token's, as token_counter.h counts without a tokenizer */

/* A segment of a block: its bytes, their number, and its kind, so different blocks never look alike. A piece has 16
 * bytes, without their number: with the hash before it, a block of one is a single step of SHA-256. */
enum segment { SEGMENT_MARK, SEGMENT_TEXT, SEGMENT_IDS, SEGMENT_PIECES };
enum { PIECE_BYTES = 16 };

static void end_segment(struct block_chain *c, enum segment kind, size_t bytes)
{
	const unsigned char last = (unsigned char)kind;
	salted_hash_add_number(&c->block, bytes);
	salted_hash_add(&c->block, &last, 1);
}

bool block_hashes_resize(struct block_hashes *h, size_t count)
{
	if (!array_room(h->ids, h->cap, count))
		return false;
	h->count = count;
	return true;
}

static void begin_block(struct block_chain *c)
{
	salted_hash_begin(&c->block, c->salt, SALTED_BLOCK);
	salted_hash_add(&c->block, c->before, sizeof c->before);
}

void block_chain_begin(struct block_chain *c, struct slice tools)
{
	struct salted_hash first;
	salted_hash_begin(&first, c->salt, SALTED_PROMPT);
	salted_hash_add_number(&first, (uint64_t)c->block_tokens);
	salted_hash_add(&first, tools.data ? tools.data : "", tools.len);
	salted_hash_end(&first, c->salt, c->before);
	c->length = 0;
	c->whole.count = 0;
	begin_block(c);
}

/* Tokens fitting into the block at hand; at least one. */
static int64_t room(const struct block_chain *c)
{
	return c->block_tokens - c->length % c->block_tokens;
}

static void add_length(struct block_chain *c, int64_t count, struct block_hashes *whole)
{
	c->length += count;
	if (c->length % c->block_tokens)
		return;
	salted_hash_end(&c->block, c->salt, c->before);
	if (block_hashes_resize(whole, whole->count + 1))
		whole->ids[whole->count - 1] = salted_number_of(c->before);
	else
		c->failed = true;
	begin_block(c);
}

void block_chain_mark(struct block_chain *c, struct slice what)
{
	salted_hash_add(&c->block, what.data ? what.data : "", what.len);
	end_segment(c, SEGMENT_MARK, what.len);
}

void block_chain_ids(struct block_chain *c, const uint32_t *ids, size_t count)
{
	while (count) {
		size_t now = (size_t)room(c) < count ? (size_t)room(c) : count;
		salted_hash_add(&c->block, ids, now * sizeof *ids);
		end_segment(c, SEGMENT_IDS, now * sizeof *ids);
		add_length(c, (int64_t)now, &c->whole);
		ids += now;
		count -= now;
	}
}

void block_chain_text(struct block_chain *c, struct slice text)
{
	if (token_counter_is_exact(c->tokens)) {
		c->ids.count = 0;
		c->failed |= !token_counter_encode(c->tokens, text.data ? text.data : "", text.len, &c->ids);
		block_chain_ids(c, c->ids.ids, c->ids.count);
		return;
	}
	while (text.len) {
		size_t most = (size_t)room(c) * APPROX_BYTES, now = most < text.len ? most : text.len;
		salted_hash_add(&c->block, text.data, now);
		end_segment(c, SEGMENT_TEXT, now);
		add_length(c, (int64_t)((now + APPROX_BYTES - 1) / APPROX_BYTES), &c->whole);
		text = (struct slice){text.data + now, text.len - now};
	}
}

static void add_piece(struct block_chain *c, enum block_piece piece, uint64_t id, int64_t count,
                      struct block_hashes *whole)
{
	for (int64_t from = 0; from < count && !c->failed;) {
		const int64_t now = room(c) < count - from ? room(c) : count - from;
		const uint64_t numbers[] = {htole64(id), htole64((uint64_t)from << 32 | (uint64_t)now)};
		unsigned char bytes[PIECE_BYTES + 1];
		memcpy(bytes, numbers, PIECE_BYTES);
		bytes[PIECE_BYTES] = (unsigned char)(SEGMENT_PIECES + piece);
		salted_hash_add(&c->block, bytes, sizeof bytes);
		add_length(c, now, whole);
		from += now;
	}
}

void block_chain_piece(struct block_chain *c, enum block_piece piece, uint64_t id, int64_t count)
{
	add_piece(c, piece, id, count, &c->whole);
}

void block_chain_hashes(struct block_chain *c, int64_t length, struct block_hashes *hashes)
{
	const int64_t size = c->block_tokens;
	const size_t blocks = (size_t)((length + size - 1) / size), known = c->whole.count;
	struct block_chain rest = *c; /* shares `whole` and `ids`, which it leaves alone */
	size_t whole = blocks < known ? blocks : known;
	if (!block_hashes_resize(hashes, whole)) {
		c->failed = true;
		return;
	}
	for (size_t i = 0; i < whole; i++)
		hashes->ids[i] = c->whole.ids[i];
	if (length > c->length)
		add_piece(&rest, PIECE_REST, 0, length - c->length, hashes);
	/* A partial block; or one hash for all lying beyond the recorded length. */
	if (blocks > 0 && (length < c->length || length % size)) {
		salted_hash_end(&rest.block, c->salt, rest.before);
		if (block_hashes_resize(hashes, blocks))
			hashes->ids[blocks - 1] = salted_number_of(rest.before);
		else
			rest.failed = true;
	}
	c->failed |= rest.failed;
}

void block_hashes_release(struct block_hashes *h)
{
	free(h->ids);
	*h = (struct block_hashes){0};
}

void block_chain_release(struct block_chain *c)
{
	block_hashes_release(&c->whole);
	token_ids_release(&c->ids);
}
