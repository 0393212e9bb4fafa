/* Finds the common beginnings of a trace's prompts, by their recorded blocks or else by their texts: the hits of prefix
 * caches of all sizes, and for each prompt how long its beginning had not been used.
 *
 *     struct prompt_blocks blocks = {0};
 *     prompt_blocks_add(&blocks, &request, session, &err);      // session: its number from 1, the turns in a row; 0:
 * none prompt_blocks_end(&blocks, note_prompt, fit, &err); blocks.hit_rate, blocks.caches[k].hit_rate
 *     prompt_blocks_release(&blocks);
 *
 * Prompts use the cache in the order of arrival if all have one, else in the trace's. A cache replaces the block used
 * least recently. Memory grows with the number of blocks, up to PROMPT_BLOCKS_MOST; prompts after that are left out.
 */
#ifndef PREP_PROMPT_BLOCKS_H
#define PREP_PROMPT_BLOCKS_H

#include "stats/prefix_reuse.h"
#include "stream/prompt_chain.h"
#include "stream/trace.h"

#define PROMPT_BLOCKS_MOST ((size_t)1 << 25)
enum { PROMPT_CACHES = 41 };

/* A prompt, and an unlimited cache's hit for it. */
struct prompt_use {
	int64_t tokens, hit_tokens;
	int64_t turn; /* in its session, from 0 */
	int64_t age;  /* prompts, or turns of the same session, since the end of the hit was used, from 1; 0: no hit */
	int64_t user_tokens; /* tokens of the prompt of this use */
	bool own_session;    /* the use was in the same session */
};

struct prompt_blocks {
	struct prompt_chain chain; /* for texts; must be first */
	struct prompt_scratch scratch;
	struct jdoc doc;
	struct prefix_reuse reuse;
	struct prompt_place {
		int64_t session;
		int64_t turn;
	} * places; /* each prompt's, by its index */
	size_t places_cap;
	uint64_t *hashes; /* the text's blocks' */
	size_t hash_count, hash_cap;
	bool failed, full, texts;
	int64_t block_tokens;   /* the size of most blocks; 0: there are none */
	int64_t without_blocks; /* tokens of requests sharing nothing */

	/* ---- set by prompt_blocks_end ---- */
	int64_t prompts;
	int64_t distinct_tokens;
	double hit_rate; /* an unlimited cache's; NAN: no blocks are known */
	struct prompt_cache {
		int64_t tokens; /* its size */
		double hit_rate;
	} caches[PROMPT_CACHES];
	int cache_count;
};

int prompt_blocks_add(struct prompt_blocks *blocks, const struct trace_request *request, int64_t session,
                      struct ipf_error *err);
/* Calls `note` (or NULL) with each prompt. -1: out of memory. */
int prompt_blocks_end(struct prompt_blocks *blocks, void (*note)(void *data, const struct prompt_use *use), void *data,
                      struct ipf_error *err);
void prompt_blocks_release(struct prompt_blocks *blocks);

#endif
