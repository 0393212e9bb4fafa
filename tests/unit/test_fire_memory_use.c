#include "unit.h"

#include "job/event_fd.h"
#include "job/memory_use.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define MB INT64_C(1000000)

static void test_states(void **state)
{
	struct memory_use m = {.most = 32 * MB, .threads = 2};
	(void)state;
	memory_use_add(&m, 4 * MB); /* by all together 24 */
	counter_count(&memory_use_of_sender(&m, 0)->taken, 22 * MB);
	counter_count(&memory_use_of_sender(&m, 1)->taken, 3 * MB);
	counter_count(&memory_use_of_recorder(&m)->taken, -5 * MB);
	assert_int_equal(memory_use_taken(&m), 24 * MB);
	assert_int_equal(memory_use_state(&m), MEMORY_AMPLE);
	memory_use_add(&m, 1 * MB);
	assert_int_equal(memory_use_state(&m), MEMORY_SHORT);
	assert_false(memory_use_cuts(&m)); /* the answers have not a quarter of it */
	counter_set(&m.parts[0].growing, 9 * MB);
	assert_true(memory_use_cuts(&m));
	counter_set(&m.parts[0].leaving, 2 * MB);
	assert_false(memory_use_cuts(&m)); /* enough is cut */
	memory_use_add(&m, 6 * MB);
	assert_int_equal(memory_use_state(&m), MEMORY_FULL);
	assert_true(memory_use_cuts(&m));
	m.most = 0;
	assert_int_equal(memory_use_state(&m), MEMORY_AMPLE);
	assert_false(memory_use_cuts(&m));
}

/* A thread waiting looks up after each step: it may be the one that has to make room. */
static void test_wait_comes_back(void **state)
{
	struct memory_use m = {.most = 32 * MB};
	(void)state;
	m.wake_fd[1] = eventfd(0, EFD_NONBLOCK);
	memory_use_add(&m, 32 * MB);
	atomic_store(&m.largest[1], 5 * MB);
	struct memory_wait wait = memory_wait_begin(&m);
	assert_true(memory_use_wait(&m, &wait));
	assert_int_equal(memory_use_state(&m), MEMORY_FULL);
	assert_false(memory_use_ask(&m, 1, 1 * MB)); /* no other thread has a larger one */
	assert_false(memory_use_ask(&m, 0, 6 * MB));
	assert_true(memory_use_ask(&m, 0, 1 * MB));
	struct pollfd woken = {.fd = m.wake_fd[1], .events = POLLIN};
	assert_int_equal(poll(&woken, 1, 0), 1);
	assert_true(memory_use_asked(&m, 1));
	assert_false(memory_use_asked(&m, 1));
	close(m.wake_fd[1]);
}

static void test_wait_ends(void **state)
{
	struct memory_use m = {.most = 32 * MB};
	(void)state;
	memory_use_add(&m, 32 * MB);
	struct memory_wait wait = memory_wait_begin(&m);
	wait.still_ns -= 6000 * INT64_C(1000000);
	atomic_store(&m.written, 1);
	assert_true(memory_use_wait(&m, &wait)); /* slow, but it gets on */
	wait.still_ns -= 6000 * INT64_C(1000000);
	assert_false(memory_use_wait(&m, &wait));
	assert_true(atomic_load(&m.full));
	struct memory_wait other = memory_wait_begin(&m);
	assert_false(memory_use_wait(&m, &other)); /* nor does another thread wait any longer */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_states),
		cmocka_unit_test(test_wait_comes_back),
		cmocka_unit_test(test_wait_ends),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
