#include "batching/batching.h"

#include "array.h"
#include "clock.h"
#include "stats/exact_math.h"
#include "stats/rng.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_LATE_NS (100 * NS_PER_MS)
#define MOST_STRETCH 1e4

struct batching {
	struct batching_options options;
	struct kv_cache *kv, *tiers[TIER_COUNT]; /* those below the device, or NULL */
	int64_t replicas;
	int64_t first_step_ns;   /* with a pace: when the first step began; 0: there was none */
	struct sequence **batch; /* in the order in which they were let in; NULL where one was removed during the step */
	int64_t batch_count;
	int64_t running;
	struct sequence *first, *last; /* who waits */
	int64_t waiting;
	bool stepping;
	struct batching_step step; /* the one in progress, or the last */
	void (*on_step)(const struct batching_step *step, void *data);
	void *watcher;
	void (*on_move)(const struct sequence *sequence, int64_t at_ns, void *data);
	void *move_watcher;
	int64_t wake_ns; /* no step: when the first hold ends */
	struct rng noise, pauses;
	struct batching_counts counts;
};

/* ---- sequences ---- */

void sequence_add_block(struct sequence *s, uint64_t hash)
{
	if (array_room(s->hashes, s->hash_cap, s->hash_count + 1))
		s->hashes[s->hash_count++] = hash;
	else
		s->failed = true;
}

/* `length` tokens are in the chain; a whole block's worth gives a hash. */
static void note_block(struct sequence *s, int64_t length)
{
	if (length % KV_BLOCK == 0)
		sequence_add_block(s, s->chain);
}

void sequence_push(struct sequence *s, uint32_t token)
{
	s->chain = kv_hash(s->chain, token);
	s->prompt_tokens++;
	note_block(s, s->prompt_tokens);
}

void sequence_mark(struct sequence *s, uint32_t mark)
{
	s->chain = kv_hash(s->chain, UINT64_C(0x100000000) | mark);
}

void sequence_release(struct sequence *s)
{
	free(s->hashes);
	free(s->blocks);
	s->hashes = NULL;
	s->blocks = NULL;
	s->hash_count = s->hash_cap = s->block_count = s->block_cap = 0;
}

/* ---- the engine: its open requests ---- */

bool batching_has_tiers(const struct batching_options *options)
{
	return options->tiers[TIER_HOST].blocks || options->tiers[TIER_STORAGE].blocks;
}

static void pass_down(uint64_t hash, void *tier)
{
	kv_cache_remember(tier, hash);
}

/* Each cache passes its evicted blocks to the next one that there is. */
static bool open_tiers(struct batching *e)
{
	struct kv_cache *above = e->kv;
	for (int i = TIER_HOST; i < TIER_COUNT; i++) {
		if (!e->options.tiers[i].blocks)
			continue;
		e->tiers[i] = kv_cache_new((int32_t)e->options.tiers[i].blocks);
		if (!e->tiers[i])
			return false;
		kv_cache_watch(above, pass_down, e->tiers[i]);
		above = e->tiers[i];
	}
	return true;
}

int batching_open(struct batching **engine, const struct batching_options *options, struct ipf_error *err)
{
	*engine = NULL;
	struct batching *e = calloc(1, sizeof *e);
	if (!e)
		return ipf_error_errno(err, ENOMEM, NULL, "engine");
	int64_t most = options->most_replicas > 1 ? options->most_replicas : 1;
	e->options = *options;
	rng_init(&e->noise, options->pace.seed, "jitter", 0);
	rng_init(&e->pauses, options->pace.seed, "pause", 0);
	e->kv = kv_cache_new((int32_t)(options->kv_blocks * most));
	e->batch = calloc((size_t)(options->max_batch * most), sizeof(struct sequence *));
	if (!e->kv || !e->batch || !open_tiers(e)) {
		batching_close(e);
		return ipf_error_errno(err, ENOMEM, NULL, "engine");
	}
	batching_set_replicas(e, 1);
	*engine = e;
	return 0;
}

void batching_close(struct batching *e)
{
	if (!e)
		return;
	kv_cache_free(e->kv);
	for (int i = 0; i < TIER_COUNT; i++)
		if (e->tiers[i])
			kv_cache_free(e->tiers[i]);
	free(e->batch);
	free(e);
}

int64_t batching_room(const struct batching *e)
{
	return e->options.kv_blocks * KV_BLOCK;
}

void batching_set_replicas(struct batching *e, int64_t replicas)
{
	e->replicas = replicas;
	kv_cache_limit(e->kv, (int32_t)(e->options.kv_blocks * replicas));
}

bool batching_reset_prefixes(struct batching *e)
{
	if (kv_cache_used(e->kv) > 0)
		return false;
	kv_cache_forget(e->kv);
	for (int i = 0; i < TIER_COUNT; i++)
		if (e->tiers[i])
			kv_cache_forget(e->tiers[i]);
	return true;
}

static void enqueue(struct batching *e, struct sequence *s, bool in_front)
{
	struct sequence *before = in_front ? NULL : e->last, *after = in_front ? e->first : NULL;
	for (; before && before->priority > s->priority; before = before->before)
		after = before;
	for (; after && after->priority < s->priority; after = after->after)
		before = after;
	s->state = SEQUENCE_WAITING;
	s->before = before;
	s->after = after;
	if (s->before)
		s->before->after = s;
	else
		e->first = s;
	if (s->after)
		s->after->before = s;
	else
		e->last = s;
	e->waiting++;
}

static void dequeue(struct batching *e, struct sequence *s)
{
	if (s->before)
		s->before->after = s->after;
	else
		e->first = s->after;
	if (s->after)
		s->after->before = s->before;
	else
		e->last = s->before;
	s->before = s->after = NULL;
	e->waiting--;
}

/* From the end, so the end of a prefix is forgotten before its beginning. */
static void drop_blocks(struct batching *e, struct sequence *s)
{
	while (s->block_count)
		kv_cache_drop(e->kv, s->blocks[--s->block_count]);
	s->published = 0;
}

static void leave_batch(struct batching *e, struct sequence *s)
{
	e->batch[s->slot] = NULL;
	e->running--;
	drop_blocks(e, s);
	s->state = SEQUENCE_IDLE;
	s->scheduled = 0;
}

void batching_add(struct batching *e, struct sequence *s, int64_t now_ns)
{
	s->added_ns = now_ns;
	enqueue(e, s, false);
}

void batching_remove(struct batching *e, struct sequence *s)
{
	if (s->state == SEQUENCE_WAITING)
		dequeue(e, s);
	else if (s->state == SEQUENCE_RUNNING)
		leave_batch(e, s);
	s->state = SEQUENCE_IDLE;
}

void batching_hold(struct sequence *s, int64_t until_ns)
{
	s->hold_until_ns = until_ns;
}

static int64_t length_of(const struct sequence *s)
{
	return s->prompt_tokens + s->produced;
}

/* Blocks for everything up to `tokens`; those obtained are kept when the rest is missing. */
static bool get_blocks(struct batching *e, struct sequence *s, int64_t tokens)
{
	while ((int64_t)s->block_count * KV_BLOCK < tokens) {
		if (!array_room(s->blocks, s->block_cap, s->block_count + 1))
			return false;
		int32_t block = kv_cache_take(e->kv);
		if (block < 0)
			return false;
		s->blocks[s->block_count++] = block;
	}
	return true;
}

/* The tier that has this block; TIER_COUNT: none. Its copy there stays, as the one that was used last. */
static int tier_of(struct batching *e, uint64_t hash)
{
	for (int i = TIER_HOST; i < TIER_COUNT; i++)
		if (e->tiers[i] && kv_cache_find(e->tiers[i], hash) >= 0) {
			kv_cache_remember(e->tiers[i], hash);
			return i;
		}
	return TIER_COUNT;
}

/* At least the last token is always computed: the next one depends on it. */
static void take_cached(struct batching *e, struct sequence *s, int64_t from[TIER_COUNT])
{
	int64_t most = (length_of(s) - 1) / KV_BLOCK;
	while (s->block_count < s->hash_count && s->block_count < most) {
		uint64_t hash = s->hashes[s->block_count];
		int32_t block = kv_cache_find(e->kv, hash);
		int tier = block >= 0 ? TIER_DEVICE : tier_of(e, hash);
		if (tier == TIER_COUNT || !array_room(s->blocks, s->block_cap, s->block_count + 1))
			break;
		if (tier == TIER_DEVICE)
			kv_cache_hold(e->kv, block);
		else if ((block = kv_cache_take(e->kv)) >= 0)
			kv_cache_publish(e->kv, block, hash);
		else
			break;
		from[tier] += KV_BLOCK;
		s->blocks[s->block_count++] = block;
	}
	s->published = s->block_count;
	s->computed = (int64_t)s->block_count * KV_BLOCK;
}

static void tell_move(const struct batching *e, const struct sequence *s, int64_t at_ns)
{
	if (e->on_move)
		e->on_move(s, at_ns, e->move_watcher);
}

static void preempt(struct batching *e, struct sequence *s, int64_t at_ns)
{
	leave_batch(e, s);
	s->computed = 0;
	s->preemptions++;
	e->counts.preemptions++;
	enqueue(e, s, true);
	tell_move(e, s, at_ns);
}

static struct sequence *last_let_in(struct batching *e)
{
	while (e->batch_count && !e->batch[e->batch_count - 1])
		e->batch_count--;
	return e->batch_count ? e->batch[e->batch_count - 1] : NULL;
}

/* The parts of one step, while it is put together. */
struct step {
	int64_t budget, sequences, prefilled, context;
	double load_s; /* for blocks of lower tiers */
	bool preempted;
};

static void schedule(struct sequence *s, int64_t tokens, struct step *step)
{
	s->scheduled = tokens;
	step->budget -= tokens;
	step->sequences++;
	step->context += s->computed;
	if (tokens > 1 || s->produced == 0)
		step->prefilled += tokens;
}

static void schedule_running(struct batching *e, int64_t at_ns, struct step *step)
{
	for (int64_t i = 0; i < e->batch_count && step->budget > 0; i++) {
		struct sequence *s = e->batch[i];
		if (!s)
			continue;
		if (s->hold_until_ns > at_ns) {
			if (s->hold_until_ns < e->wake_ns)
				e->wake_ns = s->hold_until_ns;
			continue;
		}
		int64_t tokens = length_of(s) - s->computed;
		if (tokens > step->budget)
			tokens = step->budget;
		bool fits;
		while (!(fits = get_blocks(e, s, s->computed + tokens))) {
			struct sequence *victim = last_let_in(e);
			preempt(e, victim, at_ns);
			step->preempted = true;
			if (victim == s)
				break;
		}
		if (fits)
			schedule(s, tokens, step);
	}
}

/* The first time only: blocks found again after a preemption are no hits. On a busy machine a step is begun late, with
 * the time at which it was due, and with later requests: no wait is negative. */
static void count_hits(struct batching *e, struct sequence *s, const int64_t from[TIER_COUNT], int64_t at_ns)
{
	if (s->admitted_ns)
		return;
	s->admitted_ns = at_ns > s->added_ns ? at_ns : s->added_ns;
	s->cached_tokens = s->computed;
	e->counts.cache_queries += length_of(s);
	e->counts.cache_hits += s->computed;
	for (int i = 0; i < TIER_COUNT; i++) {
		s->cached_from[i] = from[i];
		e->counts.cached_from[i] += from[i];
	}
}

/* Will there be room for the first step of `s`? Asked before blocks are taken from a lower tier, which would otherwise
 * come back without having cost anything. */
static bool has_room(struct batching *e, const struct sequence *s, int64_t budget)
{
	int64_t most = (length_of(s) - 1) / KV_BLOCK, found = 0, shared = 0;
	while (found < s->hash_count && found < most) {
		int32_t block = kv_cache_find(e->kv, s->hashes[found]);
		bool below = false;
		for (int i = TIER_HOST; block < 0 && !below && i < TIER_COUNT; i++)
			below = e->tiers[i] && kv_cache_find(e->tiers[i], s->hashes[found]) >= 0;
		if (block < 0 && !below)
			break;
		shared += block >= 0 && kv_cache_users(e->kv, block) > 0;
		found++;
	}
	int64_t tokens = length_of(s) - found * KV_BLOCK;
	tokens = found * KV_BLOCK + (tokens < budget ? tokens : budget);
	return kv_cache_used(e->kv) + (tokens + KV_BLOCK - 1) / KV_BLOCK - shared <= kv_cache_total(e->kv);
}

static void let_in(struct batching *e, int64_t at_ns, struct step *step)
{
	while (e->first && e->batch_count < e->options.max_batch * e->replicas && step->budget > 0) {
		struct sequence *s = e->first;
		int64_t from[TIER_COUNT] = {0};
		if (e->options.prefix_cache && batching_has_tiers(&e->options) && !has_room(e, s, step->budget))
			return;
		if (e->options.prefix_cache)
			take_cached(e, s, from);
		int64_t tokens = length_of(s) - s->computed;
		if (tokens > step->budget)
			tokens = step->budget;
		if (!get_blocks(e, s, s->computed + tokens)) {
			drop_blocks(e, s);
			s->computed = 0;
			return;
		}
		count_hits(e, s, from, at_ns);
		for (int i = TIER_HOST; i < TIER_COUNT; i++)
			if (from[i])
				step->load_s += (double)from[i] / e->options.tiers[i].rate;
		dequeue(e, s);
		s->state = SEQUENCE_RUNNING;
		s->slot = e->batch_count;
		e->batch[e->batch_count++] = s;
		e->running++;
		tell_move(e, s, at_ns);
		schedule(s, tokens, step);
	}
}

static void close_ranks(struct batching *e)
{
	int64_t kept = 0;
	for (int64_t i = 0; i < e->batch_count; i++) {
		struct sequence *s = e->batch[i];
		if (!s)
			continue;
		s->slot = kept;
		e->batch[kept++] = s;
	}
	e->batch_count = kept;
}

/* How much longer a step takes beginning now. */
static double stretch(struct batching *e, int64_t now_ns)
{
	const struct batching_pace *pace = &e->options.pace;
	if (!e->first_step_ns)
		e->first_step_ns = now_ns;
	int64_t age_ns = now_ns - e->first_step_ns;
	double factor = age_ns < pace->warm_ns ? pace->warm_factor : 1;
	if (pace->drift_ns)
		factor *= pow(1 - pace->drift, -(double)age_ns / (double)pace->drift_ns);
	return factor < MOST_STRETCH ? factor : MOST_STRETCH;
}

/* How long a step of this length really takes. */
static int64_t with_noise(struct batching *e, int64_t length_ns)
{
	const struct batching_pace *pace = &e->options.pace;
	if (pace->jitter > 0)
		length_ns = (int64_t)((double)length_ns *
		                      exact_exp(pace->jitter * rng_normal(&e->noise) - pace->jitter * pace->jitter / 2));
	if (pace->pause_ns && rng_exponential(&e->pauses) * (double)pace->pause_every_ns < (double)length_ns)
		length_ns += (int64_t)(rng_exponential(&e->pauses) * (double)pace->pause_ns);
	return length_ns;
}

void batching_start(struct batching *e, int64_t now_ns)
{
	if (e->stepping)
		return;
	struct step step = {.budget = e->options.step_tokens * e->replicas};
	e->wake_ns = INT64_MAX;
	if (e->replicas == 0)
		return;
	close_ranks(e);
	schedule_running(e, now_ns, &step);
	/* Whoever was thrown out would be let in again at once: wait for a step in which nobody was. */
	if (!step.preempted)
		let_in(e, now_ns, &step);
	if (!step.sequences)
		return;
	e->stepping = true;
	e->counts.steps++;
	double prefill_rate = e->options.prefill_rate * (double)e->replicas;
	int64_t share = (step.sequences + e->replicas - 1) / e->replicas;
	e->step = (struct batching_step){.start_ns = now_ns,
	                                 .sequences = step.sequences,
	                                 .prefilled_tokens = step.prefilled,
	                                 .prefill_ns = (int64_t)((double)step.prefilled / prefill_rate * (double)NS_PER_S),
	                                 .replicas = step.sequences < e->replicas ? step.sequences : e->replicas};
	int64_t length_ns = e->options.step_base_ns + (e->options.spec.tokens ? e->options.spec.draft_ns : 0) +
	                    share * e->options.step_per_seq_ns + e->step.prefill_ns;
	length_ns += (int64_t)(e->options.step_per_context_ns * (double)step.context / (double)e->replicas);
	length_ns += (int64_t)(e->options.step_per_waiting_ns * (double)e->waiting);
	length_ns += (int64_t)(step.load_s / (double)e->replicas * (double)NS_PER_S);
	if (e->options.pace.drift_ns || e->options.pace.warm_ns) {
		double factor = stretch(e, now_ns);
		e->step.prefill_ns = (int64_t)((double)e->step.prefill_ns * factor);
		length_ns = (int64_t)((double)length_ns * factor);
	}
	e->step.end_ns = now_ns + with_noise(e, length_ns);
	if (e->on_step)
		e->on_step(&e->step, e->watcher);
}

void batching_watch(struct batching *e, void (*on_step)(const struct batching_step *step, void *data), void *data)
{
	e->on_step = on_step;
	e->watcher = data;
}

void batching_watch_moves(struct batching *e, void (*on_move)(const struct sequence *s, int64_t at_ns, void *data),
                          void *data)
{
	e->on_move = on_move;
	e->move_watcher = data;
}

int64_t batching_deadline(const struct batching *e)
{
	return e->stepping ? e->step.end_ns : e->running ? e->wake_ns : INT64_MAX;
}

static void publish(struct batching *e, struct sequence *s)
{
	while (s->published < s->hash_count && (int64_t)(s->published + 1) * KV_BLOCK <= s->computed) {
		kv_cache_publish(e->kv, s->blocks[s->published], s->hashes[s->published]);
		s->published++;
	}
}

static void produce(struct batching *e, struct sequence *s)
{
	if (s->token) {
		s->chain = kv_hash(s->chain, s->token(s, s->produced));
		note_block(s, length_of(s) + 1);
	}
	s->produced++;
	s->fresh++;
	e->counts.output_tokens++;
}

/* The drafts that followed the token of a decoding step, as far as they are accepted. */
static void accept_drafts(struct batching *e, struct sequence *s)
{
	const struct batching_spec *spec = &e->options.spec;
	int64_t accepted = 0;
	while (accepted < spec->tokens && s->produced < s->output_tokens) {
		uint64_t draw = kv_hash(kv_hash(s->draws, (uint64_t)s->drafts), (uint64_t)accepted);
		if ((double)(draw >> 11) / 9007199254740992.0 >= spec->accept || !get_blocks(e, s, s->computed + 1))
			break;
		s->computed++;
		e->counts.spec_accepted_at[accepted++]++;
		produce(e, s);
	}
	s->drafts++;
	s->accepted += accepted;
	s->accepted_in[accepted]++;
	e->counts.spec_drafts++;
	e->counts.spec_draft_tokens += spec->tokens;
	e->counts.spec_accepted += accepted;
}

/* True: the sequence has new tokens. */
static bool compute(struct batching *e, struct sequence *s)
{
	bool prefilled = s->produced == 0, decodes = !prefilled && s->scheduled == 1;
	s->computed += s->scheduled;
	s->scheduled = 0;
	s->fresh = 0;
	if (e->options.prefix_cache)
		publish(e, s);
	if (s->computed < length_of(s))
		return false;
	if (prefilled) {
		e->counts.prompt_tokens += s->prompt_tokens;
		e->counts.prompt_cached += s->cached_tokens;
		for (int i = 0; i < TIER_COUNT; i++)
			e->counts.prompt_from[i] += s->cached_from[i];
	}
	produce(e, s);
	if (e->options.spec.tokens && decodes)
		accept_drafts(e, s);
	return true;
}

bool batching_finish(struct batching *e, int64_t now_ns, void (*on_token)(struct sequence *sequence, void *data),
                     void *data)
{
	if (!e->stepping) {
		if (e->running && e->wake_ns <= now_ns)
			batching_start(e, e->wake_ns);
		return false;
	}
	if (e->step.end_ns > now_ns)
		return false;
	e->stepping = false;
	for (int64_t i = 0; i < e->batch_count; i++) {
		struct sequence *s = e->batch[i];
		if (!s || !s->scheduled || !compute(e, s))
			continue;
		if (s->produced >= s->output_tokens)
			leave_batch(e, s);
		on_token(s, data);
	}
	int64_t next_ns = e->step.end_ns;
	if (now_ns - next_ns > MOST_LATE_NS) {
		e->counts.slipped_ns += now_ns - next_ns;
		next_ns = now_ns;
	}
	batching_start(e, next_ns);
	return true;
}

struct batching_step batching_current_step(const struct batching *e, bool *stepping)
{
	*stepping = e->stepping;
	return e->step;
}

void batching_visit(const struct batching *e, void (*visit)(const struct sequence *sequence, void *data), void *data)
{
	for (int64_t i = 0; i < e->batch_count; i++)
		if (e->batch[i])
			visit(e->batch[i], data);
	for (const struct sequence *s = e->first; s; s = s->after)
		visit(s, data);
}

struct batching_counts batching_counts(const struct batching *e)
{
	struct batching_counts counts = e->counts;
	counts.running = e->running;
	counts.waiting = e->waiting;
	if (e->replicas)
		counts.kv_usage = (double)kv_cache_used(e->kv) / (double)kv_cache_total(e->kv);
	return counts;
}
