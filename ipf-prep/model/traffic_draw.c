#include "model/traffic_draw.h"

#include "absent.h"
#include "clock.h"
#include "json/jout.h"

#include <stdlib.h>
#include <string.h>

/* ---- the models ---- */

int traffic_mix_parse(struct traffic_mix *mix, const char *text, struct ipf_error *err)
{
	if (share_list_parse(&mix->files, text, "FILE or FILE=SHARE,… such as chat.json=0.7,code.json=0.3", err) < 0)
		return -1;
	if (mix->files.count > TRAFFIC_MODELS)
		return ipf_error_set(err, IPF_USAGE, "expected at most %d models, got %zu", TRAFFIC_MODELS, mix->files.count);
	return 0;
}

int traffic_mix_add(struct traffic_mix *mix, size_t file, struct slice text, struct ipf_error *err)
{
	const struct share *items = mix->files.items;
	double upto = file + 1 < mix->files.count ? items[file].cumulative : 1;
	double share = upto - (file ? items[file - 1].cumulative : 0);
	struct traffic_model **model = &mix->models[mix->count];
	if (traffic_model_parse(model, items[file].name, text, err) < 0)
		return -1;
	mix->shares[mix->count] = share;
	if (share > 1e-9)
		mix->count++;
	else
		free(*model);
	return 0;
}

bool traffic_mix_has_arrivals(const struct traffic_mix *mix)
{
	bool all = mix->count > 0;
	for (int i = 0; i < mix->count; i++)
		all &= mix->models[i]->arrivals.starts > 0;
	return all;
}

int64_t traffic_mix_requests(const struct traffic_mix *mix)
{
	int64_t sum = 0;
	for (int i = 0; i < mix->count; i++)
		sum += mix->models[i]->requests;
	return sum;
}

void traffic_mix_release(struct traffic_mix *mix)
{
	for (int i = 0; i < mix->count; i++)
		free(mix->models[i]);
	share_list_release(&mix->files);
	*mix = (struct traffic_mix){.count = 0};
}

/* ---- drawing from one model ---- */

struct part {
	const struct traffic_model *model;
	char scope[16]; /* its blocks' */
	struct arrival_draw arrivals;
	struct length_draw lengths;
	struct reuse_draw prefixes;
	struct strata turns, wait, gap, hang_up;
	struct rng rng;
	double starts; /* its share of starts, where there are no arrivals */
	int64_t next_ns;
};

struct traffic_draw {
	struct part parts[TRAFFIC_MODELS];
	int count;
	bool timed;
	struct rng pick;
};

static bool chance(struct part *p, double share)
{
	return share > 0 && rng_uniform(&p->rng) < share;
}

/* NULL: of none. */
static const char *pick_name(struct part *p, const struct traffic_names *names)
{
	double pick = names->count ? rng_uniform(&p->rng) : 0;
	for (int i = 0; i < names->count; i++) {
		if (pick < names->items[i].share)
			return names->items[i].name;
		pick -= names->items[i].share;
	}
	return NULL;
}

static struct slice make_tags(struct draft *d, const char *model)
{
	struct buffer text = {0};
	struct jout w = {.out = &text};
	if (!model)
		return (struct slice){0};
	jout_begin_map(&w);
	jout_member_string(&w, "model", slice_of(model));
	jout_end_map(&w);
	return draft_take_buffer(d, &text);
}

/* Tools without a purpose, as many as on average. */
static struct slice make_tools(struct part *p, struct draft *d)
{
	struct buffer text = {0};
	int count = (int)(p->model->tools + rng_uniform(&p->rng));
	for (int i = 0; i < (count ? count : 1); i++)
		buffer_format(&text,
		              "%s{\"type\":\"function\",\"function\":{\"name\":\"tool_%d\",\"parameters\":{\"type\":\"object\","
		              "\"properties\":{}}}}",
		              i ? "," : "[", i + 1);
	buffer_byte(&text, ']');
	return draft_take_buffer(d, &text);
}

static int make_prompt(struct part *p, struct draft *d, struct draft_request *r, int64_t turn, struct ipf_error *err)
{
	const struct traffic_model *m = p->model;
	length_draw_next(&p->lengths, turn, &r->input_tokens, &r->output_tokens);
	r->input_tokens = r->input_tokens > 0 ? r->input_tokens : 1;
	if (m->prefixes.block_tokens == 0)
		return 0;
	size_t count = reuse_draw_blocks(&p->prefixes, r->input_tokens);
	uint64_t *ids = draft_ids(d, count + 1);
	if (!ids || reuse_draw_prompt(&p->prefixes, turn, r->input_tokens, ids) < 0)
		return ipf_error_memory(err);
	r->blocks = (struct draft_blocks){
		.ids = ids, .count = count, .tokens = m->prefixes.block_tokens, .scope = slice_of(p->scope)};
	if (!p->scope[0])
		r->blocks.scope = (struct slice){0};
	return 0;
}

static void make_times(struct part *p, struct draft_request *r, int64_t turn, int64_t *at_ns)
{
	const struct traffic_model *m = p->model;
	r->at_ns = turn ? IPF_ABSENT : *at_ns;
	r->wait_ns = IPF_ABSENT;
	if (turn == 0)
		return;
	if (m->wait.count && chance(p, m->wait_share))
		r->wait_ns = (int64_t)(quantile_table_at(&m->wait, strata_draw(&p->wait)) * NS_PER_S);
	if (m->gap.count && *at_ns != IPF_ABSENT && chance(p, m->gap_share))
		r->at_ns = *at_ns += (int64_t)(quantile_table_at(&m->gap, strata_draw(&p->gap)) * NS_PER_S);
}

static int make_session(struct part *p, struct draft *d, int64_t most, struct ipf_error *err)
{
	const struct traffic_model *m = p->model;
	bool session = m->turns.count && chance(p, m->session_share);
	int64_t turns = session ? (int64_t)(quantile_table_at(&m->turns, strata_draw(&p->turns)) + 0.5) : 1,
			at_ns = p->next_ns;
	const char *model = pick_name(p, &m->models), *recorded = pick_name(p, &m->recorded);
	turns = turns > most ? most : turns;
	if (session)
		d->session = draft_format(d, "%lld", (long long)d->number);
	struct slice tags = make_tags(d, recorded);
	if (m->prefixes.block_tokens)
		reuse_draw_session(&p->prefixes);
	for (int64_t turn = 0; turn < turns; turn++) {
		struct draft_request *r = draft_request(d);
		if (!r)
			return 0;
		if (make_prompt(p, d, r, turn, err) < 0)
			return -1;
		make_times(p, r, turn, &at_ns);
		r->model = slice_of(model);
		r->tags = tags;
		r->failed = r->output_tokens == 0 || chance(p, m->failed);
		if (m->hang_up.count && chance(p, m->hang_up_share))
			r->hang_up_ns = (int64_t)(quantile_table_at(&m->hang_up, strata_draw(&p->hang_up)) * NS_PER_S);
		if (chance(p, m->tool_share))
			r->tools = make_tools(p, d);
	}
	return 0;
}

/* ---- the mixture ---- */

static int begin_part(struct part *p, const struct traffic_model *m, double scale, uint64_t seed, int index)
{
	const uint64_t i = (uint64_t)index;
	*p = (struct part){.model = m, .next_ns = IPF_ABSENT};
	if (index)
		snprintf(p->scope, sizeof p->scope, "m%d", index + 1);
	arrival_draw_init(&p->arrivals, &m->arrivals, scale, seed, i);
	length_draw_init(&p->lengths, &m->lengths, &m->turns, seed, i);
	strata_init(&p->turns, seed, "like turns", i, (double)m->starts * m->session_share);
	strata_init(&p->wait, seed, "like waits", i, (double)(m->requests - m->starts) * m->wait_share);
	strata_init(&p->gap, seed, "like gaps", i, (double)(m->requests - m->starts) * m->gap_share);
	strata_init(&p->hang_up, seed, "like hang-ups", i, (double)m->requests * m->hang_up_share);
	rng_init(&p->rng, seed, "like sessions", i);
	return m->prefixes.block_tokens ? reuse_draw_init(&p->prefixes, &m->prefixes, scale, seed, i) : 0;
}

/* Requests for each start. */
static double requests_per_start(const struct traffic_model *m)
{
	return (double)m->requests / (double)m->starts;
}

int traffic_draw_new(struct traffic_draw **made, const struct traffic_mix *mix, double scale, uint64_t seed,
                     struct ipf_error *err)
{
	struct traffic_draw *t = calloc(1, sizeof *t);
	double rates[TRAFFIC_MODELS], rate = 0, starts = 0;
	if (!t)
		return ipf_error_memory(err);
	t->count = mix->count;
	t->timed = traffic_mix_has_arrivals(mix);
	rng_init(&t->pick, seed, "like models", 0);
	for (int i = 0; i < mix->count; i++) {
		rates[i] = arrival_model_rate(&mix->models[i]->arrivals) * requests_per_start(mix->models[i]);
		rate += mix->shares[i] * rates[i];
	}
	bool failed = false;
	for (int i = 0; i < mix->count; i++) {
		double part = mix->count == 1 ? 1 : mix->shares[i] * rate / rates[i];
		failed |= begin_part(&t->parts[i], mix->models[i], scale * (t->timed ? part : 1), seed, i) < 0;
		starts += t->parts[i].starts = mix->shares[i] / requests_per_start(mix->models[i]);
		if (t->timed)
			t->parts[i].next_ns = arrival_draw_next(&t->parts[i].arrivals);
	}
	for (int i = 0; i < mix->count; i++)
		t->parts[i].starts /= starts;
	if (failed) {
		traffic_draw_free(t);
		return ipf_error_memory(err);
	}
	*made = t;
	return 0;
}

static struct part *next_part(struct traffic_draw *t)
{
	int next = 0;
	double pick = t->count > 1 && !t->timed ? rng_uniform(&t->pick) : 0;
	for (int i = 0; i < t->count - 1 && !t->timed && pick >= t->parts[i].starts; i++, next++)
		pick -= t->parts[i].starts;
	for (int i = 1; i < t->count && t->timed; i++)
		if (t->parts[i].next_ns < t->parts[next].next_ns)
			next = i;
	return &t->parts[next];
}

int traffic_draw_next(struct traffic_draw *t, struct draft *d, int64_t most, struct ipf_error *err)
{
	struct part *p = next_part(t);
	if (t->timed && p->next_ns == IPF_ABSENT)
		return ipf_error_set(err, IPF_USAGE, "--like: arrivals of so many requests last longer than a trace can");
	if (make_session(p, d, most, err) < 0)
		return -1;
	if (t->timed)
		p->next_ns = arrival_draw_next(&p->arrivals);
	return 0;
}

void traffic_draw_free(struct traffic_draw *t)
{
	for (int i = 0; t && i < t->count; i++)
		reuse_draw_release(&t->parts[i].prefixes);
	free(t);
}
