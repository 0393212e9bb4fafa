/* The growing array and the hash table that all others are made of. */
#include "unit.h"

#include "array.h"
#include "buffer.h"
#include "hash_index.h"
#include "stats/rng.h"

#include <stdlib.h>

struct entry {
	uint64_t key;
	int32_t number;
};

static void an_array_grows_and_keeps_its_items(void **state)
{
	(void)state;
	int32_t *narrow = NULL, narrow_cap = 0;
	int64_t *wide = NULL, wide_cap = 0;
	for (int32_t i = 0; i < 10000; i++) {
		assert_true(array_room(narrow, narrow_cap, i + 1));
		assert_true(array_room(wide, wide_cap, i + 1));
		narrow[i] = i;
		wide[i] = -i;
	}
	for (int32_t i = 0; i < 10000; i++)
		assert_true(narrow[i] == i && wide[i] == -i);
	assert_true(narrow_cap >= 10000 && narrow_cap <= 20000 && wide_cap == narrow_cap);
	assert_true(array_room(wide, wide_cap, 1000000) && wide_cap == 1000000);
	assert_true(wide[9999] == -9999);
	free(narrow);
	free(wide);
}

static void an_array_of_powers_of_two_keeps_its_items(void **state)
{
	(void)state;
	int64_t *list = NULL;
	for (int64_t i = 0; i < 5000; i++) {
		assert_true(array_one_more(list, i));
		list[i] = i * i;
	}
	for (int64_t i = 0; i < 5000; i++)
		assert_int_equal(list[i], i * i);
	free(list);
}

static void a_table_that_reaches_further_is_zero_there(void **state)
{
	(void)state;
	uint64_t *table = NULL;
	size_t count = 0;
	assert_true(array_reach(table, count, 5) && count > 5);
	for (size_t i = 0; i < count; i++)
		assert_true(table[i] == 0);
	table[5] = 7;
	assert_true(array_reach(table, count, 1000) && count > 1000);
	for (size_t i = 0; i < count; i++)
		assert_true(table[i] == (i == 5 ? 7 : 0));
	assert_false(array_reach(table, count, SIZE_MAX));
	free(table);
}

static void an_array_refuses_more_than_its_room_can_count(void **state)
{
	(void)state;
	int32_t *list = NULL, cap = 0;
	uint64_t *large = NULL;
	size_t large_cap = 0;
	assert_false(array_room(list, cap, (size_t)INT32_MAX + 1));
	assert_false(array_room(large, large_cap, SIZE_MAX / 4));
	assert_true(!list && !large && cap == 0 && large_cap == 0);
}

/* Against a list searched from its beginning. */
static void entries_are_found_by_their_keys(void **state)
{
	(void)state;
	enum { MOST = 3000 };
	static uint64_t known[MOST];
	struct entry *table = NULL;
	size_t room = 0, count = 0;
	struct rng rng;
	rng_init(&rng, 1, "keys", 0);
	for (int i = 0; i < 3 * MOST && count < MOST; i++) {
		/* few low bits, so entries meet */
		const uint64_t key = (rng_below(&rng, 2 * MOST) << 40) | rng_below(&rng, 3) | 4;
		size_t at = 0;
		while (at < count && known[at] != key)
			at++;
		assert_true(hash_index_room(table, room, count + 1));
		struct entry *found = hash_index_find(table, room, key);
		assert_int_equal(found->key != 0, at < count);
		if (found->key)
			assert_int_equal(found->number, at);
		else
			*found = (struct entry){key, (int32_t)count};
		known[count] = key;
		count += at == count;
	}
	assert_true(count > 1000 && count <= room / 4 * 3);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(((struct entry *)hash_index_find(table, room, known[i]))->number, i);
	free(table);
}

static void entries_with_one_key_keep_their_order(void **state)
{
	(void)state;
	struct entry *table = NULL;
	size_t room = 0;
	for (int32_t i = 0; i < 200; i++) {
		assert_true(hash_index_room(table, room, (size_t)i + 1));
		/* at the end of the table, so the entries of a key wrap around */
		struct entry *at = hash_index_find(table, room, UINT64_MAX - (uint64_t)(i % 2));
		while (at->key)
			at = hash_index_next(table, room, at);
		*at = (struct entry){UINT64_MAX - (uint64_t)(i % 2), i};
	}
	for (int32_t k = 0; k < 2; k++) {
		struct entry *at = hash_index_find(table, room, UINT64_MAX - (uint64_t)k);
		for (int32_t i = k; i < 200; i += 2, at = hash_index_next(table, room, at))
			assert_int_equal(at->number, i);
		assert_true(at->key == 0);
	}
	free(table);
}

static void keys_of_numbers_differ(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < 1000; i++)
		assert_true(hash_index_key(i) != 0 && hash_index_key(i) != hash_index_key(i + 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_array_grows_and_keeps_its_items),
		cmocka_unit_test(an_array_of_powers_of_two_keeps_its_items),
		cmocka_unit_test(a_table_that_reaches_further_is_zero_there),
		cmocka_unit_test(an_array_refuses_more_than_its_room_can_count),
		cmocka_unit_test(entries_are_found_by_their_keys),
		cmocka_unit_test(entries_with_one_key_keep_their_order),
		cmocka_unit_test(keys_of_numbers_differ),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
