#include "difference/block_plan.h"

#include "stats/block_noise.h"
#include "stats/sort_numbers.h"

#include <stdlib.h>

int block_plan_runs(const struct run_data *run)
{
	return run->shards ? 1 : run->part_count;
}

static int run_of(const struct run_data *run, const struct row *row)
{
	return run->shards ? 0 : row->part;
}

static bool measured(const struct run_data *run, int32_t stage)
{
	return run->schedule.stages[stage].measured;
}

/* For each session: the least number of its requests in the stage. */
static void find_sessions(const struct row *rows, int64_t count, int64_t *first)
{
	for (int64_t i = 0; i < count; i++)
		if (rows[i].group[BY_SESSION] >= 0)
			first[rows[i].group[BY_SESSION]] = INT64_MAX;
	for (int64_t i = 0; i < count; i++) {
		int64_t *least = rows[i].group[BY_SESSION] >= 0 ? &first[rows[i].group[BY_SESSION]] : NULL;
		if (least && rows[i].n < *least)
			*least = rows[i].n;
	}
}

static int64_t number_of(const struct row *row, const int64_t *first)
{
	return row->group[BY_SESSION] >= 0 ? first[row->group[BY_SESSION]] : row->n;
}

static int64_t *session_list(const struct run_data *run, struct ipf_error *err)
{
	int64_t *first = calloc((size_t)run->groups[BY_SESSION].count + 1, sizeof *first);
	if (!first)
		ipf_error_memory(err);
	return first;
}

/* Where the blocks of a stage begin, so each has about as many requests. */
static int divide_stage(const struct row *rows, int64_t count, const int64_t *sessions, int64_t *first_n, size_t blocks)
{
	int64_t *numbers = malloc((size_t)(count + 1) * sizeof *numbers);
	if (!numbers)
		return -1;
	for (int64_t i = 0; i < count; i++)
		numbers[i] = number_of(&rows[i], sessions);
	sort_integers(numbers, (size_t)count);
	for (size_t b = 0; b < blocks; b++)
		first_n[b] = b == 0 ? INT64_MIN : numbers[b * (size_t)count / blocks];
	free(numbers);
	return 0;
}

/* The blocks of a stage with `count` of `all` requests of a run. */
static size_t blocks_of(int64_t count, int64_t all)
{
	if (all < PLAN_REQUESTS_FEWEST)
		return 1;
	const int64_t total = all < BLOCKS_PARTS_MOST ? all : BLOCKS_PARTS_MOST;
	const int64_t own = (total * count + all / 2) / all;
	return own < 2 ? 2 : (size_t)own;
}

static int allocate(struct block_plan *plan, const struct run_data *run)
{
	const size_t stages = run->schedule.count;
	plan->position = malloc((stages ? stages : 1) * sizeof *plan->position);
	plan->begin = calloc(stages + 1, sizeof *plan->begin);
	plan->first_n = calloc(BLOCKS_PARTS_MOST + 2 * stages + 1, sizeof *plan->first_n);
	plan->positions = stages;
	return plan->position && plan->begin && plan->first_n ? 0 : -1;
}

int block_plan_make(struct block_plan *plan, const struct run_data *run, struct ipf_error *err)
{
	int64_t all = 0, count, *sessions = session_list(run, err);
	*plan = (struct block_plan){0};
	if (!sessions)
		return -1;
	for (size_t s = 0; s < run->schedule.count; s++) {
		run_data_stage_rows(run, (int32_t)s, &count);
		all += measured(run, (int32_t)s) ? count : 0;
	}
	const int runs = block_plan_runs(run);
	int bad = allocate(plan, run);
	for (size_t s = 0; bad == 0 && s < run->schedule.count; s++) {
		const struct row *rows = run_data_stage_rows(run, (int32_t)s, &count);
		plan->position[s] = -1;
		if (!measured(run, (int32_t)s) || count == 0)
			continue;
		const size_t begin = plan->begin[plan->stages], blocks = blocks_of(count / runs, all / runs);
		find_sessions(rows, count, sessions);
		bad = divide_stage(rows, count, sessions, plan->first_n + begin, blocks);
		plan->position[s] = (int32_t)plan->stages++;
		plan->begin[plan->stages] = begin + blocks;
	}
	free(sessions);
	return bad == 0 ? 0 : ipf_error_memory(err);
}

void block_plan_release(struct block_plan *plan)
{
	free(plan->position);
	free(plan->begin);
	free(plan->first_n);
	*plan = (struct block_plan){0};
}

/* The block of a stage a number is in. */
static size_t find_block(const struct block_plan *plan, int32_t position, int64_t number)
{
	size_t low = plan->begin[position], high = plan->begin[position + 1];
	while (high - low > 1) {
		const size_t middle = low + (high - low) / 2;
		if (plan->first_n[middle] <= number)
			low = middle;
		else
			high = middle;
	}
	return low;
}

int block_plan_place(const struct block_plan *plan, const struct run_data *run, int32_t *cells, struct ipf_error *err)
{
	int64_t *sessions = session_list(run, err), count;
	if (!sessions)
		return -1;
	for (size_t s = 0; s < run->schedule.count; s++) {
		const struct row *rows = run_data_stage_rows(run, (int32_t)s, &count);
		const int32_t position = s < plan->positions ? plan->position[s] : -1;
		find_sessions(rows, count, sessions);
		for (int64_t i = 0; i < count; i++) {
			const size_t each = plan->begin[plan->stages];
			cells[rows + i - run->rows] = position >= 0
			                                  ? (int32_t)((size_t)run_of(run, &rows[i]) * each +
			                                              find_block(plan, position, number_of(&rows[i], sessions)))
			                                  : -1;
		}
	}
	free(sessions);
	return 0;
}
