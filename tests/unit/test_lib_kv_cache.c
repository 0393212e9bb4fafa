/* The KV cache against a slow model of it: a list of unused blocks in the order in which they were dropped. */
#include "batching/kv_cache.h"

#include "unit.h"

static void least_recently_dropped_goes_first(void **state)
{
	struct kv_cache *kv = kv_cache_new(3);
	(void)state;
	int32_t a = kv_cache_take(kv), b = kv_cache_take(kv), c = kv_cache_take(kv);
	assert_int_equal(kv_cache_take(kv), -1);
	assert_int_equal(kv_cache_used(kv), 3);
	kv_cache_publish(kv, a, 100);
	kv_cache_publish(kv, b, 200);
	kv_cache_publish(kv, c, 300);
	kv_cache_drop(kv, b);
	kv_cache_drop(kv, a);
	kv_cache_drop(kv, c);
	assert_int_equal(kv_cache_used(kv), 0);
	assert_int_equal(kv_cache_find(kv, 200), b);
	kv_cache_hold(kv, b);
	assert_int_equal(kv_cache_take(kv), a); /* b is in use again, a was dropped before c */
	assert_int_equal(kv_cache_find(kv, 100), -1);
	assert_int_equal(kv_cache_find(kv, 300), c);
	assert_int_equal(kv_cache_take(kv), c);
	assert_int_equal(kv_cache_take(kv), -1);
	assert_int_equal(kv_cache_find(kv, 200), b);
	kv_cache_free(kv);
}

static void shared_blocks_have_several_users(void **state)
{
	struct kv_cache *kv = kv_cache_new(2);
	(void)state;
	int32_t a = kv_cache_take(kv), b = kv_cache_take(kv);
	kv_cache_publish(kv, a, 7);
	kv_cache_publish(kv, b, 7); /* the first one keeps the name */
	assert_int_equal(kv_cache_find(kv, 7), a);
	kv_cache_hold(kv, a);
	kv_cache_drop(kv, a);
	assert_int_equal(kv_cache_used(kv), 2);
	kv_cache_drop(kv, a);
	assert_int_equal(kv_cache_used(kv), 1);
	kv_cache_drop(kv, b);
	assert_int_equal(kv_cache_total(kv), 2);
	kv_cache_free(kv);
}

#define BLOCKS 13
#define HASHES 40

struct naive {
	int users[BLOCKS];
	uint64_t hash[BLOCKS];   /* 0: none */
	int64_t dropped[BLOCKS]; /* when; 0: never taken */
};

static int naive_find(const struct naive *n, uint64_t hash)
{
	for (int i = 0; i < BLOCKS; i++)
		if (n->hash[i] == hash)
			return i;
	return -1;
}

static void one_step(struct kv_cache *kv, struct naive *n, uint64_t *seed, int64_t now)
{
	uint64_t hash = (1 + test_random(seed) % HASHES) << 20; /* collisions of the low bits on purpose */
	int32_t block = (int32_t)(test_random(seed) % BLOCKS);
	switch (test_random(seed) % 4) {
	case 0: {
		int best = -1;
		for (int i = 0; i < BLOCKS; i++)
			if (!n->users[i] && (best < 0 || n->dropped[i] < n->dropped[best]))
				best = i;
		int32_t got = kv_cache_take(kv);
		assert_int_equal(got, best);
		if (got >= 0) {
			n->users[got] = 1;
			n->hash[got] = 0;
		}
		break;
	}
	case 1:
		assert_int_equal(kv_cache_find(kv, hash), naive_find(n, hash));
		if (naive_find(n, hash) >= 0) {
			kv_cache_hold(kv, naive_find(n, hash));
			n->users[naive_find(n, hash)]++;
		}
		break;
	case 2:
		if (n->users[block]) {
			kv_cache_drop(kv, block);
			if (--n->users[block] == 0)
				n->dropped[block] = now;
		}
		break;
	default:
		if (n->users[block]) {
			kv_cache_publish(kv, block, hash);
			if (!n->hash[block] && naive_find(n, hash) < 0)
				n->hash[block] = hash;
		}
	}
}

static void property_like_the_model(void **state)
{
	uint64_t seed = test_seed("property_like_the_model");
	struct kv_cache *kv = kv_cache_new(BLOCKS);
	struct naive n = {.dropped = {0}};
	(void)state;
	for (int i = 0; i < BLOCKS; i++)
		n.dropped[i] = i - 1000; /* never taken: in order of their numbers */
	for (int64_t step = 1; step < 200000; step++) {
		one_step(kv, &n, &seed, step);
		int used = 0;
		for (int i = 0; i < BLOCKS; i++)
			used += n.users[i] > 0;
		assert_int_equal(kv_cache_used(kv), used);
	}
	kv_cache_free(kv);
}

static void note(uint64_t hash, void *data)
{
	*(uint64_t *)data = hash;
}

static void a_tier_remembers_what_was_evicted(void **state)
{
	struct kv_cache *tier = kv_cache_new(2);
	uint64_t evicted = 0;
	(void)state;
	kv_cache_watch(tier, note, &evicted);
	kv_cache_remember(tier, 1);
	kv_cache_remember(tier, 2);
	kv_cache_remember(tier, 1); /* used again */
	assert_int_equal(evicted, 0);
	kv_cache_remember(tier, 3);
	assert_int_equal(evicted, 2);
	assert_true(kv_cache_find(tier, 1) >= 0 && kv_cache_find(tier, 3) >= 0);
	assert_int_equal(kv_cache_find(tier, 2), -1);
	assert_int_equal(kv_cache_used(tier), 0);
	kv_cache_free(tier);
}

static void a_limit_is_kept(void **state)
{
	struct kv_cache *kv = kv_cache_new(4);
	(void)state;
	kv_cache_limit(kv, 2);
	int32_t a = kv_cache_take(kv);
	kv_cache_take(kv);
	assert_int_equal(kv_cache_take(kv), -1);
	assert_int_equal(kv_cache_total(kv), 2);
	kv_cache_limit(kv, 9);
	assert_int_equal(kv_cache_total(kv), 4);
	assert_true(kv_cache_take(kv) >= 0);
	kv_cache_limit(kv, 1);
	kv_cache_drop(kv, a);
	assert_int_equal(kv_cache_take(kv), -1); /* two are still in use */
	kv_cache_free(kv);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(least_recently_dropped_goes_first),
		cmocka_unit_test(shared_blocks_have_several_users),
		cmocka_unit_test(property_like_the_model),
		cmocka_unit_test(a_tier_remembers_what_was_evicted),
		cmocka_unit_test(a_limit_is_kept),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
