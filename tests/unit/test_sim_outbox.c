/* The output, with its pauses, and the timers' heap. */
#include "outbox.h"
#include "timers.h"

#include "unit.h"

static void holds_part_the_bytes(void **state)
{
	struct outbox o = {0};
	(void)state;
	buffer_text(&o.bytes, "abc");
	outbox_hold(&o, 5);
	buffer_text(&o.bytes, "defg");
	outbox_hold_at(&o, 5, 7);
	outbox_hold(&o, 9);
	assert_true(slice_is(outbox_ready(&o), "abc"));
	assert_int_equal(outbox_advance(&o, 1), 0);
	assert_true(slice_is(outbox_ready(&o), "bc"));
	assert_int_equal(outbox_advance(&o, 2), 5);
	assert_true(slice_is(outbox_ready(&o), "de"));
	assert_int_equal(outbox_advance(&o, 2), 7);
	assert_false(outbox_empty(&o));
	assert_int_equal(outbox_advance(&o, 2), 9);
	assert_true(outbox_empty(&o));
	assert_int_equal(outbox_here(&o), 7);
	assert_int_equal(outbox_end(&o), 7);
	/* a hold with nothing before it */
	outbox_hold(&o, 3);
	assert_false(outbox_empty(&o));
	assert_int_equal(outbox_ready(&o).len, 0);
	assert_int_equal(outbox_advance(&o, 0), 3);
	assert_true(outbox_empty(&o));
	outbox_release(&o);
}

/* However it is sent, the bytes come out as they went in, and each hold comes at its position. */
static void property_in_order(void **state)
{
	uint64_t seed = test_seed("property_in_order");
	(void)state;
	for (int round = 0; round < 20; round++) {
		struct outbox o = {0};
		struct buffer in = {0}, out = {0};
		int64_t asked = 0, waited = 0;
		while (out.len < 400000) {
			uint64_t dice = test_random(&seed) % 8;
			if (dice < 3 || outbox_empty(&o)) {
				for (uint64_t n = test_random(&seed) % 5000; n; n--) {
					char c = (char)test_random(&seed);
					buffer_byte(&in, c);
					buffer_byte(&o.bytes, c);
				}
			} else if (dice == 3) {
				outbox_hold(&o, 1);
				asked++;
			} else {
				struct slice ready = outbox_ready(&o);
				size_t n = ready.len ? test_random(&seed) % (ready.len + 1) : 0;
				buffer_append(&out, ready.data, n);
				waited += outbox_advance(&o, n);
			}
			assert_int_equal(outbox_here(&o), out.len);
			assert_int_equal(outbox_end(&o), in.len);
		}
		for (struct slice ready; !outbox_empty(&o); waited += outbox_advance(&o, ready.len)) {
			ready = outbox_ready(&o);
			buffer_append(&out, ready.data, ready.len);
		}
		assert_int_equal(in.len, out.len);
		assert_memory_equal(in.data, out.data, in.len);
		assert_int_equal(asked, waited);
		outbox_release(&o);
		buffer_release(&in);
		buffer_release(&out);
	}
}

static int64_t last_ns, fired;

static void fire(struct timer *timer, void *data)
{
	(void)data;
	assert_true(timer->at_ns >= last_ns);
	assert_int_equal(timer->place, 0);
	last_ns = timer->at_ns;
	fired++;
}

static void property_timers_fire_in_order(void **state)
{
	enum { COUNT = 300 };
	static struct timer timers[COUNT];
	uint64_t seed = test_seed("property_timers_fire_in_order");
	struct timers t = {0};
	(void)state;
	for (int i = 0; i < COUNT; i++)
		timers[i].fire = fire;
	for (int round = 0; round < 100; round++) {
		for (int i = 0; i < 2000; i++) {
			struct timer *timer = &timers[test_random(&seed) % COUNT];
			if (test_random(&seed) % 3)
				assert_int_equal(timers_set(&t, timer, (int64_t)(test_random(&seed) % 1000)), 0);
			else
				timers_stop(&t, timer);
		}
		int64_t set = 0, earliest = INT64_MAX, due = 0;
		for (int i = 0; i < COUNT; i++)
			if (timers[i].place) {
				set++;
				due += timers[i].at_ns <= 500;
				earliest = timers[i].at_ns < earliest ? timers[i].at_ns : earliest;
			}
		assert_int_equal(timers_next(&t), earliest);
		fired = last_ns = 0;
		timers_run(&t, 500);
		assert_int_equal(fired, due);
		timers_run(&t, 2000);
		assert_int_equal(fired, set);
		assert_true(timers_next(&t) == INT64_MAX);
	}
	timers_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(holds_part_the_bytes),
		cmocka_unit_test(property_in_order),
		cmocka_unit_test(property_timers_fire_in_order),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
