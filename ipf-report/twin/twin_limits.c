#include "twin/twin_limits.h"

#include "stats/samples.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define CHUNKS_MOST   256  /* steps that a prompt is followed over */
#define CHUNKS_LEAST  5    /* full steps that show their limit */
#define WHOLE_WITHIN  0.2  /* of its length, a step of known prompts */
#define BLOCKED_LEAST 30   /* steps in which requests waited at a limit */
#define NEAR_MOST     0.9  /* of the most sequences */
#define NEAR_ROOM     0.93 /* of the most blocks */
#define CHUNK_PART    0.2  /* of what a prompt had left, at least, for a step to have a part of it */

double twin_step_length(const struct twin *twin, double sequences, double context, double prompt)
{
	return twin_value(twin, TWIN_STEP_BASE) + sequences * twin_value(twin, TWIN_STEP_SEQUENCE) +
	       context * twin_value(twin, TWIN_STEP_CONTEXT) + prompt / twin_value(twin, TWIN_PREFILL) * 1e9;
}

/* ---- tokens of a step ---- */

/* A prompt of several steps beside sequences that decode: what the steps before its first token computed of it follows
 * from their lengths. */
static void look_at_prompt(const struct twin *twin, const struct twin_steps *steps, const struct twin_request *r,
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

/* Requests that found the server idle: a prompt of s steps takes s times what every step takes. */
static void bracket_idle(const struct twin *twin, const struct twin_request *r, double *low, double *high)
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
	snprintf(why, sizeof why, "no step computed more than %.0f tokens that shows a limit; longer prompts would tell",
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

/* How many sequences each step had: those that got tokens, and those whose prompt was computed in several steps up to
 * the one of their first token. */
static void count_running(const struct twin *twin, const struct twin_data *data, const struct twin_steps *steps,
                          int32_t *running)
{
	for (int64_t k = 0; k < steps->count; k++)
		running[k] = steps->list[k].sequences;
	for (int64_t i = 0; i < data->request_count; i++) {
		const struct twin_request *r = &data->requests[i];
		const struct twin_passage *p = &steps->passages[i];
		double beside = steps->list[p->first].sequences;
		double room = fmax(twin_value(twin, TWIN_STEP_TOKENS) - beside, 1);
		double parts = ceil((double)(r->input_tokens - r->cached_tokens) / room);
		for (int32_t k = p->first - 1; k > p->sent && p->first - k < parts; k--)
			running[k]++;
	}
}

/* The steps in which requests waited for more than a step. */
struct blocked {
	int64_t steps, at_most, near_most, near_room;
};

static struct blocked count_blocked(const struct twin_steps *steps, const int32_t *running, int64_t most, int64_t room)
{
	struct blocked b = {0};
	for (int64_t k = 1; k < steps->count; k++) {
		const struct twin_step *s = &steps->list[k], *before = &steps->list[k - 1];
		if (s->length_ns == IPF_ABSENT || !s->waiting || !before->waiting)
			continue;
		b.steps++;
		b.at_most += running[k] == most;
		b.near_most += (double)running[k] >= NEAR_MOST * (double)most;
		b.near_room += (double)s->held_blocks >= NEAR_ROOM * (double)room;
	}
	return b;
}

static void set_sequences(struct twin *twin, const struct blocked *b, int64_t most)
{
	char why[160];
	if (b->at_most >= BLOCKED_LEAST && b->at_most * 5 > b->steps && b->near_most * 2 > b->steps) {
		twin_set(twin, TWIN_SEQUENCES, (double)most, (double)most, (double)most);
		return;
	}
	snprintf(why, sizeof why,
	         "never more than %lld in a step, and none waited for it: a closed loop of more users would tell",
	         (long long)most);
	twin_set_unknown(twin, TWIN_SEQUENCES, (double)most, why);
}

static void set_blocks(struct twin *twin, const struct blocked *b, int64_t room)
{
	char why[160];
	if (isnan(twin->p[TWIN_SEQUENCES].value) && b->near_room >= BLOCKED_LEAST && b->near_room * 2 > b->steps) {
		twin_set(twin, TWIN_KV_BLOCKS, (double)room, floor(0.97 * (double)room), ceil(1.05 * (double)room));
		return;
	}
	snprintf(why, sizeof why,
	         "never more than %lld blocks in use, and none waited for one: more or longer requests would tell",
	         (long long)room);
	twin_set_unknown(twin, TWIN_KV_BLOCKS, (double)(room ? room : 1), why);
}

int twin_limits_sequences(struct twin *twin, const struct twin_data *data, const struct twin_steps *steps)
{
	int64_t most = 0, room = 0;
	int32_t *running = calloc((size_t)steps->count, sizeof *running);
	if (!running)
		return -1;
	count_running(twin, data, steps, running);
	for (int64_t k = 0; k < steps->count; k++) {
		most = running[k] > most ? running[k] : most;
		room = steps->list[k].held_blocks > room ? steps->list[k].held_blocks : room;
	}
	struct blocked b = count_blocked(steps, running, most, room);
	set_sequences(twin, &b, most);
	set_blocks(twin, &b, room);
	free(running);
	return 0;
}
