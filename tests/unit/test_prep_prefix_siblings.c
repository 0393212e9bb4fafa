#include "shape/prefix_siblings.h"

#include "unit.h"

static void places_count_up_behind_one_parent(void **state)
{
	(void)state;
	struct prefix_siblings siblings = {0};
	assert_int_equal(prefix_siblings_place(&siblings, PREFIX_SIBLINGS_ROOT, 10), 0);
	assert_int_equal(prefix_siblings_place(&siblings, PREFIX_SIBLINGS_ROOT, 20), 1);
	assert_int_equal(prefix_siblings_place(&siblings, 10, 30), 0);
	assert_int_equal(prefix_siblings_place(&siblings, 20, 40), 0);
	assert_int_equal(prefix_siblings_place(&siblings, 10, 50), 1);
	assert_int_equal(prefix_siblings_place(&siblings, PREFIX_SIBLINGS_ROOT, 60), 2);
	prefix_siblings_release(&siblings);
}

static void a_place_stays(void **state)
{
	(void)state;
	struct prefix_siblings siblings = {0};
	for (uint64_t id = 1; id <= 20000; id++)
		assert_int_equal(prefix_siblings_place(&siblings, id % 7, 1000 + id), (id - 1) / 7);
	for (uint64_t id = 20000; id >= 1; id--)
		assert_int_equal(prefix_siblings_place(&siblings, id % 7, 1000 + id), (id - 1) / 7);
	prefix_siblings_release(&siblings);
}

/* Ids that are not of all before them come behind several: the first one counts. */
static void the_first_parent_counts(void **state)
{
	(void)state;
	struct prefix_siblings siblings = {0};
	assert_int_equal(prefix_siblings_place(&siblings, 1, 100), 0);
	assert_int_equal(prefix_siblings_place(&siblings, 2, 200), 0);
	assert_int_equal(prefix_siblings_place(&siblings, 2, 300), 1);
	assert_int_equal(prefix_siblings_place(&siblings, 1, 300), 1);
	prefix_siblings_release(&siblings);
}

static void the_key_nought_is_no_empty_slot(void **state)
{
	(void)state;
	struct prefix_siblings siblings = {0};
	assert_int_equal(prefix_siblings_place(&siblings, 5, 7), 0);
	assert_int_equal(prefix_siblings_place(&siblings, 5, PREFIX_SIBLINGS_ROOT), 1);
	assert_int_equal(prefix_siblings_place(&siblings, 5, PREFIX_SIBLINGS_ROOT), 1);
	prefix_siblings_release(&siblings);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(places_count_up_behind_one_parent),
		cmocka_unit_test(a_place_stays),
		cmocka_unit_test(the_first_parent_counts),
		cmocka_unit_test(the_key_nought_is_no_empty_slot),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
