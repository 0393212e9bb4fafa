#include "unit.h"

#include "clock.h"
#include "live/line_queue.h"
#include "live/run_clock.h"
#include "live/sampler.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/utsname.h>

/* ---- the queue ---- */

static bool readable(const struct line_queue *q)
{
	struct pollfd wait = {.fd = line_queue_fd(q), .events = POLLIN};
	return poll(&wait, 1, 0) == 1;
}

static void test_lines_come_in_order(void **state)
{
	struct line_queue *q = line_queue_new(1000);
	struct buffer line = {0};
	(void)state;
	assert_non_null(q);
	for (int round = 0; round < 100; round++) {
		assert_false(readable(q));
		assert_false(line_queue_take(q, &line));
		assert_true(line_queue_put(q, slice_of("first")));
		assert_true(line_queue_put(q, slice_of("")));
		assert_true(readable(q));
		assert_true(line_queue_take(q, &line));
		assert_true(line_queue_put(q, slice_of("third")));
		assert_true(line_queue_take(q, &line));
		assert_true(readable(q));
		assert_true(line_queue_take(q, &line));
		assert_string_equal(line.data, "firstthird");
		buffer_clear(&line);
	}
	assert_int_equal(line_queue_dropped(q), 0);
	buffer_release(&line);
	line_queue_free(q);
	line_queue_free(NULL);
}

static void test_a_full_queue_drops_and_counts(void **state)
{
	struct line_queue *q = line_queue_new(10);
	struct buffer line = {0};
	(void)state;
	assert_false(line_queue_put(q, slice_of("eleven byte")));
	assert_true(line_queue_put(q, slice_of("ten")));
	assert_true(line_queue_put(q, slice_of("a")));
	assert_int_equal(line_queue_dropped(q), 1);
	assert_false(line_queue_put(q, slice_of("more than is left")));
	assert_int_equal(line_queue_dropped(q), 2);
	assert_true(line_queue_take(q, &line));
	assert_true(line_queue_take(q, &line));
	assert_string_equal(line.data, "tena");
	assert_false(readable(q));
	assert_true(line_queue_put(q, slice_of("again")));
	assert_true(readable(q));
	buffer_release(&line);
	line_queue_free(q);
}

enum { PUTTERS = 4, EACH = 20000 };

struct putter {
	struct line_queue *queue;
	int number;
};

static void *put_all(void *data)
{
	struct putter *p = data;
	for (int i = 0; i < EACH;) {
		char text[32];
		int len = snprintf(text, sizeof text, "%d %d", p->number, i);
		if (line_queue_put(p->queue, (struct slice){text, (size_t)len}))
			i++;
		else /* full */
			poll(NULL, 0, 1);
	}
	return NULL;
}

static void test_between_threads(void **state)
{
	struct putter putters[PUTTERS];
	pthread_t threads[PUTTERS];
	int next[PUTTERS] = {0}, got = 0;
	struct line_queue *q = line_queue_new(5000);
	struct buffer line = {0};
	(void)state;
	for (int i = 0; i < PUTTERS; i++) {
		putters[i] = (struct putter){q, i};
		assert_int_equal(pthread_create(&threads[i], NULL, put_all, &putters[i]), 0);
	}
	while (got < PUTTERS * EACH) {
		int number, i;
		buffer_clear(&line);
		if (!line_queue_take(q, &line)) { /* the descriptor says when to look again: no line is forgotten */
			struct pollfd wait = {.fd = line_queue_fd(q), .events = POLLIN};
			assert_int_equal(poll(&wait, 1, 60000), 1);
			continue;
		}
		assert_int_equal(sscanf(line.data, "%d %d", &number, &i), 2);
		assert_int_equal(next[number]++, i);
		got++;
	}
	for (int i = 0; i < PUTTERS; i++)
		pthread_join(threads[i], NULL);
	assert_false(readable(q));
	buffer_release(&line);
	line_queue_free(q);
}

/* ---- the clock ---- */

static int64_t zero_of(json_t *header)
{
	struct run_clock *clock = run_clock_new();
	assert_false(run_clock_knows(clock));
	assert_int_equal(run_clock_start(clock, header), 0);
	assert_true(run_clock_knows(clock));
	int64_t zero = run_clock_zero(clock);
	assert_int_equal(run_clock_at(clock, zero + 5), 5);
	assert_true(run_clock_now(clock) >= clock_now() - zero - 10 * NS_PER_S);
	run_clock_free(clock);
	json_decref(header);
	return zero;
}

static void test_the_clock_of_the_records(void **state)
{
	struct utsname own;
	int64_t t0 = clock_now() - 3 * NS_PER_S, wall = clock_wall_at(t0);
	(void)state;
	uname(&own);
	/* this boot: exact */
	assert_int_equal(zero_of(json_pack("{s:I, s:I, s:{s:s}}", "t0_unix_ns", (json_int_t)(wall + 20), "t0_clock_ns",
	                                   (json_int_t)t0, "host", "name", own.nodename)),
	                 t0);
	/* another boot, another host, a header without the monotonic time: by the wall clock */
	int64_t others[] = {
		zero_of(json_pack("{s:I, s:I}", "t0_unix_ns", (json_int_t)wall, "t0_clock_ns", (json_int_t)(t0 + NS_PER_S))),
		zero_of(json_pack("{s:I, s:I, s:{s:s}}", "t0_unix_ns", (json_int_t)wall, "t0_clock_ns",
	                      (json_int_t)(t0 + 50 * NS_PER_MS), "host", "name", "another.example")),
		zero_of(json_pack("{s:I}", "t0_unix_ns", (json_int_t)wall)),
	};
	for (size_t i = 0; i < 3; i++)
		assert_in_range(others[i] - t0 + NS_PER_S, NS_PER_S - 20 * NS_PER_MS, NS_PER_S + 20 * NS_PER_MS);
	assert_true(others[1] < t0 + 25 * NS_PER_MS);
	struct run_clock *clock = run_clock_new();
	json_t *without = json_object();
	assert_int_equal(run_clock_start(clock, without), -1);
	assert_false(run_clock_knows(clock));
	json_decref(without);
	run_clock_free(clock);
	run_clock_free(NULL);
}

/* ---- the sampler ---- */

struct seen {
	atomic_int first, next, last, waited, woken;
	int64_t at[64]; /* times for SAMPLER_NEXT */
	int64_t busy_ns;
	bool signalled;
	pthread_mutex_t lock;
	pthread_cond_t changed;
};

static void see(void *data, enum sampler_tick tick)
{
	struct seen *s = data;
	int n = atomic_load(&s->next);
	if (tick == SAMPLER_NEXT) {
		if (n < 64)
			s->at[n] = clock_now();
		for (int64_t until = clock_now() + s->busy_ns; clock_now() < until;)
			poll(NULL, 0, 1);
	}
	atomic_fetch_add(tick == SAMPLER_FIRST ? &s->first : tick == SAMPLER_LAST ? &s->last : &s->next, 1);
}

static void until(atomic_int *count, int at_least)
{
	for (int i = 0; atomic_load(count) < at_least && i < 60000; i++)
		poll(NULL, 0, 1);
	assert_true(atomic_load(count) >= at_least);
}

static void test_samples_at_multiples_of_every(void **state)
{
	struct seen seen = {0};
	struct sampler_source source = {.data = &seen, .sample = see};
	struct sampler *sampler;
	struct ipf_error err = {0};
	const int64_t every = 20 * NS_PER_MS;
	(void)state;
	assert_int_equal(sampler_start(&sampler, &source, every, &err), 0);
	until(&seen.first, 1);
	int64_t zero = clock_now() - 7 * NS_PER_MS;
	sampler_align(sampler, zero);
	int before = atomic_load(&seen.next);
	until(&seen.next, before + 6);
	sampler_stop(sampler);
	assert_int_equal(seen.first, 1);
	assert_int_equal(seen.last, 1);
	/* none is early; a busy machine may be late */
	for (int i = before + 2; i < before + 6; i++)
		assert_true((seen.at[i] - zero) / every > (seen.at[i - 1] - zero) / every);
}

static void test_a_slow_sample_loses_ticks(void **state)
{
	struct seen seen = {.busy_ns = 25 * NS_PER_MS};
	struct sampler_source source = {.data = &seen, .sample = see};
	struct sampler *sampler;
	struct ipf_error err = {0};
	const int64_t every = 10 * NS_PER_MS;
	(void)state;
	assert_int_equal(sampler_start(&sampler, &source, every, &err), 0);
	sampler_align(sampler, 0);
	until(&seen.next, 5);
	sampler_stop(sampler);
	for (int i = 2; i < 5; i++)
		assert_true(seen.at[i] - seen.at[i - 1] >= seen.busy_ns);
}

static void test_stops_while_it_waits(void **state)
{
	struct seen seen = {0};
	struct sampler_source source = {.data = &seen, .sample = see};
	struct sampler *samplers[3];
	struct ipf_error err = {0};
	(void)state;
	for (int i = 0; i < 3; i++)
		assert_int_equal(sampler_start(&samplers[i], &source, 3600 * NS_PER_S, &err), 0);
	for (int i = 0; i < 3; i++)
		sampler_ask_to_stop(samplers[i]);
	for (int i = 0; i < 3; i++)
		sampler_stop(samplers[i]);
	sampler_stop(NULL);
	assert_int_equal(seen.first, 3);
	assert_int_equal(seen.last, 3);
	assert_int_equal(seen.next, 0);
}

static void wait_for_it(void *data, int64_t until_ns)
{
	struct seen *s = data;
	(void)until_ns;
	pthread_mutex_lock(&s->lock);
	atomic_fetch_add(&s->waited, 1);
	while (!s->signalled)
		pthread_cond_wait(&s->changed, &s->lock);
	s->signalled = false;
	pthread_mutex_unlock(&s->lock);
}

static void wake(void *data)
{
	struct seen *s = data;
	pthread_mutex_lock(&s->lock);
	s->signalled = true;
	atomic_fetch_add(&s->woken, 1);
	pthread_cond_signal(&s->changed);
	pthread_mutex_unlock(&s->lock);
}

static void test_a_source_that_does_other_things(void **state)
{
	struct seen seen = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
	struct sampler_source source = {.data = &seen, .sample = see, .wait = wait_for_it, .wake = wake};
	struct sampler *sampler;
	struct ipf_error err = {0};
	(void)state;
	assert_int_equal(sampler_start(&sampler, &source, 3600 * NS_PER_S, &err), 0);
	until(&seen.waited, 1);
	sampler_align(sampler, clock_now());
	until(&seen.waited, 2);
	sampler_stop(sampler);
	assert_int_equal(seen.last, 1);
	assert_true(seen.woken >= 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines_come_in_order),
		cmocka_unit_test(test_a_full_queue_drops_and_counts),
		cmocka_unit_test(test_between_threads),
		cmocka_unit_test(test_the_clock_of_the_records),
		cmocka_unit_test(test_samples_at_multiples_of_every),
		cmocka_unit_test(test_a_slow_sample_loses_ticks),
		cmocka_unit_test(test_stops_while_it_waits),
		cmocka_unit_test(test_a_source_that_does_other_things),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
