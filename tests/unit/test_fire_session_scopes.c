#include "unit.h"

#include "http/session_scopes.h"

static void test_a_key_keeps_its_number_while_it_is_held(void **state)
{
	struct session_scopes *s = session_scopes_new();
	(void)state;
	uint32_t one = session_scopes_take(s, 77), other = session_scopes_take(s, 79);
	assert_true(one && other && one != other);
	assert_int_equal(session_scopes_take(s, 77), one);
	session_scopes_leave(s, 77);
	assert_int_equal(session_scopes_take(s, 77), one);
	session_scopes_leave(s, 77);
	session_scopes_leave(s, 77);
	assert_int_not_equal(session_scopes_take(s, 77), one); /* the scope was released */
	session_scopes_leave(s, 5);                            /* an unknown key */
	session_scopes_free(s);
	session_scopes_free(NULL);
}

/* Compares with a plain list of keys and scopes. */
static void test_many_keys(void **state)
{
	enum { KEYS = 20000, STEPS = 400000 };
	static struct {
		uint64_t key;
		uint32_t scope, held;
	} all[KEYS];
	uint64_t seed = test_seed("scopes");
	struct session_scopes *s = session_scopes_new();
	(void)state;
	for (size_t i = 0; i < KEYS; i++)
		all[i].key = i % 2 ? test_random(&seed) | 1
		                   : ((uint64_t)i << 33) + 1; /* keys that are far apart, and close ones */
	for (size_t step = 0; step < STEPS; step++) {
		/* first mostly takes, then mostly releases */
		size_t i = (size_t)(test_random(&seed) % KEYS);
		if (test_random(&seed) % STEPS > step || !all[i].held) {
			uint32_t scope = session_scopes_take(s, all[i].key);
			assert_int_not_equal(scope, 0);
			assert_true(!all[i].held || all[i].scope == scope);
			all[i].scope = scope;
			all[i].held++;
		} else {
			session_scopes_leave(s, all[i].key);
			all[i].held--;
		}
	}
	for (size_t i = 0; i < KEYS; i++)
		if (all[i].held)
			assert_int_equal(session_scopes_take(s, all[i].key), all[i].scope);
	session_scopes_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_key_keeps_its_number_while_it_is_held),
		cmocka_unit_test(test_many_keys),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
