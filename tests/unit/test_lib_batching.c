/* The engine on a clock of the test's own: every time below follows by arithmetic from the options. */
#include "batching/batching.h"

#include "clock.h"

#include "unit.h"

#define MS NS_PER_MS

static const struct batching_options plain = {
	.step_base_ns = 8 * MS,
	.step_per_seq_ns = MS / 10,
	.prefill_rate = 10000,
	.step_tokens = 1000,
	.max_batch = 4,
	.kv_blocks = 100,
	.prefix_cache = true,
};

struct world {
	struct batching *engine;
	int64_t now_ns, first_ns[256], last_ns[256], tokens;
	struct sequence *sequences;
};

static void on_token(struct sequence *s, void *data)
{
	struct world *w = data;
	int64_t i = s - w->sequences;
	w->tokens++;
	if (s->produced == 1)
		w->first_ns[i] = w->now_ns;
	w->last_ns[i] = w->now_ns;
}

static void begin(struct world *w, const struct batching_options *options, struct sequence *sequences)
{
	struct ipf_error err = {0};
	*w = (struct world){.sequences = sequences, .now_ns = 1000 * MS};
	assert_int_equal(batching_open(&w->engine, options, &err), 0);
}

/* Runs until nothing is left to do, or until the time is up. */
static void run_until(struct world *w, int64_t until_ns)
{
	batching_start(w->engine, w->now_ns);
	while (batching_deadline(w->engine) <= until_ns) {
		w->now_ns = batching_deadline(w->engine);
		batching_finish(w->engine, w->now_ns, on_token, w);
		batching_start(w->engine, w->now_ns);
	}
}

static void fill(struct sequence *s, int64_t prompt, uint32_t salt, int64_t output)
{
	*s = (struct sequence){.output_tokens = output};
	for (int64_t i = 0; i < prompt; i++)
		sequence_push(s, (uint32_t)i * 7 + salt);
}

static void release(struct world *w, size_t count)
{
	for (size_t i = 0; i < count; i++)
		sequence_release(&w->sequences[i]);
	batching_close(w->engine);
}

static void one_alone(void **state)
{
	struct sequence s[1];
	struct world w;
	(void)state;
	begin(&w, &plain, s);
	fill(s, 100, 0, 5);
	batching_add(w.engine, s, w.now_ns);
	assert_true(batching_deadline(w.engine) == INT64_MAX);
	run_until(&w, INT64_MAX - 1);
	/* 8 ms + 0.1 ms + 100 tokens at 10,000/s; then four steps of 8.1 ms */
	assert_int_equal(w.first_ns[0] - 1000 * MS, 18 * MS + MS / 10);
	assert_int_equal(w.last_ns[0] - w.first_ns[0], 4 * (8 * MS + MS / 10));
	assert_int_equal(s[0].produced, 5);
	assert_int_equal(s[0].admitted_ns, 1000 * MS);
	assert_int_equal(batching_counts(w.engine).running, 0);
	assert_true(batching_counts(w.engine).kv_usage <= 0);
	release(&w, 1);
}

/* Prompts longer than a step's tokens take several steps, and others' tokens come in between. */
static void long_prompts_are_cut(void **state)
{
	struct sequence s[2];
	struct world w;
	(void)state;
	begin(&w, &plain, s);
	fill(&s[0], 10, 1, 100);
	fill(&s[1], 1500, 2, 1);
	batching_add(w.engine, &s[0], w.now_ns);
	run_until(&w, w.now_ns + 50 * MS);
	int64_t before = s[0].produced, begin_ns = w.last_ns[0];
	batching_add(w.engine, &s[1], w.now_ns);
	run_until(&w, w.now_ns + 10 * MS); /* the step under way ends; the prompt's first piece begins */
	assert_int_equal(s[0].produced, before + 1);
	run_until(&w, w.now_ns + 200 * MS);
	/* 999 tokens beside the other's one, then 501 */
	int64_t alone = 8 * MS + MS / 10, together = 8 * MS + MS / 5;
	assert_int_equal(w.first_ns[1] - begin_ns, alone + (together + 999 * MS / 10) + (together + 501 * MS / 10));
	assert_int_equal(s[0].produced >= before + 3, 1);
	batching_remove(w.engine, &s[0]);
	release(&w, 2);
}

static void batch_limit_makes_a_queue(void **state)
{
	struct sequence s[6];
	struct world w;
	(void)state;
	begin(&w, &plain, s);
	for (int i = 0; i < 6; i++) {
		fill(&s[i], 10, (uint32_t)i * 1000, 3);
		batching_add(w.engine, &s[i], w.now_ns);
	}
	batching_start(w.engine, w.now_ns);
	assert_int_equal(batching_counts(w.engine).running, 4);
	assert_int_equal(batching_counts(w.engine).waiting, 2);
	run_until(&w, INT64_MAX - 1);
	for (int i = 0; i < 4; i++)
		assert_int_equal(w.first_ns[i], w.first_ns[0]);
	assert_true(w.first_ns[4] > w.last_ns[3]);
	assert_int_equal(s[4].admitted_ns, w.last_ns[3]);
	assert_int_equal(w.tokens, 18);
	release(&w, 6);
}

/* A request added between the end of a step and a late batching_finish takes part in a step beginning before it
 * came. */
static void none_waits_less_than_nothing(void **state)
{
	struct sequence s[2];
	struct world w;
	(void)state;
	begin(&w, &plain, s);
	fill(&s[0], 10, 1, 5);
	fill(&s[1], 10, 2, 5);
	batching_add(w.engine, &s[0], w.now_ns);
	batching_start(w.engine, w.now_ns);
	int64_t added_ns = batching_deadline(w.engine) + MS;
	batching_add(w.engine, &s[1], added_ns);
	batching_finish(w.engine, added_ns, on_token, &w);
	assert_int_equal(batching_counts(w.engine).running, 2);
	assert_int_equal(s[1].admitted_ns, added_ns);
	run_until(&w, INT64_MAX - 1);
	release(&w, 2);
}

/* The header's rule of saturation: B sequences at a time, each O steps. */
static void saturation_follows_from_the_options(void **state)
{
	enum { COUNT = 200 };
	static struct sequence s[COUNT];
	struct batching_options options = plain;
	struct world w;
	(void)state;
	options.kv_blocks = 10000;
	options.max_batch = 10;
	begin(&w, &options, s);
	int64_t begin_ns = w.now_ns;
	for (int i = 0; i < COUNT; i++) {
		fill(&s[i], 50, (uint32_t)i * 100000, 20);
		batching_add(w.engine, &s[i], w.now_ns);
	}
	run_until(&w, INT64_MAX - 1);
	double rate = COUNT / ((double)(w.now_ns - begin_ns) / (double)NS_PER_S);
	double expected = 1 / (50 / 10000.0 + 20 * (0.008 / 10 + 0.0001));
	assert_true(rate > expected * 0.99 && rate < expected * 1.01);
	release(&w, COUNT);
}

/* Three replicas do three times the work, and a step knows how many of them have a part in it. */
static void on_step(const struct batching_step *step, void *data)
{
	*(struct batching_step *)data = *step;
}

static void replicas_share_each_step(void **state)
{
	struct sequence s[7];
	struct batching_options options = plain;
	struct batching_step step = {0};
	struct world w;
	(void)state;
	options.most_replicas = 3;
	options.max_batch = 2;
	begin(&w, &options, s);
	batching_watch(w.engine, on_step, &step);
	batching_set_replicas(w.engine, 0);
	for (int i = 0; i < 7; i++) {
		fill(&s[i], 30, (uint32_t)i * 1000, 3);
		batching_add(w.engine, &s[i], w.now_ns);
	}
	run_until(&w, w.now_ns + 1000 * MS);
	assert_int_equal(batching_counts(w.engine).waiting, 7); /* without replicas nothing happens */
	assert_true(batching_deadline(w.engine) == INT64_MAX);
	batching_set_replicas(w.engine, 3);
	int64_t begin_ns = w.now_ns;
	batching_start(w.engine, w.now_ns);
	assert_int_equal(batching_counts(w.engine).running, 6);
	assert_int_equal(step.replicas, 3);
	/* 8 ms, two sequences of 0.1 ms each, and 180 tokens at three times 10,000/s */
	assert_int_equal(step.end_ns - begin_ns, 8 * MS + 2 * MS / 10 + 6 * MS);
	run_until(&w, INT64_MAX - 1);
	assert_int_equal(w.tokens, 21);
	assert_int_equal(step.replicas, 1); /* the seventh was alone */
	release(&w, 7);
}

static void pace_changes_steps(void **state)
{
	struct sequence s[1];
	struct batching_options options = plain;
	struct batching_step step = {0};
	struct world w;
	(void)state;
	/* Half the throughput after each second; three times as long for half a second. */
	options.pace = (struct batching_pace){.drift = 0.5, .drift_ns = 1000 * MS, .warm_ns = 500 * MS, .warm_factor = 3};
	options.step_base_ns = 10 * MS;
	options.step_per_seq_ns = 0;
	options.prefill_rate = 1e12;
	begin(&w, &options, s);
	batching_watch(w.engine, on_step, &step);
	fill(s, 10, 0, 1000);
	batching_add(w.engine, s, w.now_ns);
	batching_start(w.engine, w.now_ns);
	assert_int_equal(step.end_ns - step.start_ns, 30 * MS);
	run_until(&w, w.now_ns + 2000 * MS);
	int64_t age_ns = step.start_ns - 1000 * MS, length_ns = step.end_ns - step.start_ns;
	assert_true(age_ns > 1950 * MS && age_ns < 2000 * MS);
	assert_true(length_ns > 38 * MS && length_ns < 40 * MS); /* four times as long after two seconds */
	batching_remove(w.engine, s);
	release(&w, 1);
}

/* Steps vary around the same mean, pauses add theirs, and the seed decides. */
static void noise_of_steps(void **state)
{
	struct batching_options options = plain;
	double means[3];
	(void)state;
	options.step_base_ns = 10 * MS;
	options.step_per_seq_ns = 0;
	options.prefill_rate = 1e12;
	options.kv_blocks = 1000;
	for (int k = 0; k < 3; k++) {
		struct sequence s[1];
		struct world w;
		options.pace = (struct batching_pace){.jitter = 0.2, .seed = k == 1 ? 2 : 1};
		if (k == 2) {
			options.pace.pause_ns = 100 * MS;
			options.pace.pause_every_ns = 1000 * MS;
		}
		begin(&w, &options, s);
		fill(s, 10, 0, 4000);
		batching_add(w.engine, s, w.now_ns);
		batching_start(w.engine, w.now_ns);
		const int64_t begin_ns = w.now_ns;
		run_until(&w, INT64_MAX - 1);
		means[k] = (double)(w.now_ns - begin_ns) / 4000 / (double)MS;
		release(&w, 1);
	}
	/* 10 ms with a standard error of 0.03 ms; of 10 ms steps, one in a hundred has a pause of 100 ms: 1 ms more, with a
	 * standard error of 0.22 ms. The seeds are fixed. */
	assert_true(means[0] > 9.9 && means[0] < 10.1);
	assert_true(means[1] > 9.9 && means[1] < 10.1 && means[1] != means[0]);
	assert_true(means[2] > means[0] + 0.4 && means[2] < means[0] + 1.6);
}

/* Every token but the first comes from a draft's step, or was accepted in one; how often, follows the probability. */
static void drafts_are_accepted(void **state)
{
	enum { COUNT = 40 };
	static struct sequence s[COUNT], again[1];
	struct batching_options options = plain;
	struct world w;
	int64_t histogram = 0, accepted = 0;
	(void)state;
	options.spec = (struct batching_spec){.tokens = 3, .accept = 0.7, .draft_ns = MS};
	options.kv_blocks = 10000;
	begin(&w, &options, s);
	for (int i = 0; i < COUNT; i++) {
		fill(&s[i], 20, (uint32_t)i * 1000, 200);
		s[i].draws = (uint64_t)i;
		batching_add(w.engine, &s[i], w.now_ns);
	}
	run_until(&w, INT64_MAX - 1);
	struct batching_counts c = batching_counts(w.engine);
	assert_int_equal(c.output_tokens, COUNT * 200);
	assert_int_equal(c.output_tokens, COUNT + c.spec_drafts + c.spec_accepted);
	assert_int_equal(c.spec_draft_tokens, 3 * c.spec_drafts);
	assert_int_equal(c.spec_accepted_at[0] + c.spec_accepted_at[1] + c.spec_accepted_at[2], c.spec_accepted);
	assert_int_equal(c.spec_accepted_at[3], 0);
	double rate = (double)c.spec_accepted_at[0] / (double)c.spec_drafts;
	assert_true(rate > 0.66 && rate < 0.74);
	rate = (double)c.spec_accepted_at[2] / (double)c.spec_accepted_at[1];
	assert_true(rate > 0.66 && rate < 0.74);
	for (int i = 0; i < COUNT; i++) {
		assert_int_equal(s[i].produced, 200);
		for (int k = 0; k <= 3; k++) {
			histogram += s[i].accepted_in[k];
			accepted += k * s[i].accepted_in[k];
		}
	}
	assert_int_equal(histogram, c.spec_drafts);
	assert_int_equal(accepted, c.spec_accepted);
	/* Equal draws, whatever else runs; a step takes the drafting's time. */
	fill(again, 20, 7 * 1000, 200);
	again->draws = 7;
	w.sequences = again;
	batching_add(w.engine, again, w.now_ns);
	int64_t begin_ns = w.now_ns;
	run_until(&w, INT64_MAX - 1);
	assert_int_equal(again->drafts, s[7].drafts);
	assert_int_equal(w.now_ns - begin_ns, (again->drafts + 1) * (9 * MS + MS / 10) + 4 * MS / 10);
	sequence_release(again);
	w.sequences = s;
	release(&w, COUNT);
}

static void drafts_fit_the_cache(void **state)
{
	struct sequence s[3];
	struct batching_options options = plain;
	struct world w;
	(void)state;
	options.spec = (struct batching_spec){.tokens = 16, .accept = 0.95};
	options.kv_blocks = 12;
	begin(&w, &options, s);
	for (int i = 0; i < 3; i++) {
		fill(&s[i], 48, (uint32_t)i * 1000, 100);
		s[i].draws = (uint64_t)i;
		batching_add(w.engine, &s[i], w.now_ns);
	}
	run_until(&w, INT64_MAX - 1);
	assert_int_equal(batching_counts(w.engine).output_tokens, 300);
	assert_int_equal(batching_counts(w.engine).prompt_tokens, 3 * 48);
	assert_true(batching_counts(w.engine).kv_usage <= 0);
	release(&w, 3);
}

static void prefix_is_found(void **state)
{
	struct sequence s[4];
	struct world w;
	(void)state;
	begin(&w, &plain, s);
	fill(&s[0], 100, 0, 1);
	batching_add(w.engine, &s[0], w.now_ns);
	run_until(&w, INT64_MAX - 1);
	assert_int_equal(s[0].cached_tokens, 0);
	fill(&s[1], 100, 0, 1); /* the same: six whole blocks */
	batching_add(w.engine, &s[1], w.now_ns);
	run_until(&w, INT64_MAX - 1);
	assert_int_equal(s[1].cached_tokens, 96);
	fill(&s[2], 96, 0, 1); /* all of it is there, but the last token has to be computed */
	batching_add(w.engine, &s[2], w.now_ns);
	run_until(&w, INT64_MAX - 1);
	assert_int_equal(s[2].cached_tokens, 80);
	fill(&s[3], 0, 0, 1); /* another in its 20th token: one block in common */
	for (uint32_t i = 0; i < 100; i++)
		sequence_push(&s[3], i == 19 ? 5u : i * 7);
	batching_add(w.engine, &s[3], w.now_ns);
	run_until(&w, INT64_MAX - 1);
	assert_int_equal(s[3].cached_tokens, 16);
	assert_int_equal(batching_counts(w.engine).cache_queries, 396);
	assert_int_equal(batching_counts(w.engine).cache_hits, 192);
	release(&w, 4);
}

static uint32_t token_of(const struct sequence *s, int64_t k)
{
	(void)s;
	return (uint32_t)(1000 + k);
}

/* A conversation's next turn finds the last answer as well. */
static void answers_enter_the_cache(void **state)
{
	struct sequence s[2];
	struct world w;
	(void)state;
	begin(&w, &plain, s);
	fill(&s[0], 20, 0, 30);
	s[0].token = token_of;
	batching_add(w.engine, &s[0], w.now_ns);
	run_until(&w, INT64_MAX - 1);
	fill(&s[1], 20, 0, 1);
	for (int64_t k = 0; k < 30; k++)
		sequence_push(&s[1], token_of(NULL, k));
	for (uint32_t i = 0; i < 20; i++)
		sequence_push(&s[1], i);
	batching_add(w.engine, &s[1], w.now_ns);
	run_until(&w, INT64_MAX - 1);
	assert_int_equal(s[1].cached_tokens, 48); /* 50 tokens, of which the last was made but not computed */
	release(&w, 2);
}

/* Blocks without room on the device go to the host, those without room there to storage, and come back at a price. */
static void tiers_keep_what_is_evicted(void **state)
{
	struct sequence s[6];
	struct batching_options options = plain;
	struct batching_step step = {0};
	struct world w;
	(void)state;
	options.kv_blocks = 10;
	options.tiers[TIER_HOST] = (struct batching_tier){.blocks = 10, .rate = 16000};
	options.tiers[TIER_STORAGE] = (struct batching_tier){.blocks = 100, .rate = 1600};
	begin(&w, &options, s);
	batching_watch(w.engine, on_step, &step);
	/* Three prompts of ten blocks, each in the place of the one before; then the first and the second again. */
	for (int i = 0; i < 5; i++) {
		fill(&s[i], 150, (uint32_t)(i % 3) * 100000, 1);
		batching_add(w.engine, &s[i], w.now_ns);
		run_until(&w, INT64_MAX - 1);
	}
	assert_int_equal(s[2].cached_tokens, 0);
	assert_int_equal(s[3].cached_tokens, 144); /* nine whole blocks, which went down twice */
	assert_int_equal(s[3].cached_from[TIER_STORAGE] + s[3].cached_from[TIER_HOST], 144);
	assert_true(s[3].cached_from[TIER_STORAGE] > 0);
	struct batching_counts c = batching_counts(w.engine);
	assert_int_equal(c.cached_from[TIER_DEVICE] + c.cached_from[TIER_HOST] + c.cached_from[TIER_STORAGE], c.cache_hits);
	assert_int_equal(c.cache_hits, s[3].cached_tokens + s[4].cached_tokens);
	/* 8.1 ms, 6 tokens to compute, and the blocks back from host and storage */
	assert_int_equal(step.end_ns - step.start_ns, 8 * MS + MS / 10 + (150 - s[4].cached_tokens) * MS / 10 +
	                                                  s[4].cached_from[TIER_HOST] * MS / 16 +
	                                                  s[4].cached_from[TIER_STORAGE] * MS * 10 / 16);
	fill(&s[5], 150, 100000, 1); /* it is on the device now */
	batching_add(w.engine, &s[5], w.now_ns);
	run_until(&w, INT64_MAX - 1);
	assert_int_equal(s[5].cached_from[TIER_DEVICE], 144);
	release(&w, 6);
}

static void marks_tell_prefixes_apart(void **state)
{
	struct sequence a = {0}, b = {0};
	(void)state;
	sequence_mark(&a, 1);
	sequence_mark(&b, 2);
	for (uint32_t i = 0; i < 16; i++) {
		sequence_push(&a, i);
		sequence_push(&b, i);
	}
	assert_int_equal(a.prompt_tokens, 16);
	assert_int_equal(a.hash_count, 1);
	assert_true(a.hashes[0] != b.hashes[0]);
	sequence_release(&a);
	sequence_release(&b);
}

/* Three fitting when they begin, and grow: the last let in is thrown out, begins again, and still gets all its tokens.
 */
static void preemption_recomputes(void **state)
{
	struct sequence s[3];
	struct batching_options options = plain;
	struct world w;
	(void)state;
	options.kv_blocks = 12;
	options.prefix_cache = false;
	begin(&w, &options, s);
	for (int i = 0; i < 3; i++) {
		fill(&s[i], 48, (uint32_t)i * 1000, 60);
		batching_add(w.engine, &s[i], w.now_ns);
	}
	run_until(&w, INT64_MAX - 1);
	for (int i = 0; i < 3; i++)
		assert_int_equal(s[i].produced, 60);
	assert_int_equal(w.tokens, 180);
	assert_int_equal(s[0].preemptions, 0);
	assert_true(s[2].preemptions > 0);
	assert_int_equal(batching_counts(w.engine).preemptions, s[1].preemptions + s[2].preemptions);
	assert_int_equal(batching_counts(w.engine).prompt_tokens, 3 * 48);
	assert_true(w.last_ns[0] < w.last_ns[2]);
	assert_true(batching_counts(w.engine).kv_usage <= 0);
	release(&w, 3);
}

static void holds_and_removals(void **state)
{
	struct sequence s[3];
	struct world w;
	(void)state;
	begin(&w, &plain, s);
	for (int i = 0; i < 3; i++) {
		fill(&s[i], 10, (uint32_t)i * 1000, 10);
		batching_add(w.engine, &s[i], w.now_ns);
	}
	run_until(&w, w.now_ns + 20 * MS);
	int64_t had = s[0].produced;
	batching_hold(&s[0], w.now_ns + 500 * MS);
	batching_remove(w.engine, &s[1]);
	int64_t removed_at = s[1].produced;
	run_until(&w, w.now_ns + 400 * MS);
	assert_true(s[0].produced <= had + 1); /* the step under way was not stopped */
	assert_int_equal(s[1].produced, removed_at);
	assert_int_equal(s[2].produced, 10);
	assert_int_equal(batching_counts(w.engine).running, 1);
	assert_true(batching_deadline(w.engine) < INT64_MAX);
	run_until(&w, INT64_MAX - 1);
	assert_int_equal(s[0].produced, 10);
	assert_true(batching_deadline(w.engine) == INT64_MAX);
	release(&w, 3);
}

/* A caller coming late finds the steps where they were; very late, they move, and that is counted. */
static void late_callers(void **state)
{
	struct sequence s[1];
	struct world w;
	(void)state;
	begin(&w, &plain, s);
	fill(s, 10, 0, 100);
	batching_add(w.engine, s, w.now_ns);
	batching_start(w.engine, w.now_ns);
	int64_t end = batching_deadline(w.engine);
	assert_false(batching_finish(w.engine, end - 1, on_token, &w));
	assert_true(batching_finish(w.engine, end + 50 * MS, on_token, &w));
	assert_int_equal(batching_deadline(w.engine), end + 8 * MS + MS / 10);
	assert_int_equal(batching_counts(w.engine).slipped_ns, 0);
	end = batching_deadline(w.engine);
	assert_true(batching_finish(w.engine, end + 150 * MS, on_token, &w));
	assert_int_equal(batching_deadline(w.engine), end + 158 * MS + MS / 10);
	assert_int_equal(batching_counts(w.engine).slipped_ns, 150 * MS);
	batching_remove(w.engine, s);
	release(&w, 1);
}

static int64_t blocks_in_use(const struct sequence *s, size_t count)
{
	int64_t blocks = 0;
	for (size_t i = 0; i < count; i++)
		blocks += s[i].block_count;
	return blocks;
}

/* Whatever is added, held and removed: in the end everybody has its blocks, and no block is lost. */
static void property_nothing_is_lost(void **state)
{
	enum { COUNT = 16 };
	struct batching_options options = plain;
	uint64_t seed = test_seed("property_nothing_is_lost");
	(void)state;
	options.kv_blocks = 30;
	options.step_tokens = 64;
	for (int round = 0; round < 200; round++) {
		struct sequence s[COUNT];
		bool removed[COUNT] = {false};
		struct world w;
		options.prefix_cache = round % 2;
		options.tiers[TIER_HOST] = (struct batching_tier){.blocks = round % 3 ? 0 : 20, .rate = 1e6};
		options.tiers[TIER_STORAGE] = (struct batching_tier){.blocks = round % 5 ? 0 : 20, .rate = 1e5};
		options.spec = (struct batching_spec){.tokens = round % 7 ? 0 : 5, .accept = 0.8};
		begin(&w, &options, s);
		for (int i = 0; i < COUNT; i++) {
			int64_t output = 1 + (int64_t)(test_random(&seed) % 100);
			fill(&s[i], 1 + (int64_t)(test_random(&seed) % 300), test_random(&seed) % 3 ? 0 : (uint32_t)i, output);
			s[i].token = token_of;
			batching_add(w.engine, &s[i], w.now_ns);
			run_until(&w, w.now_ns + (int64_t)(test_random(&seed) % 100) * MS);
			int k = (int)(test_random(&seed) % (unsigned)(i + 1));
			if (test_random(&seed) % 8 == 0) {
				batching_remove(w.engine, &s[k]);
				removed[k] = true;
			} else if (test_random(&seed) % 4 == 0) {
				batching_hold(&s[k], w.now_ns + 30 * MS);
			}
			/* blocks may be shared, so users count more than the cache does */
			assert_true(batching_counts(w.engine).kv_usage * 30 <= (double)blocks_in_use(s, (size_t)i + 1) + 1e-6);
		}
		run_until(&w, INT64_MAX - 1);
		for (int i = 0; i < COUNT; i++)
			assert_true(removed[i] ? s[i].produced <= s[i].output_tokens : s[i].produced == s[i].output_tokens);
		assert_int_equal(batching_counts(w.engine).running, 0);
		assert_int_equal(batching_counts(w.engine).waiting, 0);
		assert_true(batching_counts(w.engine).kv_usage <= 0);
		release(&w, COUNT);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_alone),
		cmocka_unit_test(long_prompts_are_cut),
		cmocka_unit_test(batch_limit_makes_a_queue),
		cmocka_unit_test(none_waits_less_than_nothing),
		cmocka_unit_test(saturation_follows_from_the_options),
		cmocka_unit_test(replicas_share_each_step),
		cmocka_unit_test(pace_changes_steps),
		cmocka_unit_test(noise_of_steps),
		cmocka_unit_test(drafts_are_accepted),
		cmocka_unit_test(drafts_fit_the_cache),
		cmocka_unit_test(prefix_is_found),
		cmocka_unit_test(answers_enter_the_cache),
		cmocka_unit_test(tiers_keep_what_is_evicted),
		cmocka_unit_test(marks_tell_prefixes_apart),
		cmocka_unit_test(preemption_recomputes),
		cmocka_unit_test(holds_and_removals),
		cmocka_unit_test(late_callers),
		cmocka_unit_test(property_nothing_is_lost),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
