#include "unit.h"

#include "job/queue.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>

static int items[100];

static void test_first_in_first_out(void **state)
{
	struct queue *q = queue_new(3); /* room for four */
	(void)state;
	assert_null(queue_take(q));
	for (int round = 0; round < 10; round++) {
		for (int i = 0; i < 4; i++) {
			assert_false(queue_full(q));
			assert_true(queue_put(q, &items[round + i]));
		}
		assert_true(queue_full(q));
		assert_false(queue_put(q, &items[99]));
		assert_int_equal(queue_count(q), 4);
		for (int i = 0; i < 4; i++)
			assert_ptr_equal(queue_take(q), &items[round + i]);
		assert_null(queue_take(q));
		assert_int_equal(queue_count(q), 0);
	}
	queue_free(q);
	queue_free(NULL);
}

enum { MANY = 200000 };

struct shared {
	struct queue *queue;
	size_t *numbers; /* an item is the address of its number */
};

static void *put_all(void *data)
{
	struct shared *s = data;
	for (size_t i = 0; i < MANY; i++) {
		s->numbers[i] = i * 7;
		while (!queue_put(s->queue, &s->numbers[i]))
			sched_yield();
	}
	return NULL;
}

static void test_between_two_threads(void **state)
{
	struct shared s = {.queue = queue_new(64), .numbers = calloc(MANY, sizeof *s.numbers)};
	pthread_t putter;
	(void)state;
	assert_int_equal(pthread_create(&putter, NULL, put_all, &s), 0);
	bool good = true;
	for (size_t i = 0; i < MANY;) {
		size_t *number = queue_take(s.queue);
		if (!number) {
			sched_yield();
			continue;
		}
		good = good && number == &s.numbers[i] && *number == i * 7;
		i++;
	}
	pthread_join(putter, NULL);
	assert_true(good);
	assert_null(queue_take(s.queue));
	queue_free(s.queue);
	free(s.numbers);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_in_first_out),
		cmocka_unit_test(test_between_two_threads),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
