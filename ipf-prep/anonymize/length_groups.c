#include "anonymize/length_groups.h"

#include "clock.h"
#include "stats/log_linear.h"
#include "text_hash.h"

#include <stdlib.h>

#define BIN_BITS   3 /* the finest bins are an eighth of an octave wide */
#define LEVELS     10
#define CELLS_MOST ((size_t)1 << 31)

int64_t length_groups_hour(const struct anonymous_request *r)
{
	return r->at_ns == IPF_ABSENT ? 0 : r->at_ns / (3600 * NS_PER_S);
}

/* ---- the table ---- */

static struct length_cell cell_of(const struct anonymous_request *r)
{
	return (struct length_cell){
		.model = r->model_key, .hour = length_groups_hour(r), .lengths = {r->input_tokens, r->output_tokens}};
}

static bool same_cell(const struct length_cell *a, const struct length_cell *b)
{
	return a->model == b->model && a->hour == b->hour && a->lengths.input == b->lengths.input &&
	       a->lengths.output == b->lengths.output;
}

static size_t slot_of(const struct length_groups *g, const struct length_cell *cell)
{
	const uint64_t key[] = {cell->model, (uint64_t)cell->hour, (uint64_t)cell->lengths.input,
	                        (uint64_t)cell->lengths.output};
	size_t at = text_hash_mixed((struct slice){(const char *)key, sizeof key}) & (g->slot_count - 1);
	while (g->slots[at] && !same_cell(&g->cells[g->slots[at] - 1], cell))
		at = (at + 1) & (g->slot_count - 1);
	return at;
}

static bool fill_slots(struct length_groups *g)
{
	free(g->slots);
	g->slots = calloc(g->slot_count, sizeof *g->slots);
	for (size_t i = 0; g->slots && i < g->count; i++)
		g->slots[slot_of(g, &g->cells[i])] = (uint32_t)i + 1;
	return g->slots != NULL;
}

static bool grow(struct length_groups *g)
{
	size_t cap = g->cap ? g->cap * 2 : 1024;
	struct length_cell *cells = cap < CELLS_MOST ? reallocarray(g->cells, cap, sizeof *cells) : NULL;
	if (!cells)
		return false;
	g->cells = cells;
	g->cap = cap;
	g->slot_count = cap * 2;
	return fill_slots(g);
}

bool length_groups_add(struct length_groups *g, const struct anonymous_request *r)
{
	const struct length_cell cell = cell_of(r);
	if (g->count == g->cap && !grow(g))
		return false;
	uint32_t *slot = &g->slots[slot_of(g, &cell)];
	if (!*slot) {
		g->cells[g->count++] = cell;
		*slot = (uint32_t)g->count;
	}
	g->cells[*slot - 1].count++;
	return true;
}

bool length_groups_find(const struct length_groups *g, const struct anonymous_request *r, struct lengths *lengths)
{
	const struct length_cell cell = cell_of(r);
	const uint32_t at = g->slot_count ? g->slots[slot_of(g, &cell)] : 0;
	if (!at || g->cells[at - 1].settled.input < 0)
		return false;
	*lengths = g->cells[at - 1].settled;
	return true;
}

/* ---- bins ---- */

/* Level 0 is the length itself; the bins of a level are two of those of the level before. */
static int64_t bin(int64_t length, int level)
{
	return level == 0 ? length : log_linear_bucket(length, BIN_BITS) >> (level - 1);
}

static int compare(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

/* Settled cells come after the others of their model and hour. */
static int compare_cells(const void *left, const void *right, void *at_level)
{
	const struct length_cell *a = left, *b = right;
	const int level = *(const int *)at_level;
	int order = (a->model > b->model) - (a->model < b->model);
	order = order ? order : compare(a->hour, b->hour);
	order = order ? order : a->is_settled - b->is_settled;
	order = order ? order : compare(bin(a->lengths.input, level), bin(b->lengths.input, level));
	order = order ? order : compare(bin(a->lengths.output, level), bin(b->lengths.output, level));
	order = order ? order : compare(a->lengths.input, b->lengths.input);
	return order ? order : compare(a->lengths.output, b->lengths.output);
}

static bool same_bin(const struct length_cell *a, const struct length_cell *b, int level)
{
	return a->model == b->model && a->hour == b->hour && !a->is_settled && !b->is_settled &&
	       (level == LEVELS || (bin(a->lengths.input, level) == bin(b->lengths.input, level) &&
	                            bin(a->lengths.output, level) == bin(b->lengths.output, level)));
}

/* Gives the cells of a bin their mean lengths, if they are enough requests. */
static void settle_bin(const struct length_groups *g, struct length_cell *cells, size_t count)
{
	int64_t requests = 0, input = 0, output = 0;
	for (size_t i = 0; i < count; i++) {
		requests += cells[i].count;
		input += cells[i].count * cells[i].lengths.input;
		output += cells[i].count * cells[i].lengths.output;
	}
	if (requests < g->k)
		return;
	for (size_t i = 0; i < count; i++) {
		cells[i].settled = (struct lengths){(input + requests / 2) / requests, (output + requests / 2) / requests};
		cells[i].is_settled = true;
	}
}

static void settle_level(struct length_groups *g, int level)
{
	qsort_r(g->cells, g->count, sizeof *g->cells, compare_cells, &level);
	for (size_t i = 0, end; i < g->count; i = end) {
		end = i + 1;
		while (end < g->count && same_bin(&g->cells[i], &g->cells[end], level))
			end++;
		if (!g->cells[i].is_settled)
			settle_bin(g, &g->cells[i], end - i);
	}
}

/* How far apart lengths are: in bins, those of the prompt first. */
static int64_t distance(const struct lengths *a, const struct lengths *b)
{
	return (int64_t)1000 * abs(log_linear_bucket(a->input, BIN_BITS) - log_linear_bucket(b->input, BIN_BITS)) +
	       abs(log_linear_bucket(a->output, BIN_BITS) - log_linear_bucket(b->output, BIN_BITS));
}

/* The remaining few of a model and hour join the nearest group there. cells[0, left) are not settled, those up to
 * `count` are. */
static void settle_left(struct length_cell *cells, size_t left, size_t count)
{
	for (size_t i = 0; i < left; i++) {
		int64_t best = INT64_MAX;
		cells[i].settled.input = -1;
		for (size_t k = left; k < count; k++) {
			const int64_t d = distance(&cells[i].lengths, &cells[k].settled);
			if (d < best)
				cells[i].settled = cells[k].settled;
			best = d < best ? d : best;
		}
	}
}

bool length_groups_settle(struct length_groups *g)
{
	int level = 0;
	for (; level <= LEVELS && g->count; level++)
		settle_level(g, level);
	level = 0;
	if (g->count)
		qsort_r(g->cells, g->count, sizeof *g->cells, compare_cells, &level);
	for (size_t i = 0, left, end; i < g->count; i = end) {
		for (left = i; left < g->count && same_bin(&g->cells[i], &g->cells[left], LEVELS); left++)
			;
		for (end = left;
		     end < g->count && g->cells[end].model == g->cells[i].model && g->cells[end].hour == g->cells[i].hour;
		     end++)
			;
		settle_left(&g->cells[i], left - i, end - i);
	}
	return g->count == 0 || fill_slots(g);
}

void length_groups_release(struct length_groups *g)
{
	free(g->cells);
	free(g->slots);
	*g = (struct length_groups){.k = g->k};
}
