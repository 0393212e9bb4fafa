/* Prompts of a few blocks, whose repeated beginnings can be counted by hand. */
#include "unit.h"

#include "absent.h"
#include "stats/prefix_reuse.h"

/* A prompt of blocks named by letters, each of 10 tokens. */
static void add_prompt(struct prefix_reuse *r, int64_t at_ns, int64_t inherited, const char *blocks)
{
	prefix_reuse_begin(r, at_ns, inherited);
	for (; *blocks; blocks++)
		prefix_reuse_add_block(r, (uint64_t)*blocks, 10);
}

static void expect_hits(const struct prefix_reuse *r, size_t i, size_t index, int64_t tokens, int64_t hits)
{
	const struct prefix_reuse_view view = prefix_reuse_prompt(r, i);
	assert_int_equal(view.index, index);
	assert_int_equal(view.tokens, tokens);
	assert_int_equal(view.hit_tokens, hits);
}

static void only_a_common_beginning_hits(void **state)
{
	struct prefix_reuse r = {0};
	(void)state;
	add_prompt(&r, IPF_ABSENT, 0, "abc");
	add_prompt(&r, IPF_ABSENT, 0, "abd");
	prefix_reuse_add_rest(&r, 7);
	add_prompt(&r, IPF_ABSENT, 0, "bc"); /* blocks that occurred, but not at the beginning */
	add_prompt(&r, IPF_ABSENT, 0, "axbd");
	prefix_reuse_compute(&r);
	assert_int_equal(r.count, 4);
	expect_hits(&r, 0, 0, 30, 0);
	expect_hits(&r, 1, 1, 37, 20);
	expect_hits(&r, 2, 2, 20, 0);
	expect_hits(&r, 3, 3, 40, 10);
	assert_int_equal(prefix_reuse_prompt(&r, 1).rest, 7);
	assert_int_equal(prefix_reuse_prompt(&r, 1).block_count, 3);
	assert_int_equal(prefix_reuse_prompt(&r, 1).blocks[2].tokens, 10);
	assert_true(prefix_reuse_prompt(&r, 1).blocks[1].chain == prefix_reuse_prompt(&r, 0).blocks[1].chain);
	assert_int_equal(r.tokens, 127);
	assert_int_equal(r.hit_tokens, 30);
	assert_int_equal(r.leading_blocks, 3);
	assert_int_equal(r.repeated_blocks, 7); /* a b, b c, a b d */
	assert_int_equal(r.max_blocks, 4);
	int64_t tokens, hits;
	prefix_reuse_range(&r, 1, 3, &tokens, &hits);
	assert_int_equal(tokens, 57);
	assert_int_equal(hits, 20);
	prefix_reuse_range(&r, 2, 2, &tokens, &hits);
	assert_int_equal(tokens, 0);
	prefix_reuse_release(&r);
	assert_null(r.prompts);
}

static void a_prompt_does_not_repeat_itself(void **state)
{
	struct prefix_reuse r = {0};
	(void)state;
	add_prompt(&r, IPF_ABSENT, 0, "aaa");
	add_prompt(&r, IPF_ABSENT, 0, "aa");
	prefix_reuse_compute(&r);
	assert_int_equal(r.repeated_blocks, 2);
	expect_hits(&r, 0, 0, 30, 0);
	expect_hits(&r, 1, 1, 20, 20);
	assert_int_equal(r.max_blocks, 3);
	prefix_reuse_release(&r);
}

static void a_block_cut_is_another_block(void **state)
{
	struct prefix_reuse r = {0};
	(void)state;
	add_prompt(&r, IPF_ABSENT, 0, "a");
	prefix_reuse_begin(&r, IPF_ABSENT, 0);
	prefix_reuse_add_block(&r, 'a', 9);
	prefix_reuse_compute(&r);
	expect_hits(&r, 1, 1, 9, 0);
	assert_int_equal(r.repeated_blocks, 1); /* its id */
	prefix_reuse_release(&r);
}

/* Only if all prompts have a time: those of one time keep their order. */
static void the_first_to_arrive_fills_the_cache(void **state)
{
	(void)state;
	struct prefix_reuse first = {0};
	add_prompt(&first, IPF_ABSENT, 0, "a");
	add_prompt(&first, 20, 0, "a");
	add_prompt(&first, 10, 0, "a");
	prefix_reuse_compute(&first);
	for (size_t i = 0; i < 3; i++)
		expect_hits(&first, i, i, 10, i ? 10 : 0);
	prefix_reuse_release(&first);
	for (int timed = 0; timed < 2; timed++) {
		struct prefix_reuse r = {0};
		add_prompt(&r, 30, 0, "ab");
		add_prompt(&r, 20, 0, "abc");
		add_prompt(&r, 20, 0, "ab");
		add_prompt(&r, timed ? 10 : IPF_ABSENT, 0, "a");
		prefix_reuse_compute(&r);
		const size_t order[] = {3, 1, 2, 0};
		const int64_t tokens[] = {20, 30, 20, 10}, hits[] = {0, 20, 20, 10}, hits_timed[] = {20, 10, 20, 0};
		for (size_t i = 0; i < 4; i++) {
			const size_t index = timed ? order[i] : i;
			expect_hits(&r, i, index, tokens[index], timed ? hits_timed[index] : hits[index]);
		}
		prefix_reuse_release(&r);
	}
}

/* A turn has the prompt and the answer before it, as tokens that hit; another session sees them as blocks. */
static void a_turn_continues_the_one_before(void **state)
{
	struct prefix_reuse r = {0};
	(void)state;
	add_prompt(&r, IPF_ABSENT, 0, "ab");
	prefix_reuse_add_answer(&r, 'y', 5);
	add_prompt(&r, IPF_ABSENT, 25, "c");
	prefix_reuse_begin(&r, IPF_ABSENT, 0);
	prefix_reuse_add_block(&r, 'a', 10);
	prefix_reuse_add_block(&r, 'b', 10);
	prefix_reuse_add_answer(&r, 'y', 5);
	prefix_reuse_add_block(&r, 'c', 10);
	add_prompt(&r, IPF_ABSENT, 0, "abc"); /* without the answer it is another text */
	prefix_reuse_compute(&r);
	expect_hits(&r, 0, 0, 20, 0);
	expect_hits(&r, 1, 1, 35, 25);
	expect_hits(&r, 2, 2, 30, 30);
	expect_hits(&r, 3, 3, 30, 20);
	assert_int_equal(r.leading_blocks, 5);
	prefix_reuse_release(&r);
}

static void sums_beyond_what_can_be_counted_are_absent(void **state)
{
	struct prefix_reuse r = {0};
	int64_t tokens, hits;
	(void)state;
	for (int i = 0; i < 3; i++) {
		prefix_reuse_begin(&r, IPF_ABSENT, 0);
		prefix_reuse_add_block(&r, 'a', INT64_MAX / 2);
	}
	prefix_reuse_compute(&r);
	assert_int_equal(r.tokens, IPF_ABSENT);
	assert_int_equal(r.hit_tokens, INT64_MAX - 1);
	prefix_reuse_range(&r, 0, 3, &tokens, &hits);
	assert_int_equal(tokens, IPF_ABSENT);
	prefix_reuse_release(&r);
	prefix_reuse_compute(&r); /* without prompts */
	assert_int_equal(r.tokens, 0);
	prefix_reuse_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_a_common_beginning_hits),    cmocka_unit_test(a_prompt_does_not_repeat_itself),
		cmocka_unit_test(a_block_cut_is_another_block),    cmocka_unit_test(the_first_to_arrive_fills_the_cache),
		cmocka_unit_test(a_turn_continues_the_one_before), cmocka_unit_test(sums_beyond_what_can_be_counted_are_absent),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
