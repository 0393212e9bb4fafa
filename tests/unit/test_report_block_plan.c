/* Blocks of runs made up of a few numbers: where each request is, by hand. */
#include "unit.h"

#include "difference/block_plan.h"

/* A run whose rows are added stage by stage, in the order of their starts. Its arrays are no longer than needed, so a
 * sanitizer sees reads beyond their ends. */
struct made_run {
	struct run_data run;
	struct schedule_stage *stages;
	int32_t *cells;
};

static void begin_run(struct made_run *m, size_t stages, int parts)
{
	free(m->stages);
	free(m->run.rows);
	free(m->cells);
	*m = (struct made_run){.stages = calloc(stages, sizeof *m->stages)};
	assert_non_null(m->stages);
	for (size_t s = 0; s < stages; s++)
		m->stages[s].measured = true;
	m->run.schedule = (struct schedule){.stages = m->stages, .count = stages};
	m->run.part_count = parts;
}

static void add_row(struct made_run *m, int32_t stage, int64_t n, int session, int part)
{
	m->run.rows = realloc(m->run.rows, (size_t)(m->run.row_count + 1) * sizeof *m->run.rows);
	assert_non_null(m->run.rows);
	struct row *row = &m->run.rows[m->run.row_count++];
	*row = (struct row){.n = n, .stage = stage, .part = part};
	row->group[BY_SESSION] = session;
	if (session >= m->run.groups[BY_SESSION].count)
		m->run.groups[BY_SESSION].count = session + 1;
}

/* Requests without sessions, numbered from n on. */
static void add_rows(struct made_run *m, int32_t stage, int64_t n, int64_t count, int part)
{
	for (int64_t i = 0; i < count; i++)
		add_row(m, stage, n + i, -1, part);
}

static struct block_plan plan_of(const struct made_run *m)
{
	struct block_plan plan;
	struct ipf_error err = {0};
	assert_int_equal(block_plan_make(&plan, &m->run, &err), 0);
	assert_int_equal(err.kind, IPF_OK);
	return plan;
}

static void place(const struct block_plan *plan, struct made_run *m)
{
	struct ipf_error err = {0};
	free(m->cells);
	m->cells = malloc((size_t)m->run.row_count * sizeof *m->cells);
	assert_non_null(m->cells);
	assert_int_equal(block_plan_place(plan, &m->run, m->cells, &err), 0);
	assert_int_equal(err.kind, IPF_OK);
}

static struct made_run made, other;

static void fewer_requests_than_forty_are_one_block(void **state)
{
	(void)state;
	for (int64_t count = 39; count <= 41; count++) {
		begin_run(&made, 1, 1);
		add_rows(&made, 0, 0, count, 0);
		struct block_plan plan = plan_of(&made);
		place(&plan, &made);
		assert_int_equal(plan.begin[1], count < 40 ? 1 : count);
		for (int64_t i = 0; i < count; i++)
			assert_int_equal(made.cells[i], count < 40 ? 0 : i);
		block_plan_release(&plan);
		assert_null(plan.begin);
	}
}

static void a_block_has_several_of_many_requests(void **state)
{
	(void)state;
	begin_run(&made, 1, 1);
	add_rows(&made, 0, 100, 1024, 0);
	struct block_plan plan = plan_of(&made);
	place(&plan, &made);
	assert_int_equal(plan.begin[1], 512);
	for (int i = 0; i < 1024; i++)
		assert_int_equal(made.cells[i], i / 2);
	block_plan_release(&plan);
}

/* 512 blocks for 1000 measured requests: 902, 1 and 97 of them have 461.824, 0.512 and 49.664, rounded, but two at
 * least. */
static void stages_have_blocks_by_their_requests(void **state)
{
	(void)state;
	begin_run(&made, 4, 1);
	made.stages[0].measured = false;
	add_rows(&made, 0, 0, 100, 0);
	add_rows(&made, 1, 100, 902, 0);
	add_row(&made, 2, 1002, -1, 0);
	add_rows(&made, 3, 1003, 97, 0);
	struct block_plan plan = plan_of(&made);
	place(&plan, &made);
	assert_int_equal(plan.stages, 3);
	assert_int_equal(plan.positions, 4);
	assert_int_equal(plan.position[0], -1);
	for (int s = 1; s < 4; s++)
		assert_int_equal(plan.position[s], s - 1);
	const size_t begin[] = {0, 462, 464, 514};
	for (int s = 0; s < 4; s++)
		assert_int_equal(plan.begin[s], begin[s]);
	for (int i = 0; i < 100; i++)
		assert_int_equal(made.cells[i], -1);
	for (int64_t i = 0; i < 902; i++) /* block b begins at number b * 902 / 462 */
		assert_int_equal(made.cells[100 + i], (i * 462 + 461) / 902);
	assert_in_range(made.cells[1002], 462, 463);
	assert_int_equal(made.cells[1003], 464);
	assert_int_equal(made.cells[1099], 513);
	block_plan_release(&plan);
}

static void stages_without_requests_have_no_blocks(void **state)
{
	(void)state;
	begin_run(&made, 3, 1);
	add_rows(&made, 0, 0, 40, 0);
	add_rows(&made, 2, 40, 40, 0);
	struct block_plan plan = plan_of(&made);
	assert_int_equal(plan.stages, 2);
	assert_int_equal(plan.position[1], -1);
	assert_int_equal(plan.position[2], 1);
	/* another run of it has a request there, and a stage more */
	begin_run(&other, 4, 1);
	add_row(&other, 1, 40, -1, 0);
	add_row(&other, 2, 41, -1, 0);
	add_row(&other, 3, 80, -1, 0);
	place(&plan, &other);
	assert_int_equal(other.cells[0], -1);
	assert_int_equal(other.cells[1], 41);
	assert_int_equal(other.cells[2], -1);
	block_plan_release(&plan);
}

/* The plan is that of one run: a repeat has the same blocks, which are behind those of the runs before it. */
static void repeats_have_the_same_blocks(void **state)
{
	(void)state;
	for (int shards = 0; shards < 2; shards++) {
		begin_run(&made, 1, 2);
		made.run.shards = shards;
		for (int64_t n = 0; n < 40; n++)
			for (int part = 0; part < 2; part++)
				add_row(&made, 0, shards ? 2 * n + part : n, -1, part);
		assert_int_equal(block_plan_runs(&made.run), shards ? 1 : 2);
		struct block_plan plan = plan_of(&made);
		place(&plan, &made);
		assert_int_equal(plan.begin[1], shards ? 80 : 40);
		for (int i = 0; i < 80; i++)
			assert_int_equal(made.cells[i], shards ? i : i / 2 + 40 * (i % 2));
		block_plan_release(&plan);
	}
	begin_run(&made, 1, 2);
	add_rows(&made, 0, 0, 39, 0); /* 78 requests, but 39 of each run */
	add_rows(&made, 0, 0, 39, 1);
	struct block_plan plan = plan_of(&made);
	place(&plan, &made);
	assert_int_equal(plan.begin[1], 1);
	assert_int_equal(made.cells[38], 0);
	assert_int_equal(made.cells[39], 1);
	block_plan_release(&plan);
}

static void requests_out_of_order_are_placed_by_number(void **state)
{
	(void)state;
	begin_run(&made, 1, 1);
	for (int64_t i = 0; i < 41; i++)
		add_row(&made, 0, 10 * (i * 7 % 41), -1, 0);
	struct block_plan plan = plan_of(&made);
	place(&plan, &made);
	for (int64_t i = 0; i < 41; i++)
		assert_int_equal(made.cells[i], i * 7 % 41);
	/* a number that the planned run does not have is in the block of the number before it */
	begin_run(&other, 1, 1);
	const int64_t numbers[] = {0, 9, 10, 11, 399, 400, 9999};
	for (int i = 0; i < 7; i++)
		add_row(&other, 0, numbers[i], -1, 0);
	place(&plan, &other);
	const int32_t cells[] = {0, 0, 1, 1, 39, 40, 40};
	for (int i = 0; i < 7; i++)
		assert_int_equal(other.cells[i], cells[i]);
	block_plan_release(&plan);
}

static void a_session_is_in_the_block_of_its_first_request(void **state)
{
	(void)state;
	begin_run(&made, 2, 1);
	for (int64_t n = 0; n < 40; n++) /* session 0: the requests 3, 20 and 39; session 1: only 30 */
		add_row(&made, 0, n, n == 3 || n == 20 || n == 39 ? 0 : n == 30 ? 1 : -1, 0);
	/* in the next stage, session 0 has the requests 79 and 75, and session 1 all of 50 to 59 */
	add_row(&made, 1, 79, 0, 0);
	for (int64_t n = 40; n < 79; n++)
		add_row(&made, 1, n, n == 75 ? 0 : n >= 50 && n < 60 ? 1 : -1, 0);
	struct block_plan plan = plan_of(&made);
	place(&plan, &made);
	assert_int_equal(made.cells[3], made.cells[20]);
	assert_int_equal(made.cells[3], made.cells[39]);
	assert_int_equal(plan.first_n[made.cells[30]], 30);
	assert_int_equal(made.cells[40], made.cells[76]);
	assert_int_equal(plan.first_n[made.cells[40]], 75);
	for (int i = 51; i < 61; i++)
		assert_int_equal(plan.first_n[made.cells[i]], 50);
	/* numbers of the first stage, sorted: 0 to 3, 3, 3, then 4 to 19 … */
	assert_int_equal(plan.first_n[0], INT64_MIN);
	const int64_t first[] = {1, 2, 3, 3, 3, 4, 5};
	for (int b = 1; b < 8; b++)
		assert_int_equal(plan.first_n[b], first[b - 1]);
	block_plan_release(&plan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fewer_requests_than_forty_are_one_block),
		cmocka_unit_test(a_block_has_several_of_many_requests),
		cmocka_unit_test(stages_have_blocks_by_their_requests),
		cmocka_unit_test(stages_without_requests_have_no_blocks),
		cmocka_unit_test(repeats_have_the_same_blocks),
		cmocka_unit_test(requests_out_of_order_are_placed_by_number),
		cmocka_unit_test(a_session_is_in_the_block_of_its_first_request),
	};
	const int failed = cmocka_run_group_tests(tests, NULL, NULL);
	begin_run(&made, 1, 1);
	begin_run(&other, 1, 1);
	free(made.stages);
	free(other.stages);
	return failed;
}
