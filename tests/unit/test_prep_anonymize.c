/* The parts of ipf-prep anonymize: keyed hashes, chains of blocks, and groups of lengths. */
#include "absent.h"
#include "anonymize/anonymizer.h"
#include "anonymize/group_counts.h"
#include "anonymize/length_groups.h"
#include "clock.h"
#include "stats/rng.h"

#include "unit.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdlib.h>
#include <string.h>

/* ---- hashes ---- */

static void a_hash_is_hmac_sha_256(void **state)
{
	(void)state;
	static const char text[] = "what do ya want for nothing?";
	for (size_t len = 1; len <= 200; len += 13) {
		unsigned char key[200], ours[SALTED_BYTES], theirs[SALTED_BYTES], message[1 + sizeof text] = {SALTED_SESSION};
		unsigned size = 0;
		struct salt salt;
		struct salted_hash hash;
		for (size_t i = 0; i < len; i++)
			key[i] = (unsigned char)(len * 7 + i);
		memcpy(message + 1, text, sizeof text);
		salt_init(&salt, key, len);
		salted_hash_begin(&hash, &salt, SALTED_SESSION);
		salted_hash_add(&hash, text, 5);
		salted_hash_add(&hash, text + 5, sizeof text - 5);
		salted_hash_end(&hash, &salt, ours);
		assert_non_null(HMAC(EVP_sha256(), key, (int)len, message, sizeof message, theirs, &size));
		assert_int_equal(size, sizeof theirs);
		assert_memory_equal(ours, theirs, sizeof ours);
	}
}

/* ---- chains ---- */

struct chains {
	struct salt salt;
	struct token_counter *tokens;
	struct block_chain chain;
	struct block_hashes hashes[2];
};

static int set_up(void **state)
{
	struct chains *c = calloc(1, sizeof *c);
	struct ipf_error err = {0};
	assert_non_null(c);
	salt_init(&c->salt, "0123456789abcdef", 16);
	assert_int_equal(token_counter_open(&c->tokens, "approx", &err), 0);
	c->chain = (struct block_chain){.salt = &c->salt, .block_tokens = 4, .tokens = c->tokens};
	*state = c;
	return 0;
}

static int tear_down(void **state)
{
	struct chains *c = *state;
	block_chain_release(&c->chain);
	block_hashes_release(&c->hashes[0]);
	block_hashes_release(&c->hashes[1]);
	token_counter_close(c->tokens);
	free(c);
	return 0;
}

static void make(struct chains *c, int which, const char *first, const char *second, int64_t length)
{
	block_chain_begin(&c->chain, (struct slice){0});
	block_chain_mark(&c->chain, slice_of("\"user\""));
	block_chain_text(&c->chain, slice_of(first));
	if (second) {
		block_chain_mark(&c->chain, slice_of("\"user\""));
		block_chain_text(&c->chain, slice_of(second));
	}
	block_chain_hashes(&c->chain, length < 0 ? c->chain.length : length, &c->hashes[which]);
	assert_false(c->chain.failed);
}

/* The blocks that two prompts have in common at their beginnings; none after them is. */
static size_t common(const struct chains *c)
{
	size_t same = 0;
	const struct block_hashes *a = &c->hashes[0], *b = &c->hashes[1];
	while (same < a->count && same < b->count && a->ids[same] == b->ids[same])
		same++;
	for (size_t i = same; i < a->count; i++)
		for (size_t k = 0; k < b->count; k++)
			assert_true(a->ids[i] != b->ids[k]);
	return same;
}

static void equal_beginnings_have_equal_hashes(void **state)
{
	struct chains *c = *state;
	make(c, 0, "aaaabbbbccccddddeeeeffff", NULL, -1); /* six tokens: a whole block and a half */
	assert_int_equal(c->hashes[0].count, 2);
	make(c, 1, "aaaabbbbccccddddeeeeffff", NULL, -1);
	assert_int_equal(common(c), 2);
	make(c, 1, "aaaabbbbccccddddeeeefffg", NULL, -1);
	assert_int_equal(common(c), 1);
	make(c, 1, "aaaabbbbccccddddeeee", NULL, -1); /* a part of the last block is another block */
	assert_int_equal(common(c), 1);
	make(c, 1, "aaaabbbbccccdddd", "eeeeffff", -1); /* as many tokens, in two messages */
	assert_int_equal(c->hashes[1].count, 2);
	assert_int_equal(common(c), 1);
	make(c, 1, "aaaabbbbcccc", "ddddeeeeffff", -1);
	assert_int_equal(common(c), 0);
	make(c, 1, "xaaabbbbccccddddeeeeffff", NULL, -1);
	assert_int_equal(common(c), 0);
}

static void hashes_are_of_the_salt_and_the_size(void **state)
{
	struct chains *c = *state;
	make(c, 0, "aaaabbbbccccddddeeeeffff", NULL, -1);
	c->chain.block_tokens = 2;
	make(c, 1, "aaaabbbbccccddddeeeeffff", NULL, -1);
	assert_int_equal(common(c), 0);
	c->chain.block_tokens = 4;
	salt_init(&c->salt, "0123456789abcdeg", 16);
	make(c, 1, "aaaabbbbccccddddeeeeffff", NULL, -1);
	assert_int_equal(common(c), 0);
}

/* The recorded length counts; tokens beyond it must not be lost, nor the ones it adds. */
static void another_length_than_counted(void **state)
{
	struct chains *c = *state;
	make(c, 0, "aaaabbbbccccddddeeeeffff", NULL, 4);
	assert_int_equal(c->hashes[0].count, 1);
	make(c, 1, "aaaabbbbccccddddeeeeffff", NULL, 4);
	assert_int_equal(common(c), 1);
	make(c, 1, "aaaabbbbccccddddeeeeggggg", NULL, 4); /* differs beyond the length */
	assert_int_equal(common(c), 0);
	make(c, 0, "aaaabbbbccccddddeeeeffff", NULL, 17);
	assert_int_equal(c->hashes[0].count, 5);
	make(c, 1, "aaaabbbbccccddddeeeeffff", NULL, 30);
	assert_int_equal(c->hashes[1].count, 8);
	assert_int_equal(common(c), 4);
	make(c, 1, "aaaabbbbccccddddeeeegggg", NULL, 30);
	assert_int_equal(common(c), 1);
}

static void a_later_turn_goes_on(void **state)
{
	struct chains *c = *state;
	make(c, 0, "aaaabbbbccccddddeeee", NULL, -1);
	block_chain_mark(&c->chain, slice_of("\"user\""));
	block_chain_text(&c->chain, slice_of("ffffgggghhhh"));
	block_chain_hashes(&c->chain, c->chain.length, &c->hashes[0]);
	make(c, 1, "aaaabbbbccccddddeeee", "ffffgggghhhh", -1);
	assert_int_equal(c->hashes[0].count, 2);
	assert_int_equal(common(c), 2);
}

/* Blocks of another size than ours: prompts keep their common beginnings. */
static void recorded_blocks_are_cut_anew(void **state)
{
	struct chains *c = *state;
	for (int which = 0; which < 2; which++) {
		block_chain_begin(&c->chain, (struct slice){0});
		block_chain_piece(&c->chain, PIECE_RECORDED, 7, 6);
		block_chain_piece(&c->chain, PIECE_RECORDED, 8, 6);
		block_chain_piece(&c->chain, PIECE_RECORDED, which ? 9 : 10, 6);
		block_chain_hashes(&c->chain, 18, &c->hashes[which]);
		assert_int_equal(c->hashes[which].count, 5);
	}
	assert_int_equal(common(c), 3);
}

/* ---- groups ---- */

static void groups_are_counted(void **state)
{
	(void)state;
	struct group_counts g = {0};
	for (uint64_t i = 0; i < 1000; i++)
		for (uint64_t k = 0; k <= i % 4; k++)
			group_counts_add(&g, i * UINT64_C(0x9e3779b97f4a7c15));
	assert_int_equal(group_counts_groups(&g), 1000);
	assert_int_equal(group_counts_below(&g, 2).values, 250);
	assert_int_equal(group_counts_below(&g, 3).values, 750);
	assert_int_equal(group_counts_below(&g, 3).groups, 500);
	assert_int_equal(group_counts_smallest(&g), 1);
	assert_int_equal(group_counts_largest(&g), 4);
	assert_true(group_counts_is_exact(&g));
	group_counts_release(&g);
}

static void many_groups_are_estimated(void **state)
{
	(void)state;
	struct group_counts g = {0};
	struct rng rng;
	rng_init(&rng, 5, "groups", 0);
	for (int i = 0; i < 300000; i++) {
		uint64_t hash = rng_next(&rng);
		for (int k = 0; k < 1 + i % 2; k++)
			group_counts_add(&g, hash);
	}
	assert_false(g.failed);
	assert_false(group_counts_is_exact(&g));
	assert_int_equal(g.values, 450000);
	assert_in_range(group_counts_groups(&g), 290000, 310000);
	assert_in_range(group_counts_below(&g, 2).values, 145000, 155000);
	group_counts_release(&g);
}

static struct anonymous_request of_lengths(int64_t input, int64_t output, int64_t hour, uint64_t model)
{
	return (struct anonymous_request){
		.at_ns = hour * 3600 * NS_PER_S, .input_tokens = input, .output_tokens = output, .model_key = model};
}

/* Every request kept has k - 1 others with its lengths, and the sums of tokens stay. */
static void no_lengths_are_alone(void **state)
{
	(void)state;
	enum { REQUESTS = 5000, K = 10 };
	struct anonymous_request *r = calloc(REQUESTS, sizeof *r);
	struct lengths *lengths = calloc(REQUESTS, sizeof *lengths);
	struct length_groups g = {.k = K};
	struct rng rng;
	int64_t before = 0, after = 0, left_out = 0;
	assert_true(r && lengths);
	rng_init(&rng, 11, "lengths", 0);
	for (int i = 0; i < REQUESTS; i++) {
		r[i] = of_lengths((int64_t)(1 + 900 * rng_exponential(&rng)), (int64_t)(200 * rng_exponential(&rng)), i / 2000,
		                  i == 17 ? 3 : rng_below(&rng, 2));
		assert_true(length_groups_add(&g, &r[i]));
	}
	assert_true(length_groups_settle(&g));
	for (int i = 0; i < REQUESTS; i++) {
		if (!length_groups_find(&g, &r[i], &lengths[i])) {
			lengths[i].input = -1;
			left_out++;
			continue;
		}
		before += r[i].input_tokens;
		after += lengths[i].input;
	}
	assert_int_equal(left_out, 1); /* the only one of its model */
	assert_in_range(after, before - before / 100, before + before / 100);
	for (int i = 0; i < REQUESTS; i++) {
		int64_t same = 0;
		for (int k = 0; k < REQUESTS && lengths[i].input >= 0; k++)
			same += lengths[k].input == lengths[i].input && lengths[k].output == lengths[i].output &&
			        r[k].model_key == r[i].model_key && k / 2000 == i / 2000;
		assert_true(lengths[i].input < 0 || same >= K);
	}
	length_groups_release(&g);
	free(lengths);
	free(r);
}

static void frequent_lengths_stay(void **state)
{
	(void)state;
	struct length_groups g = {.k = 3};
	struct lengths lengths;
	for (int i = 0; i < 3; i++) {
		struct anonymous_request often = of_lengths(100, 7, 0, 1), rare = of_lengths(1000 + i, 50 + i, 0, 1);
		assert_true(length_groups_add(&g, &often) && length_groups_add(&g, &rare));
	}
	struct anonymous_request often = of_lengths(100, 7, 0, 1), rare = of_lengths(1002, 52, 0, 1),
							 last = of_lengths(101, 7, 0, 1);
	assert_true(length_groups_add(&g, &last));
	assert_true(length_groups_settle(&g));
	assert_true(length_groups_find(&g, &often, &lengths));
	assert_int_equal(lengths.input, 100);
	assert_int_equal(lengths.output, 7);
	assert_true(length_groups_find(&g, &rare, &lengths));
	assert_int_equal(lengths.input, 1001);
	assert_int_equal(lengths.output, 51);
	assert_true(length_groups_find(&g, &last, &lengths)); /* joins the nearest */
	assert_int_equal(lengths.input, 100);
	length_groups_release(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_hash_is_hmac_sha_256),
		cmocka_unit_test_setup_teardown(equal_beginnings_have_equal_hashes, set_up, tear_down),
		cmocka_unit_test_setup_teardown(hashes_are_of_the_salt_and_the_size, set_up, tear_down),
		cmocka_unit_test_setup_teardown(another_length_than_counted, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_later_turn_goes_on, set_up, tear_down),
		cmocka_unit_test_setup_teardown(recorded_blocks_are_cut_anew, set_up, tear_down),
		cmocka_unit_test(groups_are_counted),
		cmocka_unit_test(many_groups_are_estimated),
		cmocka_unit_test(no_lengths_are_alone),
		cmocka_unit_test(frequent_lengths_stay),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
