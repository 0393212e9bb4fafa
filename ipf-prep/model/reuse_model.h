/* A model's prompts and earlier ones: the length of the common beginning, and how many prompts ago the end of it was
 * last used. Hits of prefix caches of all sizes follow from these two (stats/lru_curve.h).
 *
 *     reuse_fit_note(&fit, &use);                       // for each prompt, see prompt_blocks_end
 *     reuse_fit_end(&fit, block_tokens, &model, &err);
 *
 *     struct reuse_draw draw;
 *     reuse_draw_init(&draw, &model, scale, seed, index);
 *     reuse_draw_session(&draw);                        // a session or a lone request begins
 *     reuse_draw_prompt(&draw, turn, tokens, ids);      // ids: reuse_draw_blocks() of them
 *     reuse_draw_release(&draw);
 *
 * First prompts (of sessions, and without one) and later ones have a table each, with rows for up to 16 groups of
 * prompts of about the same length. A row has cells, by the power of two below the age: its mean, whether the use was
 * in the same session, the length found (tokens + share of the prompt), and how often this occurs.
 *
 * Drawing remembers the last REUSE_MEMORY prompts. Memory is bounded.
 */
#ifndef PREP_REUSE_MODEL_H
#define PREP_REUSE_MODEL_H

#include "model/prompt_blocks.h"
#include "model/strata.h"

#include <jansson.h>

enum { REUSE_GROUPS = 16, REUSE_CELLS = 48, REUSE_OCTAVES = 24, REUSE_MEMORY = 1 << 16, REUSE_PROMPT = 1 << 20 };

struct reuse_cell {
	double age; /* in prompts, or turns of the same session: mean of ages between the same powers of two; 0: nothing is
	               found */
	bool own;   /* the last use was in the same session */
	/* found: tokens, or else this share of the prompt; in the same session, of the shorter one of both prompts */
	double tokens, share;
	double weight; /* how often this occurs in the group: of 1 */
};

struct reuse_group {
	double up_to; /* tokens of the prompts */
	struct reuse_cell cells[REUSE_CELLS];
	int cell_count;
};

struct reuse_table {
	struct reuse_group groups[REUSE_GROUPS];
	int group_count;
};

struct reuse_model {
	int64_t block_tokens;         /* 0: nothing is known of blocks */
	struct reuse_table tables[2]; /* for first prompts, and for later ones */
};

/* Zero-initialise. */
struct reuse_fit {
	struct prompt_use *uses;
	size_t count, cap;
	bool failed;
};

void reuse_fit_note(void *fit, const struct prompt_use *use);
/* -1: out of memory. */
int reuse_fit_end(struct reuse_fit *fit, int64_t block_tokens, struct reuse_model *model, struct ipf_error *err);
void reuse_fit_release(struct reuse_fit *fit);

/* A new object; NULL: out of memory. */
json_t *reuse_model_json(const struct reuse_model *model);
int reuse_model_read(struct reuse_model *model, const json_t *map, struct ipf_error *err);

struct reuse_draw {
	const struct reuse_model *model;
	double scale; /* ages grow with the number of users */
	struct rng rng;
	struct strata picks[2][REUSE_GROUPS];
	struct reuse_prompt {
		uint64_t *ids;
		size_t count;
		int64_t tokens;
	} * memory;               /* prompt n at n % REUSE_MEMORY */
	int64_t prompts, session; /* the prompts so far; and when the session began */
	size_t memory_blocks;
	int64_t oldest; /* the first prompt remembered */
	uint32_t *last; /* for each id from first_id on, its last prompt */
	uint64_t first_id, next_id;
	size_t last_cap;
};

/* -1: out of memory. */
int reuse_draw_init(struct reuse_draw *draw, const struct reuse_model *model, double scale, uint64_t seed,
                    uint64_t index);
void reuse_draw_session(struct reuse_draw *draw);
/* The whole blocks of a prompt, at most REUSE_PROMPT of them. */
size_t reuse_draw_blocks(const struct reuse_draw *draw, int64_t tokens);
/* Makes their ids. -1: out of memory. */
int reuse_draw_prompt(struct reuse_draw *draw, int64_t turn, int64_t tokens, uint64_t *ids);
void reuse_draw_release(struct reuse_draw *draw);

#endif
