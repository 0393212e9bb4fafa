#include "fit/twin_limits.h"

#include "batching/kv_cache.h"
#include "stats/samples.h"
#include "fit/twin_sizes.h"
#include "fit/twin_spans.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define BLOCKED_LEAST 30  /* steps in which requests waited, for a limit to be looked for */
#define LIMIT_BETTER  0.8 /* as a share of the distance without it, at most, for a limit to be known */
#define LIMIT_GAIN    0.01
#define TOKENS_BETTER 0.5  /* as a share of the distance without it, for a limit of tokens that no step shows */
#define TOKENS_NEAR   0.03 /* a distance a right one leaves, at most */
#define CHUNKS_MOST   256  /* steps a prompt is followed over */
#define CHUNKS_LEAST  5    /* full steps showing their limit */
#define WHOLE_WITHIN  0.2  /* its length's, a step of known prompts */
#define CHUNK_PART    0.2  /* as a share of a prompt's rest, at least, for a step to have a part of it */

double twin_step_length(const struct twin *twin, double sequences, double context, double prompt)
{
	return twin_value(twin, TWIN_STEP_BASE) + sequences * twin_value(twin, TWIN_STEP_SEQUENCE) +
	       context * twin_value(twin, TWIN_STEP_CONTEXT) + prompt / twin_value(twin, TWIN_PREFILL) * 1e9;
}

/* ---- tokens of a step ---- */

/* A prompt of several steps beside sequences that decode: the part computed before its first token follows from the
 * steps' lengths. */
static void look_at_prompt(const struct twin *twin, const struct twin_steps *steps, const struct measured_request *r,
                           const struct twin_passage *p, struct samples *full)
{
	const double rate = twin_value(twin, TWIN_PREFILL) / 1e9;
	double left = (double)(r->input_tokens - r->cached_tokens);
	for (int64_t k = p->sent + 1; k <= p->first; k++)
		if (steps->list[k].length_ns == IPF_ABSENT || steps->list[k].waiting > 1 ||
		    steps->list[k].firsts != (k == p->first))
			return;
	for (int64_t k = p->sent + 1; k < p->first; k++) {
		const struct twin_step *s = &steps->list[k];
		double without = twin_step_length(twin, s->sequences + 1, (double)s->context_tokens, 0);
		double computed = ((double)s->length_ns - without) * rate;
		if (computed < CHUNK_PART * left / (double)(p->first - k + 1) || computed > 1.5 * left)
			continue;
		samples_add(full, computed + s->sequences);
		left -= computed;
	}
}

/* Requests finding the server idle: a prompt of s steps takes s times the constant part of a step. */
static void bracket_idle(const struct twin *twin, const struct measured_request *r, double *low, double *high)
{
	const double step = twin_value(twin, TWIN_STEP_BASE) + twin_value(twin, TWIN_STEP_SEQUENCE);
	double prompt = (double)(r->input_tokens - r->cached_tokens);
	double rest = (double)(r->first_ns - r->start_ns) - twin_value(twin, TWIN_OVERHEAD) -
	              prompt / twin_value(twin, TWIN_PREFILL) * 1e9;
	double taken = rest / step;
	if (taken < 0.7 || fabs(taken - round(taken)) > 0.2 || taken > 64)
		return;
	*low = fmax(*low, prompt / round(taken));
	if (round(taken) > 1)
		*high = fmin(*high, prompt / (round(taken) - 1));
}

/* Did it compute all of its prompts, and nothing else? Then it took as long as that takes. */
static bool is_whole(const struct twin *twin, const struct twin_step *s)
{
	double length = twin_step_length(twin, s->sequences, (double)s->context_tokens, (double)s->prompt_tokens);
	return s->timely && s->firsts && s->length_ns != IPF_ABSENT && s->waiting == 0 &&
	       fabs((double)s->length_ns / length - 1) < WHOLE_WITHIN;
}

static void set_step_tokens(struct twin *twin, struct samples *full, double least, double low, double high)
{
	char why[160];
	if (full->count >= CHUNKS_LEAST) {
		double middle = samples_percentile(full, 50);
		double spread = samples_percentile(full, 75) - samples_percentile(full, 25);
		double half = fmax(1.96 * spread / 1.349 * 1.2533 / sqrt((double)full->count), 0.01 * middle);
		if (middle >= 0.9 * least) {
			twin_set(twin, TWIN_STEP_TOKENS, round(middle), floor(middle - half), ceil(middle + half));
			return;
		}
	}
	low = fmax(low, least);
	if (high < INFINITY && low < high && high - low < 0.1 * high) {
		twin_set(twin, TWIN_STEP_TOKENS, round((low + high) / 2), floor(low), ceil(high));
		return;
	}
	snprintf(why, sizeof why,
	         "no step computed more than %.0f tokens with a visible limit; longer prompts would show "
	         "it",
	         least);
	twin_set_unknown(twin, TWIN_STEP_TOKENS, least > 0 ? least : NAN, why);
}

int twin_limits_step_tokens(struct twin *twin, const struct twin_data *data, const struct twin_steps *steps)
{
	struct samples full = {0};
	double least = 0, low = 0, high = INFINITY;
	for (int64_t i = 0; i < data->request_count; i++) {
		const struct twin_passage *p = &steps->passages[i];
		if (p->alone)
			bracket_idle(twin, &data->requests[i], &low, &high);
		else if (p->first > p->sent + 1 && p->first - p->sent < CHUNKS_MOST)
			look_at_prompt(twin, steps, &data->requests[i], p, &full);
	}
	for (int64_t k = 0; k < steps->count; k++)
		if (is_whole(twin, &steps->list[k]))
			least = fmax(least,
			             (double)(steps->list[k].prompt_tokens + steps->list[k].sequences - steps->list[k].firsts));
	if (!full.failed)
		set_step_tokens(twin, &full, least, low, high);
	bool bad = full.failed;
	samples_release(&full);
	return bad ? -1 : 0;
}

/* ---- sequences and their room ---- */

/* Possible limits of sequences and of blocks. */
struct twin_limit_candidates {
	int64_t blocked; /* steps beside which requests waited for more than a step */
	double sequences[3];
	double blocks;         /* the most in use */
	double own_blocks;     /* without those that several requests may have shared */
	double seen_sequences; /* the most that got tokens in a step */
};

/* How many sequences each step had: those that got tokens, and those whose prompt was computed in several steps up to
 * the one of their first token. */
static void count_running(const struct twin *twin, const struct twin_data *data, const struct twin_steps *steps,
                          int32_t *running)
{
	for (int64_t k = 0; k < steps->count; k++)
		running[k] = steps->list[k].sequences;
	for (int64_t i = 0; i < data->request_count; i++) {
		const struct measured_request *r = &data->requests[i];
		const struct twin_passage *p = &steps->passages[i];
		double beside = steps->list[p->first].sequences;
		double room = fmax(twin_value(twin, TWIN_STEP_TOKENS) - beside, 1);
		double parts = ceil((double)(r->input_tokens - r->cached_tokens) / room);
		for (int32_t k = p->first - 1; k > p->sent && p->first - k < parts; k--)
			running[k]++;
	}
}

/* How often each number of sequences was in steps beside which requests had waited for more than a step. */
static int64_t count_blocked(const struct twin_steps *steps, const int32_t *running, int64_t *times)
{
	int64_t all = 0;
	for (int64_t k = 1; k < steps->count; k++) {
		if (steps->list[k].length_ns == IPF_ABSENT || !steps->list[k].waiting || !steps->list[k - 1].waiting)
			continue;
		times[running[k]]++;
		all++;
	}
	return all;
}

/* The most frequent number while requests waited, and the greatest. */
static void find_sequences(const struct twin_steps *steps, const int64_t *times, int64_t most,
                           struct twin_limit_candidates *found)
{
	int64_t mode = 0, with_tokens = 0;
	for (int64_t k = 0; k < steps->count; k++)
		with_tokens = steps->list[k].sequences > with_tokens ? steps->list[k].sequences : with_tokens;
	for (int64_t n = 1; n <= most; n++)
		mode = times[n] >= times[mode] ? n : mode;
	mode = mode > with_tokens ? mode : with_tokens; /* this many were there for certain */
	found->sequences[0] = (double)mode;
	found->sequences[1] = (double)with_tokens;
	found->sequences[2] = (double)most;
	found->seen_sequences = (double)with_tokens;
}

static int find_candidates(const struct twin *twin, const struct twin_data *data, const struct twin_steps *steps,
                           struct twin_limit_candidates *found)
{
	int64_t most = 0, room = 0, own = 0;
	*found = (struct twin_limit_candidates){0};
	int32_t *running = calloc((size_t)steps->count, sizeof *running);
	if (!running)
		return -1;
	count_running(twin, data, steps, running);
	for (int64_t k = 0; k < steps->count; k++) {
		most = running[k] > most ? running[k] : most;
		room = steps->list[k].held_blocks > room ? steps->list[k].held_blocks : room;
		own = steps->list[k].own_blocks > own ? steps->list[k].own_blocks : own;
	}
	int64_t *times = calloc((size_t)most + 1, sizeof *times);
	if (times) {
		found->blocked = count_blocked(steps, running, times);
		find_sequences(steps, times, most, found);
		found->blocks = (double)room;
		found->own_blocks = (double)own;
	}
	free(running);
	free(times);
	return times ? 0 : -1;
}

/* By spans: how many answers were under way while requests waited, most frequently and at most, and one more, whose
 * prompt is being computed. */
static int64_t count_decoding(const struct twin_spans *spans, const struct twin_data *data, int64_t first, int64_t next,
                              int64_t *times)
{
	int64_t all = 0;
	for (int64_t i = first; i < next; i++) {
		const int64_t at_ns = data->requests[i].first_ns, n = twin_spans_decoding(spans, at_ns);
		if (n < 1 || twin_spans_waiting(spans, at_ns) < 2)
			continue;
		times[n]++;
		all++;
	}
	return all;
}

static int find_candidates_by_spans(const struct twin_data *data, struct twin_limit_candidates *found)
{
	struct ipf_error err = {0};
	int64_t *times = calloc((size_t)data->request_count + 1, sizeof *times), mode = 0, most = 0;
	bool failed = !times;
	*found = (struct twin_limit_candidates){.blocks = NAN};
	for (int64_t at = 0, next; !failed && at < data->request_count; at = next) {
		struct twin_spans spans;
		failed = twin_spans_open(&spans, data, at, &next, &err) < 0;
		found->blocked += failed ? 0 : count_decoding(&spans, data, at, next, times);
		twin_spans_close(&spans);
	}
	for (int64_t n = 1; !failed && n <= data->request_count; n++) {
		mode = times[n] >= times[mode] && times[n] ? n : mode;
		most = times[n] ? n : most;
	}
	free(times);
	found->sequences[0] = (double)mode;
	found->sequences[1] = (double)most;
	found->sequences[2] = (double)most + 1;
	found->seen_sequences = (double)most;
	return failed ? -1 : 0;
}

static void set_unknown(struct twin *twin, const struct twin_limit_candidates *found)
{
	char why[160];
	snprintf(why, sizeof why,
	         "never more than %.0f in a step, and none waited for it: a closed loop of more users would tell",
	         found->seen_sequences);
	twin_set_unknown(twin, TWIN_SEQUENCES, fmax(found->seen_sequences, 1), why);
	if (isnan(found->blocks)) {
		twin_set_unknown(twin, TWIN_KV_BLOCKS, NAN, NO_STEPS);
		return;
	}
	snprintf(why, sizeof why,
	         "never more than %.0f blocks in use, and none waited for one: more or longer requests would tell",
	         found->blocks);
	twin_set_unknown(twin, TWIN_KV_BLOCKS, fmax(found->blocks, 1), why);
}

/* ---- which of them there are ---- */

/* Tries one limit more; keeps it if it is clearly better than the best so far. */
static int try_limit(struct twin *twin, struct twin_replay *c, enum twin_parameter_id id, double value, double *best,
                     struct ipf_error *err)
{
	const struct twin_parameter before = twin->p[id];
	twin_set(twin, id, value, value, value);
	if (twin_replay_run(c, twin, err) < 0)
		return -1;
	double by = twin_replay_distance(c);
	if (by < *best * LIMIT_BETTER && by < *best - LIMIT_GAIN) {
		*best = by;
		return 0;
	}
	twin->p[id] = before;
	return 0;
}

static int try_sequences(struct twin *twin, struct twin_replay *c, const struct twin_limit_candidates *found,
                         double *best, struct ipf_error *err)
{
	int result = 0;
	for (size_t i = 0; result == 0 && i < sizeof found->sequences / sizeof *found->sequences; i++)
		if (i == 0 || found->sequences[i] != found->sequences[i - 1])
			result = try_limit(twin, c, TWIN_SEQUENCES, found->sequences[i], best, err);
	return result;
}

/* If no step shows its limit by itself: several prompts computed together do, by the waits of others. */
static int try_step_tokens(struct twin *twin, struct twin_replay *c, double *best, struct ipf_error *err)
{
	const struct twin_parameter *p = &twin->p[TWIN_STEP_TOKENS];
	if (twin->by_spans || !isnan(p->value) || !(p->at_least > 0) || *best < TWIN_SIZE_GAIN)
		return 0;
	struct twin_size size = {TWIN_STEP_TOKENS, p->at_least, 16 * p->at_least, *best, .size = NAN};
	if (twin_size_find(twin, c, &size, err) < 0)
		return -1;
	/* the tokens of a step are known within a fifth, and less where several prompts were in it */
	if (size.size == p->at_least && size.distance > TOKENS_NEAR) {
		size = (struct twin_size){TWIN_STEP_TOKENS, p->at_least / 3, p->at_least, *best, .size = NAN};
		if (twin_size_find(twin, c, &size, err) < 0)
			return -1;
	}
	if (isnan(size.size) || size.distance > TOKENS_BETTER * *best)
		return 0;
	*best = size.distance;
	twin_set(twin, TWIN_STEP_TOKENS, size.size, floor(0.95 * size.size), ceil(1.05 * size.size));
	return 0;
}

/* All the runs computed, in blocks: a cache of this size forgets nothing. */
static double all_blocks(const struct twin_data *data)
{
	double sum = 0;
	for (int64_t i = 0; i < data->request_count; i++) {
		const struct measured_request *r = &data->requests[i];
		sum += (double)((r->input_tokens - r->cached_tokens + r->output_tokens) / KV_BLOCK + 1);
	}
	return sum;
}

/* Prompts sharing blocks: the blocks in use at once cannot be counted, and a cache also keeps blocks for later use.
 * Sizes are tried, from the own blocks of all sequences to all blocks of the runs. */
static int try_sizes(struct twin *twin, struct twin_replay *c, const struct twin_limit_candidates *found, double *best,
                     struct ipf_error *err)
{
	const double most = fmax(4 * found->blocks, all_blocks(c->data));
	struct twin_size size = {TWIN_KV_BLOCKS, found->own_blocks, most, *best, .size = NAN};
	if (twin_size_find(twin, c, &size, err) < 0)
		return -1;
	if (isnan(size.size))
		return 0;
	*best = size.distance;
	twin_set(twin, TWIN_KV_BLOCKS, size.size, size.size, size.size);
	return 0;
}

/* If the cache is the limit, that of sequences may have been taken for it. */
static int try_without_sequences(struct twin *twin, struct twin_replay *c, const struct twin_limit_candidates *found,
                                 double best, struct ipf_error *err)
{
	const struct twin_parameter sequences = twin->p[TWIN_SEQUENCES], blocks = twin->p[TWIN_KV_BLOCKS];
	set_unknown(twin, found);
	twin->p[TWIN_KV_BLOCKS] = blocks;
	if (isnan(sequences.value))
		return 0;
	if (twin_replay_run(c, twin, err) < 0)
		return -1;
	if (twin_replay_distance(c) > best + LIMIT_GAIN)
		twin->p[TWIN_SEQUENCES] = sequences;
	return 0;
}

/* Then the size of the cache, and the sequences once more beside it. */
static int try_blocks(struct twin *twin, struct twin_replay *c, const struct twin_limit_candidates *found, bool sizes,
                      double *best, struct ipf_error *err)
{
	struct twin_parameter *blocks = &twin->p[TWIN_KV_BLOCKS];
	if ((sizes ? try_sizes(twin, c, found, best, err) : try_limit(twin, c, TWIN_KV_BLOCKS, found->blocks, best, err)) <
	    0)
		return -1;
	if (isnan(blocks->value))
		return 0;
	blocks->low = floor((sizes ? 0.95 : 0.97) * blocks->value);
	blocks->high = ceil(1.05 * blocks->value);
	return try_sequences(twin, c, found, best, err) < 0 ? -1 : try_without_sequences(twin, c, found, *best, err);
}

int twin_limits_try(struct twin *twin, struct twin_replay *c, const struct twin_steps *steps, struct ipf_error *err)
{
	struct twin_limit_candidates found;
	if ((twin->by_spans ? find_candidates_by_spans(c->data, &found) : find_candidates(twin, c->data, steps, &found)) <
	    0)
		return ipf_error_memory(err);
	const bool sizes = twin_replay_shares(c, twin) && found.own_blocks > 0;
	set_unknown(twin, &found);
	if (twin_replay_run(c, twin, err) < 0)
		return -1;
	double best = twin_replay_distance(c);
	if (found.blocked >= BLOCKED_LEAST || sizes) {
		if (try_sequences(twin, c, &found, &best, err) < 0 ||
		    (!isnan(found.blocks) && try_blocks(twin, c, &found, sizes, &best, err) < 0))
			return -1;
	}
	return try_step_tokens(twin, c, &best, err);
}
