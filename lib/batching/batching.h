/* Continuous batching over a KV cache, on a clock the caller holds: the model of a server ipf-sim runs by the clock,
 * and a twin (twin/twin.h) in virtual time.
 *
 * Nothing here reads a clock or opens a socket. The caller gives the time and asks when to come back:
 *
 *     batching_add(engine, &sequence, now);
 *     batching_start(engine, now);                       // begins a step where none is under way
 *     wait until batching_deadline(engine);
 *     batching_finish(engine, now, on_token, data);      // ends it; on_token: once for every sequence with new tokens
 *
 * A step takes  step_base + step_per_seq × sequences in it + prefilled tokens / prefill_rate.  In it, every running
 * sequence gets its next token computed (or the next piece of its prompt, at most step_tokens in all), then waiting
 * ones are let in, by priority and first come first served, as long as max_batch, step_tokens and the KV cache allow.
 * When a running sequence finds no free block, the one that was let in last is thrown out and begins again later (its
 * tokens so far become part of its prompt). The next step begins when the last one ended.
 *
 * With R replicas (batching_set_replicas), each has its share of every step: R times the batch, the tokens and the
 * cache, and a step takes  step_base + step_per_seq × ceil(sequences / R) + prefilled tokens / (R × prefill_rate).
 * They share one queue and one prefix cache, as R equal servers behind a perfect load balancer.
 *
 * A block evicted goes to the host's tier if there is one, and from there to storage; a prefix goes on there where the
 * device's ends, and its blocks come back at the tier's rate, in the step that admits the request. With speculative
 * decoding, a step gives a sequence that decodes one token and those of its drafts that are accepted, as far as its
 * answer and the KV cache go; every draft counts, and accepted ones are those it got:
 *     output tokens = first tokens + drafts + accepted tokens    (a preempted sequence's first step back has no draft)
 * With a pace (batching_options), each step is longer or shorter by a factor of the time at which it begins.
 *
 * It follows that requests of I uncached prompt tokens and O output tokens saturate it, at a batch of B, at
 *     1 / (I / prefill_rate + O × (step_base / B + step_per_seq))   requests per second.
 */
#ifndef IPF_BATCHING_H
#define IPF_BATCHING_H

#include "error.h"
#include "batching/kv_cache.h"

#include <stdbool.h>
#include <stdint.h>

/* How steps change over time, from the beginning of the first one on. Throughput falls by `drift` (a share, negative:
 * it rises) in each drift_ns; steps take warm_factor times as long for warm_ns. */
struct batching_pace {
	double drift;
	int64_t drift_ns;
	int64_t warm_ns;
	double warm_factor;
	/* And at random: a step takes exp(jitter * z - jitter² / 2) times as long, z from the normal distribution, so its
	 * mean stays the same; pauses begin once in pause_every_ns of steps, on average, and take pause_ns, on average
	 * (both exponential). */
	double jitter;
	int64_t pause_ns, pause_every_ns;
	uint64_t seed;
};

/* Speculative decoding: a step that decodes drafts `tokens` more and keeps them up to the first one that is refused. */
struct batching_spec {
	int64_t tokens;   /* 0: none; at most BATCHING_MOST_DRAFT */
	double accept;    /* how likely it is that a draft is accepted after those before it were */
	int64_t draft_ns; /* time of drafting in a step */
};
#define BATCHING_MOST_DRAFT 16

/* Where prefixes go that the device has no room for any more, and from where they come back. */
enum cache_tier { TIER_DEVICE, TIER_HOST, TIER_STORAGE, TIER_COUNT };
struct batching_tier {
	int64_t blocks; /* 0: there is no such tier; the device's are kv_blocks */
	double rate;    /* tokens per second coming back, which makes the step longer */
};

struct batching_options {
	int64_t step_base_ns, step_per_seq_ns;
	double step_per_context_ns; /* for each token before those the step computes, of all its sequences */
	double step_per_waiting_ns; /* for each request waiting while it begins */
	double prefill_rate;        /* tokens per second */
	int64_t step_tokens;        /* most tokens computed in one step */
	int64_t max_batch;
	int64_t kv_blocks;
	bool prefix_cache;
	int64_t most_replicas; /* 0: one */
	struct batching_pace pace;
	struct batching_spec spec;
	struct batching_tier tiers[TIER_COUNT];
};

bool batching_has_tiers(const struct batching_options *options); /* below the device */

/* One request in the engine. The caller owns it and keeps it until it is done or removed. */
struct sequence {
	/* Set by the caller. */
	int64_t output_tokens;                                         /* how many it will produce; at least 1 */
	uint32_t (*token)(const struct sequence *sequence, int64_t k); /* the k-th token; NULL: they enter no cache */
	int64_t priority; /* lower values are let in first; of equal ones the earlier */
	uint64_t draws;   /* the drafts accepted's: equal ones, equal draws */
	/* Kept by sequence_push and the engine; to be read. */
	int64_t prompt_tokens, produced, cached_tokens;
	int64_t cached_from[TIER_COUNT];              /* parts of cached_tokens */
	int64_t fresh;                                /* the part of produced from the last step */
	int64_t drafts, accepted;                     /* steps that drafted, and tokens these added */
	int32_t accepted_in[BATCHING_MOST_DRAFT + 1]; /* how many of these steps added so many tokens */
	int preemptions;
	int64_t added_ns, admitted_ns; /* admitted_ns: when its first step began, or added_ns */
	/* The engine's own. */
	uint64_t chain;   /* hash of all tokens so far */
	uint64_t *hashes; /* for the whole blocks so far */
	int32_t hash_count, hash_cap;
	int32_t *blocks;
	int32_t block_count, block_cap, published;
	int64_t computed, scheduled, hold_until_ns;
	struct sequence *before, *after; /* in the queue */
	int64_t slot;                    /* in the batch */
	enum { SEQUENCE_IDLE, SEQUENCE_WAITING, SEQUENCE_RUNNING } state;
	bool failed; /* memory ran out */
};

/* Appends a token to the prompt, or a mark that takes no room but tells prefixes apart (a message's role). */
void sequence_push(struct sequence *sequence, uint32_t token);
void sequence_mark(struct sequence *sequence, uint32_t mark);
/* Instead of tokens: the hash of all tokens up to the end of the next KV_BLOCK of them. Blocks of the answer may follow
 * those of the prompt; prompt_tokens is the caller's to set, and `token` must be NULL. */
void sequence_add_block(struct sequence *sequence, uint64_t hash);
void sequence_release(struct sequence *sequence); /* frees its memory; it must not be in the engine */

struct batching_counts {
	int64_t running, waiting, steps, preemptions, prompt_tokens, output_tokens;
	int64_t prompt_cached;           /* the cached part of prompt_tokens */
	int64_t cached_from[TIER_COUNT]; /* parts of cache_hits */
	int64_t prompt_from[TIER_COUNT]; /* parts of prompt_cached */
	int64_t spec_drafts, spec_draft_tokens, spec_accepted;
	int64_t spec_accepted_at[BATCHING_MOST_DRAFT]; /* drafts whose token at this position was accepted */
	int64_t cache_queries, cache_hits;             /* tokens of requests when they are first admitted */
	int64_t slipped_ns;                            /* how much the steps were moved because the caller came late */
	double kv_usage;                               /* share of the blocks in use */
};

/* One step, known in full when it begins. Its prompts are computed first. */
struct batching_step {
	int64_t start_ns, end_ns;
	int64_t prefill_ns; /* the part of it for prompts */
	int64_t sequences, prefilled_tokens;
	int64_t replicas; /* that have something to do in it */
};

struct batching;

int batching_open(struct batching **engine, const struct batching_options *options, struct ipf_error *err);
void batching_close(struct batching *engine);

/* The longest prompt and output together that it can hold at all, in tokens. */
int64_t batching_room(const struct batching *engine);

void batching_add(struct batching *engine, struct sequence *sequence, int64_t now_ns);
/* Takes it out, wherever it is (it may be in the step under way, whose length stays as it was). */
void batching_remove(struct batching *engine, struct sequence *sequence);
/* It keeps its place and its blocks, but no step takes it before `until_ns`. */
void batching_hold(struct sequence *sequence, int64_t until_ns);

/* The number of replicas from the next step on, at most most_replicas. With none there are no steps, and requests
 * wait. */
void batching_set_replicas(struct batching *engine, int64_t replicas);

/* Empties the prefix cache and the tiers below it. False: requests are running, and nothing was done, as in vLLM. */
bool batching_reset_prefixes(struct batching *engine);

/* `on_step` is called whenever a step begins. */
void batching_watch(struct batching *engine, void (*on_step)(const struct batching_step *step, void *data), void *data);
/* `on_move` is called for each sequence the step beginning at `at_ns` lets in (its state is SEQUENCE_RUNNING, and
 * `computed` is the cached part) or throws out (SEQUENCE_WAITING), before on_step. */
void batching_watch_moves(struct batching *engine,
                          void (*on_move)(const struct sequence *sequence, int64_t at_ns, void *data), void *data);

/* When to come back: the end of the step under way, else the end of the next hold; INT64_MAX when there is nothing to
 * do. */
int64_t batching_deadline(const struct batching *engine);
void batching_start(struct batching *engine, int64_t now_ns);

/* Ends the step under way, if its time has come, and begins the next one at the same moment (at now_ns where that is
 * more than 100 ms later). on_token is called for each sequence with new tokens: `fresh` of them, which `produced`
 * counts; after the last one the sequence is out of the engine. It may call batching_hold and batching_remove for the
 * sequence it was called for. False: nothing was due. */
bool batching_finish(struct batching *engine, int64_t now_ns, void (*on_token)(struct sequence *sequence, void *data),
                     void *data);

/* The step in progress, else the last one; *stepping says which. */
struct batching_step batching_current_step(const struct batching *engine, bool *stepping);
/* `visit` is called for each sequence in the engine; they stay as they are. */
void batching_visit(const struct batching *engine, void (*visit)(const struct sequence *sequence, void *data),
                    void *data);

struct batching_counts batching_counts(const struct batching *engine);

#endif
