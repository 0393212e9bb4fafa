/* How long data could lie before the client saw them, by the samples of a client. */
#include "unit.h"

#include "absent.h"
#include "clock.h"
#include "results/client_delays.h"

static void read_sample(struct client_delays *d, const char *text)
{
	struct ipf_error err = {0};
	struct jdoc doc = {0};
	assert_int_equal(jdoc_parse(&doc, text, strlen(text), &err), 0);
	client_delays_read(d, &doc, JDOC_ROOT);
	jdoc_release(&doc);
}

static void longest_of_each_second(void **state)
{
	(void)state;
	struct client_delays d = {0};
	assert_int_equal(client_delays_longest(&d), IPF_ABSENT);
	assert_int_equal(client_delays_at(&d, 0), IPF_ABSENT);
	read_sample(&d, "{\"t_ns\":1000000000,\"delay_ns\":{\"p50\":1,\"max\":300000},\"loop_lag_ns\":{\"max\":200000}}");
	read_sample(&d, "{\"t_ns\":2000000000}");
	read_sample(&d, "{\"t_ns\":3000000000,\"delay_ns\":{\"max\":100},\"loop_lag_ns\":{\"max\":50}}");
	read_sample(&d, "{\"t_ns\":9500000000,\"loop_lag_ns\":{\"max\":3500000}}");
	read_sample(&d, "{\"t_ns\":10500000000,\"loop_lag_ns\":{\"max\":-5}}");
	read_sample(&d, "{\"delay_ns\":{\"max\":90000000}}"); /* at no time */
	client_delays_prepare(&d);
	assert_false(d.failed);
	assert_int_equal(client_delays_longest(&d), 7000000);
	assert_int_equal(client_delays_at(&d, 500000000), 300000);
	assert_int_equal(client_delays_at(&d, -500000000), 300000);  /* requests sent ahead of the start */
	assert_int_equal(client_delays_at(&d, 1500000000), 300000);  /* the sample of 3 s goes back to the last one */
	assert_int_equal(client_delays_at(&d, 2500000000), 7000000); /* read at the end of the next one, perhaps */
	assert_int_equal(client_delays_at(&d, 9400000000), 7000000);
	assert_int_equal(client_delays_at(&d, 60 * NS_PER_S), 7000000); /* not known: the longest */
	client_delays_release(&d);
}

static void never_less_than_a_thread_needs(void **state)
{
	(void)state;
	struct client_delays d = {0};
	read_sample(&d, "{\"t_ns\":1000000000,\"delay_ns\":{\"max\":900}}");
	client_delays_prepare(&d);
	assert_int_equal(client_delays_at(&d, 500000000), CLIENT_DELAY_LEAST_NS);
	assert_int_equal(client_delays_longest(&d), CLIENT_DELAY_LEAST_NS);
	client_delays_release(&d);
}

static void absurd_times_take_no_memory(void **state)
{
	(void)state;
	struct client_delays d = {0};
	for (int i = 0; i < 100; i++) {
		read_sample(&d, "{\"t_ns\":200000000000000000,\"delay_ns\":{\"max\":900}}");
		read_sample(&d, "{\"t_ns\":-200000000000000000,\"delay_ns\":{\"max\":9000000000000000000}}");
		read_sample(&d, "{\"t_ns\":1,\"delay_ns\":{\"max\":900}}");
	}
	assert_true(d.count <= 100 * 2 * 20);
	client_delays_prepare(&d);
	assert_true(d.count <= 40);
	client_delays_release(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(longest_of_each_second),
		cmocka_unit_test(never_less_than_a_thread_needs),
		cmocka_unit_test(absurd_times_take_no_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
