#include "model/reuse_model.h"

#include "array.h"
#include "model/model_json.h"

#include <math.h>
#include <stdlib.h>

enum { SHORT_BLOCKS = 4, SHARE_BINS = 8, GROUP_LEAST = 50 };

void reuse_fit_note(void *data, const struct prompt_use *use)
{
	struct reuse_fit *f = data;
	if (!array_room(f->uses, f->cap, f->count + 1)) {
		f->failed = true;
		return;
	}
	f->uses[f->count++] = *use;
}

void reuse_fit_release(struct reuse_fit *f)
{
	free(f->uses);
	*f = (struct reuse_fit){.count = 0};
}

/* First prompts before later ones, each by their length. */
static int by_length(const void *a, const void *b)
{
	const struct prompt_use *x = a, *y = b;
	if ((x->turn > 0) != (y->turn > 0))
		return x->turn > 0 ? 1 : -1;
	return x->tokens < y->tokens ? -1 : x->tokens > y->tokens;
}

/* ---- cells ---- */

/* Counts of the uses of a group, by age, session and length. */
struct sum {
	double count, age, hit_tokens, tokens;
};
enum { LENGTH_BINS = SHORT_BLOCKS + 1 + SHARE_BINS, SUMS = 2 * REUSE_OCTAVES * LENGTH_BINS };

static int octave_of(int64_t age)
{
	int octave = 63 - __builtin_clzll((unsigned long long)age);
	return octave < REUSE_OCTAVES ? octave : REUSE_OCTAVES - 1;
}

/* The base of the share found: a later turn continues the one before it, or is cut to a part of it. */
static int64_t whole_of(const struct prompt_use *u)
{
	return u->own_session && u->user_tokens < u->tokens ? u->user_tokens : u->tokens;
}

/* A short beginning by its blocks, since it is often the same text; a long one by its share of the prompt. */
static int length_bin(const struct prompt_use *u, int64_t block_tokens)
{
	int64_t blocks = u->hit_tokens / block_tokens;
	if (blocks <= SHORT_BLOCKS && !u->own_session)
		return (int)blocks;
	int bin = (int)(SHARE_BINS * (double)u->hit_tokens / (double)whole_of(u));
	return SHORT_BLOCKS + 1 + (bin < SHARE_BINS ? bin : SHARE_BINS - 1);
}

static int by_weight(const void *a, const void *b)
{
	const struct reuse_cell *x = a, *y = b;
	return x->weight > y->weight ? -1 : x->weight < y->weight;
}

/* A use as old as this could occur only after as many prompts. It is more frequent among these than among all, and
 * short or no beginnings are as much rarer: drawing has a start in which nothing is so old, too. */
static void correct_for_start(struct reuse_cell *cells, int count, double prompts)
{
	double more = 0, rest = 0;
	for (int i = 0; i < count; i++) {
		if (cells[i].share > 0 && !cells[i].own) {
			double factor = prompts / fmax(prompts - cells[i].age, prompts / 4);
			more += cells[i].weight * (factor - 1);
			cells[i].weight *= factor;
		}
		rest += cells[i].share > 0 ? 0 : cells[i].weight;
	}
	for (int i = 0; i < count; i++)
		if (cells[i].share <= 0 && rest > 0)
			cells[i].weight *= fmax(0, 1 - more / rest);
}

static void make_cells(struct reuse_group *g, const struct sum *sums, double misses, double prompts)
{
	struct reuse_cell cells[SUMS + 1];
	int count = 0;
	if (misses > 0)
		cells[count++] = (struct reuse_cell){.weight = misses};
	for (int i = 0; i < SUMS; i++) {
		const struct sum *s = &sums[i];
		bool is_short = i % LENGTH_BINS <= SHORT_BLOCKS;
		if (s->count > 0)
			cells[count++] = (struct reuse_cell){.age = s->age / s->count,
			                                     .own = i >= REUSE_OCTAVES * LENGTH_BINS,
			                                     .tokens = is_short ? s->hit_tokens / s->count : 0,
			                                     .share = is_short ? 0 : s->hit_tokens / s->tokens,
			                                     .weight = s->count};
	}
	correct_for_start(cells, count, prompts);
	qsort(cells, (size_t)count, sizeof *cells, by_weight);
	g->cell_count = count < REUSE_CELLS ? count : REUSE_CELLS;
	double sum = 0;
	for (int i = 0; i < g->cell_count; i++)
		sum += cells[i].weight;
	for (int i = 0; i < g->cell_count; i++) {
		g->cells[i] = cells[i];
		g->cells[i].weight /= sum;
	}
}

static void make_group(struct reuse_group *g, const struct prompt_use *uses, size_t count, const struct reuse_fit *f,
                       int64_t block_tokens)
{
	struct sum sums[SUMS] = {{0}};
	double misses = 0;
	for (size_t i = 0; i < count; i++) {
		const struct prompt_use *u = &uses[i];
		if (u->age == 0 || u->hit_tokens == 0) {
			misses++;
			continue;
		}
		struct sum *s =
			&sums[(u->own_session * REUSE_OCTAVES + octave_of(u->age)) * LENGTH_BINS + length_bin(u, block_tokens)];
		s->count++;
		s->age += (double)u->age;
		s->hit_tokens += (double)u->hit_tokens;
		s->tokens += (double)whole_of(u);
	}
	g->up_to = (double)uses[count - 1].tokens;
	make_cells(g, sums, misses, (double)f->count);
}

int reuse_fit_end(struct reuse_fit *f, int64_t block_tokens, struct reuse_model *m, struct ipf_error *err)
{
	*m = (struct reuse_model){.block_tokens = f->count ? block_tokens : 0};
	if (f->failed)
		return ipf_error_memory(err);
	if (m->block_tokens == 0)
		return 0;
	qsort(f->uses, f->count, sizeof *f->uses, by_length);
	size_t begin = 0;
	for (int k = 0; k < 2; k++) {
		struct reuse_table *t = &m->tables[k];
		size_t end = k ? f->count : begin;
		while (k == 0 && end < f->count && f->uses[end].turn == 0)
			end++;
		size_t groups = (end - begin) / GROUP_LEAST;
		groups = groups > REUSE_GROUPS ? REUSE_GROUPS : groups < 1 ? end > begin : groups;
		for (size_t i = 0; i < groups; i++) {
			size_t from = begin + (end - begin) * i / groups, to = begin + (end - begin) * (i + 1) / groups;
			make_group(&t->groups[i], f->uses + from, to - from, f, block_tokens);
		}
		t->group_count = (int)groups;
		begin = end;
	}
	return 0;
}
