#include "answer_faults.h"

#include "answer.h"
#include "cli/key_values.h"
#include "cli/units.h"

#include <stddef.h>
#include <stdio.h>

const char *const answer_fault_names[] = {"wrong", "crosstalk", "near-tie", "cut", NULL};

const struct answer_faults answer_faults_none = {.wrong = {.above = -1}, .near_ties = {.load = 2}, .cut = {.load = 2}};

/* ---- options ---- */

/* SHARE, and the keys behind its comma. */
static int parse(const char *text, const struct key_value *key, double *share, void *into, struct ipf_error *err)
{
	char first[32];
	size_t len = strcspn(text, ",");
	struct ipf_error why = {0};
	snprintf(first, sizeof first, "%.*s", (int)len, text);
	if (len >= sizeof first || parse_share(first, share, &why) < 0)
		return ipf_error_set(err, IPF_USAGE, "expected SHARE[,%s=…] such as 5%%, got \"%s\"", key->name, text);
	return text[len] ? key_values_parse(text + len + 1, key, 1, into, err) : 0;
}

int answer_faults_parse_wrong(const char *text, void *wrong, struct ipf_error *err)
{
	static const struct key_value above = {
		"above", KEY_VALUE_SHARE, offsetof(struct answer_faults, wrong.above) - offsetof(struct answer_faults, wrong),
		NULL};
	return parse(text, &above, wrong, wrong, err);
}

int answer_faults_parse_load(const char *text, void *share, struct ipf_error *err)
{
	static const struct key_value load = {"load", KEY_VALUE_COUNT, offsetof(struct share_under_load, load), NULL};
	return parse(text, &load, &((struct share_under_load *)share)->share, share, err);
}

bool answer_faults_any(const struct answer_faults *f)
{
	return f->wrong.share > 0 || f->crosstalk > 0 || f->near_ties.share > 0 || f->cut.share > 0;
}

/* ---- draws ---- */

static struct rng rng_for(const struct answer *a, const char *name, uint64_t index)
{
	struct rng rng;
	rng_init(&rng, a->seed, name, index);
	return rng;
}

/* Is all of the answer's text generated words? */
static bool is_ordinary(const struct answer *a)
{
	return !a->script.tokens && !a->calls.count && !modes_find(a->modes, MODE_JSON);
}

void answer_faults_plan(struct answer *a, const struct answer_faults *f)
{
	struct rng tie = rng_for(a, "near-ties", a->ask->fingerprint), cut = rng_for(a, "cut", a->number);
	if (is_ordinary(a) && a->output_tokens > 0 && rng_uniform(&tie) < f->near_ties.share)
		a->script.tie_number = 1 + (int64_t)rng_below(&tie, (uint64_t)a->output_tokens);
	if (a->output_tokens > 1 && rng_uniform(&cut) < f->cut.share)
		a->cut_tokens = 1 + (int64_t)rng_below(&cut, (uint64_t)a->output_tokens - 1);
}

bool answer_faults_swaps(const struct answer *a, const struct answer_faults *f)
{
	struct rng rng = rng_for(a, "crosstalk", a->number);
	return a->output_tokens > 0 && !a->calls.count && rng_uniform(&rng) < f->crosstalk;
}

void answer_faults_swap(struct answer *a, const struct answer *other, int64_t room)
{
	if (answer_script_copy(&a->script, &other->script) < 0)
		return;
	a->faults |= FAULT_CROSSTALK;
	if (!a->script.tokens)
		return;
	a->output_tokens = a->script.count < room ? a->script.count : room;
	a->finish = a->script.count <= room ? "stop" : "length";
}

static void make_wrong(struct answer *a, int64_t k, double share)
{
	struct rng rng = rng_for(a, "wrong", a->number);
	a->wrong_decided = true;
	if (rng_uniform(&rng) >= share)
		return;
	int64_t at = k + (int64_t)rng_below(&rng, (uint64_t)(a->output_tokens - k));
	answer_script_alter(&a->script, at + 1, answer_text_at(a, at).bytes);
	a->faults |= FAULT_WRONG;
}

void answer_faults_token(struct answer *a, int64_t k, const struct answer_faults *f, const struct server_load *load)
{
	if (a->output_tokens <= k)
		return;
	if (f->wrong.share > 0 && !a->wrong_decided && load->kv_usage > f->wrong.above)
		make_wrong(a, k, f->wrong.share);
	if (a->script.tie_number == k + 1 && is_ordinary(a) && load->in_flight >= f->near_ties.load) {
		a->script.flipped = true;
		a->faults |= FAULT_TIE;
	}
	if (a->cut_tokens == k + 1 && k + 1 < a->output_tokens && load->in_flight >= f->cut.load) {
		a->output_tokens = k + 1;
		a->finish = "stop";
		a->faults |= FAULT_CUT;
	}
}
