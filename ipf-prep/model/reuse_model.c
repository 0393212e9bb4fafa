#include "model/reuse_model.h"

#include "array.h"
#include "model/model_json.h"
#include "stats/exact_math.h"
#include "token_count.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define IDS_MOST    ((uint64_t)1 << 26) /* remembered; then all is forgotten */
#define BLOCKS_MOST ((size_t)1 << 24)   /* the prompts remembered's */

/* ---- the file ---- */

static const char *const table_names[] = {"first", "later"};

static json_t *table_json(const struct reuse_table *t)
{
	json_t *groups = json_array();
	for (int i = 0; i < t->group_count; i++) {
		const struct reuse_group *g = &t->groups[i];
		json_t *cells = json_array();
		for (int k = 0; k < g->cell_count; k++) {
			const struct reuse_cell *c = &g->cells[k];
			const double numbers[] = {round(c->age), c->own, round(c->tokens), round(1e4 * c->share) / 1e4,
			                          round(1e5 * c->weight)};
			json_array_append_new(cells, model_numbers(numbers, 5));
		}
		json_array_append_new(groups, json_pack("{s:o, s:o}", "up_to_tokens", model_number(g->up_to), "cells", cells));
	}
	return groups;
}

json_t *reuse_model_json(const struct reuse_model *m)
{
	json_t *map = json_pack("{s:I}", "block_tokens", (json_int_t)m->block_tokens);
	for (int k = 0; k < 2; k++)
		if (m->tables[k].group_count)
			json_object_set_new(map, table_names[k], table_json(&m->tables[k]));
	return map;
}

static int read_cell(struct reuse_cell *c, json_t *numbers, const char *name, struct ipf_error *err)
{
	double v[5];
	size_t count;
	json_t *map = json_pack("{s:O}", "cells", numbers);
	struct model_place at = {map, name, 0, 1e15};
	int status = model_list(&at, "cells", v, 5, &count, err);
	json_decref(map);
	if (status < 0)
		return -1;
	if (count != 5 || v[2] > (double)TOKENS_MAX || v[3] > 1)
		return ipf_error_set(err, IPF_INPUT,
		                     "%s.cells: expected lists of 5 numbers (age, own session, tokens, share up to 1, weight)",
		                     name);
	*c = (struct reuse_cell){.age = v[0], .own = v[1] > 0, .tokens = v[2], .share = v[3], .weight = v[4]};
	return 0;
}

static int read_table(struct reuse_table *t, const json_t *list, const char *table, struct ipf_error *err)
{
	size_t i, k;
	json_t *map, *cell;
	char name[64];
	snprintf(name, sizeof name, "prefixes.%s", table);
	if (!json_is_array(list) || json_array_size(list) > REUSE_GROUPS || json_array_size(list) == 0)
		return model_expected(list, name, "", "a list of at most 16 objects", err);
	json_array_foreach(list, i, map)
	{
		struct reuse_group *g = &t->groups[i];
		snprintf(name, sizeof name, "prefixes.%s[%zu]", table, i);
		struct model_place at = {map, name, i ? t->groups[i - 1].up_to : 0, (double)TOKENS_MAX};
		const json_t *cells = json_object_get(map, "cells");
		double sum = 0;
		if (model_need(&at, "up_to_tokens", &g->up_to, err) < 0)
			return -1;
		if (!json_is_array(cells) || json_array_size(cells) > REUSE_CELLS)
			return model_expected(cells, name, "cells", "a list of at most 48 lists", err);
		json_array_foreach(cells, k, cell)
		{
			if (read_cell(&g->cells[k], cell, name, err) < 0)
				return -1;
			sum += g->cells[k].weight;
		}
		if (!(sum > 0))
			return ipf_error_set(err, IPF_INPUT, "%s.cells: expected a weight above 0", name);
		for (size_t c = 0; c < json_array_size(cells); c++)
			g->cells[c].weight /= sum;
		g->cell_count = (int)json_array_size(cells);
	}
	t->group_count = (int)json_array_size(list);
	return 0;
}

int reuse_model_read(struct reuse_model *m, const json_t *map, struct ipf_error *err)
{
	struct model_place at = {map, "prefixes", 1, 1e6};
	double tokens;
	*m = (struct reuse_model){.block_tokens = 0};
	if (model_need(&at, "block_tokens", &tokens, err) < 0)
		return -1;
	for (int k = 0; k < 2; k++) {
		const json_t *list = json_object_get(map, table_names[k]);
		if (list && read_table(&m->tables[k], list, table_names[k], err) < 0)
			return -1;
	}
	m->block_tokens = (int64_t)tokens;
	return 0;
}

/* ---- drawing ---- */

int reuse_draw_init(struct reuse_draw *d, const struct reuse_model *m, double scale, uint64_t seed, uint64_t index)
{
	*d = (struct reuse_draw){.model = m, .scale = scale, .first_id = 1, .next_id = 1};
	rng_init(&d->rng, seed, "like prefixes", index);
	for (uint64_t i = 0; i < 2 * REUSE_GROUPS; i++)
		strata_init(&d->picks[i / REUSE_GROUPS][i % REUSE_GROUPS], seed, "like cells", index * 2 * REUSE_GROUPS + i,
		            STRATA_MOST / 4);
	d->memory = calloc(REUSE_MEMORY, sizeof *d->memory);
	return d->memory ? 0 : -1;
}

void reuse_draw_session(struct reuse_draw *d)
{
	d->session = d->prompts;
}

static struct reuse_prompt *prompt_at(const struct reuse_draw *d, int64_t number)
{
	return &d->memory[number % REUSE_MEMORY];
}

static void forget(struct reuse_draw *d, int64_t until)
{
	for (; d->oldest < until; d->oldest++) {
		struct reuse_prompt *p = prompt_at(d, d->oldest);
		d->memory_blocks -= p->count;
		free(p->ids);
		*p = (struct reuse_prompt){.count = 0};
	}
}

/* Is it the last prompt to use its first `blocks` blocks? */
static bool is_last_user(const struct reuse_draw *d, int64_t number, size_t blocks)
{
	const struct reuse_prompt *p = prompt_at(d, number);
	return p->count >= blocks && d->last[p->ids[blocks - 1] - d->first_id] == (uint32_t)number;
}

/* The prompt of about this age with as many blocks that used them last; else one with them; else the longest one. -1:
 * none is remembered. */
static int64_t find_prompt(const struct reuse_draw *d, int64_t age, size_t blocks)
{
	int64_t wanted = d->prompts - age, longest = -1, long_enough = -1, reach = age / 2 + 64;
	wanted = wanted < d->oldest ? d->oldest : wanted;
	for (int64_t i = 0; i <= 2 * reach; i++) {
		int64_t at = wanted + (i % 3 == 2 ? (i + 1) / 3 : -(i - i / 3));
		if (at < d->oldest || at >= d->prompts)
			continue;
		if (is_last_user(d, at, blocks))
			return at;
		if (long_enough < 0 && prompt_at(d, at)->count >= blocks)
			long_enough = at;
		if (longest < 0 || prompt_at(d, at)->count > prompt_at(d, longest)->count)
			longest = at;
	}
	return long_enough >= 0 ? long_enough : longest;
}

/* The prompt of the session of this age, or its first one. -1: it has none yet. */
static int64_t find_own(const struct reuse_draw *d, int64_t age)
{
	int64_t begin = d->session < d->oldest ? d->oldest : d->session, at = d->prompts - age;
	if (begin >= d->prompts)
		return -1;
	return at < begin ? begin : at;
}

static const struct reuse_cell *pick_cell(struct reuse_draw *d, int k, int64_t tokens)
{
	const struct reuse_table *t = &d->model->tables[k];
	int group = 0, cell = 0;
	if (t->group_count == 0)
		return NULL;
	while (group < t->group_count - 1 && (double)tokens > t->groups[group].up_to)
		group++;
	const struct reuse_group *g = &t->groups[group];
	double pick = strata_draw(&d->picks[k][group]);
	while (cell < g->cell_count - 1 && pick >= g->cells[cell].weight)
		pick -= g->cells[cell++].weight;
	if (g->cells[cell].own || g->cells[cell].age * d->scale <= (double)d->prompts)
		return &g->cells[cell];
	/* Nothing is so old yet: the match is short, or empty. */
	const struct reuse_cell *shortest = NULL;
	for (int i = 0; i < g->cell_count; i++)
		if (g->cells[i].share <= 0 && g->cells[i].age * d->scale <= (double)d->prompts &&
		    (!shortest || g->cells[i].weight > shortest->weight))
			shortest = &g->cells[i];
	return shortest;
}

/* An age between the powers of two around the mean: of which a power of a uniform number has this mean. */
static int64_t draw_age(struct reuse_draw *d, const struct reuse_cell *c)
{
	double low = 1, mean = c->age, share, age;
	while (2 * low <= mean && low < REUSE_MEMORY)
		low *= 2;
	share = fmin(fmax(mean / low - 1, 0.01), 0.99);
	age = low < 2 ? low : low + low * exact_power(rng_uniform(&d->rng), 1 / share - 1);
	age *= c->own ? 1 : d->scale;
	return age < 1 ? 1 : age > REUSE_MEMORY ? REUSE_MEMORY : (int64_t)age;
}

/* How many of the blocks are those of an earlier prompt, which is *from. */
static size_t find_beginning(struct reuse_draw *d, const struct reuse_cell *c, int64_t tokens, size_t count,
                             int64_t *from)
{
	if (!c || c->age < 1)
		return 0;
	const int64_t age = draw_age(d, c);
	if (c->own) {
		*from = find_own(d, age);
		int64_t other = *from < 0 ? 0 : prompt_at(d, *from)->tokens;
		tokens = other < tokens ? other : tokens;
	}
	double found = (c->tokens + c->share * (double)tokens) / (double)d->model->block_tokens;
	size_t blocks = found < (double)count ? (size_t)(found + rng_uniform(&d->rng)) : count;
	blocks = blocks < count ? blocks : count;
	if (blocks == 0)
		return 0;
	if (!c->own)
		*from = find_prompt(d, age, blocks);
	if (*from < 0)
		return 0;
	size_t most = prompt_at(d, *from)->count;
	return blocks < most ? blocks : most;
}

/* Room for `count` more ids; once there are too many, forgets all. */
static int make_room(struct reuse_draw *d, size_t count)
{
	if (d->next_id - d->first_id + count > IDS_MOST || d->prompts >= UINT32_MAX - 1) {
		forget(d, d->prompts);
		d->first_id = d->next_id;
		d->prompts = d->oldest = d->session = 0;
	}
	size_t needed = (size_t)(d->next_id - d->first_id) + count;
	return array_room(d->last, d->last_cap, needed) ? 0 : -1;
}

size_t reuse_draw_blocks(const struct reuse_draw *d, int64_t tokens)
{
	int64_t count = tokens / d->model->block_tokens;
	return count > REUSE_PROMPT ? REUSE_PROMPT : count < 0 ? 0 : (size_t)count;
}

int reuse_draw_prompt(struct reuse_draw *d, int64_t turn, int64_t tokens, uint64_t *ids)
{
	const size_t count = reuse_draw_blocks(d, tokens);
	int64_t from = 0;
	if (make_room(d, count) < 0)
		return -1;
	size_t found = find_beginning(d, pick_cell(d, turn > 0, tokens), tokens, count, &from);
	if (found)
		memcpy(ids, prompt_at(d, from)->ids, found * sizeof *ids);
	for (size_t i = found; i < count; i++)
		ids[i] = d->next_id++;
	for (size_t i = 0; i < count; i++)
		d->last[ids[i] - d->first_id] = (uint32_t)d->prompts;
	if (d->prompts - d->oldest == REUSE_MEMORY)
		forget(d, d->oldest + 1);
	struct reuse_prompt *p = prompt_at(d, d->prompts);
	p->ids = malloc((count + 1) * sizeof *ids);
	if (!p->ids)
		return -1;
	if (count)
		memcpy(p->ids, ids, count * sizeof *ids);
	p->count = count;
	p->tokens = tokens;
	d->memory_blocks += count;
	d->prompts++;
	while (d->memory_blocks > BLOCKS_MOST && d->oldest < d->prompts - 1)
		forget(d, d->oldest + 1);
	return 0;
}

void reuse_draw_release(struct reuse_draw *d)
{
	if (d->memory)
		forget(d, d->prompts);
	free(d->memory);
	free(d->last);
	*d = (struct reuse_draw){.model = NULL};
}
